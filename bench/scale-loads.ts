// The loads of `npm run bench -- scale`: what arrives each second, or at once, on a workspace of many people.
import type { Faults } from "../local/faults.ts";
import { MINUTE, SECOND } from "../shared/kernel/clock.ts";
import { chunksOf } from "../shared/rules/chunks.ts";
import { timers } from "../shared/store/capabilities.ts";
import { keyOf } from "../shared/store/item.ts";
import { Message } from "../shared/store/sends/inbox/inbox-items.ts";
import { greetingGraph, journeySetting } from "../test/support/journeys.ts";
import { SES } from "../test/support/mails.ts";
import { openChannels } from "../test/support/reached.ts";
import { openStream } from "../test/support/sse.ts";
import type { Tenant, TestWorld } from "../test/support/world.ts";
import { equip, fill } from "./people.ts";

/** Measures how long a unit waits, in service time: from its arrival to the first write under a partition key. */
export interface Waits {
  until(partitionKey: string): void;
  /** Counts a request that was not taken: an open loop does not ask again. */
  answered(answer: { status: number; body: unknown }): void;
}

interface PreparedLoad {
  /** Makes units `from` to `from + count` arrive. Calls the service at once: requests wait while time moves. */
  arrive(from: number, count: number, waits: Waits): Promise<unknown>;
  /** When the units are due, if that is later. */
  due?: number;
}

export interface Load {
  name: string;
  unit: string;
  /** Units that arrive each second; absent: all arrive at once. */
  perSecond?: number;
  /** Units that arrive at once, for a load of 20 seconds. */
  units?: number;
  /** What partition keys begin with whose last write ends the load, where no unit is waited for. */
  ends?: string;
  /** The most write units that one may cost, by the design's cost table. */
  wcu: number;
  prepare(world: TestWorld, count: number, faults: Faults): Promise<PreparedLoad>;
}

const EVENTS_A_REQUEST = 1_000;
const PEOPLE = 1_000;
/** What one worker sets at a time. */
const ROWS_AT_ONCE = 100;

const inboxOf = (tenant: Tenant, subscriber: string) => keyOf(Message, tenant.id, { subscriber, message: "" }).pk;

export async function workspace(world: TestWorld, people: number, more: object = {}) {
  const tenant = await world.tenant();
  return { tenant, ids: await fill(world, tenant, people, more) };
}

async function broadcast(world: TestWorld, tenant: Tenant, channel: string): Promise<PreparedLoad> {
  const as = await tenant.dashboard();
  const body = { title: "Hello", body: "World", target: { type: "all" }, channel_ids: [channel] };
  return {
    arrive: async (_, __, waits) => {
      waits.answered(await world.call("POST /api/v1/notifications", { as, body }));
    },
  };
}

/** A single send of a backend to each of these, by a channel or to the inbox. */
export async function singleSends(
  world: TestWorld,
  tenant: Tenant,
  ids: readonly string[],
  more: object = {},
): Promise<PreparedLoad> {
  const as = await tenant.backend("messages:send");
  return {
    arrive: (from, some, waits) =>
      Promise.all(
        ids.slice(from, from + some).map(async (id) => {
          if (!("channel_ids" in more)) waits.until(inboxOf(tenant, id));
          const body = { subscriberIds: [id], title: "Hello", body: "World", ...more };
          waits.answered(await world.call("POST /v1/notifications", { as, body }));
        }),
      ),
  };
}

/** Entries of a journey that sends, by so many events a request. */
export const journeyMoves =
  (batch: number): Load["prepare"] =>
  async (world, count) => {
    const { tenant, active, send } = await journeySetting(world);
    const ids = await fill(world, tenant, count);
    await active(greetingGraph(send));
    return {
      arrive: (from, some, waits) => {
        const people = ids.slice(from, from + some);
        for (const id of people) waits.until(inboxOf(tenant, id));
        return Promise.all(
          chunksOf(people, batch).map(async (some) => {
            const events = some.map((subscriber_id) => ({ event_name: "signed_up", subscriber_id }));
            waits.answered(await world.call("POST /v1/events", { as: tenant.server, body: { events } }));
          }),
        );
      },
    };
  };

