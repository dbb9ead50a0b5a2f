// A sandbox: its time is moved over everything that waits for a time, and nothing leaves it (F4).
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { SMTP } from "../support/channels.ts";
import { type Calls, callsOf, month, sandboxIn } from "../support/sandboxes.ts";
import { START, type TestWorld } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();

/** A mail channel, and its recipients. */
async function mailing({ call, tenant, person }: Calls, world: TestWorld) {
  const { id } = await call("POST /api/v1/channels", { type: "email", name: "Mail" });
  await call(`POST /api/v1/channels/${id}/credentials/email`, SMTP);
  await world.settle();
  const subscriber = await person("mailed", { email: "ada@shop.example" });
  return { id, subscriber, status: (await call(`GET /api/v1/channels/${id}`)).status, tenant };
}

/** A workspace in which something waits: a weekly send, a campaign, the end of an experience. */
async function withPlans(own: Calls, world: TestWorld) {
  const subscriber = await own.person("ada");
  const channel_ids = [await own.inApp()];
  const titled = (title: string) => ({ title, body: "b" });
  const campaign = await own.call("POST /api/v1/campaigns", {
    name: "Spring",
    messages: [{ content: titled("Spring"), channel_ids, scheduled_at: timestamp(START + 3 * DAY) }],
  });
  await own.call(`POST /api/v1/campaigns/${campaign.id}/release`);
  const template = await own.call("POST /api/v1/templates", { name: "Weekly", content: titled("Weekly") });
  await own.call("POST /api/v1/schedules", {
    cron_expression: "0 9 * * 1",
    timezone: "UTC",
    template_id: template.id,
    channel_ids,
    target: { type: "all" },
  });
  const experience = await own.call("POST /api/v1/in-app/experiences", {
    name: "Sale",
    format: "banner",
    content: titled("Sale"),
    audience: { type: "all" },
    end_at: timestamp(START + 5 * DAY),
  });
  await own.call(`POST /api/v1/in-app/experiences/${experience.id}/publish`);
  await world.settle();
  const state = async () => ({
    messages: (await own.inbox(subscriber)).toSorted(),
    campaign: (await own.call(`GET /api/v1/campaigns/${campaign.id}`)).status,
    experience: (await own.call(`GET /api/v1/in-app/experiences/${experience.id}`)).status,
    sends: (await own.call("GET /api/v1/billing")).usage.sends,
  });
  return { state };
}

