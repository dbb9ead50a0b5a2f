// The life of an experience (INX-30 to INX-38): every action in every state, its effects, and the transitions by timer
// (AMB-4 to AMB-7).
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { experienceStatuses } from "../../shared/rules/experience-states.ts";
import { act, draft, jobOf as job, jobsOf, readExperience as read, take } from "../support/experiences.ts";
import { addPeople, inboxOf, operate, reachedOf, wholeTable } from "../support/people.ts";
import { START, type TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withPeople, withTenant } = worlds();
const at = (ms: number) => new Date(START + ms).toISOString();

/** Kinds of the annotations of an experience. */
const notesOf = async (world: TestWorld, id: string) =>
  (await wholeTable(world))
    .filter(({ pk, ref_id }) => pk.S.endsWith("#annotation") && ref_id?.S === id)
    .map(({ kind }) => kind.S)
    .sort();

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

it("has a matrix of 25 (INX-5, INX-37)", () => expect(matrix).toHaveLength(25));

it.each(matrix)("to INX-38 %s: %s (INX-30)", async (status, action) => {
  const { world, tenant } = await withTenant();
  const id = await draft(tenant);
  await take(world, tenant, id, ...ways[status]);
  const before = (await read(tenant, id)).body;
  expect(before.status).toBe(status);
  const answer = await act(world, tenant, id, action);
  const after = (await read(tenant, id)).body;
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

it("to INX-38 in any order of actions the status follows the table, and at most one send is made (INX-30)", async () => {
  const { world, tenant } = await withTenant();
  const calls = fc.array(fc.constantFrom("publish", "pause", "resume", "end", "archive"), { maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(calls, async (actions) => {
      const id = await draft(tenant);
      let status = "draft";
      for (const action of actions) {
        const next = allowed[`${status} ${action}`];
        const answer = await act(world, tenant, id, action);
        expect([status, action, answer.status]).toEqual([status, action, next ? 200 : 400]);
        status = next ?? status;
        expect((await read(tenant, id)).body.status).toBe(status);
      }
      expect((await jobsOf(tenant, id)).length).toBeLessThanOrEqual(1);
    }),
    { numRuns: 25 },
  );
});

describe("pause and resume", () => {
  it("a pause cancels a scheduled send; a resume sends at start_at, or at once if that has passed (INX-33, AMB-6)", async () => {
    const { world, tenant, ids: people } = await withPeople(1);
    const id = await draft(tenant, { start_at: at(2 * HOUR) });
    const first = (await take(world, tenant, id, "publish")).notification_id;
    await take(world, tenant, id, "pause");
    expect((await job(tenant, first)).status).toBe("canceled");
    const second = (await take(world, tenant, id, "resume")).notification_id;
    expect([second === first, (await job(tenant, second)).scheduled_at]).toEqual([false, at(2 * HOUR)]);
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

  it("a pause just before the time of its send: either it is canceled, or it was delivered and is hidden (INX-33, ARC-10)", async () => {
    const { world, tenant, ids: people } = await withPeople(1);
    const id = await draft(tenant, { start_at: at(10 * MINUTE) });
    await take(world, tenant, id, "publish");
    await world.advance(10 * MINUTE - 10);
    const [paused] = await Promise.all([act(world, tenant, id, "pause"), world.advance(MINUTE)]);
    expect(paused.status).toBe(200);
    await world.settle();
    expect(await inboxOf(world, tenant, people[0]!)).toEqual([]);
    await take(world, tenant, id, "resume");
    expect(await inboxOf(world, tenant, people[0]!)).toHaveLength(1);
  });

  it("after end_at a resume is 400 naming the status (INX-34, AMB-5)", async () => {
    const { world, tenant } = await withTenant();
    const id = await draft(tenant, { end_at: at(MINUTE) });
    await take(world, tenant, id, "publish", "pause");
    // Its time has passed, but the timer has not fired yet.
    world.clock.jumpTo(START + MINUTE);
    const { status, body } = await act(world, tenant, id, "resume");
    expect([status, body.code]).toEqual([400, "BAD_REQUEST"]);
    expect(body.message).toContain("paused");
    await world.advance(SECOND);
    expect((await act(world, tenant, id, "resume")).body.message).toContain("ended");
  });
});

describe("end", () => {
  it("cancels a scheduled send permanently (INX-35)", async () => {
    const { world, tenant, ids: people } = await withPeople(1);
    const id = await draft(tenant, { start_at: at(HOUR) });
    const { notification_id } = await take(world, tenant, id, "publish");
    const ended = await take(world, tenant, id, "end");
    expect((await job(tenant, notification_id)).status).toBe("canceled");
    await world.advance(2 * HOUR);
    expect((await act(world, tenant, id, "end")).body).toEqual(ended);
    expect(await reachedOf(world, tenant, people)).toEqual([]);
  });

  it.each([
    ["live", ["publish"]],
    ["paused", ["publish", "pause"]],
  ] as const)("comes by itself at end_at when %s, not before, with the same effects (AMB-7)", async (_, actions) => {
    const { world, tenant, ids: people } = await withPeople(1);
    const id = await draft(tenant, { end_at: at(3 * HOUR) });
    await take(world, tenant, id, ...actions);
    await world.advance(3 * HOUR - SECOND);
    expect((await read(tenant, id)).body.status).not.toBe("ended");
    await world.advance(2 * SECOND);
    expect((await read(tenant, id)).body).toMatchObject({ status: "ended", updated_at: at(3 * HOUR) });
    expect(await inboxOf(world, tenant, people[0]!)).toEqual([]);
    expect(await notesOf(world, id)).toEqual(["experience_ended", "experience_published"]);
  });

  it("an end_at a moment after the publish is not missed (AMB-7)", async () => {
    const { world, tenant } = await withTenant();
    const id = await draft(tenant, { end_at: at(1) });
    await act(world, tenant, id, "publish");
    await world.advance(SECOND);
    expect((await read(tenant, id)).body.status).toBe("ended");
  });

  it("the timer of an experience that was never published, or was ended through the API, does nothing (AMB-7)", async () => {
    const { world, tenant } = await withTenant();
    const refused = await draft(tenant, { end_at: at(HOUR) });
    await operate(world, tenant, { monthly_send_cap: 0 });
    await addPeople(world, tenant, 1);
    expect((await act(world, tenant, refused, "publish")).status).toBe(402);
    await operate(world, tenant, { monthly_send_cap: null });
    const ended = await draft(tenant, { end_at: at(HOUR) });
    const before = await take(world, tenant, ended, "publish", "end", "archive");
    await world.advance(2 * HOUR);
    expect((await read(tenant, refused)).body.status).toBe("draft");
    expect((await read(tenant, ended)).body).toEqual(before);
  });
});

it("a publish and an end each have one annotation, other actions have none (D-ANNAUTO)", async () => {
  const { world, tenant } = await withTenant();
  const id = await draft(tenant);
  await act(world, tenant, id, "pause");
  await take(world, tenant, id, "publish");
  await act(world, tenant, id, "publish");
  await take(world, tenant, id, "pause", "resume", "end", "end", "archive", "archive");
  expect(await notesOf(world, id)).toEqual(["experience_ended", "experience_published"]);
});

it("archived_at is the time of the archiving and stays (INX-21, INX-36)", async () => {
  const { world, tenant } = await withTenant();
  const id = await draft(tenant);
  await world.advance(HOUR);
  const archived = await take(world, tenant, id, "archive");
  expect(archived.archived_at).toBe(at(HOUR));
  await world.advance(HOUR);
  expect(await take(world, tenant, id, "archive")).toEqual(archived);
});
