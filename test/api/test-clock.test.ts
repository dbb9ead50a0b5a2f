// A sandbox: its time is moved over everything that waits for a time, and nothing leaves it (F4).
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import { SMTP } from "../support/channels.ts";
import { type Calls, callsOf, month, sandboxIn } from "../support/sandboxes.ts";
import { type Headers, START, type TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

/** A mail channel, and who gets mail by it. */
async function mailing({ call, tenant, person }: Calls, world: TestWorld) {
  const { id } = await call("POST /api/v1/channels", { type: "email", name: "Mail" });
  await call(`POST /api/v1/channels/${id}/credentials/email`, SMTP);
  await world.settle();
  const subscriber = await person("mailed", { email: "ada@shop.example" });
  return { id, subscriber, status: (await call(`GET /api/v1/channels/${id}`)).status, tenant };
}

describe("a move", () => {
  it("a journey of 30 days is over in less than a second, and the same way each time (ARC-14, F4)", async () => {
    const seen = [];
    for (let run = 0; run < 2; run++) {
      const world = await fresh();
      const sandbox = await sandboxIn(world);
      const { id, subscriber } = await month(sandbox, world);
      const began = process.cpuUsage();
      const { now, move } = await sandbox.move({ to: timestamp(START + 29 * DAY + HOUR) });
      const { user } = process.cpuUsage(began);
      expect(user / 1_000).toBeLessThan(1_000);
      const { runs } = await sandbox.call(`GET /api/v1/journeys/${id}/stats`);
      const { moments, messages } = move;
      seen.push({ now, moments, messages, completed: runs.completed, inbox: await sandbox.inbox(subscriber) });
    }
    expect(seen[0]).toMatchObject({ completed: 1, inbox: ["Day 1", "Day 8", "Day 30"] });
    expect(seen[1]).toEqual(seen[0]);
  });

  it("schedules, campaigns, quiet hours, caps, experiences and the month's quota move together; another workspace does not (F4)", async () => {
    const world = await fresh();
    const prepared = async (own: Calls) => {
      const subscriber = await own.person("ada");
      const channel_ids = [await own.inApp()];
      const content = { title: "Spring", body: "b" };
      const campaign = await own.call("POST /api/v1/campaigns", {
        name: "Spring",
        messages: [{ content, channel_ids, scheduled_at: timestamp(START + 3 * DAY) }],
      });
      await own.call(`POST /api/v1/campaigns/${campaign.id}/release`);
      const template = await own.call("POST /api/v1/templates", {
        name: "Weekly",
        content: { title: "Weekly", body: "b" },
      });
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
        content: { title: "Sale", body: "b" },
        audience: { type: "all" },
        end_at: timestamp(START + 5 * DAY),
      });
      await own.call(`POST /api/v1/in-app/experiences/${experience.id}/publish`);
      await world.settle();
      const state = async () => ({
        weekly: (await own.inbox(subscriber)).filter((title) => title === "Weekly").length,
        spring: (await own.inbox(subscriber)).filter((title) => title === "Spring").length,
        campaign: (await own.call(`GET /api/v1/campaigns/${campaign.id}`)).status,
        experience: (await own.call(`GET /api/v1/in-app/experiences/${experience.id}`)).status,
        sends: (await own.call("GET /api/v1/billing")).usage.sends,
      });
      return { state };
    };
    const sandbox = await sandboxIn(world);
    const other = callsOf(world, await world.tenant());
    const [moved, still] = [await prepared(sandbox), await prepared(other)];
    const before = await still.state();
    await sandbox.move({ advance: "6d" });
    expect(await moved.state()).toMatchObject({
      weekly: 1,
      spring: 1,
      campaign: "completed",
      experience: "ended",
      sends: 3,
    });
    await sandbox.move({ to: "2026-12-01T00:30:00.000Z" });
    expect(await moved.state()).toMatchObject({ weekly: 2, sends: 0 });
    expect(await still.state()).toEqual(before);
    expect(before).toMatchObject({ weekly: 0, spring: 0 });
  });

  it("marketing waits for the end of quiet hours, and a cap for its day, by the time of the sandbox (F4)", async () => {
    const world = await fresh();
    const sandbox = await sandboxIn(world);
    const { id, subscriber } = await mailing(sandbox, world);
    const send = async (title: string) => {
      const message = { title, body: "b", category: "marketing", channel_ids: [id], subscriberIds: [subscriber] };
      await sandbox.call("POST /api/v1/notifications", message);
      await world.settle();
    };
    const titles = async () => (await sandbox.outbox()).map(({ title }: { title: string }) => title);
    await sandbox.call("PATCH /api/v1/workspace", {
      quiet_hours: { start: "22:00", end: "08:00", timezone_mode: "workspace", days: [0, 1, 2, 3, 4, 5, 6] },
      frequency_caps: [{ category: "marketing", max: 1, per: "day" }],
    });
    await sandbox.move({ to: timestamp(START + 11 * HOUR) });
    await send("Night");
    expect(await titles()).toEqual([]);
    await sandbox.move({ advance: "10h" });
    expect(await titles()).toEqual(["Night"]);
    await send("Capped");
    expect(await titles()).toEqual(["Night"]);
    await sandbox.move({ advance: "24h" });
    await send("Next day");
    expect(await titles()).toEqual(["Night", "Next day"]);
  });

  it("is refused outside of a sandbox, backwards, too far, and while another one runs (F4)", async () => {
    const world = await fresh();
    const sandbox = await sandboxIn(world);
    const ask = async (body: object, as?: Headers) => {
      const answer = await world.call("POST /v1/test/clock", { as: as ?? (await sandbox.tenant.dashboard()), body });
      return [answer.status, answer.body.code, Object.keys(answer.body.fields ?? {})];
    };
    const other = await world.tenant();
    expect(await ask({ advance: "1h" }, await other.dashboard())).toEqual([409, "NOT_A_SANDBOX", []]);
    expect(await ask({ advance: "1h" }, await sandbox.tenant.dashboard("developer"))).toEqual([403, "FORBIDDEN", []]);
    expect(await ask({ to: timestamp(START - HOUR) })).toEqual([422, "VALIDATION_ERROR", ["to"]]);
    expect(await ask({ advance: "401d" })).toEqual([422, "VALIDATION_ERROR", ["advance"]]);
    expect(await ask({ advance: "1.5h" })).toEqual([422, "VALIDATION_ERROR", ["advance"]]);
    expect(await ask({})).toEqual([422, "VALIDATION_ERROR", ["body"]]);
    const begun = await sandbox.call("POST /v1/test/clock", { advance: "1h" });
    const second = await world.call("POST /v1/test/clock", { as: sandbox.tenant.server, body: { advance: "1h" } });
    expect([second.status, second.body.code]).toEqual([409, "CONFLICT"]);
    expect(second.body.message).toContain(begun.move.id);
  });

  it("between moves the time of a sandbox passes as usual (F4)", async () => {
    const world = await fresh();
    const sandbox = await sandboxIn(world);
    const { subscriber } = await month(sandbox, world);
    await sandbox.move({ advance: "6d" });
    expect(await sandbox.inbox(subscriber)).toEqual(["Day 1"]);
    await world.advance(DAY + 2 * MINUTE);
    expect(await sandbox.inbox(subscriber)).toEqual(["Day 1", "Day 8"]);
    const ahead = Date.parse((await sandbox.call("GET /v1/test/clock")).now) - world.clock.now();
    expect(Math.abs(ahead - 6 * DAY)).toBeLessThan(MINUTE);
  });
});

