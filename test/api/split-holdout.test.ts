// A/B arms and holdout of a send, end to end (ABH-1, ABH-2, ABH-4, D-AB), against hashes that are computed here again.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { Message } from "../../shared/store/sends/inbox/inbox-items.ts";
import { NOTHING_LATE } from "../support/late.ts";
import { mailsOf } from "../support/mails.ts";
import { inMs, jobOf, post } from "../support/notify.ts";
import { addPeople, inboxOf, quickStore, send } from "../support/people.ts";
import { addPhone, openChannels, outboxOf } from "../support/reached.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withPeople, withTenant } = worlds();
const everybody = { target: { type: "all" } };
const variant_b = { title: "B title", body: "B body" };

/** The split of D-AB: the first four bytes, big endian, of SHA-256("purpose:unit:subscriber"), mod 10,000. */
const bucket = (purpose: string, unit: string, subscriber: string) =>
  createHash("sha256").update(`${purpose}:${unit}:${subscriber}`).digest().readUInt32BE(0) % 10_000;

type Fate = "held out" | "a" | "b";
const fateOf = (job: string, id: string, holdout: number, split: number): Fate => {
  if (bucket("holdout", job, id) < holdout * 100) return "held out";
  return bucket("split", job, id) < split * 100 ? "a" : "b";
};

/** What each subscriber's inbox says of a job. */
async function fates(world: TestWorld, tenant: Tenant, ids: string[], job: string): Promise<(Fate | "plain")[]> {
  const store = quickStore(world, tenant);
  return Promise.all(
    ids.map(async (id) => {
      const items = await store.queryAll(Message, { subscriber: id });
      const mine = items.filter((row) => row.job === job).map((row) => JSON.parse(row.content ?? ""));
      expect(mine.length).toBeLessThan(2);
      if (mine.length === 0) return "held out";
      const { title, body, variant_id } = mine[0];
      expect([title, body]).toEqual(variant_id === "b" ? [variant_b.title, variant_b.body] : ["Hello", "World"]);
      return variant_id ?? "plain";
    }),
  );
}

it("the test vectors hold for the hashes of this file (D-AB)", () => {
  const job = "7f1b0c9e-0000-4000-8000-000000000001";
  const of = (n: number) => {
    const id = `00000000-0000-4000-8000-00000000000${n}`;
    return [bucket("holdout", job, id), bucket("split", job, id)];
  };

  expect(of(1)).toEqual([2444, 2037]);
  expect(of(2)).toEqual([2307, 8320]);
  expect(of(3)).toEqual([2635, 3123]);
});

it("a push and a mail carry the arm of their recipient (ABH-2, D-AB)", async () => {
  const { world, tenant } = await withTenant();
  const { ios, email } = await openChannels(world, tenant, "ios-push", "email");
  const [id = ""] = await addPeople(world, tenant, 1, () => ({ email: "ada@example.com" }));
  await addPhone(world, tenant, id, "ios");
  const { job } = await send(world, tenant, { subscriberIds: [id], channel_ids: [ios, email], variant_b });
  const arm = fateOf(job.id, id, 0, 50);
  const sent = new Map((await outboxOf(world)).map((item) => [item.channel, item]));

  expect(sent.get("ios")?.payload).toMatchObject({ variant_id: arm });
  expect(String(sent.get("email")?.payload)).toContain(`X-Variant-Id: ${arm}`);
});

describe.each([
  ["a", { body: "Hi {{ subscriber.external_id }}.", variant_b }],
  ["b", { variant_b: { ...variant_b, body: "Hi {{ subscriber.external_id }}." } }],
])("variables that only arm %s has are each recipient's own", (_, texts) => {
  it("in the inbox (ABH-1, D-LIQUID)", async () => {
    const { world, tenant, ids } = await withPeople(20);
    await send(world, tenant, { ...everybody, ...texts });
    const inboxes = await Promise.all(ids.map(async (id) => JSON.stringify(await inboxOf(world, tenant, id))));

    expectOwn(inboxes);
  });

  it("in mails (ABH-1, D-LIQUID)", async () => {
    const { world, tenant } = await withTenant();
    const { email } = await openChannels(world, tenant, "email");
    await addPeople(world, tenant, 20, (n) => ({ email: `p${n}@example.com` }));
    await send(world, tenant, { ...everybody, ...texts, channel_ids: [email] });

    expectOwn((await mailsOf(world)).map(({ text }) => text));
  });

  function expectOwn(texts: string[]) {
    const greetings = texts.flatMap((text) => /Hi p\d+\./.exec(text) ?? []);
    expect(greetings.length).toBeGreaterThan(1);
    expect(new Set(greetings)).toHaveLength(greetings.length);
  }
});

