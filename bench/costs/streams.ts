// What an open live stream costs, opened and while nothing happens, by how many are open.
import { SECOND } from "../../shared/kernel/clock.ts";
import { type OpenStream, openStream } from "../../test/support/sse.ts";
import type { Tenant, TestWorld } from "../../test/support/world.ts";
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

async function open(world: TestWorld, tenant: Tenant, subscriber: string): Promise<OpenStream> {
  const stream = await openStream(world, `?subscriber_id=${subscriber}`, tenant.sdk);
  if (stream.status !== 200) throw new Error(`The stream answered ${stream.status}.`);
  return stream;
}

async function idle(streams: number): Promise<Cost> {
  return inWorld(async (world) => {
    const tenant = await world.tenant();
    const opened: OpenStream[] = [];
    for (let n = 0; n < streams; n++) opened.push(await open(world, tenant, await listener(world, tenant, n)));
    const query = {
      work: "live stream, idle",
      size: `${streams} open`,
      per: "stream and second",
      count: IDLE_SECONDS * streams,
      targets: [most("rcu", 0.5), most("requests", 1.1)],
    };
    const cost = await costOf(world, query, () => world.advance(IDLE_SECONDS * SECOND));
    for (const stream of opened) stream.disconnect();
    return cost;
  });
}

/** Streams of other people, one after the other, while so many are open. */
async function opening(before: number): Promise<Cost> {
  return inWorld(async (world) => {
    const tenant = await world.tenant();
    const subscribers: string[] = [];
    for (let n = 0; n < before + OPENED; n++) subscribers.push(await listener(world, tenant, n));
    const opened: OpenStream[] = [];
    for (const subscriber of subscribers.splice(0, before)) opened.push(await open(world, tenant, subscriber));
    const query = {
      work: "live stream, opened",
      size: `${before} open before`,
      per: "stream",
      count: OPENED,
      // 4 ms on a machine whose raw echo takes 59 µs.
      targets: [most("cpu", 68, "echo")],
    };
    const cost = await costOf(world, query, async () => {
      for (const subscriber of subscribers) opened.push(await open(world, tenant, subscriber));
    });
    for (const stream of opened) stream.disconnect();
    return cost;
  });
}

export const streamRows: Row[] = [
  { name: "live stream, idle", measure: async () => [await idle(1), await idle(10)] },
  { name: "live stream, opened", measure: async () => [await opening(10), await opening(100)] },
];
