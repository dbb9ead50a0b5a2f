// The life of an experience (INX-30 to INX-38): every action in every state, its effects, and the transitions by timer
// (AMB-4 to AMB-7).
import { describe, expect, it } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { type ExperienceStatus, experienceStatuses } from "../../shared/rules/experience-states.ts";
import { act, draft, jobOf as job, readExperience as read, take } from "../support/experiences.ts";
import { inboxOf, operate, reachedOf, wholeTable } from "../support/people.ts";
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
const actions = ["publish", "pause", "resume", "end", "archive"] as const;
type Action = (typeof actions)[number];
const allowed: Record<ExperienceStatus, Partial<Record<Action, ExperienceStatus>>> = {
  draft: { publish: "live", archive: "archived" },
  live: { pause: "paused", end: "ended" },
  paused: { resume: "live", end: "ended" },
  ended: { end: "ended", archive: "archived" },
  archived: { archive: "archived" },
};
const moves = experienceStatuses.flatMap((from) =>
  actions.map((action) => [action, from, allowed[from][action]] as const),
);
const allowedMoves = moves.filter(([, , to]) => to !== undefined);
const refusedMoves = moves.filter(([, , to]) => to === undefined);

/** Takes an action on an experience of a status. */
async function actOn(from: ExperienceStatus, action: Action) {
  const { world, tenant } = await withTenant();
  const id = await draft(tenant);
  await take(world, tenant, id, ...ways[from]);
  const { body: before } = await read(tenant, id);
  const answer = await act(world, tenant, id, action);
  return { before, answer, after: (await read(tenant, id)).body };
}

it.each(allowedMoves)("%s makes a %s experience %s (INX-5, INX-37, INX-38)", async (action, from, to) => {
  const { before, answer, after } = await actOn(from, action);

  expect(answer.status).toBe(200);
  expect(answer.body).toEqual(after);
  expect(after.status).toBe(to);
  expect("archived_at" in after).toBe(to === "archived");
  if (to === from) expect(after).toEqual(before);
});

it.each(refusedMoves)("%s of a %s experience is refused with 400 (INX-30, INX-38)", async (action, from) => {
  const { before, answer, after } = await actOn(from, action);

  expect(answer.status).toBe(400);
  expect(answer.body).toMatchObject({ code: "BAD_REQUEST", message: expect.stringContaining(from) });
  expect(after).toEqual(before);
});

describe("pause and resume", () => {
  it("a pause cancels a send that is scheduled (INX-33)", async () => {
    const { world, tenant } = await withPeople(1);
    const id = await draft(tenant, { start_at: at(2 * HOUR) });
    const { notification_id } = await take(world, tenant, id, "publish");

    await take(world, tenant, id, "pause");

    expect((await job(tenant, notification_id)).status).toBe("canceled");
  });

  it("a resume before the start schedules a new send for it (INX-33, AMB-6)", async () => {
    const { world, tenant } = await withPeople(1);
    const id = await draft(tenant, { start_at: at(2 * HOUR) });
    const first = await take(world, tenant, id, "publish", "pause");

    const { notification_id } = await take(world, tenant, id, "resume");

    expect(notification_id).not.toBe(first.notification_id);
    expect((await job(tenant, notification_id)).scheduled_at).toBe(at(2 * HOUR));
  });

  it("a resume after the start sends at once (INX-33, AMB-6)", async () => {
    const { world, tenant, ids: people } = await withPeople(1);
    const id = await draft(tenant, { start_at: at(2 * HOUR) });
    await take(world, tenant, id, "publish", "pause");
    await world.advance(3 * HOUR);
    expect(await reachedOf(world, tenant, people)).toEqual([]);

    const { status, notification_id } = await take(world, tenant, id, "resume");

    expect(status).toBe("live");
    expect(await reachedOf(world, tenant, people, notification_id)).toEqual(people);
  });

  it("a resume of what was sent sends nothing again (INX-33)", async () => {
    const { world, tenant, ids: people } = await withPeople(1);
    const id = await draft(tenant);
    const { notification_id } = await take(world, tenant, id, "publish");

    const resumed = await take(world, tenant, id, "pause", "resume");

    expect(resumed.notification_id).toBe(notification_id);
    expect(await inboxOf(world, tenant, people[0]!)).toHaveLength(1);
  });

  it("what a resume sent is not sent again by a second pause and resume (INX-33, AMB-6)", async () => {
    const { world, tenant, ids: people } = await withPeople(1);
    const id = await draft(tenant, { start_at: at(2 * HOUR) });
    await take(world, tenant, id, "publish", "pause");
    await world.advance(3 * HOUR);
    const { notification_id } = await take(world, tenant, id, "resume");

    const again = await take(world, tenant, id, "pause", "resume");

    expect(again.notification_id).toBe(notification_id);
    expect(await inboxOf(world, tenant, people[0]!)).toHaveLength(1);
  });

  it("a resume of an experience to come that was paused because its segment was deleted is refused with 400 (AMB-119, INX-34)", async () => {
    const { world, tenant } = await withPeople(1);
    const rule = { attribute: { external_id: { $exists: true } } };
    const { id: segment_id } = (await tenant.call("POST /api/v1/segments", { name: "All", rule })).body;
    await world.settle();
    const id = await draft(tenant, { start_at: at(2 * HOUR), audience: { type: "segment", segment_id } });
    await take(world, tenant, id, "publish");
    await tenant.call(`DELETE /api/v1/segments/${segment_id}?force=true`);
    await world.advance(3 * HOUR);

    expect((await act(world, tenant, id, "resume")).status).toBe(400);
    expect((await read(tenant, id)).body.status).toBe("paused");
  });

  it("a pause just before the time of its send cancels it, or hides what was delivered (INX-33, ARC-10)", async () => {
    const { world, tenant, ids: people } = await withPeople(1);
    const id = await draft(tenant, { start_at: at(10 * MINUTE) });
    await take(world, tenant, id, "publish");
    await world.advance(10 * MINUTE - 10);

    const [paused] = await Promise.all([act(world, tenant, id, "pause"), world.advance(MINUTE)]);
    await world.settle();

    expect(paused.status).toBe(200);
    expect(await inboxOf(world, tenant, people[0]!)).toEqual([]);
    await take(world, tenant, id, "resume");
    expect(await inboxOf(world, tenant, people[0]!)).toHaveLength(1);
  });

  it("a resume after the end is refused with 400 and names the status, also before the timer fired (INX-34, AMB-5)", async () => {
    const { world, tenant } = await withTenant();
    const id = await draft(tenant, { end_at: at(MINUTE) });
    await take(world, tenant, id, "publish", "pause");
    world.clock.jumpTo(START + MINUTE);

    const { status, body } = await act(world, tenant, id, "resume");

    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "BAD_REQUEST", message: expect.stringContaining("paused") });
    await world.advance(SECOND);
    expect((await act(world, tenant, id, "resume")).body.message).toContain("ended");
  });
});