describe.each([
  ["300 people, planned in the request", 300],
  ["1,020 people, planned by the workers", 1_020],
])("%s", (_, count) => {
  const crowd = shared(({ withPeople }) => withPeople(count));

  it.each([
    [20, 50],
    [0, 30],
    [99, 1],
  ])(
    "a holdout of %i and a split of %i give everybody the fate that the hashes say (ABH-1, ABH-2, D-AB)",
    async (holdout, split) => {
      const { world, tenant, ids } = await crowd();
      const body = { ...everybody, variant_b, split_percentage: split, holdout_percentage: holdout };

      const { answer, job } = await send(world, tenant, body);

      const expected = ids.map((id) => fateOf(job.id, id, holdout, split));
      expect(await fates(world, tenant, ids, job.id)).toEqual(expected);
      const treated = expected.filter((fate) => fate !== "held out").length;
      expect(job.counts).toEqual({
        ...NOTHING_LATE,
        total: count,
        sent: treated,
        delivered: treated,
        failed: 0,
        skipped: 0,
        held_out: count - treated,
      });
      expect(job).toMatchObject({
        status: "completed",
        sent: treated,
        holdout_percentage: holdout,
        split_percentage: split,
      });
      if (count <= 1_000) expect(answer.sent).toBe(treated);
      else expect(answer.sent).toBe(Math.round(count * (1 - holdout / 100)));
    },
  );
});

describe("arms and control", () => {
  it("holdout 0, or an omitted one, holds out no subscriber (ABH-4)", async () => {
    const { world, tenant, ids } = await withPeople(200);

    for (const body of [everybody, { ...everybody, holdout_percentage: 0 }]) {
      const { answer, job } = await send(world, tenant, body);
      expect(answer.sent).toBe(200);
      expect(job.counts.held_out).toBe(0);
      expect(job.holdout_percentage).toBe(0);
      expect(await fates(world, tenant, ids, job.id)).toEqual(ids.map(() => "plain"));
    }
  });

  it("variant_id stands in the content of A/B sends only (ABH-3, AMB-101)", async () => {
    const { world, tenant } = await withTenant();
    const [id] = (await addPeople(world, tenant, 1)) as [string];
    await send(world, tenant, { subscriberIds: [id] });
    await send(world, tenant, { subscriberIds: [id], variant_b });
    const [ab, plain] = (await inboxOf(world, tenant, id)).sort((a) => ("variant_id" in a.content ? -1 : 1));

    expect(["a", "b"]).toContain(ab.content.variant_id);
    expect(plain.content).toEqual({ title: "Hello", body: "World" });
  });

  it("split_percentage defaults to 50 where there is a B arm, and is null where there is none (AMB-93)", async () => {
    const { world, tenant, ids } = await withPeople(100);

    const { job } = await send(world, tenant, { ...everybody, variant_b });

    expect(job.split_percentage).toBe(50);
    expect(await fates(world, tenant, ids, job.id)).toEqual(ids.map((id) => fateOf(job.id, id, 0, 50)));
    expect((await send(world, tenant, everybody)).job.split_percentage).toBeNull();
  });

  it("given ids and a scheduled send draw the same control; unknown ids are skipped, not held out (ABH-2)", async () => {
    const { world, tenant, ids } = await withPeople(100);
    const stranger = world.ids.uuid();
    const body = {
      subscriberIds: [...ids, stranger],
      variant_b,
      holdout_percentage: 30,
      scheduled_at: inMs(world, 5 * MINUTE),
    };

    const { body: answer } = await post(world, tenant, body);
    await world.advance(5 * MINUTE + SECOND);

    const expected = ids.map((id) => fateOf(answer.id, id, 30, 50));
    expect(await fates(world, tenant, ids, answer.id)).toEqual(expected);
    const held_out = expected.filter((fate) => fate === "held out").length;
    expect((await jobOf(tenant, answer.id)).counts).toMatchObject({ total: 101, held_out, skipped: 1 });
  });

  it("the control is drawn from those the filters leave (ABH-2)", async () => {
    const { world, tenant } = await withTenant();
    const ids = await addPeople(world, tenant, 200, (n) => ({ attributes: { even: n % 2 === 0 } }));
    const filters = { subscriber_filters: { even: { $eq: true } }, holdout_percentage: 40 };
    const { job } = await send(world, tenant, { ...everybody, ...filters });
    const held_out = ids.filter((id, n) => n % 2 === 0 && bucket("holdout", job.id, id) < 4_000).length;

    expect(job.counts).toMatchObject({ total: 100, held_out, sent: 100 - held_out });
  });

  it("whom no channel reaches is skipped, and not in the control (ABH-2)", async () => {
    const { world, tenant } = await withTenant();
    const { ios } = await openChannels(world, tenant, "ios-push");
    const ids = await addPeople(world, tenant, 40);
    for (const id of ids.slice(0, 10)) await addPhone(world, tenant, id, "ios");
    const { job } = await send(world, tenant, { ...everybody, channel_ids: [ios], holdout_percentage: 50 });
    const held_out = ids.slice(0, 10).filter((id) => bucket("holdout", job.id, id) < 5_000).length;

    expect(job.counts).toMatchObject({ total: 40, held_out, sent: 10 - held_out, skipped: 30 });
  });

  it("two sends draw separately: neither control nor arms are the same subscribers (ABH-1, ABH-2)", async () => {
    const { world, tenant } = await withTenant();
    const ids = await addPeople(world, tenant, 200);
    const body = { ...everybody, variant_b, holdout_percentage: 50 };
    const [first, second] = [(await send(world, tenant, body)).job, (await send(world, tenant, body)).job];

    expect(await fates(world, tenant, ids, first.id)).not.toEqual(await fates(world, tenant, ids, second.id));
  });
});
