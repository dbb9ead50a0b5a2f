// Everything about a person: nothing is left out, whatever does not fit into one answer, and nobody else's.
import { expect, it } from "vitest";
import { DAY, timestamp } from "../../shared/kernel/clock.ts";
import { putItem } from "../../shared/store/item.ts";
import { ConsentItem } from "../../shared/store/subscribers/items.ts";
import { cliOf } from "../support/cli.ts";
import { withBuyers } from "../support/conversions.ts";
import { pro, segmentOf } from "../support/segments.ts";
import type { Tenant } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** More than one page has. */
const SENDS = 205;
const EVENTS = ["page 0", "page 1", "page 2"];

interface Page {
  consents?: { source: string }[];
  inbox: { content: { title: string } }[];
  history: { kind: string; title: string }[];
  next_cursor: string;
}

const exportOf = ({ call }: Tenant, id: string, cursor = "") =>
  call(`GET /api/v1/subscribers/${id}/export${cursor && `?cursor=${encodeURIComponent(cursor)}`}`);

/** Ada is on a list, has a phone, and got and did more than one page holds; Bob got one message. */
const exported = shared(async ({ withTenant }) => {
  const { world, tenant } = await withTenant();
  const { call } = tenant;
  await call("POST /api/v1/topics", { key: "news", name: "News" });
  const list = (await call("POST /api/v1/lists", { name: "Readers" })).body.id;
  const consent = { status: "opted_in", source: "checkout", text: "Send me news" };
  const ada = await tenant.upsert({ external_id: "ada", email: "ada@example.com", consent });
  const bob = await tenant.upsert({ external_id: "bob" });
  const device = { external_id: "ada", platform: "ios", token: "ab".repeat(32) };
  await world.call("POST /api/v1/devices", { as: tenant.sdk, body: device });
  await call(`POST /api/v1/lists/${list}/subscribers`, { subscriber_ids: [ada] });
  const events = EVENTS.map((event_name) => ({ event_name, subscriber_id: ada }));
  await world.call("POST /v1/events", { as: tenant.server, body: { events } });
  const visitor = { anonymous_id: "visitor-1", subscriber_id: ada };
  await world.call("POST /v1/events/identify", { as: tenant.sdk, body: visitor });
  for (let n = 0; n < SENDS; n++)
    await call("POST /api/v1/notifications", { subscriberIds: [ada], title: `Message ${n}`, body: "b" });
  await call("POST /api/v1/notifications", { subscriberIds: [bob], title: "For Bob", body: "b" });
  await world.settle();

  const pages: Page[] = [];
  for (let cursor: string | undefined; cursor !== ""; cursor = pages.at(-1)!.next_cursor)
    pages.push((await exportOf(tenant, ada, cursor)).body);
  return { world, tenant, bob, pages, history: pages.flatMap(({ history }) => history) };
});

it("the export of a subscriber begins with the profile, anonymous ids, devices, memberships and consents (F14)", async () => {
  const { pages } = await exported();

  expect(pages[0]).toMatchObject({
    subscriber: {
      external_id: "ada",
      devices: [{ platform: "ios" }],
      lists: [{ name: "Readers" }],
      topics: [{ key: "news" }],
    },
    anonymous_ids: ["visitor-1"],
    consents: [{ source: "checkout", evidence: { text: "Send me news" } }],
    conversions: [],
  });
});

it("the export of a subscriber names the sends and the sources after which they converted (F14)", async () => {
  const { tenant, ids, define, campaign, buy } = await withBuyers(await withTenant(), 2);
  await define();
  const { id, jobs } = await campaign();
  await buy(ids[0]!, 100);

  const conversions = await Promise.all(ids.map(async (who) => (await exportOf(tenant, who)).body.conversions.sort()));
  expect(conversions).toEqual([[`campaign#${id}`, `job#${jobs[0]}`], []]);
});

it("an export has what the person opened and followed, by send, and how often they answered (F14)", async () => {
  const { world, tenant } = await withTenant();
  const ada = await tenant.upsert({ external_id: "ada" });
  const job_id = (await tenant.call("POST /api/v1/notifications", { subscriberIds: [ada], title: "Hi", body: "b" }))
    .body.id;
  await world.settle();
  const occurred_at = timestamp(world.clock.now());
  const report = { job_id, interaction: "inapp_click", platform: "ios", subscriber_id: ada, occurred_at };
  await world.call("POST /api/v1/notifications/interactions", { as: tenant.sdk, body: report });

  const pages: (Page & { engagement?: object[]; answers?: object[] })[] = [];
  for (let cursor: string | undefined; cursor !== ""; cursor = pages.at(-1)!.next_cursor)
    pages.push((await exportOf(tenant, ada, cursor)).body);

  expect(pages.flatMap(({ engagement }) => engagement ?? [])).toMatchObject([
    { notification_id: job_id, first: { opened: occurred_at, "clicked@in_app": occurred_at }, links: [] },
  ]);
  expect(pages[0]?.answers).toMatchObject([{ class: "in_app", count: 1 }]);
});

it("the pages of an export together hold every message of the inbox once, and nobody else's (F14)", async () => {
  const { pages } = await exported();
  const titles = pages.flatMap(({ inbox }) => inbox).map(({ content }) => content.title);

  expect(pages.length).toBeGreaterThan(3);
  expect(titles.sort()).toEqual(Array.from({ length: SENDS }, (_, n) => `Message ${n}`).sort());
});

it("an export has messages that the inbox shows no more, with what was done with them (F14, INB-4)", async () => {
  const { world, tenant } = await withTenant();
  const ada = await tenant.upsert({ external_id: "ada" });
  await tenant.call("POST /api/v1/notifications", { subscriberIds: [ada], title: "Old", body: "b" });
  await world.settle();
  await world.call("POST /v1/in-app/messages/read", { as: tenant.sdk, body: { subscriber_id: ada } });
  await world.advance(60 * DAY);

  expect((await exportOf(tenant, ada)).body.inbox).toMatchObject([{ content: { title: "Old" }, status: "read" }]);
});

