// How mails arrive, by the provider of their mailboxes and by day (docs/decisions/0149).
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { graphOf } from "../support/journeys.ts";
import { follow, mailing, tellOfMail } from "../support/mails.ts";
import { mortal } from "../support/mortal.ts";
import { wholeTable } from "../support/people.ts";
import { ledgerOf, spoil } from "../support/reached.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const nothing = { sent: 0, delivered: 0, bounced: 0, complained: 0, unsubscribed: 0, opened_human: 0 };
const rates = { bounce_rate: 0, complaint_rate: 0 };
const arrived = (n: number) => ({ ...nothing, sent: n, delivered: n });

/** Ada with a mailbox at Google. */
async function mailed(world: TestWorld, tenant: Tenant, more: Record<string, string> = {}) {
  const { ada, channel, mail } = await mailing(world, tenant, "ada@gmail.com");
  for (const [external_id, email] of Object.entries(more)) await tenant.upsert({ external_id, email });
  await world.settle();
  const read = async (query = "") => (await tenant.call(`GET /api/v1/insights/deliverability${query}`)).body;
  const figures = async () => {
    const { buckets } = (await read()) as { buckets: { mailbox_provider: string; at: string; delivered: number }[] };
    return Object.fromEntries(buckets.map(({ mailbox_provider, at: _, ...own }) => [mailbox_provider, own]));
  };
  /** What SES says of Ada's newest mail. */
  const report = async (event: object) => {
    const row = (await ledgerOf(tenant, ada)).at(-1)!;
    const at = String(Date.parse(String(row.sk).split("#")[1]!));
    const tags = { tenant: [tenant.id], job: [row.job], subscriber: [ada], at: [at] };
    await tellOfMail(world, { ...event, mail: { tags } });
  };
  return { ada, channel, mail, read, figures, report };
}

const BOUNCE = {
  eventType: "Bounce",
  bounce: { bounceType: "Permanent", bounceSubType: "General", bouncedRecipients: [{ emailAddress: "ada@gmail.com" }] },
};
const COMPLAINT = { eventType: "Complaint", complaint: { complainedRecipients: [{ emailAddress: "ada@gmail.com" }] } };

it("a workspace without mails has no figures of mailboxes (docs/decisions/0149)", async () => {
  const { tenant } = await withTenant();

  expect((await tenant.call("GET /api/v1/insights/deliverability")).body).toEqual({ rows: [], buckets: [] });
});

it("more than a year of mailboxes is refused (docs/decisions/0149)", async () => {
  const { tenant } = await withTenant();

  const answer = await tenant.call(
    "GET /api/v1/insights/deliverability?start=2024-01-01T00:00:00Z&end=2026-01-01T00:00:00Z",
  );

  expect(answer).toMatchObject({ status: 422, body: { fields: { start: "must be at most 366 days before end" } } });
});

it("a send to many counts each mail at the provider of its mailbox, on its day (docs/decisions/0149)", async () => {
  const { world, tenant } = await withTenant();
  const { mail, read } = await mailed(world, tenant, {
    bob: "Bob@Hotmail.co.uk",
    cem: "cem@example.com",
    eve: "eve@gmail.com",
  });
  await mail();
  const first = `${timestamp(world.clock.now()).slice(0, 10)}T00:00:00.000Z`;
  await world.advance(DAY);
  await mail();
  const second = `${timestamp(world.clock.now()).slice(0, 10)}T00:00:00.000Z`;

  expect(await read()).toEqual({
    rows: [
      { mailbox_provider: "gmail", ...arrived(4), ...rates },
      { mailbox_provider: "microsoft", ...arrived(2), ...rates },
      { mailbox_provider: "other", ...arrived(2), ...rates },
    ],
    buckets: [first, second].flatMap((at) => [
      { at, mailbox_provider: "gmail", ...arrived(2) },
      { at, mailbox_provider: "microsoft", ...arrived(1) },
      { at, mailbox_provider: "other", ...arrived(1) },
    ]),
  });
  expect((await read(`?start=${second}`)).buckets.map(({ at }: { at: string }) => at)).toEqual([
    second,
    second,
    second,
  ]);
});

