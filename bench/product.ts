// The cost of the service's own work, by scenario, beside the raw floor of the same run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MINUTE, SECOND } from "../shared/kernel/clock.ts";
import { timers } from "../shared/store/capabilities.ts";
import { uuidOfText } from "../shared/store/hash.ts";
import type { Key } from "../shared/store/model.ts";
import { audienceRules, planRange } from "../shared/store/sends/audience/audiences.ts";
import { messageWrite } from "../shared/store/sends/inbox/inbox.ts";
import { SHARDS } from "../shared/store/shards.ts";
import { Profile } from "../shared/store/subscribers/items.ts";
import { openChannels } from "../test/support/reached.ts";
import { openStream } from "../test/support/sse.ts";
import { type Tenant, type TestWorld, testWorld } from "../test/support/world.ts";
import { eventScenarios } from "./events.ts";
import { type Budget, type Figure, measure } from "./measure.ts";
import { equip, fill } from "./people.ts";
import { singleScenarios } from "./single-sends.ts";

const UPSERTS = 2_000;
const AUDIENCE = 10_000;
const DELAYS = 1_000;
const MESSAGES = 200;
const LISTS = 200;
const IDLE_SECONDS = 120;
const PUTS = 10_000;
const SENDS = [1_000, 10_000, 100_000];
/** How many of these sizes are also sent by push, each message through the embedded provider. */
const PUSH_SIZES = 2;
const AUTHENTICATION = ["GetItem"];

const budget = (text: string, keeps: Budget["keeps"]): { budget: Budget } => ({ budget: { text, keeps } });
const isAtMost = (limit: number) => (n: number) => n <= limit + 1e-9;

export interface Answer {
  figures: Figure[];
  notes: string[];
}

/** Runs all scenarios in one service on its own file. Calls `tell` with each figure. */
export async function benchProduct(tell: (figure: Figure) => void, sizes: readonly number[] = SENDS): Promise<Answer> {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  const world = await testWorld({ file: join(folder, "service.sqlite"), areClientsDirect: () => false });
  const figures: Figure[] = [];
  const note = (figure: Figure) => {
    figures.push(figure);
    tell(figure);
    return figure;
  };
  try {
    await warmUp(world);
    note(await rawPuts(world));
    const tenant = await world.tenant();
    for (const scenario of [upserts, audience, timersSet, inbox, idleStream])
      for (const figure of await scenario(world, tenant)) note(figure);
    for (const figure of await eventScenarios(world)) note(figure);
    for (const figure of await singleScenarios(world)) note(figure);
    const sends: Figure[] = [];
    for (const size of sizes) sends.push(note(await send(world, size)));
    for (const size of sizes.slice(0, PUSH_SIZES)) note(await push(world, size));
    return { figures, notes: ratios(sends) };
  } finally {
    await world.close();
    rmSync(folder, { recursive: true });
  }
}

/** Compiles code and fills caches, so that the first scenario is not charged for them. */
async function warmUp(world: TestWorld): Promise<void> {
  const tenant = await world.tenant();
  const ids = await fill(world, tenant, 500);
  for (const external_id of ids)
    await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id } });
  await world.settle();
  await send(world, 500);
}

/** The floor: the same rows that a send writes, put in batches of 25 through the same client. */
async function rawPuts(world: TestWorld): Promise<Figure> {
  const tenant = await world.tenant();
  const at = world.clock.now();
  const rows = Array.from({ length: PUTS }, (_, n) => {
    const delivery = { subscriber: uuidOfText(String(n)), content: { title: "Hello", body: "World" } };
    return messageWrite("raw", at, delivery);
  });
  return measure(world, { scenario: "raw floor: rows in batches of 25", items: PUTS }, async () => {
    for (let from = 0; from < PUTS; from += 1_000) await tenant.store.writeAll(rows.slice(from, from + 1_000));
  });
}

async function upserts(world: TestWorld, tenant: Tenant): Promise<Figure[]> {
  const upsertAll = async (visits: number) => {
    for (let n = 0; n < UPSERTS; n++) {
      const body = { external_id: `u${n}`, attributes: { first_name: "Ada", city: "London", visits } };
      await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body });
    }
  };
  const work = { items: UPSERTS, authentication: AUTHENTICATION };
  const created = await measure(world, { ...work, scenario: "upsert, new (listing index included)" }, () =>
    upsertAll(1),
  );
  await world.settle();
  const updated = await measure(
    world,
    {
      ...work,
      scenario: "upsert, known",
      ...budget("1 WCU, 1 request", ({ wcu, requests }) => isAtMost(1)(wcu) && isAtMost(1)(requests)),
    },
    () => upsertAll(2),
  );
  await world.settle();
  return [created, updated];
}

async function audience(world: TestWorld): Promise<Figure[]> {
  const tenant = await world.tenant();
  await fill(world, tenant, AUDIENCE);
  const pages = async () => {
    for (const shard of SHARDS) {
      let after: Key | undefined;
      do {
        const page = await tenant.store.queryRows(Profile, { id: shard }, { after, eventual: true });
        after = page.next;
      } while (after);
    }
  };
  const rules = audienceRules(
    "bench",
    {
      holdout_percentage: 0,
      split_percentage: null,
      variant_b: null,
      device_filters: null,
      subscriber_filters: { city: { $eq: "London" }, visits: { $gt: 3 } },
    },
    { reach: { channels: ["in_app"], category: "marketing", emailConsent: "opt_out" }, zone: undefined },
  );
  const plans = async () => {
    for (const shard of SHARDS)
      await planRange(tenant.store, { job: "bench", range: `s${shard}` }, rules, {
        announce: async () => undefined,
        isTimeUp: () => false,
      });
  };
  return [
    await measure(
      world,
      {
        scenario: "audience page",
        items: AUDIENCE,
        ...budget("43 RCU per 1,000", ({ rcu }) => isAtMost(0.043)(rcu)),
      },
      pages,
    ),
    await measure(world, { scenario: "audience planned with a filter", items: AUDIENCE }, plans),
  ];
}

