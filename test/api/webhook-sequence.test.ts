// Sequence numbers of webhook deliveries: without gaps, whatever fails; the list of what is missing; replay in order.
import { describe, expect, it } from "vitest";
import type { Hooks } from "../../local/aws/index.ts";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { webhookSamples } from "../../shared/rules/webhook-events.ts";
import { noteDeliveries } from "../../shared/store/webhooks/deliveries.ts";
import { numberAccepted, numberLate } from "../../shared/store/webhooks/sequences.ts";
import { mortal } from "../support/mortal.ts";
import { receiver } from "../support/receiver.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const dataOf = (name: string) => ({ ...webhookSamples["subscriber.created"], external_id: name });

async function setting({ hooks }: Pick<NonNullable<Parameters<typeof fresh>[0]>, "hooks"> = {}) {
  let now = () => 0;
  const outside = receiver(() => now());
  const world = await fresh({ network: outside.network, ...(hooks && { hooks }) });
  now = () => world.clock.now();
  const tenant = await world.tenant();
  const hook = { target_url: "https://hooks.example.com/in", events: ["subscriber.created"] };
  const webhook: string = (await world.call("POST /v1/hooks", { as: tenant.server, body: hook })).body.id;
  const list = async (query = "") => {
    const route = `GET /api/v1/webhooks/${webhook}/deliveries${query}`;
    return (await tenant.call(route)).body;
  };
  return {
    world,
    tenant,
    webhook,
    outside,
    list,
    /** Accepts deliveries at once, with the names of their subscribers. */
    accept: (...names: string[]) =>
      noteDeliveries(
        tenant.store,
        names.map((name) => {
          const occurrence = {
            event: "subscriber.created",
            key: name,
            at: world.clock.now(),
            data: dataOf(name),
          } as const;
          return { webhook, occurrence };
        }),
      ),
    sequences: () => outside.received.map(({ headers }) => Number(headers["x-service-sequence"])),
    names: () => outside.received.map(({ body }) => JSON.parse(body).data.external_id),
    replay: async (more: object = {}) => {
      const body = { from: timestamp(world.clock.now() - DAY), to: timestamp(world.clock.now()), ...more };
      return tenant.call(`POST /api/v1/webhooks/${webhook}/replay`, body);
    },
  };
}

const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);
const ascending = (numbers: number[]) => numbers.toSorted((a, b) => a - b);