it("a mail to one counts at once, and is not counted again by its settlement (docs/decisions/0149)", async () => {
  const { world, tenant } = await withTenant();
  const { ada, channel, figures } = await mailed(world, tenant);
  const body = { subscriberIds: [ada], title: "t", body: "b", channel_ids: [channel] };
  expect((await tenant.call("POST /api/v1/notifications", body)).status).toBe(201);
  await world.settle();
  const atOnce = await figures();
  await world.advance(2 * HOUR);

  expect([atOnce, await figures()]).toEqual([{ gmail: arrived(1) }, { gmail: arrived(1) }]);
});

it("a mail of a journey's step counts at the provider of its mailbox (docs/decisions/0149)", async () => {
  const { world, tenant } = await withTenant();
  const { channel, figures } = await mailed(world, tenant);
  const steps = graphOf({ hello: { send: { channel_ids: [channel], content: { title: "t", body: "b" } } } });
  const trigger = { type: "event", event_name: "signed_up" };
  const { id } = (await tenant.call("POST /api/v1/journeys", { name: "Welcome", trigger, steps })).body;
  await tenant.call(`POST /api/v1/journeys/${id}/activate`);
  await world.call("POST /v1/events", {
    as: tenant.server,
    body: { events: [{ event_name: "signed_up", external_id: "ada" }] },
  });
  await world.settle();

  expect(await figures()).toEqual({ gmail: arrived(1) });
});

describe("what comes back of a mail", () => {
  it("a bounce counts at the provider of its mailbox, on the day of the mail, once (docs/decisions/0149, AMB-139)", async () => {
    const { world, tenant } = await withTenant();
    const { mail, read, report } = await mailed(world, tenant, { cem: "cem@example.com" });
    await mail();
    const day = (await read()).buckets[0].at;
    await world.advance(DAY);
    await report(BOUNCE);
    await report(BOUNCE);

    expect((await read()).rows).toEqual([
      { mailbox_provider: "gmail", ...nothing, sent: 1, bounced: 1, bounce_rate: 1, complaint_rate: 0 },
      { mailbox_provider: "other", ...arrived(1), ...rates },
    ]);
    expect((await read()).buckets.map(({ at }: { at: string }) => at)).toEqual([day, day]);
  });

  it("a bounce counts at the provider that the mail went to, wherever its recipient is now (docs/decisions/0149)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, mail, figures, report } = await mailed(world, tenant);
    await mail();
    await tenant.call(`PATCH /api/v1/subscribers/${ada}`, { email: "ada@web.de" });
    await report(BOUNCE);

    expect(await figures()).toEqual({ gmail: { ...nothing, sent: 1, bounced: 1 } });
  });

  it("a complaint counts at the provider of its mailbox (docs/decisions/0149)", async () => {
    const { world, tenant } = await withTenant();
    const { mail, read, report } = await mailed(world, tenant);
    await mail();
    await report(COMPLAINT);

    expect((await read()).rows).toEqual([
      { mailbox_provider: "gmail", ...arrived(1), complained: 1, bounce_rate: 0, complaint_rate: 1 },
    ]);
  });

  it("an opt-out by a link counts at the provider of its mailbox (docs/decisions/0149)", async () => {
    const { world, tenant } = await withTenant();
    const { mail, figures } = await mailed(world, tenant);
    const { mail: sent } = await mail();
    await follow(world, "POST", sent.unsubscribe!);

    expect(await figures()).toEqual({ gmail: { ...arrived(1), unsubscribed: 1 } });
  });

  it.each([
    ["arrived", { eventType: "Delivery" }, arrived(1)],
    ["came back", BOUNCE, { ...nothing, sent: 1, bounced: 1 }],
  ])(
    "a mail without an answer counts once it is known that it %s (docs/decisions/0149, AMB-139)",
    async (_, event, then) => {
      const { world, tenant } = await withTenant();
      const { mail, figures, report } = await mailed(world, tenant);
      await spoil(world, { channel: "email", outcome: "timeout", times: 1 });
      await mail();
      await world.advance(MINUTE);
      expect(await figures()).toEqual({});

      await report(event);

      expect(await figures()).toEqual({ gmail: then });
    },
  );
});

