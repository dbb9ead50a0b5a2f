// Ten calls by the functions that orval wrote for fetch.
import assert from "node:assert/strict";
import * as api from "../generated/orval-fetch/client.ts";
import { environment, settle } from "./environment.ts";

const { serverKey, sdkKey, accessToken } = environment;
const server = { headers: { authorization: `Bearer ${serverKey}` } };
const owner = { headers: { authorization: `Bearer ${accessToken}` } };
const app = { headers: { "x-sdk-key": sdkKey } };

const upserted = await api.subscribersUpsertWithServerKey(
  { external_id: "ada", email: "ada@example.com", attributes: { plan: "pro" } },
  server,
);
assert.ok(upserted.status === 200);
const { id } = upserted.data;

const got = await api.subscribersGetWithServerKey(id, server);
assert.ok(got.status === 200);
assert.equal(got.data.email, "ada@example.com");

const found = await api.subscribersListWithServerKey({ external_id: "ada" }, server);
assert.ok(found.status === 200);
assert.deepEqual(
  found.data.items.map((each) => each.id),
  [id],
);

const reported = await api.eventsCreate({ event_name: "signed_up", external_id: "ada" }, server);
assert.equal(reported.status, 202);

const topic = await api.topicsCreate({ key: "news", name: "News" }, owner);
assert.ok(topic.status === 201);
assert.equal(topic.data.key, "news");

const topics = await api.topicsList(owner);
assert.ok(topics.status === 200);
assert.deepEqual(
  topics.data.items.map(({ key }) => key),
  ["news"],
);

const list = await api.listsCreate({ name: "Readers" }, owner);
assert.ok(list.status === 201);

const added = await api.listsCreateSubscriber(list.data.id, { subscriber_ids: [id] }, owner);
assert.equal(added.status, 200);

const sent = await api.notificationsCreateWithServerKey(
  { external_ids: ["ada"], title: "Shipped", body: "It arrives tomorrow.", idempotency_key: "order-7" },
  server,
);
assert.ok(sent.status === 201);
assert.ok(sent.data.id);

await settle();
const inbox = await api.inboxListMessages({ subscriber_id: id }, app);
assert.ok(inbox.status === 200);
assert.deepEqual(
  inbox.data.messages.map(({ content }) => content.title),
  ["Shipped"],
);