describe("X-Service-Sequence", () => {
  it("X-Service-Sequence counts the deliveries of each endpoint from 1, and is the same at every attempt and in the log (AMB-124, F11)", async () => {
    const { world, tenant, outside, accept, sequences, list } = await setting();
    const other = { target_url: "https://other.example.com/in", events: ["subscriber.created"] };
    await world.call("POST /v1/hooks", { as: tenant.server, body: other });
    outside.answer(({ body }, n) => (n < 5 && body.includes("ada") ? 500 : 200));
    await accept("ada");
    await accept("ben");
    await world.advance(MINUTE);
    for (const external_id of ["cleo", "dora"]) await tenant.upsert({ external_id });
    await world.advance(MINUTE);
    const to = (host: string) => outside.received.filter((request) => request.to === host);
    const numbers = (host: string) => to(host).map(({ headers }) => Number(headers["x-service-sequence"]));
    expect(ascending([...new Set(numbers("hooks.example.com"))])).toEqual(upTo(4));
    expect(numbers("hooks.example.com").filter((n) => n === 1).length).toBeGreaterThan(1);
    expect(numbers("other.example.com")).toEqual([1, 2]);
    expect(new Set(sequences()).size).toBe(4);
    const { items } = await list();
    expect(ascending(items.map(({ sequence }: { sequence: number }) => sequence))).toEqual(upTo(4));
  });

  it.each(upTo(8))(
    "X-Service-Sequence has no gap and no repeat where react dies at request %i of a batch (AMB-124)",
    async (n) => {
      const worker = mortal("react");
      const { world, outside, accept, sequences } = await setting({ hooks: worker.hooks });
      const names = Array.from({ length: 25 }, (_, i) => `p${i}`);
      await accept("first");
      await world.settle();
      worker.dieAt(n, "after");
      await accept(...names);
      await world.settle();
      worker.revive();
      await world.advance(MINUTE);
      await accept("last");
      await world.settle();

      expect(ascending(sequences())).toEqual(upTo(27));
      expect(new Set(outside.received.map(({ headers }) => headers["x-service-delivery"])).size).toBe(27);
    },
  );

  it("deliveries that the stream reports again, in other batches or by a writer with old data, keep their numbers (AMB-124)", async () => {
    const { tenant, webhook, world } = await setting();
    const { store } = tenant;
    const at = (n: number) => ({
      id: world.ids.uuidAt(world.clock.now()),
      acceptedAt: world.clock.now(),
      position: `${n}`,
    });
    const [a, b, c, d] = [at(8), at(9), at(10), at(11)] as const;
    const number = (stream: string, ...some: (typeof a)[]) => numberAccepted(store, webhook, stream, some);
    const ids = (...some: (typeof a)[]) => some.map(({ id }) => id);
    expect(await number("s", a, b)).toEqual([{ first: 1, ids: ids(a, b) }]);
    expect(await number("s", b, c)).toEqual([
      { first: 1, ids: ids(a, b) },
      { first: 3, ids: ids(c) },
    ]);
    expect(await number("s", a)).toEqual([{ first: 1, ids: ids(a, b) }]);
    const both = await Promise.all([number("s", d), number("s", d)]);
    expect(both).toEqual([[{ first: 4, ids: ids(d) }], [{ first: 4, ids: ids(d) }]]);
    const restored = at(1);
    expect(await number("another table", restored)).toEqual([{ first: 5, ids: ids(restored) }]);
  });

  it("a delivery that the stream never reported is numbered once, by its message (AMB-124)", async () => {
    const { tenant, webhook, world } = await setting();
    const { store } = tenant;
    const one = { id: world.ids.uuidAt(world.clock.now()), acceptedAt: world.clock.now(), position: "7" };
    await world.advance(HOUR);

    expect(await numberLate(store, webhook, one)).toBe(1);
    expect(await numberLate(store, webhook, one)).toBe(1);
    expect(await numberAccepted(store, webhook, "s", [one])).toEqual([{ first: 1, ids: [one.id] }]);
  });
});

describe("first attempts of a group", () => {
  it("a worker that dies after the claim costs each one attempt, and none is made twice (AMB-124, WHK-8, WHK-10)", async () => {
    for (const moment of ["before", "after"] as const) {
      const worker = mortal("post-webhook");
      const { world, outside, accept, list } = await setting({ hooks: worker.hooks });
      // The endpoint, the deliveries, the workspace, the secrets, their key, and the claim.
      worker.dieAt(6, moment);
      await accept("ada", "ben", "cleo");
      await world.settle();
      worker.revive();
      await world.advance(20 * MINUTE);
      const { items } = await list();
      const attempts = moment === "before" ? 1 : 2;
      expect(items).toMatchObject([1, 2, 3].map(() => ({ outcome: "delivered", attempt_count: attempts })));
      expect(outside.received).toHaveLength(3);
    }
  });

  it("first attempts of a group are followed by the second ones, also where the worker dies after it recorded them (WHK-8, AMB-124)", async () => {
    const worker = mortal("post-webhook");
    const { world, outside, accept, list } = await setting({ hooks: worker.hooks });
    outside.answer(({ headers }) => (headers["x-service-sequence"] === "2" ? 200 : 500));
    // The six requests until the claim, three results, and the messages of the second attempts.
    worker.dieAt(10, "before");
    await accept("ada", "ben", "cleo");
    await world.settle();
    worker.revive();
    expect(outside.received).toHaveLength(3);
    // The message of the group comes again, long before a watchdog looks.
    await world.advance(7 * MINUTE);
    expect((await list()).items.map(({ attempt_count: n }: { attempt_count: number }) => n).sort()).toEqual([1, 4, 4]);
    expect(outside.received).toHaveLength(9);
  });

  it("first attempts of a group are under way until they are made; then each can be redelivered (AMB-104, AMB-124)", async () => {
    const worker = mortal("post-webhook");
    const { world, tenant, webhook, outside, accept, list } = await setting({ hooks: worker.hooks });
    worker.dieAt(1, "before");
    const [id] = await accept("ada", "ben");
    await world.settle();
    const redeliver = async () => {
      const route = `POST /api/v1/webhooks/${webhook}/deliveries/${id}/redeliver`;
      return (await tenant.call(route)).status;
    };
    expect(await redeliver()).toBe(409);
    await world.advance(5 * MINUTE + SECOND);
    worker.revive();
    expect(await redeliver()).toBe(202);
    await world.advance(HOUR);
    expect((await list()).items).toMatchObject([{ outcome: "delivered" }, { outcome: "delivered" }]);
    expect(outside.received).toHaveLength(2);
    expect(ascending(outside.received.map(({ headers }) => Number(headers["x-service-sequence"])))).toEqual([1, 2]);
  });
});

