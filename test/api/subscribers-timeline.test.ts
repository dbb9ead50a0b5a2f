// The timeline of a subscriber (RDA-5).
import { expect, it } from "vitest";
import { DAY, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { chunksOf } from "../../shared/rules/chunks.ts";
import { identify, ingest } from "../support/events.ts";
import { attribute, graphOf, journeySetting } from "../support/journeys.ts";
import { type TimelineEntry, timeline } from "../support/pages.ts";
import { addPeople, send } from "../support/people.ts";
import { quietSetting } from "../support/quiet-hours.ts";
import { addPhone, openChannels } from "../support/reached.ts";
import { shared, worlds } from "../support/worlds.ts";

const { fresh, withTenant, withPeople } = worlds();

function expectNewestFirst(entries: readonly TimelineEntry[]) {
  const times = entries.map(({ at }) => at);
  expect(times).toEqual(times.toSorted().reverse());
}

/** A person with an entry of every kind, a minute apart. */
const lived = shared(async ({ withTenant }) => {
  const { world, tenant } = await withTenant();
  const call = async (route: string, body: object) => (await tenant.call(route, body)).body;
  const { ios } = await openChannels(world, tenant, "ios-push");
  const [ada = ""] = await addPeople(world, tenant, 1);
  const setPlan = (plan: string) => tenant.upsert({ external_id: "p0", attributes: { plan } });
  const list = await call("POST /api/v1/lists", { name: "friends" });
  await call("POST /api/v1/segments", { name: "Paying", is_dynamic: true, rule: attribute("plan", "pro") });
  const trigger = { type: "event", event_name: "signed_up" };
  const journey = await call("POST /api/v1/journeys", { name: "Welcome", trigger, steps: graphOf({ end: "exit" }) });
  await call(`POST /api/v1/journeys/${journey.id}/activate`, {});
  const acts = [
    () => addPhone(world, tenant, ada, "ios", { model: "iPhone 17" }),
    () => call(`POST /api/v1/lists/${list.id}/subscribers`, { subscriber_ids: [ada] }),
    () => setPlan("pro"),
    () => setPlan("free"),
    async () => {
      await ingest(world, tenant, { event_name: "looked", anonymous_id: "visitor", properties: { page: "/" } });
      await identify(world, tenant, "visitor", ada);
    },
    () => ingest(world, tenant, { event_name: "signed_up", subscriber_id: ada }),
    // Its time in the timeline is when it was recorded.
    () =>
      call(`POST /api/v1/subscribers/${ada}/consents`, {
        ...{ channel: "email", status: "opted_out", consented_at: "2026-11-01T00:00:00Z" },
      }),
    () => send(world, tenant, { subscriberIds: [ada], channel_ids: [ios], title: "Push" }),
    () => send(world, tenant, { subscriberIds: [ada], title: "Inbox" }),
  ];
  for (const act of acts) {
    await act();
    await world.advance(MINUTE);
  }
  const read = (query: string) => timeline(world, tenant, ada, query);
  return { read, all: await read("") };
});

it("a timeline has messages, events, consents, journeys, segments, lists and devices, newest first (RDA-5)", async () => {
  const { all } = await lived();

  expect(all.map(({ kind, title, state }) => [kind, title, state])).toEqual([
    // One for each address.
    ["message", "Inbox", "delivered"],
    ["message", "Inbox", "delivered"],
    ["message", "Push", "delivered"],
    ["consent", "email", "opted_out"],
    ["journey", "Welcome", "completed"],
    ["journey", "Welcome", "entered"],
    ["event", "signed_up", null],
    ["event", "looked", null],
    ["segment", "Paying", "exited"],
    ["segment", "Paying", "entered"],
    ["list", "friends", "entered"],
    ["device", "iPhone 17", "active"],
  ]);
  expectNewestFirst(all);
});

it.each([1, 3, 100])("a timeline is the same in pages of %i (RDA-5)", async (limit) => {
  const { read, all } = await lived();

  expect(await read(`limit=${limit}`)).toEqual(all);
});

it("a consent in a timeline is where it was recorded, and says when it was given (RDA-5)", async () => {
  const { all } = await lived();
  const consent = all.find(({ kind }) => kind === "consent");

  expect(consent).toMatchObject({ data: { consented_at: "2026-11-01T00:00:00.000Z", express: false } });
  expect(consent?.at).not.toBe("2026-11-01T00:00:00.000Z");
});

it.each([
  ["the inbox", "in_app"],
  ["a phone", "ios"],
] as const)("a message by %s in a timeline has the arm of its recipient (RDA-5, ABH-1)", async (_, type) => {
  const { world, tenant, ids } = await withPeople(1);
  const [ada = ""] = ids;
  await openChannels(world, tenant, "ios-push");
  await addPhone(world, tenant, ada, "ios");
  const { channels } = (await tenant.call("GET /api/v1/channels")).body;
  const channel_ids = channels.flatMap((channel: { id: string; type: string }) =>
    channel.type === type ? [channel.id] : [],
  );
  const arms = { variant_b: { title: "B", body: "b" }, split_percentage: 1 };
  await send(world, tenant, { target: { type: "all" }, channel_ids, ...arms });

  const [message] = await timeline(world, tenant, ada, "kinds=message");
  expect(message).toMatchObject({
    state: "delivered",
    data: { channel: type, variant_id: expect.stringMatching(/^[ab]$/) },
  });
});

it("a timeline has the kinds alone that are asked for (RDA-5)", async () => {
  const { read, all } = await lived();

  const some = await read("kinds=event,list&limit=2");

  expect(some).toEqual(all.filter(({ kind }) => kind === "event" || kind === "list"));
});

it("messages of one moment are each on one page of a timeline (RDA-5)", async () => {
  const { world, tenant } = await withTenant();
  const [ada = ""] = await addPeople(world, tenant, 1);
  const scheduled_at = timestamp(world.clock.now() + MINUTE);
  for (const title of ["One", "Two", "Three"])
    await tenant.call("POST /api/v1/notifications", { subscriberIds: [ada], title, body: "b", scheduled_at });
  await world.advance(2 * MINUTE);

  const all = await timeline(world, tenant, ada, "kinds=message&limit=100");
  expect(all.map(({ at }) => at)).toEqual([scheduled_at, scheduled_at, scheduled_at]);
  expect(await timeline(world, tenant, ada, "kinds=message&limit=1")).toEqual(all);
});

it("hundreds of events, also those of one moment and of a late batch, are each on one page of a timeline (RDA-5)", async () => {
  const { world, tenant } = await withTenant();
  const [ada = ""] = await addPeople(world, tenant, 1);
  const now = world.clock.now();
  const batch = (count: number, from: number, gap: number) =>
    Array.from({ length: count }, (_, n) => ({
      event_name: `e${from + n}`,
      subscriber_id: ada,
      occurred_at: timestamp(now - (from + n) * gap),
    }));
  await ingest(world, tenant, { events: batch(60, 0, 10 * SECOND) });
  await ingest(world, tenant, { events: batch(60, 100, 0) });
  await ingest(world, tenant, { events: batch(60, 30, 15 * SECOND) });
  await world.settle();

  const all = await timeline(world, tenant, ada, "kinds=event&limit=100");
  expect(all).toHaveLength(180);
  expectNewestFirst(all);
  expect(await timeline(world, tenant, ada, "kinds=event&limit=7")).toEqual(all);
});

it.each([
  ["one hour", SECOND],
  ["one moment", 0],
])("a timeline has hundreds of events of %s, each of a request of its own (RDA-5)", async (_, gap) => {
  const { world, tenant } = await withTenant();
  const [ada = ""] = await addPeople(world, tenant, 1);
  const now = world.clock.now();
  const single = (n: number) => ({ event_name: "e", subscriber_id: ada, occurred_at: timestamp(now - n * gap) });
  for (const some of chunksOf(
    Array.from({ length: 620 }, (_, n) => single(n)),
    62,
  ))
    await Promise.all(some.map((event) => ingest(world, tenant, event)));
  await world.settle();

  expect(await timeline(world, tenant, ada, "kinds=event&limit=100")).toHaveLength(620);
});

it.each([
  ["messages of the inbox", "in_app"],
  ["messages by a phone", "ios"],
] as const)("a timeline of %s alone goes on behind a page that they fill (RDA-5)", async (_, type) => {
  const { world, tenant, ids } = await withPeople(1);
  const [ada = ""] = ids;
  await openChannels(world, tenant, "ios-push");
  await addPhone(world, tenant, ada, "ios");
  const { channels } = (await tenant.call("GET /api/v1/channels")).body;
  const channel_ids = channels.flatMap((channel: { id: string; type: string }) =>
    channel.type === type ? [channel.id] : [],
  );
  for (const title of ["1", "2", "3", "4", "5"]) {
    await send(world, tenant, { subscriberIds: [ada], channel_ids, title });
    await world.advance(MINUTE);
  }

  const titles = (await timeline(world, tenant, ada, "kinds=message&limit=2")).map(({ title }) => title);
  expect(titles).toEqual(["5", "4", "3", "2", "1"]);
});

it("a timeline of events alone goes on behind a page that they fill, however many are read at once (RDA-5)", async () => {
  const { world, tenant } = await withTenant();
  const [ada = ""] = await addPeople(world, tenant, 1);
  for (let n = 0; n < 60; n++) {
    await ingest(world, tenant, { event_name: "e", subscriber_id: ada });
    await world.advance(SECOND);
  }

  expect(await timeline(world, tenant, ada, "kinds=event&limit=49")).toHaveLength(60);
});

it("a timeline of an unknown kind is refused with 422, naming it (RDA-5)", async () => {
  const { tenant, ids } = await withPeople(1);

  const { status, body } = await tenant.call(`GET /api/v1/subscribers/${ids[0]}/timeline?kinds=events`);

  expect(status).toBe(422);
  expect(Object.keys(body.fields)).toEqual([expect.stringContaining("kinds")]);
});

it("nobody who is unknown, or erased, has a timeline: 404 (RDA-5, SUB-9)", async () => {
  const { world, tenant, ids } = await withPeople(1);
  await tenant.call(`DELETE /api/v1/subscribers/${ids[0]}`);

  for (const id of [ids[0], world.ids.uuid()])
    expect((await tenant.call(`GET /api/v1/subscribers/${id}/timeline`)).status).toBe(404);
});

it("a timeline has a message that waits for the end of quiet hours, and a send that skipped the person (RDA-5)", async () => {
  const { world, tenant, person, push } = await quietSetting(withTenant, {});
  const ben = await person("ben", "Asia/Tokyo");
  await push({ title: "Later" });
  await world.advance(MINUTE);
  const { email } = await openChannels(world, tenant, "email");
  await send(world, tenant, { target: { type: "all" }, channel_ids: [email], title: "Mail" });
  const until = "2026-11-20T23:00:00.000Z";

  const entries = await timeline(world, tenant, ben, "kinds=message");

  expect(entries).toMatchObject([
    { title: "Mail", state: "skipped", data: { channel: null, reason: "no_address" } },
    { title: "Later", state: "deferred", data: { channel: "ios", reason: "quiet_hours", deferred_until: until } },
  ]);
  expect(await timeline(world, tenant, ben, "kinds=message&limit=1")).toEqual(entries);

  await world.advance(6 * DAY);
  const [mail] = entries;
  expect(await timeline(world, tenant, ben, "kinds=message")).toContainEqual(mail);
});

it("a device that takes no push is disabled, as in the list of devices (RDA-5)", async () => {
  const { world, tenant } = await withTenant();
  const [ada = ""] = await addPeople(world, tenant, 1);
  await addPhone(world, tenant, ada, "ios", { push_enabled: false });

  expect(await timeline(world, tenant, ada)).toMatchObject([{ kind: "device", state: "disabled" }]);
});

it("a timeline has a run of one journey beside more of another than are read at once (RDA-5, F14)", async () => {
  const { world, tenant, active, person, track, onEvent } = await journeySetting(await fresh());
  const steps = graphOf({ end: "exit" });
  await active(steps, { name: "First" });
  await active(steps, { name: "Second", trigger: onEvent("bought"), entry_rules: { allow_reentry: true } });
  const ada = await person("ada");
  await track("ada", "signed_up");
  const events = Array.from({ length: 510 }, () => ({ event_name: "bought", subscriber_id: ada }));
  await ingest(world, tenant, { events });
  await world.settle();

  const runs = await timeline(world, tenant, ada, "kinds=journey&limit=100");
  expect(
    Object.fromEntries([...Map.groupBy(runs, ({ title }) => title)].map(([title, all]) => [title, all.length])),
  ).toEqual({
    First: 2,
    Second: 2 * 510,
  });
});
