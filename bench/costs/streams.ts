// What an open live stream costs while nothing happens, by how many are open.
import { SECOND } from "../../shared/kernel/clock.ts";
import { openStream } from "../../test/support/sse.ts";
import { type Cost, costOf, inWorld, most, type Row, taken } from "./cost.ts";

/** Less than the life of a stream, with its keepalives. */
const IDLE_SECONDS = 80;

async function idle(streams: number): Promise<Cost> {
  return inWorld(async (world) => {
    const tenant = await world.tenant();
    const open = [];
    for (let n = 0; n < streams; n++) {
      const body = { external_id: `listener-${n}` };
      const { id } = taken(await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body })).body;
      await world.settle();
      const stream = await openStream(world, `?subscriber_id=${id}`, tenant.sdk);
      if (stream.status !== 200) throw new Error(`The stream answered ${stream.status}.`);
      open.push(stream);
    }
    const query = {
      work: "live stream, idle",
      size: `${streams} open`,
      per: "stream and second",
      count: IDLE_SECONDS * streams,
      targets: [most("rcu", 0.5), most("requests", 1.1)],
    };
    const cost = await costOf(world, query, () => world.advance(IDLE_SECONDS * SECOND));
    for (const stream of open) stream.disconnect();
    return cost;
  });
}

export const streamRows: Row[] = [{ name: "live stream", measure: async () => [await idle(1), await idle(10)] }];