describe("missing deliveries", () => {
  it("missing deliveries are listed in the order of their numbers, failed and pending ones, by page (AMB-124, F11)", async () => {
    const worker = mortal("post-webhook");
    const { world, outside, accept, list } = await setting({ hooks: worker.hooks });
    const names = Array.from({ length: 50 }, (_, i) => `p${i}`);
    outside.answer(({ body }) => (/p(3|17|41)"/.test(body) ? 400 : 200));
    await accept(...names);
    await world.settle();
    worker.dieAt(1, "before");
    await accept("late", "later");
    await world.settle();
    const seen: { sequence: number; outcome: string; payload: { data: { external_id: string } } }[] = [];
    for (let cursor = ""; ; ) {
      const { items, next_cursor } = await list(`?missing=true&limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...items);
      cursor = next_cursor;
      if (!cursor) break;
    }
    const sequences = seen.map(({ sequence }) => sequence);

    expect(sequences).toEqual(ascending(sequences));
    expect(seen.map(({ outcome, payload }) => `${outcome} ${payload.data.external_id}`).sort()).toEqual(
      ["failed p3", "failed p17", "failed p41", "pending late", "pending later"].sort(),
    );
    expect(ascending(sequences).slice(3)).toEqual([51, 52]);
    expect((await list("?missing=true&outcome=failed")).items).toHaveLength(3);
    expect((await list("?missing=false&limit=100")).items).toHaveLength(52);
  });
});

describe("a replay", () => {
  it("a replay sends in the order of the numbers, and does not wait for one that keeps failing (AMB-124, F11)", async () => {
    const { world, outside, accept, replay, sequences, names, list } = await setting();
    outside.answer(() => 400);
    for (const letter of ["c", "a", "d", "b"]) await accept(...Array.from({ length: 6 }, (_, i) => `${letter}${i}`));
    await world.settle();
    outside.received.length = 0;
    outside.answer(({ body }) => (body.includes('"a0"') ? 500 : 200));
    expect((await replay()).body).toEqual({ queued: 24 });
    await world.advance(MINUTE);
    const firsts = sequences().filter((n, i, all) => all.indexOf(n) === i);
    expect(firsts).toEqual(upTo(24));
    expect(names().filter((name) => name === "a0")).toHaveLength(4);
    expect(outside.received).toHaveLength(27);
    expect((await list("?missing=true")).items).toMatchObject([{ payload: { data: { external_id: "a0" } } }]);
  });

  it("a replay goes on in another message where the endpoint is slow (AMB-124, F11)", async () => {
    const { world, outside, accept, replay, sequences } = await setting();
    outside.answer(() => 400);
    await accept(..."abcdef");
    await world.settle();
    outside.received.length = 0;
    outside.answer(() => "silence");
    expect((await replay({ outcome: "failed" })).body).toEqual({ queued: 6 });
    await world.advance(2 * MINUTE);
    const firsts = sequences().filter((n, i, all) => all.indexOf(n) === i);
    expect(firsts).toEqual(upTo(6));
    expect(outside.received).toHaveLength(24);
  });

  it("a replay sends what it had reopened when a write failed (AMB-124, AMB-104)", async () => {
    let writes = 0;
    const before: Hooks["before"] = (_service, operation, { Key }) => {
      const isDelivery = operation === "UpdateItem" && JSON.stringify(Key).includes('"D#');
      if (isDelivery && ++writes > 3) throw new Error("The table does not answer.");
    };
    const { world, outside, accept, replay, sequences } = await setting({
      hooks: (name) => (name === "api-webhooks" ? { before } : {}),
    });
    outside.answer(() => 400);
    await accept(..."abcdef");
    await world.settle();
    outside.received.length = 0;
    outside.answer(() => 200);
    expect((await replay({ outcome: "failed" })).status).toBe(500);
    await world.settle();
    expect(sequences()).toHaveLength(3);
    expect(sequences()).toEqual(ascending(sequences()));
  });
});