describe("a sandbox", () => {
  it("sends nothing: mail, push and webhooks are in its outbox, and retries follow its time (F4)", async () => {
    const world = await fresh();
    const sandbox = await sandboxIn(world);
    const target_url = "https://shop.example/hooks?sandbox_status=503";
    await sandbox.call("POST /api/v1/webhooks", { target_url, events: ["notification.terminal"] });
    const { id, subscriber, status } = await mailing(sandbox, world);
    expect(status).toBe("active");
    const message = { title: "Hello", body: "Ada", channel_ids: [id], subscriberIds: [subscriber] };
    const job = await sandbox.call("POST /api/v1/notifications", message);
    await world.settle();
    const posted = (items: { channel: string }[]) => items.filter(({ channel }) => channel === "webhook").length;
    expect(posted(await sandbox.outbox())).toBe(1);
    await sandbox.move({ advance: "1m" });
    const items = await sandbox.outbox();
    const mail = {
      channel: "email",
      to: "ada@shop.example",
      subscriber_id: subscriber,
      job_id: job.id,
      title: "Hello",
    };
    expect(items.find(({ channel }: { channel: string }) => channel === "email")).toMatchObject(mail);
    expect(posted(items)).toBe(4);
    expect(items.map(({ at }: { at: string }) => at)).toEqual(items.map(({ at }: { at: string }) => at).sort());
    expect(world.providers.meter().requests + world.ses.meter().requests).toBe(0);
    expect((await world.call("GET /_local/outbox")).body.items).toEqual([]);
  });

  it("forgets an erased subscriber in its outbox (F4, T11)", async () => {
    const world = await fresh();
    const sandbox = await sandboxIn(world);
    const { id, subscriber } = await mailing(sandbox, world);
    const message = { title: "Hello", body: "Ada", channel_ids: [id], subscriberIds: [subscriber] };
    await sandbox.call("POST /api/v1/notifications", message);
    await world.settle();
    expect(await sandbox.outbox()).toHaveLength(1);
    await sandbox.call(`DELETE /api/v1/subscribers/${subscriber}`);
    await sandbox.move({ advance: "1h" });
    expect(await sandbox.outbox()).toEqual([]);
  });

  it("is one from its beginning, and stays one; an agency may make them (F4)", async () => {
    const world = await fresh();
    const sandbox = await sandboxIn(world);
    const kindOf = async ({ call }: Calls) => (await call("GET /api/v1/me")).tenant.kind;
    expect(await kindOf(sandbox)).toBe("sandbox");
    const change = (kind: string) => world.host.invoke("operator", { tenant_id: sandbox.tenant.id, kind });
    expect(await change("agency")).toMatchObject({ error: "conflict" });
    const agency = callsOf(world, await world.tenant());
    expect(await kindOf(agency)).toBe("standard");
    await world.host.invoke("operator", { tenant_id: agency.tenant.id, kind: "agency" });
    const client = await agency.call("POST /api/v1/agency/workspaces", { name: "Tests", kind: "sandbox" });
    expect(client.kind).toBe("sandbox");
  });
});