describe("a move of a sandbox's time", () => {
  it("a journey of 30 days is over after its seven moments, and the same way each time (ARC-14, F4)", async () => {
    const seen = [];
    for (let run = 0; run < 2; run++) {
      const world = await fresh();
      const sandbox = await sandboxIn(world);
      const { id, subscriber } = await month(sandbox, world);
      const { now, move } = await sandbox.move({ to: timestamp(START + 29 * DAY + HOUR) });
      const { runs } = await sandbox.call(`GET /api/v1/journeys/${id}/stats`);
      const { moments, messages } = move;
      seen.push({ now, moments, messages, completed: runs.completed, inbox: await sandbox.inbox(subscriber) });
    }

    expect(seen[0]).toMatchObject({ moments: 7, completed: 1, inbox: ["Day 1", "Day 8", "Day 30"] });
    expect(seen[1]).toEqual(seen[0]);
  });

  it("schedules, campaigns, experiences and the month's quota move with the time of a sandbox (F4)", async () => {
    const world = await fresh();
    const sandbox = await sandboxIn(world);
    const { state } = await withPlans(sandbox, world);

    await sandbox.move({ advance: "6d" });
    expect(await state()).toEqual({
      messages: ["Spring", "Weekly"],
      campaign: "completed",
      experience: "ended",
      sends: 3,
    });

    await sandbox.move({ to: "2026-12-01T00:30:00.000Z" });
    expect(await state()).toMatchObject({ messages: ["Spring", "Weekly", "Weekly"], sends: 0 });
  });

  it("another workspace stays in its own time when a sandbox moves (F4)", async () => {
    const world = await fresh();
    const { state } = await withPlans(callsOf(world, await world.tenant()), world);
    const before = await state();

    await (await sandboxIn(world)).move({ advance: "6d" });

    expect(await state()).toEqual(before);
    expect(before.messages).not.toContain("Spring");
  });

  const still = shared(async ({ fresh }) => sandboxIn(await fresh()));

  it.each([
    ["backwards", "to", { to: timestamp(START - HOUR) }],
    ["to the time that it is", "to", { to: timestamp(START) }],
    ["by more than 400 days", "advance", { advance: "401d" }],
    ["to a time more than 400 days ahead", "to", { to: timestamp(START + 400 * DAY + 1) }],
    ["by a duration and to a time", "body", { advance: "1h", to: "2026-12-01T00:00:00Z" }],
    ["by a duration that is not whole", "advance", { advance: "1.5h" }],
    ["nowhere", "body", {}],
  ])("a move %s is refused with 422, naming %s (F4)", async (_, field, body) => {
    const { tenant } = await still();

    const answer = await tenant.call("POST /v1/test/clock", body);

    expect(answer.status).toBe(422);
    expect(answer.body.fields).toEqual({ [field]: expect.any(String) });
  });

  it.each([{ advance: "400d" }, { advance: "9600h" }, { to: timestamp(START + 400 * DAY) }])(
    "a move of exactly 400 days is begun: $advance $to (F4)",
    async (body) => {
      const { tenant } = await sandboxIn(await fresh());

      expect((await tenant.call("POST /v1/test/clock", body)).status).toBe(202);
    },
  );

  it.each([
    ["developer", 202],
    ["marketer", 403],
  ] as const)(
    "the time of a sandbox is moved by who may make a key that moves it: a %s gets %i (F4, ATH-R5)",
    async (role, status) => {
      const world = await fresh();
      const { tenant } = await sandboxIn(world);
      const as = await tenant.dashboard(role);

      expect((await world.call("POST /v1/test/clock", { as, body: { advance: "1h" } })).status).toBe(status);
    },
  );

  it("the time of a workspace that is no sandbox is not moved: 409 (F4)", async () => {
    const { tenant } = await withTenant();

    const { status, body } = await tenant.call("POST /v1/test/clock", { advance: "1h" });

    expect(status).toBe(409);
    expect(body.code).toBe("NOT_A_SANDBOX");
  });

  it("a move is refused with 409 while another runs, which it names (F4)", async () => {
    const { call, tenant } = await sandboxIn(await fresh());
    const begun = await call("POST /v1/test/clock", { advance: "1h" });

    const { status, body } = await tenant.call("POST /v1/test/clock", { advance: "1h" });

    expect(status).toBe(409);
    expect(body).toMatchObject({ code: "CONFLICT", message: expect.stringContaining(begun.move.id) });
  });

  it("a move ends at the second that it names: what is due later in that minute waits (F4)", async () => {
    const world = await fresh();
    const sandbox = await sandboxIn(world);
    const subscriber = await sandbox.person("ada");
    const second = (n: number) => START + HOUR + n * SECOND;
    for (const n of [5, 55]) {
      const scheduled_at = timestamp(second(n));
      await sandbox.call("POST /api/v1/notifications", {
        title: `${n}`,
        body: "b",
        target: { type: "all" },
        scheduled_at,
      });
    }
    await world.settle();

    const { now } = await sandbox.move({ to: timestamp(second(10)) });

    expect(await sandbox.inbox(subscriber)).toEqual(["5"]);
    expect(Date.parse(now)).toBeLessThan(second(55));
  });

  it("the time of a sandbox passes as usual between moves (F4)", async () => {
    const world = await fresh();
    const sandbox = await sandboxIn(world);
    const { subscriber } = await month(sandbox, world);
    for (const advance of ["2d", "4d"]) await sandbox.move({ advance });
    expect(await sandbox.inbox(subscriber)).toEqual(["Day 1"]);
    await world.advance(DAY + 2 * MINUTE);
    expect(await sandbox.inbox(subscriber)).toEqual(["Day 1", "Day 8"]);
    const ahead = Date.parse((await sandbox.call("GET /v1/test/clock")).now) - world.clock.now();
    expect(Math.abs(ahead - 6 * DAY)).toBeLessThan(MINUTE);
  });
});