describe("opens of mails", () => {
  it("a person who opens a mail counts once at the provider of the mailbox (docs/decisions/0149, F19)", async () => {
    const { world, tenant } = await withTenant();
    const { mail, figures } = await mailed(world, tenant);
    const { mail: sent } = await mail();
    await world.advance(MINUTE);
    await follow(world, "GET", sent.pixel);
    await world.advance(MINUTE);
    await follow(world, "GET", sent.pixel);

    expect(await figures()).toEqual({ gmail: { ...arrived(1), opened_human: 1 } });
  });

  it("what turns out to be a machine's is taken back where it was counted (docs/decisions/0149, F19)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, mail, figures } = await mailed(world, tenant);
    const body = [1, 2, 3, 4].map((n) => `<a href="https://shop.example.com/${n}">${n}</a>`).join("");
    const { mail: sent } = await mail({ body });
    await world.advance(3 * HOUR);
    const counted: object[] = [];
    for (const path of sent.clicks) {
      await follow(world, "GET", path);
      counted.push(await figures());
      await tenant.call(`PATCH /api/v1/subscribers/${ada}`, { email: "ada@web.de" });
      await world.advance(SECOND);
    }

    expect(counted[0]).toEqual({ gmail: { ...arrived(1), opened_human: 1 } });
    expect(counted.at(-1)).toEqual({ gmail: arrived(1) });
  });
});

it("an erasure leaves the figures, and no row that says which provider it was (docs/decisions/0149, SUB-10)", async () => {
  const { world, tenant } = await withTenant();
  const { ada, mail, figures } = await mailed(world, tenant);
  const { mail: sent } = await mail();
  await world.advance(MINUTE);
  await follow(world, "GET", sent.pixel);
  const before = await figures();
  const saying = async () => (await wholeTable(world)).filter((row) => row.mailbox !== undefined).length;
  expect(await saying()).toBe(2);

  await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
  await world.advance(5 * MINUTE);

  expect(await figures()).toEqual(before);
  expect(await saying()).toBe(0);
});

it("a worker that crashes at any step leaves the same figures of mailboxes as of mails (docs/decisions/0149, F1)", async () => {
  const worker = mortal("deliver");
  const { world, tenant } = await withTenant({ hooks: worker.hooks });
  const people = Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`p${n}`, `p${n}@gmx.de`]));
  const { channel, figures } = await mailed(world, tenant, people);
  const run = async (n: number) => {
    worker.dieAt(n, "before");
    await tenant.call("POST /api/v1/notifications", {
      ...{ target: { type: "all" }, title: "t", body: "b", channel_ids: [channel] },
    });
    await world.settle();
    const taken = worker.steps();
    worker.revive();
    await world.advance(9 * MINUTE);
    return taken;
  };
  const steps = await run(1_000);
  for (let n = 1; n <= steps; n++) await run(n);

  const { gmail, gmx, ...rest } = (await figures()) as Record<string, { delivered: number }>;
  const rows = (await Promise.all((await peopleIn(tenant)).map((id) => ledgerOf(tenant, id)))).flat();
  const sent = rows.filter(({ state }) => state === "sent");
  const of = (mailbox: string) => sent.filter((row) => row.mailbox === mailbox).length;
  expect([rest, gmail!.delivered, gmx!.delivered]).toEqual([{}, of("gmail"), of("gmx")]);
  expect(of("gmail") + of("gmx")).toBe(sent.length);
}, 240_000);

const peopleIn = async (tenant: Tenant): Promise<string[]> =>
  (await tenant.call("GET /api/v1/subscribers?limit=50")).body.items.map(({ id }: { id: string }) => id);
