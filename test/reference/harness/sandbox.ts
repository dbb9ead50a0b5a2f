// A workspace with a time of its own: real time passes by seconds, and its clock is moved over the rest; every fifth time
// no move is needed (F4).
import type { Tenant, TestWorld } from "../../support/world.ts";
import { type Body, iso, SECOND } from "../model/kit.ts";

export function sandboxTime(world: TestWorld, tenant: Tenant) {
  let ahead = 0;
  let times = 0;
  const clock = { now: () => world.clock.now() + ahead };
  const move = async (to: number) => {
    const as = await tenant.dashboard();
    await world.call("POST /v1/test/clock", { as, body: { to: iso(to) } });
    await world.settle();
    const { body } = await world.call("GET /v1/test/clock", { as });
    ahead = Date.parse(body.now) - world.clock.now();
  };
  return {
    clock,
    advance: async (ms: number) => {
      const end = clock.now() + ms;
      await world.advance(++times % 5 === 0 ? ms : Math.min(ms, SECOND));
      if (clock.now() < end) await move(end);
    },
  };
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

/** A mail that is kept as it would have gone out: its text is the paragraph before the links of its foot. */
export function asWritten(item: Body): Body {
  if (item.channel !== "email" || !String(item.body).startsWith("<!doctype")) return item;
  const [, text = ""] = /<p>(.*?)<\/p>/s.exec(item.body) ?? [];
  return { ...item, body: text.replace(/&(\w+|#39);/g, (_, name: string) => ENTITIES[name] ?? "") };
}

/** Everything that it would have sent. */
export async function sandboxOutbox(world: TestWorld, tenant: Tenant): Promise<Body[]> {
  const items: Body[] = [];
  for (let cursor = ""; ; ) {
    const route = `GET /v1/test/outbox${cursor ? `?cursor=${cursor}` : ""}`;
    const { body } = await world.call(route, { as: await tenant.dashboard() });
    items.push(...body.items.map(asWritten));
    cursor = body.next_cursor;
    if (cursor === "") return items;
  }
}