describe("a sandbox", () => {
  it("a sandbox sends no mail: it is in its outbox alone (F4)", async () => {
    const world = await fresh();
    const sandbox = await sandboxIn(world);
    const { id, subscriber, status } = await mailing(sandbox, world);
    const message = { title: "Hello", body: "Ada", channel_ids: [id], subscriberIds: [subscriber] };

    const job = await sandbox.call("POST /api/v1/notifications", message);
    await world.settle();

    expect(status).toBe("active");
    expect(await sandbox.outbox()).toMatchObject([
      { channel: "email", to: "ada@shop.example", subscriber_id: subscriber, job_id: job.id, title: "Hello" },
    ]);
    expect(world.providers.meter().requests).toBe(0);
    expect(world.ses.meter().requests).toBe(0);
    expect((await world.call("GET /_local/outbox")).body.items).toEqual([]);
  });

  it("the outbox of a sandbox says when a message was sent by the time of the sandbox (F4)", async () => {
    const world = await fresh();
    const sandbox = await sandboxIn(world);
    const { id, subscriber } = await mailing(sandbox, world);
    const { now } = await sandbox.move({ advance: "3d" });
    const message = { title: "Hello", body: "Ada", channel_ids: [id], subscriberIds: [subscriber] };

    await sandbox.call("POST /api/v1/notifications", message);
    await world.settle();

    const [sent] = await sandbox.outbox();
    expect(Math.abs(Date.parse(sent.at) - Date.parse(now))).toBeLessThan(MINUTE);
  });

  it("a webhook of a sandbox is tried again by the time of the sandbox, and in its outbox alone (F4)", async () => {
    const world = await fresh();
    const sandbox = await sandboxIn(world);
    const target_url = "https://shop.example/hooks?sandbox_status=503";
    await sandbox.call("POST /api/v1/webhooks", { target_url, events: ["notification.terminal"] });
    await sandbox.person("ada");
    await sandbox.call("POST /api/v1/notifications", { title: "t", body: "b", target: { type: "all" } });
    await world.settle();
    expect(await sandbox.outbox()).toMatchObject([{ channel: "webhook" }]);

    await sandbox.move({ advance: "1m" });

    const items: { channel: string; at: string }[] = await sandbox.outbox();
    expect(items.map(({ channel }) => channel)).toEqual(Array(4).fill("webhook"));
    expect(items).toEqual(items.toSorted((a, b) => a.at.localeCompare(b.at)));
    expect(world.providers.meter().requests).toBe(0);
  });

  it("the outbox of a sandbox forgets an erased subscriber (F4, T11)", async () => {
    const world = await fresh();
    const sandbox = await sandboxIn(world);
    const hook = { target_url: "https://shop.example/hooks", events: ["subscriber.created"] };
    await sandbox.call("POST /api/v1/webhooks", hook);
    const { id, subscriber } = await mailing(sandbox, world);
    const message = { title: "Hello", body: "Ada", channel_ids: [id], subscriberIds: [subscriber] };
    await sandbox.call("POST /api/v1/notifications", message);
    await world.settle();
    expect(await sandbox.outbox()).toHaveLength(2);
    await sandbox.call(`DELETE /api/v1/subscribers/${subscriber}`);
    await sandbox.move({ advance: "1h" });
    expect(await sandbox.outbox()).toEqual([]);
  });

  it("the outbox of a sandbox forgets the webhooks that name an erased subscriber (F4, T11)", async () => {
    const world = await fresh();
    const sandbox = await sandboxIn(world);
    const target_url = "https://shop.example/hooks";
    await sandbox.call("POST /api/v1/webhooks", { target_url, events: ["subscriber.created"] });
    const subscriber = await sandbox.person("ada");
    await world.settle();
    expect(await sandbox.outbox()).toMatchObject([{ channel: "webhook" }]);

    await sandbox.call(`DELETE /api/v1/subscribers/${subscriber}`);
    await sandbox.move({ advance: "1h" });

    expect(await sandbox.outbox()).toEqual([]);
  });

  const kindOf = async ({ call }: Calls) => (await call("GET /api/v1/me")).tenant.kind;

  it("a sandbox never becomes another kind of workspace (F4)", async () => {
    const world = await fresh();
    const sandbox = await sandboxIn(world);

    const changed = await world.host.invoke("operator", { tenant_id: sandbox.tenant.id, kind: "agency" });

    expect(changed).toMatchObject({ error: "conflict" });
    expect(await kindOf(sandbox)).toBe("sandbox");
  });

  it("an agency makes sandboxes (F4)", async () => {
    const { world, tenant } = await withTenant();
    const agency = callsOf(world, tenant);
    expect(await kindOf(agency)).toBe("standard");
    await world.host.invoke("operator", { tenant_id: tenant.id, kind: "agency" });

    const client = await agency.call("POST /api/v1/agency/workspaces", { name: "Tests", kind: "sandbox" });

    expect(client.kind).toBe("sandbox");
  });
});