async function timersSet(world: TestWorld, tenant: Tenant): Promise<Figure[]> {
  const { set } = timers.open(world.depsFor("bench"))(tenant.id);
  const at = world.clock.now() + 90 * MINUTE;
  const before = world.scheduler.meter().created;
  const figure = await measure(
    world,
    {
      scenario: "timer of a delay, set, fired, gone",
      items: DELAYS,
      ...budget("≤ 3 WCU", ({ wcu }) => isAtMost(3)(wcu)),
    },
    async () => {
      await set(Array.from({ length: DELAYS }, (_, n) => ({ kind: "job" as const, id: `delay-${n}`, at: at + n })));
      await world.settle();
      await world.advance(91 * MINUTE);
    },
  );
  const schedules = world.scheduler.meter().created - before;
  return [{ ...figure, scenario: `${figure.scenario} (${schedules} schedule)` }];
}

async function inbox(world: TestWorld, tenant: Tenant): Promise<Figure[]> {
  const body = { external_id: "reader" };
  const { id } = (await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body })).body;
  const content = { title: "Hello", body: "A message of an ordinary length, two lines or so of text." };
  const rows = Array.from({ length: MESSAGES }, (_, n) =>
    messageWrite(`job-${n}`, world.clock.now() + n, { subscriber: id, content }),
  );
  await tenant.store.writeAll(rows);
  await world.settle();
  const list = async () => {
    for (let n = 0; n < LISTS; n++)
      await world.call(`GET /v1/in-app/messages?subscriber_id=${id}&limit=50`, { as: tenant.sdk });
  };
  const readAll = () => world.call("POST /v1/in-app/messages/read", { as: tenant.sdk, body: { subscriber_id: id } });
  return [
    await measure(world, { scenario: "inbox, 50 of 200 listed", items: LISTS, authentication: AUTHENTICATION }, list),
    await measure(
      world,
      {
        scenario: "inbox, 200 unread read at once",
        items: 1,
        authentication: AUTHENTICATION,
        ...budget("≤ 3 WCU", ({ wcu }) => isAtMost(3)(wcu)),
      },
      readAll,
    ),
  ];
}

async function idleStream(world: TestWorld, tenant: Tenant): Promise<Figure[]> {
  const body = { external_id: "listener" };
  const { id } = (await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body })).body;
  const stream = await openStream(world, `?subscriber_id=${id}`, tenant.sdk);
  if (stream.status !== 200) throw new Error(`The stream answered ${stream.status}.`);
  const figure = await measure(
    world,
    {
      scenario: "live stream, an idle second",
      items: IDLE_SECONDS,
      ...budget("≤ 0.5 RCU", ({ rcu }) => isAtMost(0.5)(rcu)),
    },
    () => world.advance(IDLE_SECONDS * SECOND),
  );
  stream.disconnect();
  await world.advance(20 * MINUTE);
  return [figure];
}

async function send(world: TestWorld, size: number): Promise<Figure> {
  const tenant = await world.tenant();
  await fill(world, tenant, size);
  return sendToAll(world, tenant, { by: "in_app", size });
}

/** The same by iOS push: a ledger row per recipient, and a call to the provider, which is not counted. */
async function push(world: TestWorld, size: number): Promise<Figure> {
  const tenant = await world.tenant();
  const { ios } = await openChannels(world, tenant, "ios-push");
  await equip(world, tenant, await fill(world, tenant, size));
  return sendToAll(world, tenant, { by: "ios", size, channel_ids: [ios] });
}

const sendNames = { in_app: "in-app send", ios: "push send" };

async function sendToAll(
  world: TestWorld,
  tenant: Tenant,
  { by, size, ...channels }: { by: keyof typeof sendNames; size: number; channel_ids?: unknown[] },
): Promise<Figure> {
  const as = await tenant.dashboard();
  const body = { title: "Hello", body: "World", target: { type: "all" }, ...channels };
  let id = "";
  const figure = await measure(
    world,
    {
      scenario: `${sendNames[by]}, per recipient`,
      items: size,
      ...budget("≤ 1.2 WCU, ≤ 0.2 requests", ({ wcu, requests }) => isAtMost(1.2)(wcu) && isAtMost(0.2)(requests)),
    },
    async () => {
      id = (await world.call("POST /api/v1/notifications", { as, body })).body.id;
      await world.settle();
    },
  );
  const job = (await world.call(`GET /api/v1/notifications/${id}`, { as: await tenant.dashboard() })).body;
  if (job.status !== "completed" || job.delivered_by_channel[by] !== size)
    throw new Error(`The ${sendNames[by]} to ${size} ended ${job.status} with ${JSON.stringify(job.counts)}.`);
  return figure;
}

/** Each size against the one before it: the rate must not fall, the memory must not grow. */
function ratios(sends: readonly Figure[]): string[] {
  return sends.slice(1).map((figure, i) => {
    const smaller = sends[i]!;
    const rate = (figure.per_second / smaller.per_second).toFixed(2);
    const cpu = (figure.cpu_us / smaller.cpu_us).toFixed(2);
    const memory = (figure.peak_mb / smaller.peak_mb).toFixed(2);
    return `send to ${figure.items} against ${smaller.items}: rate × ${rate}, CPU per recipient × ${cpu}, peak memory × ${memory}`;
  });
}
