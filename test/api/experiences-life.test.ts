// The life of an experience (INX-30 to INX-38): every state under every call, what each move takes along, and when
// time moves it by itself (AMB-4 to AMB-7).
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../shared/clock.ts";
import { experienceStatuses } from "../../shared/rules/experience-states.ts";
import { act, draft, patchExperience as patch, READY, readExperience as read, take } from "../support/experiences.ts";
import { addPeople, inboxOf, operate, reachedOf, wholeTable } from "../support/people.ts";
import { START, type Tenant, type TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const at = (ms: number) => new Date(START + ms).toISOString();

const job = async (world: TestWorld, tenant: Tenant, id: string) =>
  (await world.call(`GET /api/v1/notifications/${id}`, { as: await tenant.dashboard() })).body;
const jobsOf = async (world: TestWorld, tenant: Tenant, id: string) =>
  (
    await world.call(`GET /api/v1/notifications?source_type=experience&source_id=${id}`, {
      as: await tenant.dashboard(),
    })
  ).body.items;
/** Kinds of the notes about an experience. */
const notesOf = async (world: TestWorld, id: string) =>
  (await wholeTable(world))
    .filter(({ pk, ref_id }) => pk.S.endsWith("#annotation") && ref_id?.S === id)
    .map(({ kind }) => kind.S)
    .sort();

async function withPeople(count: number) {
  const { world, tenant } = await withTenant();
  return { world, tenant, people: await addPeople(world, tenant, count) };
}

const ways = {
  draft: [],
  live: ["publish"],
  paused: ["publish", "pause"],
  ended: ["publish", "end"],
  archived: ["archive"],
};
const allowed: Record<string, string> = {
  "draft publish": "live",
  "live pause": "paused",
  "paused resume": "live",
  "live end": "ended",
  "paused end": "ended",
  "ended end": "ended",
  "draft archive": "archived",
  "ended archive": "archived",
  "archived archive": "archived",
};
const matrix = experienceStatuses.flatMap((status) =>
  ["publish", "pause", "resume", "end", "archive"].map((action) => [status, action] as const),
);

it("INX-5 INX-37 has a matrix of 25", () => expect(matrix).toHaveLength(25));

it.each(matrix)("INX-30 to INX-38 %s: %s", async (status, action) => {
  const { world, tenant } = await withTenant();
  const id = await draft(world, tenant);
  await take(world, tenant, id, ...ways[status]);
  const before = (await read(world, tenant, id)).body;
  expect(before.status).toBe(status);
  const answer = await act(world, tenant, id, action);
  const after = (await read(world, tenant, id)).body;
  const next = allowed[`${status} ${action}`];
  if (next) {
    expect([answer.status, answer.body]).toEqual([200, after]);
    expect(after.status).toBe(next);
    expect(after.archived_at !== undefined).toBe(next === "archived");
    if (next === status) expect(after).toEqual(before);
  } else {
    expect([answer.status, answer.body.code]).toEqual([400, "BAD_REQUEST"]);
    expect(answer.body.message).toContain(status);
    expect(after).toEqual(before);
  }
});

it("INX-30 to INX-38 whatever is called in whatever order, the status follows the table and one send at most is made", async () => {
  const { world, tenant } = await withTenant();
  const calls = fc.array(fc.constantFrom("publish", "pause", "resume", "end", "archive"), { maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(calls, async (actions) => {
      const id = await draft(world, tenant);
      let status = "draft";
      for (const action of actions) {
        const next = allowed[`${status} ${action}`];
        const answer = await act(world, tenant, id, action);
        expect([status, action, answer.status]).toEqual([status, action, next ? 200 : 400]);
        status = next ?? status;
        expect((await read(world, tenant, id)).body.status).toBe(status);
      }
      expect((await jobsOf(world, tenant, id)).length).toBeLessThanOrEqual(1);
    }),
    { numRuns: 25 },
  );
});

describe("publish", () => {
  it("INX-17 INX-31 INX-32 goes live, sends at once, and names its send", async () => {
    const { world, tenant, people } = await withPeople(3);
    const id = await draft(world, tenant);
    expect((await read(world, tenant, id)).body).not.toHaveProperty("notification_id");
    const { status, body } = await act(world, tenant, id, "publish");
    expect([status, body.status]).toEqual([200, "live"]);
    await world.settle();
    expect(await reachedOf(world, tenant, people, body.notification_id)).toEqual(people);
    expect(await job(world, tenant, body.notification_id)).toMatchObject({
      ...{ status: "completed", title: "Sale", body: "20 % off", target: { type: "all" }, name: READY.name },
      source: { type: "experience", id },
      counts: { total: 3, delivered: 3 },
    });
    expect((await jobsOf(world, tenant, id)).map((one: { id: string }) => one.id)).toEqual([body.notification_id]);
  });

  it("INX-32 sends at start_at if that is ahead, at once if it is past", async () => {
    const { world, tenant, people } = await withPeople(1);
    const later = await draft(world, tenant, { start_at: at(HOUR) });
    const { notification_id, status } = await take(world, tenant, later, "publish");
    expect([status, (await job(world, tenant, notification_id)).status]).toEqual(["live", "scheduled"]);
    await world.advance(HOUR - SECOND);
    expect(await reachedOf(world, tenant, people)).toEqual([]);
    await world.advance(2 * SECOND);
    expect(await reachedOf(world, tenant, people, notification_id)).toEqual(people);
    const past = await draft(world, tenant, { start_at: at(-DAY) });
    const { notification_id: now } = await take(world, tenant, past, "publish");
    expect(await reachedOf(world, tenant, people, now)).toEqual(people);
  });

  it("INX-6 INX-31 AMB-4 what is missing is named, all of it, and nothing is sent", async () => {
    const { world, tenant, people } = await withPeople(1);
    const id = await draft(world, tenant, {
      ...{ content: { title: "t" }, audience: undefined, variant_b: { title: "B" } },
      end_at: at(MINUTE),
    });
    await world.advance(MINUTE);
    const { status, body } = await act(world, tenant, id, "publish");
    expect([status, body.code, Object.keys(body.fields).sort()]).toEqual([
      ...[400, "BAD_REQUEST"],
      ["audience", "content.body", "end_at", "variant_b.body"],
    ]);
    await world.settle();
    expect((await read(world, tenant, id)).body.status).toBe("draft");
    expect(await reachedOf(world, tenant, people)).toEqual([]);
    await patch(world, tenant, id, { ...READY, variant_b: { title: "B", body: "b" }, end_at: "" });
    expect((await act(world, tenant, id, "publish")).status).toBe(200);
  });

  it("INX-15 goes to the list it names, and a list that is gone is named", async () => {
    const { world, tenant, people } = await withPeople(3);
    const as = await tenant.dashboard();
    const { id: list_id } = (await world.call("POST /api/v1/lists", { as, body: { name: "VIP" } })).body;
    await world.call(`POST /api/v1/lists/${list_id}/subscribers`, { as, body: { subscriber_ids: [people[1]] } });
    const id = await draft(world, tenant, { audience: { type: "list", list_id } });
    const late = await draft(world, tenant, { audience: { type: "list", list_id } });
    await take(world, tenant, id, "publish");
    expect(await reachedOf(world, tenant, people)).toEqual([people[1]]);
    const remove = async () => world.call(`DELETE /api/v1/lists/${list_id}`, { as: await tenant.dashboard() });
    expect((await remove()).status).toBe(409);
    await take(world, tenant, id, "pause");
    expect((await remove()).status).toBe(409);
    await take(world, tenant, id, "end");
    expect((await remove()).status).toBe(204);
    const { status, body } = await act(world, tenant, late, "publish");
    expect([status, Object.keys(body.fields)]).toEqual([400, ["audience.list_id"]]);
  });

  it("INX-30 two at once make one send", async () => {
    const { world, tenant, people } = await withPeople(2);
    const id = await draft(world, tenant);
    const both = await Promise.all([act(world, tenant, id, "publish"), act(world, tenant, id, "publish")]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
    await world.settle();
    expect(await jobsOf(world, tenant, id)).toHaveLength(1);
    for (const person of people) expect(await inboxOf(world, tenant, person)).toHaveLength(1);
  });

  it("AMB-47 needs the workspace's in_app channel to be there and active", async () => {
    const { world, tenant } = await withTenant();
    const as = await tenant.dashboard();
    const [{ id: channel }] = (await world.call("GET /api/v1/channels", { as })).body.channels;
    await world.call(`PATCH /api/v1/channels/${channel}`, { as, body: { active: false } });
    const id = await draft(world, tenant);
    expect(await act(world, tenant, id, "publish")).toMatchObject({ status: 400, body: { code: "BAD_REQUEST" } });
    await world.call(`PATCH /api/v1/channels/${channel}`, { as, body: { active: true } });
    expect((await act(world, tenant, id, "publish")).status).toBe(200);
  });

  it("AMB-87 counts against the quota of sends: refused whole with 402, and a draft still", async () => {
    const { world, tenant } = await withPeople(3);
    await operate(world, tenant, { monthly_send_cap: 2 });
    const id = await draft(world, tenant);
    expect(await act(world, tenant, id, "publish")).toMatchObject({ status: 402, body: { code: "SEND_CAP_REACHED" } });
    expect((await read(world, tenant, id)).body.status).toBe("draft");
    expect(await jobsOf(world, tenant, id)).toEqual([]);
  });
});

describe("pause and resume", () => {
  it("INX-33 AMB-6 a pause cancels a send still ahead; resuming sends it at start_at, or at once if that has passed", async () => {
    const { world, tenant, people } = await withPeople(1);
    const id = await draft(world, tenant, { start_at: at(2 * HOUR) });
    const first = (await take(world, tenant, id, "publish")).notification_id;
    await take(world, tenant, id, "pause");
    expect((await job(world, tenant, first)).status).toBe("canceled");
    const second = (await take(world, tenant, id, "resume")).notification_id;
    expect([second === first, (await job(world, tenant, second)).scheduled_at]).toEqual([false, at(2 * HOUR)]);
    await take(world, tenant, id, "pause");
    await world.advance(3 * HOUR);
    expect(await reachedOf(world, tenant, people)).toEqual([]);
    const third = await take(world, tenant, id, "resume");
    expect(third.status).toBe("live");
    expect(await reachedOf(world, tenant, people, third.notification_id)).toEqual(people);
    expect(await inboxOf(world, tenant, people[0]!)).toHaveLength(1);
    expect((await take(world, tenant, id, "pause", "resume")).notification_id).toBe(third.notification_id);
    expect(await inboxOf(world, tenant, people[0]!)).toHaveLength(1);
  });

  it("INX-33 ARC-10 a pause just before the time of its send: either it is canceled, or it was delivered and is hidden", async () => {
    const { world, tenant, people } = await withPeople(1);
    const id = await draft(world, tenant, { start_at: at(10 * MINUTE) });
    await take(world, tenant, id, "publish");
    await world.advance(10 * MINUTE - 10);
    const [paused] = await Promise.all([act(world, tenant, id, "pause"), world.advance(MINUTE)]);
    expect(paused.status).toBe(200);
    await world.settle();
    expect(await inboxOf(world, tenant, people[0]!)).toEqual([]);
    await take(world, tenant, id, "resume");
    expect(await inboxOf(world, tenant, people[0]!)).toHaveLength(1);
  });

  it("INX-34 AMB-5 after end_at a resume is 400 naming the status", async () => {
    const { world, tenant } = await withTenant();
    const id = await draft(world, tenant, { end_at: at(MINUTE) });
    await take(world, tenant, id, "publish", "pause");
    // Its time has come, but nobody has looked yet.
    world.clock.jumpTo(START + MINUTE);
    const { status, body } = await act(world, tenant, id, "resume");
    expect([status, body.code]).toEqual([400, "BAD_REQUEST"]);
    expect(body.message).toContain("paused");
    await world.advance(SECOND);
    expect((await act(world, tenant, id, "resume")).body.message).toContain("ended");
  });
});

describe("end", () => {
  it("INX-35 cancels a send still ahead, once and for good", async () => {
    const { world, tenant, people } = await withPeople(1);
    const id = await draft(world, tenant, { start_at: at(HOUR) });
    const { notification_id } = await take(world, tenant, id, "publish");
    const ended = await take(world, tenant, id, "end");
    expect((await job(world, tenant, notification_id)).status).toBe("canceled");
    await world.advance(2 * HOUR);
    expect((await act(world, tenant, id, "end")).body).toEqual(ended);
    expect(await reachedOf(world, tenant, people)).toEqual([]);
  });

  it.each([
    ["live", ["publish"]],
    ["paused", ["publish", "pause"]],
  ] as const)("AMB-7 comes by itself at end_at when %s, not before, with the same effects", async (_, actions) => {
    const { world, tenant, people } = await withPeople(1);
    const id = await draft(world, tenant, { end_at: at(3 * HOUR) });
    await take(world, tenant, id, ...actions);
    await world.advance(3 * HOUR - SECOND);
    expect((await read(world, tenant, id)).body.status).not.toBe("ended");
    await world.advance(2 * SECOND);
    expect((await read(world, tenant, id)).body).toMatchObject({ status: "ended", updated_at: at(3 * HOUR) });
    expect(await inboxOf(world, tenant, people[0]!)).toEqual([]);
    expect(await notesOf(world, id)).toEqual(["experience_ended", "experience_published"]);
  });

  it("AMB-7 an end_at a moment after the publish is not missed", async () => {
    const { world, tenant } = await withTenant();
    const id = await draft(world, tenant, { end_at: at(1) });
    await act(world, tenant, id, "publish");
    await world.advance(SECOND);
    expect((await read(world, tenant, id)).body.status).toBe("ended");
  });

  it("AMB-7 a timer of an experience that was never published, or ended by hand, does nothing", async () => {
    const { world, tenant } = await withTenant();
    const refused = await draft(world, tenant, { end_at: at(HOUR) });
    await operate(world, tenant, { monthly_send_cap: 0 });
    await addPeople(world, tenant, 1);
    expect((await act(world, tenant, refused, "publish")).status).toBe(402);
    await operate(world, tenant, { monthly_send_cap: null });
    const ended = await draft(world, tenant, { end_at: at(HOUR) });
    const before = await take(world, tenant, ended, "publish", "end", "archive");
    await world.advance(2 * HOUR);
    expect((await read(world, tenant, refused)).body.status).toBe("draft");
    expect((await read(world, tenant, ended)).body).toEqual(before);
  });
});

it("D-ANNAUTO notes a publish and an end once each, and nothing else", async () => {
  const { world, tenant } = await withTenant();
  const id = await draft(world, tenant);
  await act(world, tenant, id, "pause");
  await take(world, tenant, id, "publish");
  await act(world, tenant, id, "publish");
  await take(world, tenant, id, "pause", "resume", "end", "end", "archive", "archive");
  expect(await notesOf(world, id)).toEqual(["experience_ended", "experience_published"]);
});

it("INX-21 INX-36 archived_at is the time of the archiving and stays", async () => {
  const { world, tenant } = await withTenant();
  const id = await draft(world, tenant);
  await world.advance(HOUR);
  const archived = await take(world, tenant, id, "archive");
  expect(archived.archived_at).toBe(at(HOUR));
  await world.advance(HOUR);
  expect(await take(world, tenant, id, "archive")).toEqual(archived);
});