describe("end", () => {
  it("an end cancels a scheduled send for good (INX-35)", async () => {
    const { world, tenant, ids: people } = await withPeople(1);
    const id = await draft(tenant, { start_at: at(HOUR) });
    const { notification_id } = await take(world, tenant, id, "publish");

    await take(world, tenant, id, "end");
    await world.advance(2 * HOUR);

    expect((await job(tenant, notification_id)).status).toBe("canceled");
    expect(await reachedOf(world, tenant, people)).toEqual([]);
  });

  it("an experience is shown to its end and not longer, however late the worker is (AMB-7, D-INBOXRECALL)", async () => {
    const { world, tenant, ids: people } = await withPeople(1);
    const id = await draft(tenant, { end_at: at(3 * HOUR) });
    await take(world, tenant, id, "publish");
    world.clock.jumpTo(START + 3 * HOUR - 1);
    expect(await inboxOf(world, tenant, people[0]!)).toHaveLength(1);

    world.clock.jumpTo(START + 5 * HOUR);

    expect(await inboxOf(world, tenant, people[0]!)).toEqual([]);
    await world.settle();
    const { annotations } = (await tenant.call(`GET /api/v1/annotations?from=${at(0)}&to=${at(24 * HOUR)}`)).body;
    expect(annotations.at(-1)).toMatchObject({ kind: "experience_ended", occurred_at: at(3 * HOUR) });
  });

  it.each([
    ["live", ["publish"]],
    ["paused", ["publish", "pause"]],
  ] as const)("a %s experience ends by itself at its end, not before (AMB-7)", async (_, way) => {
    const { world, tenant, ids: people } = await withPeople(1);
    const id = await draft(tenant, { end_at: at(3 * HOUR) });
    await take(world, tenant, id, ...way);
    await world.advance(3 * HOUR - SECOND);
    expect((await read(tenant, id)).body.status).not.toBe("ended");

    await world.advance(2 * SECOND);

    expect((await read(tenant, id)).body).toMatchObject({ status: "ended", updated_at: at(3 * HOUR) });
    expect(await inboxOf(world, tenant, people[0]!)).toEqual([]);
    expect(await notesOf(world, id)).toEqual(["experience_ended", "experience_published"]);
  });

  it("an end a moment after the publish is not missed (AMB-7)", async () => {
    const { world, tenant } = await withTenant();
    const id = await draft(tenant, { end_at: at(1) });

    await act(world, tenant, id, "publish");
    await world.advance(SECOND);

    expect((await read(tenant, id)).body.status).toBe("ended");
  });

  it("the timer of an experience whose publish was refused does nothing (AMB-7)", async () => {
    const { world, tenant } = await withPeople(1);
    const id = await draft(tenant, { end_at: at(HOUR) });
    await operate(world, tenant, { monthly_send_cap: 0 });
    expect((await act(world, tenant, id, "publish")).status).toBe(402);

    await world.advance(2 * HOUR);

    expect((await read(tenant, id)).body.status).toBe("draft");
  });

  it("the timer of an experience that was ended through the API does nothing (AMB-7)", async () => {
    const { world, tenant } = await withTenant();
    const id = await draft(tenant, { end_at: at(HOUR) });
    const before = await take(world, tenant, id, "publish", "end", "archive");

    await world.advance(2 * HOUR);

    expect((await read(tenant, id)).body).toEqual(before);
  });
});

it("a publish and an end of an experience are annotated once, and other actions are not (D-ANNAUTO)", async () => {
  const { world, tenant } = await withTenant();
  const id = await draft(tenant);

  await act(world, tenant, id, "pause");
  await take(world, tenant, id, "publish");
  await act(world, tenant, id, "publish");
  await take(world, tenant, id, "pause", "resume", "end", "end", "archive", "archive");

  expect(await notesOf(world, id)).toEqual(["experience_ended", "experience_published"]);
});

it("archived_at is the time of the first archiving and stays (INX-21, INX-36)", async () => {
  const { world, tenant } = await withTenant();
  const id = await draft(tenant);
  await world.advance(HOUR);
  const archived = await take(world, tenant, id, "archive");
  expect(archived.archived_at).toBe(at(HOUR));
  await world.advance(HOUR);

  expect(await take(world, tenant, id, "archive")).toEqual(archived);
});
