// Interactions that clients report: accepted, counted once, by report and by recipient (INT).
import { describe, expect, it } from "vitest";
import { MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { interactions, platforms } from "../../shared/rules/interactions.ts";
import { countInteraction } from "../../shared/store/sends/interactions/interactions.ts";
import { interactionTotals } from "../../shared/store/sends/interactions/totals.ts";
import { personalEngagements, tenantEngagements } from "../../shared/store/subscribers/engagement.ts";
import { getProfiles } from "../../shared/store/subscribers/subscribers.ts";
import { addPeople, inboxOf, quickStore, send, wholeTable } from "../support/people.ts";
import { recountInteractions } from "../support/recounts.ts";
import { START, type Tenant, type TestWorld, UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const ROUTE = "POST /api/v1/notifications/interactions";

const report = (world: TestWorld, tenant: Tenant, body: object) => world.call(ROUTE, { as: tenant.sdk, body });
const seen = (job_id: string, more: object = {}) => ({
  job_id,
  interaction: "inapp_impression",
  platform: "ios",
  occurred_at: timestamp(START),
  ...more,
});

async function withJob(options: object = {}) {
  const { world, tenant } = await withTenant();
  const people = (await addPeople(world, tenant, 4)) as [string, string, string, string];
  const { job } = await send(world, tenant, { target: { type: "all" }, ...options });
  const totals = async () => {
    const store = quickStore(world, tenant);
    const found = await interactionTotals(store, job.id);
    expect(await recountInteractions(store, job.id)).toEqual(found);
    return found;
  };
  const byArm = async () => {
    const { variants } = await totals();
    return Object.entries(variants)
      .map(([arm, one]) => [arm, one.interactions.inapp_impression, one.recipients.opened])
      .sort();
  };
  return {
    world,
    tenant,
    people,
    job: String(job.id),
    totals,
    byArm,
    say: (body: object) => report(world, tenant, body),
  };
}

describe("reporting", () => {
  it("every field is accepted, and the answer is 202 without a body (INT-1, INT-6, INT-7, INT-8)", async () => {
    const { job, people, say } = await withJob();
    const more = {
      interaction: "inapp_click",
      action_id: "buy",
      url: "https://example.com/x",
      subscriber_id: people[0],
    };
    const answer = await say(seen(job, { ...more, device_id: "phone", variant_id: "a" }));

    expect(answer.status).toBe(202);
    expect(answer.body).toBe("");
    expect((await say(seen(job))).status).toBe(202);
  });

  it("every interaction counts under its name, from every platform (INT-3, INT-4, INT-10)", async () => {
    const { job, totals, say } = await withJob();
    for (const interaction of interactions)
      for (const platform of platforms) expect((await say(seen(job, { interaction, platform }))).status).toBe(202);
    const found = await totals();
    expect(found.interactions).toEqual(
      Object.fromEntries(interactions.map((interaction) => [interaction, platforms.length])),
    );
    expect(found.channels.in_app?.interactions.inapp_click).toBe(platforms.length);
    expect(found.channels.web_push?.interactions.tapped).toBe(1);
    expect(found.recipients).toEqual({ reached: 0, opened: 0, clicked: 0, opened_human: 0, clicked_human: 0 });
  });

  it("an interaction with an unknown job is refused with 422, naming it (INT-2, INT-9, AMB-41)", async () => {
    const { say } = await withJob();

    const { status, body } = await say(seen(UNKNOWN));

    expect(status).toBe(422);
    expect(Object.keys(body.fields)).toEqual(["job_id"]);
  });
});

describe("counting", () => {
  it("a report equal in every field counts once, any other counts again, recipients count once (AMB-106)", async () => {
    const { job, people, totals, say } = await withJob();
    const [ada, bob] = people;
    const click = { interaction: "inapp_click", subscriber_id: ada };
    await Promise.all(Array.from({ length: 5 }, () => say(seen(job, click))));
    await say(seen(job, click));
    expect((await totals()).interactions.inapp_click).toBe(1);
    for (const more of [
      { action_id: "a" },
      { url: "https://x.test" },
      { occurred_at: timestamp(START + 1) },
      { device_id: "d" },
    ])
      await say(seen(job, { ...click, ...more }));
    await say(seen(job, { ...click, platform: "web" }));
    for (const subscriber_id of [ada, bob, undefined]) await say(seen(job, { subscriber_id }));
    expect(await totals()).toMatchObject({
      interactions: { inapp_click: 6, inapp_impression: 3 },
      recipients: { clicked: 1, opened: 2, reached: 2 },
      channels: { in_app: { recipients: { clicked: 1, opened: 2, reached: 2 } } },
    });
  });

  it("an open on two channels is one recipient in all and one in each (AMB-68)", async () => {
    const { job, people, totals, say } = await withJob();
    for (const interaction of ["email_opened", "email_clicked", "tapped", "dismissed"])
      await say(seen(job, { interaction, platform: "android", subscriber_id: people[0] }));
    const { recipients, channels } = await totals();

    expect(recipients).toEqual({ reached: 0, opened: 1, clicked: 1, opened_human: 1, clicked_human: 1 });
    expect(
      Object.entries(channels)
        .map(([name, { recipients: one }]) => [name, one.opened, one.clicked])
        .sort(),
    ).toEqual([
      ["android", 1, 1],
      ["email", 1, 1],
    ]);
  });

  it("the arm that a report names counts for A/B sends alone (ABH-3)", async () => {
    const plain = await withJob();
    await plain.say(seen(plain.job, { variant_id: "a" }));
    expect((await plain.totals()).variants).toEqual({});
    const split = await withJob({ variant_b: { title: "B", body: "B" }, split_percentage: 50 });
    for (const [n, variant_id] of ["a", "b", "b"].entries())
      await split.say(seen(split.job, { variant_id, subscriber_id: split.people[n] }));
    await split.say(seen(split.job, { variant_id: "z" }));
    await split.say(seen(split.job));

    expect(await split.byArm()).toEqual([
      ["a", 1, 1],
      ["b", 2, 2],
    ]);
    expect((await split.totals()).interactions.inapp_impression).toBe(5);
  });

  it("a report without an arm counts for the arm that its recipient got (ABH-1, INT-8)", async () => {
    const variant_b = { title: "B", body: "B" };
    const { world, tenant, job, people, say, byArm } = await withJob({ variant_b, split_percentage: 50 });
    const got: string[] = [];
    for (const [n, subscriber_id] of people.entries()) {
      const [message] = await inboxOf(world, tenant, subscriber_id);
      got.push(message.content.variant_id);
      const named = n === 0 ? { variant_id: "z" } : {};
      expect((await say(seen(job, { ...named, subscriber_id }))).status).toBe(202);
    }
    const ofArm = (name: string) => got.filter((arm) => arm === name).length;
    expect(ofArm("a") + ofArm("b")).toBe(people.length);

    expect(await byArm()).toEqual(["a", "b"].filter(ofArm).map((arm) => [arm, ofArm(arm), ofArm(arm)]));
  });

  it("a known device identifies its subscriber; unknown and erased subscribers are counted and not stored (INT-8)", async () => {
    const { world, tenant, job, people, totals, say } = await withJob();
    const device = { subscriber_id: people[0], platform: "ios", token: "token", device_id: "phone" };
    expect((await world.call("POST /api/v1/devices", { as: tenant.sdk, body: device })).status).toBe(201);
    await say(seen(job, { device_id: "phone" }));
    await say(seen(job, { device_id: "another" }));
    await tenant.call(`DELETE /api/v1/subscribers/${people[1]}`);
    await say(seen(job, { subscriber_id: people[1] }));
    await say(seen(job, { subscriber_id: "stranger-canary" }));
    expect(await totals()).toMatchObject({ interactions: { inapp_impression: 4 }, recipients: { reached: 1 } });
    await world.advance(5 * MINUTE);
    const table = JSON.stringify(await wholeTable(world));
    expect(table).not.toContain("stranger-canary");
    expect(table.split(`E#${job}`).length - 1).toBe(1);
  });

  it("an erasure removes the stages of the subscriber, and leaves the counts (SUB-8)", async () => {
    const { world, tenant, job, people, totals, say } = await withJob();
    await say(seen(job, { interaction: "tapped", subscriber_id: people[0] }));
    const before = await totals();
    await tenant.call(`DELETE /api/v1/subscribers/${people[0]}`);
    await world.advance(5 * MINUTE);

    expect(JSON.stringify(await wholeTable(world))).not.toContain(`E#${job}`);
    expect(await totals()).toEqual(before);
  });

  it("an answer counts once a job and class, for its subscriber and for the workspace; an impression does not (SMA-3, D-ARB)", async () => {
    const { world, tenant, job, people, say } = await withJob();
    const [ada, bob] = people;
    for (const interaction of [
      "inapp_impression",
      "inapp_click",
      "inapp_click",
      "tapped",
      "foreground_received",
    ] as const)
      for (const n of [1, 2])
        await say(seen(job, { interaction, subscriber_id: ada, occurred_at: timestamp(START - n) }));
    await say(seen(job, { subscriber_id: bob }));
    const store = quickStore(world, tenant);
    const profiles = await getProfiles(store, [ada, bob]);
    const [hers, his] = await personalEngagements(
      store,
      profiles.filter((profile) => profile !== undefined),
    );

    expect(hers).toMatchObject({ in_app: { engaged: 1 }, push: { engaged: 1 }, email: { engaged: 0 } });
    expect(his).toMatchObject({ in_app: { engaged: 0 } });
    expect(await tenantEngagements(store)).toMatchObject({ in_app: { engaged: 1 }, push: { engaged: 1 } });
  });

  it("deliveries and first opens are counted by day and hour; with a wrong clock, by the time of receipt (ISG-5)", async () => {
    const { world, tenant, job, people, say } = await withJob();
    const times = ["2026-11-20T03:59:59.999Z", "2026-11-19T23:00:00Z", "1999-01-01T00:00:00Z", "2039-01-01T00:00:00Z"];
    for (const [n, occurred_at] of times.entries()) await say(seen(job, { occurred_at, subscriber_id: people[n] }));
    await say(seen(job, { occurred_at: "2026-11-20T05:00:00Z", subscriber_id: people[0] }));
    await world.advance(SECOND);
    const hours = (await wholeTable(world)).filter(({ pk }) => pk.S.startsWith(`T#${tenant.id}#HOURS#`));
    const counted = new Map<string, number>();
    for (const { pk: _, sk, ...counts } of hours)
      for (const [hour, n] of Object.entries(counts))
        counted.set(`${sk.S} ${hour}`, (counted.get(`${sk.S} ${hour}`) ?? 0) + Number(n.N));

    expect(Object.fromEntries([...counted].filter(([name]) => !name.includes("|")))).toEqual({
      "2026-11-20 delivered:12": 4,
      "2026-11-20 opened:03": 1,
      "2026-11-19 opened:23": 1,
      "2026-11-20 opened:12": 2,
    });
  });

  it("no key gets more than 5% of the writes of a burst", async () => {
    const { world, tenant, job, people } = await withJob();
    const store = quickStore(world, tenant);
    const before = new Set((await wholeTable(world)).map(({ pk }) => pk.S));
    const count = 1_000;
    for (let n = 0; n < count; n++) {
      const occurred_at = timestamp(START - n);
      const one = { interaction: "inapp_impression", platform: "ios", job_id: job, occurred_at } as const;
      await countInteraction(store, { ...one, subscriber_id: people[n % 4] });
    }
    const written = new Map<string, number>();
    for (const { pk, sk, ...item } of await wholeTable(world)) {
      if (before.has(pk.S)) continue;
      const writes = sk.S === "n" ? Number(item["i|inapp_impression"].N) : 1;
      written.set(pk.S, (written.get(pk.S) ?? 0) + writes);
    }
    const all = [...written.values()].reduce((sum, n) => sum + n, 0);

    expect(all).toBeGreaterThanOrEqual(2 * count);
    expect(Math.max(...written.values()) / all).toBeLessThanOrEqual(0.05);
  });
});
