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
  draft,
  listExperiences as list,
  READY,
  readExperience as read,
  take,
} from "../support/experiences.ts";
import { named as listNamed } from "../support/lists.ts";
import { quickStore } from "../support/people.ts";
import { spent } from "../support/spending.ts";
import { START, UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const at = (seconds: number) => new Date(START + seconds * SECOND).toISOString();
const content = READY.content;
const base = { name: "a", format: "card", content } as const;

describe("create", () => {
  it("an experience of what is required is a draft that is shown at once, and once (INX-2, INX-9, INX-11, INX-22, AMB-120)", async () => {
    const { tenant } = await withTenant();

    const { status, body } = await create(tenant, { name: " Spring ", format: "modal", content: { title: "Hi" } });

    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: "Spring",
      format: "modal",
      status: "draft",
      content: { title: "Hi" },
      display: { trigger: "immediate", frequency: "once" },
      holdout_percentage: 0,
      created_at: at(0),
      updated_at: at(0),
    });
    const again = await read(tenant, body.id);
    expect(again.status).toBe(200);
    expect(again.body).toEqual(body);
  });

  it("a draft of an experience keeps every field as it was given (INX-2, INX-7, INX-8, INX-12, INX-13, INX-18, INX-19, INX-20)", async () => {
    const { tenant } = await withTenant();
    const list_id = await listNamed(tenant, "VIP");
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

    expect(status).toBe(201);
    expect(body).toMatchObject({ ...whole, status: "draft" });
    expect((await read(tenant, body.id)).body).toEqual(body);
  });

  it.each(["banner", "modal", "inbox_only", "card", "fullscreen"])("a %s is an experience (INX-4)", async (format) => {
    const { tenant } = await withTenant();

    expect((await create(tenant, { ...base, format })).body.format).toBe(format);
  });

  it.each([
    { trigger: "immediate", frequency: "once" },
    { trigger: "session_start", frequency: "once_per_session" },
    { trigger: "event", trigger_event: "e", frequency: "once" },
  ])("an experience may be displayed as %o (INX-9, INX-11)", async (display) => {
    const { tenant } = await withTenant();

    expect((await create(tenant, { ...base, display })).body.display).toEqual(display);
  });

  it("the share of arm A is 50 by default, if there is a B arm (INX-19)", async () => {
    const { tenant } = await withTenant();

    const { body } = await create(tenant, { ...base, variant_b: { title: "B" } });

    expect(body).toMatchObject({ variant_b: { title: "B" }, split_percentage: 50 });
  });

  const action = { id: "a", title: "A", url: "" };
  const actions = (...changes: object[]) => ({
    content: { title: "t", actions: changes.map((change, n) => ({ ...action, id: `${n}`, ...change })) },
  });
  const picture = (image_url: string) => ({ content: { title: "t", image_url } });
  const untouched = shared((own) => own.withTenant());
  it.each<[wrong: string, body: object, field: string]>([
    ["a blank name (INX-3)", { name: "   " }, "name"],
    ["a title that is no template", { content: { title: "{% if %}" } }, "content.title"],
    ["a picture that is a script", picture("javascript:alert(1)"), "content.image_url"],
    ["an empty picture", picture(""), "content.image_url"],
    ["two actions of one id", actions({ id: "a" }, { id: "a" }), "content.actions"],
    ["an action that is a script", actions({ url: "javascript:alert(1)" }), "content.actions[0].url"],
    ["no event to be triggered by (INX-10)", { display: { trigger: "event" } }, "display.trigger_event"],
    [
      "an event where none triggers (INX-10)",
      { display: { trigger: "immediate", trigger_event: "e" } },
      "display.trigger_event",
    ],
    ["an event without a trigger (INX-10)", { display: { trigger_event: "e" } }, "display.trigger_event"],
    ["a screen that is no path (INX-13)", { display: { screens: ["/", "home"] } }, "display.screens[1]"],
    ["a list without its id", { audience: { type: "list" } }, "audience.list_id"],
    ["a segment without its id", { audience: { type: "segment" } }, "audience.segment_id"],
    ["an unknown list", { audience: { type: "list", list_id: UNKNOWN } }, "audience.list_id"],
    ["an unknown segment", { audience: { type: "segment", segment_id: UNKNOWN } }, "audience.segment_id"],
    ["a start that is no time (INX-16)", { start_at: "tomorrow" }, "start_at"],
    ["an end that is no time (INX-16)", { end_at: "2026-13-01T00:00:00Z" }, "end_at"],
    ["an end at its start (INX-16)", { start_at: at(60), end_at: at(60) }, "end_at"],
    ["an end before its start (INX-16)", { start_at: at(60), end_at: at(59) }, "end_at"],
  ])("an experience is refused with 400 for %s (INX-22, AMB-3)", async (_, wrong, field) => {
    const { tenant } = await untouched();

    const { status, body } = await create(tenant, { ...base, ...wrong });

    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "BAD_REQUEST", message: expect.stringContaining(field) });
    expect(Object.keys(body.fields)).toEqual([field]);
    expect((await list(tenant)).body.total).toBe(0);
  });

  it("the experience after the 10,000th is refused (docs/decisions/0021#page-lists)", async () => {
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
])("a page of %i experiences is at most %i RCU (docs/decisions/0021#page-lists)", async (count, max) => {
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

it("experiences are listed by one status, with their number (INX-23)", async () => {
  const { world, tenant } = await withTenant();
  const make = async (...actions: string[]) => {
    const id = await draft(tenant);
    await take(world, tenant, id, ...actions);
    return id;
  };
  const byStatus = {
    draft: [await make()],
    live: [await make("publish")],
    paused: [await make("publish", "pause")],
    archived: [await make("archive")],
    ended: [],
  };

  for (const [status, ids] of Object.entries(byStatus)) {
    const { items, total } = (await list(tenant, `?status=${status}`)).body;
    expect(items, status).toMatchObject(ids.map((id) => ({ id })));
    expect(total, status).toBe(ids.length);
  }
});
