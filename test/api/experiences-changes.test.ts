// Changing and copying drafts of experiences (INX-25 to INX-29, INX-39, INX-40).
import { describe, expect, it } from "vitest";
import { SECOND } from "../../shared/kernel/clock.ts";
import {
  act,
  createExperience as create,
  draft,
  jobOf,
  listExperiences as list,
  patchExperience as patch,
  READY,
  readExperience as read,
  take,
} from "../support/experiences.ts";
import { named as listNamed } from "../support/lists.ts";
import { START, type Tenant } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const at = (seconds: number) => new Date(START + seconds * SECOND).toISOString();

/** Changes a draft of these fields. @returns the answer, and the draft as it was */
async function change(fields: object, changes: object) {
  const { world, tenant } = await withTenant();
  const { body: before } = await create(tenant, { ...READY, ...fields });
  await world.advance(SECOND);
  return { tenant, before, answer: await patch(tenant, before.id, changes) };
}

describe("change", () => {
  const authored = {
    display: { trigger: "session_start", priority: 3, screens: ["/a"] },
    content: { title: "t", body: "b", image_url: "https://example.com/a.png", actions: [] },
  };

  it.each<[block: string, changes: object, after?: object]>([
    ["nothing", {}],
    ["the content", { content: { title: "new" } }],
    [
      "the display",
      { display: { frequency: "once_per_session" } },
      { display: { trigger: "immediate", frequency: "once_per_session" } },
    ],
    ["the name and the format", { name: "Other", format: "inbox_only" }],
    ["the holdout", { holdout_percentage: 10 }],
  ])("a change of %s of an experience replaces it whole, and the rest stays (INX-25)", async (_, changes, after) => {
    const { tenant, before, answer } = await change(authored, changes);

    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ ...before, ...changes, ...after, updated_at: at(1) });
    expect((await read(tenant, before.id)).body).toEqual(answer.body);
  });

  it("a draft whose list was deleted takes any change but that of the audience to that list (INX-25)", async () => {
    const { tenant } = await withTenant();
    const audience = { type: "list", list_id: await listNamed(tenant, "VIP") };
    const { id } = (await create(tenant, { ...READY, audience })).body;
    await tenant.call(`DELETE /api/v1/lists/${audience.list_id}`);

    expect((await patch(tenant, id, { name: "Other" })).status).toBe(200);
    expect((await patch(tenant, id, { audience })).status).toBe(400);
    expect((await patch(tenant, id, { audience: { type: "all" } })).status).toBe(200);
  });

  it("a change of the audience replaces it as a whole (INX-25)", async () => {
    const { tenant } = await withTenant();
    const id = await draft(tenant);
    const audience = { type: "list", list_id: await listNamed(tenant, "VIP") };

    expect((await patch(tenant, id, { audience })).body.audience).toEqual(audience);
  });

  const period = { start_at: at(50), end_at: at(100) };
  it.each<[change: string, before: object, changes: object, after: object]>([
    ["a start is set, also in the past", {}, { start_at: at(-9) }, { start_at: at(-9) }],
    ["a start is set in UTC", {}, { start_at: "2020-01-01T02:00:00+02:00" }, { start_at: "2020-01-01T00:00:00.000Z" }],
    ["an end is set", {}, { end_at: at(100) }, { end_at: at(100) }],
    ["an omitted time stays", period, { name: "x" }, period],
    ["an empty start is cleared", period, { start_at: "" }, { end_at: at(100) }],
    ["an empty start and end are cleared", period, { start_at: "", end_at: "" }, {}],
  ])("%s by a change of an experience (INX-16, INX-26, AMB-102)", async (_, before, changes, after) => {
    const { answer } = await change(before, changes);

    const { start_at, end_at } = answer.body;
    expect({ start_at, end_at }).toEqual(after);
  });

  const variant_b = { title: "B", body: "b" };
  const withB = { variant_b, split_percentage: 30 };
  it.each<[change: string, before: object, changes: object, after: object]>([
    ["a share is kept for the B arm to come", {}, { split_percentage: 20 }, { split_percentage: 20 }],
    ["a B arm takes the share that is there", { split_percentage: 30 }, { variant_b }, withB],
    ["a B arm without a share gets half", {}, { variant_b }, { variant_b, split_percentage: 50 }],
    ["a B arm is replaced whole", withB, { variant_b: { title: "B2" } }, { ...withB, variant_b: { title: "B2" } }],
    ["a B arm stays unless it is removed", withB, { remove_variant_b: false }, withB],
    ["a B arm is removed with its share", withB, { remove_variant_b: true }, {}],
  ])("%s by a change of an experience (INX-27)", async (_, before, changes, after) => {
    const { answer } = await change(before, changes);

    const { variant_b, split_percentage } = answer.body;
    expect({ variant_b, split_percentage }).toEqual(after);
  });

  it.each<[wrong: string, before: object, changes: object, field: string]>([
    ["a start after its end (INX-16)", period, { start_at: at(200) }, "end_at"],
    ["an end at its start (INX-16)", period, { end_at: at(50) }, "end_at"],
    ["a B arm that is set and removed (INX-27)", {}, { remove_variant_b: true, variant_b }, "remove_variant_b"],
    ["a name of 201 characters, each counted once (INX-3)", {}, { name: "🎉".repeat(201) }, "name"],
  ])("a change of an experience is refused with 400 for %s", async (_, fields, changes, field) => {
    const { tenant, before, answer } = await change(fields, changes);

    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body.fields)).toEqual([field]);
    expect((await read(tenant, before.id)).body).toEqual(before);
  });

  it("a name of an experience may have 200 characters, each counted once (INX-3)", async () => {
    const { answer } = await change({}, { name: "🎉".repeat(200) });

    expect(answer.status).toBe(200);
  });

  it("an experience that has a share without a B arm is sent without arms (INX-19)", async () => {
    const { world, tenant } = await withTenant();
    const id = await draft(tenant, { split_percentage: 1 });

    const { notification_id } = await take(world, tenant, id, "publish");

    expect(await jobOf(tenant, notification_id)).toMatchObject({ variant_b: null, split_percentage: null });
  });

  it.each([
    ["live", ["publish"]],
    ["paused", ["publish", "pause"]],
    ["ended", ["publish", "end"]],
    ["archived", ["archive"]],
  ])("a change of a %s experience is refused with 422 and leaves it as it was (INX-28, INX-29)", async (status, by) => {
    const { world, tenant } = await withTenant();
    const id = await draft(tenant);
    await take(world, tenant, id, ...by);
    const { body: before } = await read(tenant, id);

    const answer = await patch(tenant, id, { name: "late" });

    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ code: "VALIDATION_ERROR", message: expect.stringContaining(status) });
    expect((await read(tenant, id)).body).toEqual(before);
  });

  it("concurrent changes of an experience all apply, one after the other (INX-25)", async () => {
    const { tenant } = await withTenant();
    const id = await draft(tenant);
    const changes = [{ name: "n" }, { format: "modal" }, { content: { title: "c" } }, { holdout_percentage: 9 }];

    const answers = await Promise.all(changes.map((one) => patch(tenant, id, one)));

    for (const { status } of answers) expect(status).toBe(200);
    expect((await read(tenant, id)).body).toMatchObject(Object.assign({}, ...changes));
  });
});

