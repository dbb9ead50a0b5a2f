// Ten calls by the client that hey-api wrote.
import assert from "node:assert/strict";
import { type Auth, createClient } from "../generated/hey-api/client/index.ts";
import * as api from "../generated/hey-api/sdk.gen.ts";
import { environment, settle } from "./environment.ts";

const { baseUrl, serverKey, sdkKey, accessToken } = environment;
const bearer =
  (token: string) =>
  ({ scheme }: Auth) =>
    scheme === "bearer" ? token : undefined;
const server = createClient({ baseUrl, auth: bearer(serverKey), throwOnError: true });
const owner = createClient({ baseUrl, auth: bearer(accessToken), throwOnError: true });
const app = createClient({ baseUrl, auth: ({ type }) => (type === "apiKey" ? sdkKey : undefined), throwOnError: true });

const upserted = await api.subscribersUpsertWithServerKey({
  client: server,
  throwOnError: true,
  body: { external_id: "ada", email: "ada@example.com", attributes: { plan: "pro" } },
});
const { id } = upserted.data;

const got = await api.subscribersGetWithServerKey({ client: server, throwOnError: true, path: { id } });
assert.equal(got.data.email, "ada@example.com");

const query = { external_id: "ada" };
const found = await api.subscribersListWithServerKey({ client: server, throwOnError: true, query });
assert.deepEqual(
  found.data.items.map((each) => each.id),
  [id],
);

const reported = await api.eventsCreate({ client: server, body: { event_name: "signed_up", external_id: "ada" } });
assert.equal(reported.response?.status, 202);

const topic = await api.topicsCreate({ client: owner, throwOnError: true, body: { key: "news", name: "News" } });
assert.equal(topic.data.key, "news");

const topics = await api.topicsList({ client: owner, throwOnError: true });
assert.deepEqual(
  topics.data.items.map(({ key }) => key),
  ["news"],
);

const list = await api.listsCreate({ client: owner, throwOnError: true, body: { name: "Readers" } });

await api.listsCreateSubscriber({
  client: owner,
  throwOnError: true,
  path: { id: list.data.id },
  body: { subscriber_ids: [id] },
});

const sent = await api.notificationsCreateWithServerKey({
  client: server,
  throwOnError: true,
  headers: { "Idempotency-Key": "order-7" },
  body: { external_ids: ["ada"], title: "Shipped", body: "It arrives tomorrow." },
});
assert.ok(sent.data.id);

await settle();
const inbox = await api.inboxListMessages({ client: app, throwOnError: true, query: { subscriber_id: id } });
assert.deepEqual(
  inbox.data.messages.map(({ content }) => content.title),
  ["Shipped"],
);
