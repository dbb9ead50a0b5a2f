// Sequence numbers of webhook deliveries: without gaps, whatever fails; the list of what is missing.
import { describe, expect, it } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { numberAccepted, numberLate } from "../../shared/store/webhooks/sequences.ts";
import { ascending, hook, sequenceOf, upTo, withDeliveries } from "../support/hooks.ts";
import { mortal } from "../support/mortal.ts";
import { entriesOf } from "../support/pages.ts";
import { worlds } from "../support/worlds.ts";

const setting = withDeliveries(worlds());

describe("X-Service-Sequence", () => {
  it("X-Service-Sequence counts the deliveries of each endpoint from 1 (AMB-124, F11)", async () => {
    const here = await setting();
    const { world, tenant, outside, accept } = here;
    await hook(here, ["subscriber.created"], "https://other.example.com/in");
    await accept("ada", "ben");
    for (const external_id of ["cleo", "dora"]) await tenant.upsert({ external_id });
    await world.advance(MINUTE);

    const numbers = (host: string) => ascending(outside.received.filter(({ to }) => to === host).map(sequenceOf));
    expect(numbers("hooks.example.com")).toEqual(upTo(4));
    expect(numbers("other.example.com")).toEqual(upTo(2));
  });

  it("X-Service-Sequence is the same at every attempt and in the log (AMB-124, F11)", async () => {
    const { world, outside, accept, sequences, list } = await setting();
    outside.answer((_, n) => (n < 4 ? 500 : 200));
    await accept("ada");

    await world.advance(MINUTE);

    expect(sequences()).toEqual([1, 1, 1, 1]);
    expect((await list()).items).toMatchObject([{ sequence: 1 }]);
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

  /** A webhook, four deliveries in the order of the stream, and how a batch of it numbers some. */
  async function numbering() {
    const { tenant, webhook, world } = await setting();
    const at = (n: number) => ({
      id: world.ids.uuidAt(world.clock.now()),
      acceptedAt: world.clock.now(),
      position: `${n}`,
    });
    const number = (stream: string, ...some: ReturnType<typeof at>[]) =>
      numberAccepted(tenant.store, webhook, stream, some);
    return { at, number, batch: [at(8), at(9), at(10)] as const };
  }

  it("deliveries that the stream reports again in another batch keep their numbers (AMB-124)", async () => {
    const { number, batch } = await numbering();
    const [a, b, c] = batch;
    const first = { first: 1, ids: [a.id, b.id] };
    expect(await number("s", a, b)).toEqual([first]);

    expect(await number("s", b, c)).toEqual([first, { first: 3, ids: [c.id] }]);
    expect(await number("s", a)).toEqual([first]);
  });

  it("a delivery that two batches number at once gets one number (AMB-124)", async () => {
    const { number, batch } = await numbering();

    const both = await Promise.all([number("s", batch[0]), number("s", batch[0])]);

    const numbered = [{ first: 1, ids: [batch[0].id] }];
    expect(both).toEqual([numbered, numbered]);
  });

  it("deliveries of the stream of a restored table, which begins anew, get the next numbers (AMB-124)", async () => {
    const { at, number, batch } = await numbering();
    await number("s", ...batch);
    const restored = at(1);

    expect(await number("another table", restored)).toEqual([{ first: 4, ids: [restored.id] }]);
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
  it.each([
    ["before it is written costs nothing", "before", 1],
    ["after it is written costs each one attempt", "after", 2],
  ] as const)(
    "a worker that dies at the claim of a group, %s, and no delivery is made twice (AMB-124, WHK-8, WHK-10)",
    async (_, moment, attempt_count) => {
      const worker = mortal("post-webhook");
      const { world, outside, accept, list } = await setting({ hooks: worker.hooks });
      // The endpoint, the deliveries, the workspace, the secrets, their key, and the claim.
      worker.dieAt(6, moment);
      await accept("ada", "ben", "cleo");
      await world.settle();
      worker.revive();

      await world.advance(20 * MINUTE);

      expect((await list()).items).toMatchObject([1, 2, 3].map(() => ({ outcome: "delivered", attempt_count })));
      expect(outside.received).toHaveLength(3);
    },
  );

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

  it("first attempts of a group are not made once their endpoint is switched off (WHK-10, AMB-124)", async () => {
    const { world, tenant, webhook, outside, accept } = await setting();
    await accept("ada", "ben");
    await tenant.call(`PATCH /api/v1/webhooks/${webhook}`, { active: false });
    await world.settle();

    expect(outside.received).toEqual([]);
  });

  it("the others of a group keep their numbers where its message comes again after one of them was made (AMB-124)", async () => {
    const worker = mortal("post-webhook");
    const { world, accept, list, sequences } = await setting({ hooks: worker.hooks });
    // The six requests until the claim, and the result of the first.
    worker.dieAt(8, "before");
    await accept("ada", "ben", "cleo");
    await world.settle();
    worker.revive();
    await world.advance(20 * MINUTE);

    expect(sequences()).toEqual([1, 2, 3, 2, 3]);
    const { items } = await list();
    expect(ascending(items.map(({ sequence }: { sequence: number }) => sequence))).toEqual([1, 2, 3]);
  });

  it("first attempts of a group are under way until they are made; then each can be redelivered (AMB-104, AMB-124)", async () => {
    const worker = mortal("post-webhook");
    const { world, outside, accept, list, redeliver, sequences } = await setting({ hooks: worker.hooks });
    worker.dieAt(1, "before");
    const [id] = await accept("ada", "ben");
    await world.settle();
    expect((await redeliver(id!)).status).toBe(409);
    await world.advance(5 * MINUTE + SECOND);
    worker.revive();
    expect((await redeliver(id!)).status).toBe(202);
    await world.advance(HOUR);
    expect((await list()).items).toMatchObject([{ outcome: "delivered" }, { outcome: "delivered" }]);
    expect(outside.received).toHaveLength(2);
    expect(ascending(sequences())).toEqual([1, 2]);
  });
});

describe("missing deliveries", () => {
  /** 52 deliveries, of which three failed and two are pending. */
  async function withMissing() {
    const worker = mortal("post-webhook");
    const here = await setting({ hooks: worker.hooks });
    const { world, outside, accept } = here;
    outside.answer(({ body }) => (/p(3|17|41)"/.test(body) ? 400 : 200));
    await accept(...Array.from({ length: 50 }, (_, i) => `p${i}`));
    await world.settle();
    worker.dieAt(1, "before");
    await accept("late", "later");
    await world.settle();
    return here;
  }

  it("missing deliveries are listed in the order of their numbers, failed and pending ones, by page (AMB-124, F11)", async () => {
    const { tenant, webhook } = await withMissing();
    const seen = await entriesOf<{ sequence: number; outcome: string; payload: { data: { external_id: string } } }>(
      (page) => tenant.call(`GET /api/v1/webhooks/${webhook}/deliveries${page}`),
      "missing=true&limit=2",
    );
    const sequences = seen.map(({ sequence }) => sequence);

    expect(sequences).toEqual(ascending(sequences));
    expect(sequences.slice(3)).toEqual([51, 52]);
    expect(seen.map(({ outcome, payload }) => `${outcome} ${payload.data.external_id}`).sort()).toEqual(
      ["failed p3", "failed p17", "failed p41", "pending late", "pending later"].sort(),
    );
  });

  it.each([
    ["?missing=true&outcome=failed", 3],
    ["?missing=false&limit=100", 52],
  ])("the list of deliveries with %s has %i (AMB-124)", async (query, count) => {
    const { list } = await withMissing();

    expect((await list(query)).items).toHaveLength(count);
  });
});
