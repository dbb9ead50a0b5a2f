// In-app experiences as they are authored (INX-1 to INX-29, INX-39 to INX-40): fields, refusals, list, changes, copies.
import { describe, expect, it } from "vitest";
import { SECOND } from "../../shared/kernel/clock.ts";
import { listExperiences } from "../../shared/store/experiences/experiences.ts";
import { ExperienceItem } from "../../shared/store/experiences/items.ts";
import { putItem } from "../../shared/store/item.ts";
import { toJson } from "../../shared/store/json-text.ts";
import { Status } from "../../shared/store/status-index.ts";
import {
  createExperience as create,
  listExperiences as list,
  READY,
  readExperience as read,
} from "../support/experiences.ts";
import { quickStore } from "../support/people.ts";
import { spent } from "../support/spending.ts";
import { START, type Tenant, UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();
const at = (seconds: number) => new Date(START + seconds * SECOND).toISOString();
const content = READY.content;
const base = { name: "a", format: "card", content } as const;

const makeList = async (tenant: Tenant): Promise<string> =>
  (await tenant.call("POST /api/v1/lists", { name: "VIP" })).body.id;

describe("create", () => {
  it("answers 201 with a draft of what is required, and GET the same (INX-2, INX-22, AMB-120)", async () => {
    const { tenant } = await withTenant();
    const answer = await create(tenant, { name: " Spring ", format: "modal", content: { title: "Hi" } });
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: "Spring",
        format: "modal",
        status: "draft",
        content: { title: "Hi" },
        display: { trigger: "immediate", frequency: "once" },
        holdout_percentage: 0,
        created_at: at(0),
        updated_at: at(0),
      },
    ]);
    const again = await read(tenant, answer.body.id);
    expect([again.status, again.body]).toEqual([200, answer.body]);
  });

  it("stores every field unchanged (INX-2, INX-7, INX-8, INX-12, INX-13, INX-18, INX-19, INX-20)", async () => {
    const { tenant } = await withTenant();
    const list_id = await makeList(tenant);
    const whole = {
      name: "x".repeat(200),
      format: "fullscreen",
      content: {
        title: "Hello {{ subscriber.first_name }}",
        body: "Body",
        image_url: "http://127.0.0.1/assets/a.png",
        actions: [
          { id: "go", title: "Go", url: "https://example.com/{{ subscriber.id }}" },
          { id: "app", title: "App", url: "myapp://sale" },
          { id: "call", title: "Call", url: "tel:+4912345" },
          { id: "no", title: "No, thanks", url: "" },
        ],
      },
      display: {
        trigger: "event",
        trigger_event: "cart_opened",
        frequency: "once_per_session",
        priority: 10,
        screens: Array.from({ length: 20 }, (_, n) => `/shop/${n}/*`),
      },
      audience: { type: "list", list_id },
      start_at: at(60),
      end_at: at(120),
      variant_b: { title: "B", body: "Body B", image_url: "https://example.com/b.png" },
      split_percentage: 99,
      holdout_percentage: 99,
    };
    const { status, body } = await create(tenant, whole);
    expect([status, body]).toEqual([201, expect.objectContaining({ ...whole, status: "draft" })]);
    expect((await read(tenant, body.id)).body).toEqual(body);
  });

  it.each(["banner", "modal", "inbox_only", "card", "fullscreen"])("accepts the format %s (INX-4)", async (format) => {
    const { tenant } = await withTenant();
    expect((await create(tenant, { ...base, format })).body.format).toBe(format);
  });

  it("accepts each trigger and frequency; the defaults are immediate and once (INX-9, INX-11)", async () => {
    const { tenant } = await withTenant();
    const shown = async (display: object) => (await create(tenant, { ...base, display })).body.display;
    expect(await shown({})).toEqual({ trigger: "immediate", frequency: "once" });
    for (const trigger of ["immediate", "session_start"]) expect((await shown({ trigger })).trigger).toBe(trigger);
    expect(await shown({ trigger: "event", trigger_event: "e" })).toMatchObject({ trigger_event: "e" });
    for (const frequency of ["once", "once_per_session"])
      expect((await shown({ frequency })).frequency).toBe(frequency);
  });

  it("the share of arm A is 50 by default, if there is a B arm (INX-19)", async () => {
    const { tenant } = await withTenant();
    const { body } = await create(tenant, { ...base, variant_b: { title: "B" } });
    expect([body.variant_b, body.split_percentage]).toEqual([{ title: "B" }, 50]);
  });

  const action = { id: "a", title: "A", url: "" };
  it.each<[field: string, body: object]>([
    ["name", { ...base, name: "   " }],
    ["name", { ...base, name: "x".repeat(201) }],
    ["content.title", { ...base, content: { title: "{% if %}" } }],
    ["content.image_url", { ...base, content: { title: "t", image_url: "javascript:alert(1)" } }],
    ["content.image_url", { ...base, content: { title: "t", image_url: "myapp://picture" } }],
    ["content.image_url", { ...base, content: { title: "t", image_url: "" } }],
    [
      "content.actions",
      {
        ...base,
        content: {
          title: "t",
          actions: Array(5)
            .fill(action)
            .map((one, n) => ({ ...one, id: `${n}` })),
        },
      },
    ],
    ["content.actions", { ...base, content: { title: "t", actions: [action, action] } }],
    [
      "content.actions[0].url",
      { ...base, content: { title: "t", actions: [{ ...action, url: "javascript:alert(1)" }] } },
    ],
    ["content.actions[0].url", { ...base, content: { title: "t", actions: [{ ...action, url: "data:text/html,x" }] } }],
    ["display.trigger_event", { ...base, display: { trigger: "event" } }],
    ["display.trigger_event", { ...base, display: { trigger: "immediate", trigger_event: "e" } }],
    ["display.trigger_event", { ...base, display: { trigger_event: "e" } }],
    ["display.priority", { ...base, display: { priority: 0 } }],
    ["display.priority", { ...base, display: { priority: 11 } }],
    ["display.screens", { ...base, display: { screens: Array(21).fill("/") } }],
    ["display.screens[1]", { ...base, display: { screens: ["/", "home"] } }],
    ["audience.type", { ...base, audience: { type: "everyone" } }],
    ["audience.list_id", { ...base, audience: { type: "list" } }],
    ["audience.segment_id", { ...base, audience: { type: "segment" } }],
    ["audience.list_id", { ...base, audience: { type: "list", list_id: UNKNOWN } }],
    ["audience.segment_id", { ...base, audience: { type: "segment", segment_id: UNKNOWN } }],
    ["start_at", { ...base, start_at: "tomorrow" }],
    ["end_at", { ...base, end_at: "2026-13-01T00:00:00Z" }],
    ["end_at", { ...base, start_at: at(60), end_at: at(60) }],
    ["end_at", { ...base, start_at: at(60), end_at: at(59) }],
    ["split_percentage", { ...base, variant_b: { title: "B" }, split_percentage: 0 }],
    ["split_percentage", { ...base, variant_b: { title: "B" }, split_percentage: 100 }],
    ["split_percentage", { ...base, split_percentage: 0 }],
    ["holdout_percentage", { ...base, holdout_percentage: -1 }],
    ["holdout_percentage", { ...base, holdout_percentage: 100 }],
  ])(
    "answers 400 naming %s (INX-3, INX-10, INX-12, INX-13, INX-16, INX-18, INX-20, INX-22, AMB-3, AMB-102, ABH-4)",
    async (field, body) => {
      const { tenant } = await withTenant();
      const answer = await create(tenant, body);
      expect([answer.status, answer.body.code, Object.keys(answer.body.fields)]).toEqual([400, "BAD_REQUEST", [field]]);
      expect(answer.body.message).toContain(field);
      expect((await list(tenant)).body.total).toBe(0);
    },
  );

  it("another workspace's list is treated as missing (GEN-8)", async () => {
    const world = await fresh();
    const [tenant, other] = [await world.tenant(), await world.tenant()];
    const audience = { type: "list", list_id: await makeList(other) };
    const [foreign, missing] = [
      await create(tenant, { ...base, audience }),
      await create(tenant, { ...base, audience: { type: "list", list_id: UNKNOWN } }),
    ];
    expect([foreign.status, foreign.body]).toEqual([400, missing.body]);
  });

  it("docs/decisions/0021#page-lists the experience after the 10,000th is refused", async () => {
    const { world, tenant } = await withTenant();
    const rows = Array.from({ length: 9_999 }, (_, n) =>
      putItem(Status, { kind: "experience", id: world.ids.uuidAt(START - n) }, { status: "draft" }),
    );
    await quickStore(world, tenant).writeAll(rows);
    expect((await create(tenant, base)).status).toBe(201);
    expect(await create(tenant, base)).toMatchObject({ status: 429, body: { code: "QUOTA_EXCEEDED" } });
  });
});

it.each([
  [500, 12],
  [10_000, 130],
])("docs/decisions/0021#page-lists a page of %i experiences is at most %i RCU", async (count, max) => {
  const { world, tenant } = await withTenant();
  const store = quickStore(world, tenant);
  const pages = Math.ceil(count / 500);
  for (let page = 0; page < pages; page++) {
    const ids = Array.from({ length: 500 }, (_, n) => world.ids.uuidAt(START - (page * 500 + n) * SECOND));
    await store.writeAll(ids.map((id) => putItem(Status, { kind: "experience", id }, { status: "live" })));
    const row = {
      ...base,
      content: toJson(content),
      status: "live",
      holdout_percentage: 0,
      rev: 1,
      created_at: at(0),
      updated_at: at(0),
    } as const;
    if (page === 0) await store.writeAll(ids.slice(0, 20).map((id) => putItem(ExperienceItem, { id }, { ...row, id })));
  }
  for (const status of [undefined, "live" as const]) {
    const list = () => listExperiences(store, { page: 1, size: 20, status });
    expect(await list()).toMatchObject({ total: count, items: { length: 20 } });
    expect((await spent(world, list)).rcu).toBeLessThanOrEqual(max);
  }
});