it("who reads all messages of the inbox has not read those that it shows no more, says the export (F14, INB-4, INB-7)", async () => {
  const { world, tenant } = await withTenant();
  const ada = await tenant.upsert({ external_id: "ada" });
  const send = async (title: string) => {
    await tenant.call("POST /api/v1/notifications", { subscriberIds: [ada], title, body: "b" });
    await world.settle();
  };
  await send("Old");
  await world.advance(31 * DAY);
  await send("New");
  await world.call("POST /v1/in-app/messages/read", { as: tenant.sdk, body: { subscriber_id: ada } });

  const { inbox } = (await exportOf(tenant, ada)).body;

  expect(inbox).toMatchObject([
    { content: { title: "New" }, status: "read" },
    { content: { title: "Old" }, status: "unread" },
  ]);
});

it("an export goes on with the messages of the inbox behind a page that ended at its size (F14)", async () => {
  const { world, tenant } = await withTenant();
  const ada = await tenant.upsert({ external_id: "ada" });
  // 110 messages of 40 KB: a page has at most 4 MB.
  const body = "🎉".repeat(10_000);
  const titles = Array.from({ length: 110 }, (_, n) => `Message ${n}`);
  for (const title of titles) await tenant.call("POST /api/v1/notifications", { subscriberIds: [ada], title, body });
  await world.settle();

  const first: Page = (await exportOf(tenant, ada)).body;
  const second: Page = (await exportOf(tenant, ada, first.next_cursor)).body;

  expect(first.inbox.length).toBeLessThan(titles.length);
  const inbox = [...first.inbox, ...second.inbox].map(({ content }) => content.title);
  expect(inbox.sort()).toEqual(titles.sort());
});

it("the pages of an export together hold every send and every event of the person (F14)", async () => {
  const { history } = await exported();

  expect(history.filter(({ kind }) => kind === "message")).toHaveLength(SENDS);
  const events = history.filter(({ kind }) => kind === "event").map(({ title }) => title);
  expect(events.sort()).toEqual(EVENTS);
});

it("the command line writes all pages of an export into one file (F14)", async () => {
  const { world, tenant, history } = await exported();
  const cli = await cliOf(world, tenant);

  const file = await cli.json("export-subscriber", "ada");

  expect(file.inbox).toHaveLength(SENDS);
  expect(file.history).toHaveLength(history.length);
});

it("the cursor of one person's export opens no other's (F14)", async () => {
  const { tenant, bob, pages } = await exported();

  expect((await exportOf(tenant, bob, pages[0]!.next_cursor)).status).toBe(422);
});

it("an erased subscriber has no export (F14)", async () => {
  const { tenant } = await exported();
  const gone = await tenant.upsert({ external_id: "gone" });
  await tenant.call(`DELETE /api/v1/subscribers/${gone}`);

  expect((await exportOf(tenant, gone)).status).toBe(404);
});

it("the export of a subscriber names segments that are older than the newest hundred (F14)", async () => {
  const { world, tenant } = await withTenant();
  const ada = await tenant.upsert({ external_id: "ada", attributes: { plan: "pro" } });
  await segmentOf(world, tenant, pro, { is_dynamic: false, name: "The oldest" });
  const nobody = { attribute: { plan: { $eq: "none" } } };
  for (let n = 0; n < 100; n++)
    await tenant.call("POST /api/v1/segments", { name: `Newer ${n}`, is_dynamic: false, rule: nobody });
  await world.settle();

  const { subscriber } = (await exportOf(tenant, ada)).body;

  expect(subscriber.segments).toMatchObject([{ name: "The oldest" }]);
});

it("a history of more than a thousand consents is read to its end, alone and in the export (D-CONSENT, F14)", async () => {
  const { world, tenant } = await withTenant();
  const ada = await tenant.upsert({ external_id: "ada" });
  const path = `/api/v1/subscribers/${ada}/consents`;
  await tenant.call(`POST ${path}`, { status: "opted_in", channel: "sms", source: "answer 0" });
  const { items } = await tenant.store.query(ConsentItem, { subscriber: ada }, {});
  const { pk: _, sk: __, ...asserted } = items[0]!;
  const others = Array.from({ length: 1_004 }, (_, n) => {
    const id = world.ids.uuidAt(world.clock.now());
    return putItem(ConsentItem, { subscriber: ada, consent: id }, { ...asserted, id, source: `answer ${n + 1}` });
  });
  await tenant.store.writeAll(others);
  const said = Array.from({ length: 1_005 }, (_, n) => `answer ${n}`).sort();
  const sourcesOf = (pages: { consents?: { source: string }[] }[]) =>
    pages.flatMap(({ consents = [] }) => consents.map(({ source }) => source)).sort();

  const first = (await tenant.call(`GET ${path}`)).body;
  const second = (await tenant.call(`GET ${path}?cursor=${encodeURIComponent(first.next_cursor)}`)).body;
  expect(sourcesOf([{ consents: first.items }, { consents: second.items }])).toEqual(said);
  expect(second.next_cursor).toBe("");

  const pages: Page[] = [];
  for (let cursor: string | undefined; cursor !== ""; cursor = pages.at(-1)!.next_cursor)
    pages.push((await exportOf(tenant, ada, cursor)).body);
  expect(sourcesOf(pages)).toEqual(said);
  const file = await (await cliOf(world, tenant)).json("export-subscriber", "ada");
  expect(sourcesOf([file])).toEqual(said);
});
