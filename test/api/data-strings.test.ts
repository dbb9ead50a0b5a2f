// The strings of a send's `data` are personalised as its texts are, on every channel that carries them (D-LIQUID).
import { expect, it } from "vitest";
import { post } from "../support/notify.ts";
import { addPeople, send } from "../support/people.ts";
import { addPhone, openChannels, outboxOf } from "../support/reached.ts";
import { addReader } from "../support/sse.ts";
import { worlds } from "../support/worlds.ts";

const { withPeople, withTenant } = worlds();

const data = {
  url: "https://shop.example.com/u/{{ subscriber.external_id }}",
  order: { lines: ["{{ subscriber.first_name | upcase }}", 7, true, null] },
  plain: "as it is",
};
const filled = {
  url: "https://shop.example.com/u/p0",
  order: { lines: ["ADA", 7, true, null] },
  plain: "as it is",
};
const named = () => ({ attributes: { first_name: "Ada" } });

// biome-ignore lint/suspicious/noExplicitAny: the request of a provider, as it is
type Payload = any;

it("a push carries data strings rendered, though its texts are the same for everyone (D-LIQUID, D-PUSH)", async () => {
  const { world, tenant } = await withTenant();
  const { ios, android, web_push } = await openChannels(world, tenant, "ios-push", "android-push", "vapid");
  const [ada] = (await addPeople(world, tenant, 1, named)) as [string];
  for (const platform of ["ios", "android", "web"] as const) await addPhone(world, tenant, ada, platform);
  await send(world, tenant, { subscriberIds: [ada], channel_ids: [ios, android, web_push], data });
  const sent = await outboxOf(world);
  const payloadOf = (channel: string): Payload => sent.find((one) => one.channel === channel)!.payload;

  expect(payloadOf("ios")).toMatchObject({ ...filled, subscriber_id: ada });
  expect(payloadOf("android").data).toMatchObject({
    url: filled.url,
    order: JSON.stringify(filled.order),
    plain: filled.plain,
  });
  expect(payloadOf("web_push").data).toMatchObject(filled);
});

it("the live stream carries data strings rendered for its reader (D-LIQUID, SSE-6)", async () => {
  const { world, tenant } = await withTenant();
  const { id, open, tell } = await addReader(world, tenant);
  const stream = await open();
  await tell("Hello", { data: { own: "{{ subscriber.id }}", order: 7 } });
  await world.advance(2_000);
  expect(stream.frames().map((frame) => frame.data.data)).toEqual([{ own: id, order: 7 }]);
  stream.disconnect();
});

it("a data string is rendered once, and what it inserts stays text, in data and in texts (D-LIQUID)", async () => {
  const { world, tenant } = await withTenant();
  const { ios } = await openChannels(world, tenant, "ios-push");
  const sly = "{{ subscriber.email }}";
  const [ada] = (await addPeople(world, tenant, 1, () => ({ attributes: { sly } }))) as [string];
  await addPhone(world, tenant, ada, "ios");
  await send(world, tenant, {
    subscriberIds: [ada],
    channel_ids: [ios],
    title: "{{ data.sly }}",
    data: { sly: "{{ subscriber.sly }}" },
  });

  expect(await outboxOf(world)).toMatchObject([{ title: "{{ subscriber.sly }}", payload: { sly } }]);
});

it("of the recipients of data strings one whose data grow too large fails alone (D-NTF-STATE, D-LIQUID)", async () => {
  const { world, tenant } = await withTenant();
  const ids = await addPeople(world, tenant, 3, (n) => ({
    attributes: { text: n === 1 ? "x".repeat(70_000) : "s" },
  }));
  const { job } = await send(world, tenant, {
    subscriberIds: ids,
    data: { a: "{{ subscriber.text }}", b: ["{{ subscriber.text }}"] },
  });

  expect(job).toMatchObject({ status: "completed", counts: { sent: 3, delivered: 2, failed: 1 } });
});

it.each<[what: string, bad: object, refusal: RegExp]>([
  ["does not end", { order: { lines: ["ok", "{{ subscriber.id"] } }, /^order\.lines\[1\]: /],
  ["has an unknown tag", { code: "{% include 'x' %}" }, /^code: /],
  [
    "has too many placeholders with others",
    { many: Array.from({ length: 1_001 }, () => "{{ subscriber.id }}") },
    /at most 1000 placeholders/,
  ],
])("a data string that %s is refused with its place, as a text is (D-LIQUID, D-NTF)", async (_, bad, refusal) => {
  const { world, tenant, ids } = await withPeople(1);

  const { status, body } = await post(world, tenant, { subscriberIds: ids, data: bad });

  expect([status, body.code]).toEqual([422, "VALIDATION_ERROR"]);
  expect(body.fields.data).toMatch(refusal);
});

it("a data string with single braces is text (D-LIQUID)", async () => {
  const { world, tenant, ids } = await withPeople(1);

  expect((await post(world, tenant, { subscriberIds: ids, data: { css: "a { b: c }" } })).status).toBe(201);
});

it("a preview renders data strings and counts their variables without a value (D-LIQUID, F8)", async () => {
  const { world, tenant } = await withTenant();
  const [ada] = await addPeople(world, tenant, 2, (n) => (n === 0 ? named() : {}));
  const told = await tenant.call("POST /api/v1/notifications/preview", {
    target: { type: "all" },
    title: "Hello",
    body: "World",
    data,
  });
  expect(told.body.rendered).toMatchObject({ failed: 0, unknown_variables: { "subscriber.first_name": 1 } });
  const sample = told.body.samples.find(({ subscriber_id }: { subscriber_id: string }) => subscriber_id === ada);
  expect(sample).toMatchObject({ title: "Hello", data: filled });
});
