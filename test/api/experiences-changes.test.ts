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
import { START, type Tenant } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const at = (seconds: number) => new Date(START + seconds * SECOND).toISOString();

const makeList = async (tenant: Tenant): Promise<string> =>
  (await tenant.call("POST /api/v1/lists", { name: "VIP" })).body.id;

describe("change", () => {
  it("each given block replaces the whole block, the rest stays (INX-25)", async () => {
    const { world, tenant } = await withTenant();
    const { body: before } = await create(tenant, {
      ...READY,
      display: { trigger: "session_start", priority: 3, screens: ["/a"] },
      content: { title: "t", body: "b", image_url: "https://example.com/a.png", actions: [] },
    });
    await world.advance(SECOND);
    const steps: [change: object, after: object][] = [
      [{}, {}],
      [{ content: { title: "new" } }, { content: { title: "new" } }],
      [
        { display: { frequency: "once_per_session" } },
        { display: { trigger: "immediate", frequency: "once_per_session" } },
      ],
      [
        { name: "Other", format: "inbox_only" },
        { name: "Other", format: "inbox_only" },
      ],
      [{ holdout_percentage: 10 }, { holdout_percentage: 10 }],
      [{ audience: { type: "list", list_id: await makeList(tenant) } }, {}],
    ];
    let expected = { ...before, updated_at: at(1) };
    for (const [change, after] of steps) {
      expected = { ...expected, ...after, ...("audience" in change && { audience: change.audience }) };
      const { status, body } = await patch(tenant, before.id, change);
      expect([status, body]).toEqual([200, expected]);
    }
    expect((await read(tenant, before.id)).body).toEqual(expected);
  });

  it("a time sets, an empty one clears, an omitted one stays; start_at may be in the past (INX-16, INX-26, AMB-102)", async () => {
    const { tenant } = await withTenant();
    const id = await draft(tenant);
    const window = async (change: object) => {
      const { status, body } = await patch(tenant, id, change);
      return status === 200 ? [body.start_at, body.end_at] : [status, Object.keys(body.fields)];
    };
    expect(await window({ start_at: "2020-01-01T00:00:00+02:00" })).toEqual(["2019-12-31T22:00:00.000Z", undefined]);
    expect(await window({ end_at: at(100) })).toEqual(["2019-12-31T22:00:00.000Z", at(100)]);
    expect(await window({ start_at: at(200) })).toEqual([400, ["end_at"]]);
    expect(await window({ start_at: at(50) })).toEqual([at(50), at(100)]);
    expect(await window({ end_at: at(50) })).toEqual([400, ["end_at"]]);
    expect(await window({ name: "x" })).toEqual([at(50), at(100)]);
    expect(await window({ start_at: "" })).toEqual([undefined, at(100)]);
    expect(await window({ start_at: "", end_at: "" })).toEqual([undefined, undefined]);
  });

  it("the B arm is replaced whole, removed with its share, which may be set before it (INX-27)", async () => {
    const { tenant } = await withTenant();
    const id = await draft(tenant);
    const arms = async (change: object) => {
      const { status, body } = await patch(tenant, id, change);
      return status === 200 ? [body.variant_b, body.split_percentage] : [status, Object.keys(body.fields)];
    };
    for (const split_percentage of [0, 100])
      expect(await arms({ split_percentage })).toEqual([400, ["split_percentage"]]);
    for (const split_percentage of [1, 99, 20])
      expect(await arms({ split_percentage })).toEqual([undefined, split_percentage]);
    expect(await arms({ variant_b: { title: "B", body: "b" } })).toEqual([{ title: "B", body: "b" }, 20]);
    expect(await arms({ variant_b: { title: "B2" } })).toEqual([{ title: "B2" }, 20]);
    expect(await arms({ remove_variant_b: true, variant_b: { title: "B3" } })).toEqual([400, ["remove_variant_b"]]);
    expect(await arms({ remove_variant_b: false })).toEqual([{ title: "B2" }, 20]);
    expect(await arms({ remove_variant_b: true })).toEqual([undefined, undefined]);
    expect(await arms({ variant_b: { title: "B" } })).toEqual([{ title: "B" }, 50]);
  });

  it("a name has at most 200 characters, each counted once (INX-3)", async () => {
    const { tenant } = await withTenant();
    const id = await draft(tenant);
    const rename = async (n: number) => (await patch(tenant, id, { name: "🎉".repeat(n) })).status;
    expect([await rename(200), await rename(201)]).toEqual([200, 400]);
  });

  it("a share alone, 1 to 99, is kept for the B arm to come, and no arm is sent without it (INX-19)", async () => {
    const { world, tenant } = await withTenant();
    const { body } = await create(tenant, { ...READY, split_percentage: 1 });
    expect([body.variant_b, body.split_percentage]).toEqual([undefined, 1]);
    const { notification_id } = await take(world, tenant, body.id, "publish");
    expect(await jobOf(tenant, notification_id)).toMatchObject({ variant_b: null, split_percentage: null });
  });

  it("only a draft changes: 422 in every other state, without a change (INX-28, INX-29)", async () => {
    const { world, tenant } = await withTenant();
    const paths = { live: ["publish"], paused: ["publish", "pause"], ended: ["publish", "end"], archived: ["archive"] };
    for (const [status, actions] of Object.entries(paths)) {
      const id = await draft(tenant);
      await take(world, tenant, id, ...actions);
      const before = (await read(tenant, id)).body;
      const answer = await patch(tenant, id, { name: "late" });
      expect([status, answer.status, answer.body.code]).toEqual([status, 422, "VALIDATION_ERROR"]);
      expect(answer.body.message).toContain(status);
      expect((await read(tenant, id)).body).toEqual(before);
    }
  });

  it("concurrent changes all apply, one after the other (INX-25)", async () => {
    const { tenant } = await withTenant();
    const id = await draft(tenant);
    const changes = [{ name: "n" }, { format: "modal" }, { content: { title: "c" } }, { holdout_percentage: 9 }];
    const answers = await Promise.all(changes.map((change) => patch(tenant, id, change)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await read(tenant, id)).body).toMatchObject(Object.assign({}, ...changes));
  });
});