describe("duplicate", () => {
  it("a copy of an archived experience is a draft of what was authored, without its period and its send (INX-39, INX-40)", async () => {
    const { world, tenant } = await withTenant();
    const authored = {
      display: { trigger: "session_start", frequency: "once" },
      holdout_percentage: 5,
      split_percentage: 30,
      variant_b: { title: "B", body: "b" },
    };
    const id = await draft(tenant, { ...authored, start_at: at(10), end_at: at(1_000) });
    await take(world, tenant, id, "publish", "end", "archive");

    const { status, body } = await act(world, tenant, id, "duplicate");

    const made = { id: expect.any(String), created_at: at(0), updated_at: at(0) };
    expect(status).toBe(201);
    expect(body).toEqual({ ...READY, ...authored, ...made, name: "Copy of Spring sale", status: "draft" });
    expect(body.id).not.toBe(id);
    expect((await list(tenant)).body.total).toBe(2);
  });

  it("a copy of an experience whose list was deleted names that list, and is not published to it (INX-40, INX-15)", async () => {
    const { world, tenant } = await withTenant();
    const audience = { type: "list", list_id: await listNamed(tenant, "VIP") };
    const id = await draft(tenant, { audience });
    await tenant.call(`DELETE /api/v1/lists/${audience.list_id}`);

    const { status, body } = await act(world, tenant, id, "duplicate");

    expect(status).toBe(201);
    expect(body.audience).toEqual(audience);
    expect((await act(world, tenant, body.id, "publish")).status).toBe(400);
  });

  it("a copy of an experience takes the name that is asked for (INX-39)", async () => {
    const { world, tenant } = await withTenant();

    const { body } = await act(world, tenant, await draft(tenant), "duplicate", { name: "Mine" });

    expect(body.name).toBe("Mine");
  });

  it("the name of a copy keeps within 200 characters (INX-3, INX-39)", async () => {
    const { world, tenant } = await withTenant();
    const id = await draft(tenant, { name: "x".repeat(200) });

    expect((await act(world, tenant, id, "duplicate")).body.name).toBe(`Copy of ${"x".repeat(192)}`);
  });
});

describe("delete", () => {
  const remove = async (tenant: Tenant, id: string) =>
    (await tenant.call(`DELETE /api/v1/in-app/experiences/${id}`)).status;

  it("a published experience is not deleted: 409 (RDA-22)", async () => {
    const { world, tenant } = await withTenant();
    const id = await draft(tenant);
    await take(world, tenant, id, "publish");

    expect(await remove(tenant, id)).toBe(409);

    expect((await list(tenant)).body.total).toBe(1);
  });
});