export const loads: readonly Load[] = [
  {
    name: "single in-app sends",
    unit: "send",
    perSecond: 2_000,
    wcu: 4.5,
    prepare: async (world, count) => {
      const { tenant, ids } = await workspace(world, count);
      return singleSends(world, tenant, ids);
    },
  },
  {
    name: "journey moves",
    unit: "entry, send and delay",
    perSecond: 1_000,
    wcu: 5.3,
    prepare: journeyMoves(EVENTS_A_REQUEST),
  },
  {
    name: "events in batches",
    unit: "event",
    perSecond: 10_000,
    wcu: 2.06,
    prepare: async (world) => {
      const { tenant, ids } = await workspace(world, PEOPLE);
      let waiting: object[] = [];
      return {
        arrive: async (from, some, waits) => {
          for (let n = from; n < from + some; n++)
            waiting.push({
              event_name: n % 3 ? "product_viewed" : "order_completed",
              subscriber_id: ids[(n * 7) % ids.length],
              idempotency_key: `e${n}`,
              properties: { sku: `sku-${n % 50}`, price: 1_999, currency: "EUR" },
            });
          while (waiting.length >= EVENTS_A_REQUEST) {
            const events = waiting.slice(0, EVENTS_A_REQUEST);
            waiting = waiting.slice(EVENTS_A_REQUEST);
            waits.answered(await world.call("POST /v1/events", { as: tenant.server, body: { events } }));
          }
        },
      };
    },
  },
  {
    name: "due rows of one minute",
    unit: "row",
    perSecond: 5_000,
    wcu: 2,
    prepare: async (world) => {
      const tenant = await world.tenant();
      const at = Math.ceil((world.clock.now() + 3 * MINUTE) / MINUTE) * MINUTE;
      const { set } = timers.open(world.depsFor("bench"))(tenant.id);
      const rowOf = (n: number) => ({ kind: "job" as const, id: `timer-${n}`, at });
      return {
        arrive: async (from, some) => {
          const rows = Array.from({ length: some }, (_, n) => rowOf(from + n));
          await Promise.all(chunksOf(rows, ROWS_AT_ONCE).map(set));
        },
      };
    },
  },
  {
    name: "push to many",
    unit: "recipient",
    units: 100_000,
    wcu: 1.2,
    prepare: async (world, count) => {
      const { tenant, ids } = await workspace(world, count);
      const { ios } = await openChannels(world, tenant, "ios-push");
      await equip(world, tenant, ids);
      return broadcast(world, tenant, ios!);
    },
  },
  {
    name: "reconnects of live streams",
    unit: "stream",
    perSecond: 500,
    wcu: 1.2,
    prepare: async (world, count) => {
      const { tenant, ids } = await workspace(world, count);
      return {
        arrive: (from, some) =>
          Promise.all(ids.slice(from, from + some).map((id) => openStream(world, `?subscriber_id=${id}`, tenant.sdk))),
      };
    },
  },
  {
    name: "mails to a provider that throttles",
    unit: "recipient",
    units: 20_000,
    wcu: 2.1,
    prepare: async (world, count, faults) => {
      const { tenant } = await workspace(world, count, { email: "ada@example.com" });
      const { email } = await openChannels(world, tenant, "email");
      const as = await tenant.dashboard();
      await world.call(`POST /api/v1/channels/${email}/credentials/email`, { as, body: SES });
      await world.settle();
      faults.add({ channel: "email", outcome: "transient", times: Math.ceil(count / 4) });
      return broadcast(world, tenant, email!);
    },
  },
];

export const LOAD_SECONDS = 20;
export const TICK = SECOND / 10;

/** How many units arrive in a load of so many seconds; what arrives at once is less in a shorter one. */
export const unitsOf = ({ units, perSecond = 0 }: Load, seconds: number): number =>
  Math.round(units === undefined ? perSecond * seconds : (units * seconds) / LOAD_SECONDS);
