// What an open live stream costs, opened and while nothing happens, by how many are open.
import { SECOND } from "../../shared/kernel/clock.ts";
import { type OpenStream, openStream } from "../../test/support/sse.ts";
import type { Tenant, TestWorld } from "../../test/support/world.ts";
import { fill } from "../people.ts";
import { type Cost, costOf, inWorld, most, type Row, taken } from "./cost.ts";

/** Less than the life of a stream, with its keepalives. */
const IDLE_SECONDS = 80;
const OPENED = 50;

async function listener(world: TestWorld, tenant: Tenant, n: number): Promise<string> {
  const body = { external_id: `listener-${n}` };
  const { id } = taken(await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body })).body;
  await world.settle();
  return String(id);
}

async function idle(streams: number): Promise<Cost> {
  return inWorld(async (world) => {
    const tenant = await world.tenant();
    const opened: OpenStream[] = [];
    for (let n = 0; n < streams; n++) {
      const stream = await openStream(world, `?subscriber_id=${await listener(world, tenant, n)}`, tenant.sdk);
      if (stream.status !== 200) throw new Error(`The stream answered ${stream.status}.`);
      opened.push(stream);
    }
    const query = {
      work: "live stream, idle",
      size: `${streams} open`,
      per: "stream and second",
      count: IDLE_SECONDS * streams,
      targets: [most("rcu", 0.5), most("requests", 1.1)],
    };
    // Second by second: a longer step leaves out polls.
    const cost = await costOf(world, query, async () => {
      for (let second = 0; second < IDLE_SECONDS; second++) await world.advance(SECOND);
    });
    for (const stream of opened) stream.disconnect();
    return cost;
  });
}

/** Resolves when the stream is answered. Nothing else is waited for, and nothing is read of it. */
const answered = (world: TestWorld, tenant: Tenant, subscriber: string, isRead: () => boolean): Promise<void> =>
  new Promise((resolve, reject) => {
    const request = {
      method: "GET",
      path: `/v1/in-app/stream?subscriber_id=${subscriber}`,
      headers: tenant.sdk,
      body: Buffer.alloc(0),
      sourceIp: "203.0.113.7",
    };
    const start = (status: number) =>
      status === 200 ? resolve() : reject(new Error(`The stream answered ${status}.`));
    void world.gateway.stream(request, { start, write: isRead, end: () => undefined });
  });

/** Streams of other people, one after the other, while so many are open. */
async function opening(before: number): Promise<Cost> {
  return inWorld(async (world) => {
    const tenant = await world.tenant();
    const subscribers = await fill(world, tenant, before + OPENED);
    let isOpen = true;
    const open = (subscriber: string) => answered(world, tenant, subscriber, () => isOpen);
    for (const subscriber of subscribers.splice(0, before)) await open(subscriber);
    await world.settle();
    const query = {
      work: "live stream, opened",
      size: `${before} open before`,
      per: "stream",
      count: OPENED,
      // 4 ms on a machine whose raw echo takes 59 µs.
      targets: [most("cpu", 68, "echo")],
    };
    const cost = await costOf(world, query, async () => {
      for (const subscriber of subscribers) await open(subscriber);
      await world.settle();
    });
    isOpen = false;
    return cost;
  });
}

export const streamRows: Row[] = [
  { name: "live stream, idle", measure: async () => [await idle(1), await idle(10)] },
  { name: "live stream, opened", measure: async () => [await opening(10), await opening(100)] },
];