describe("duplicate", () => {
  it("is a new draft of what was authored, without the live window and the send (INX-39, INX-40)", async () => {
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
    const [created_at, updated_at] = [at(0), at(0)];
    expect([status, body]).toEqual([
      201,
      {
        ...READY,
        ...authored,
        id: expect.any(String),
        name: "Copy of Spring sale",
        status: "draft",
        created_at,
        updated_at,
      },
    ]);
    expect(body.id).not.toBe(id);
    expect((await act(world, tenant, id, "duplicate", { name: "Mine" })).body.name).toBe("Mine");
    expect((await act(world, tenant, id, "duplicate", { name: "" })).status).toBe(400);
    expect((await list(tenant)).body.total).toBe(3);
  });

  it("the name of a copy keeps within 200 characters (INX-3, INX-39)", async () => {
    const { world, tenant } = await withTenant();
    const id = await draft(tenant, { name: "x".repeat(200) });
    expect((await act(world, tenant, id, "duplicate")).body.name).toBe(`Copy of ${"x".repeat(192)}`);
  });
});

it("a draft is deleted; a published experience or another workspace's is not (RDA-22)", async () => {
  const { world, tenant } = await withTenant();
  const remove = async (id: string, of = tenant) => (await of.call(`DELETE /api/v1/in-app/experiences/${id}`)).status;
  const { body: first } = await create(tenant, READY);
  expect(await remove(first.id, await world.tenant())).toBe(404);
  expect([await remove(first.id), await remove(first.id)]).toEqual([204, 404]);
  const { body: second } = await create(tenant, READY);
  await act(world, tenant, second.id, "publish");
  expect(await remove(second.id)).toBe(409);
  expect((await list(tenant)).body).toMatchObject({ total: 1 });
});
