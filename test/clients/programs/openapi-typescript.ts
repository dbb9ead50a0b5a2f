// Ten calls by openapi-fetch, typed by what openapi-typescript wrote.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { paths } from "../generated/openapi-typescript/schema.ts";
import { environment, settle } from "./environment.ts";

const { baseUrl, serverKey, sdkKey, accessToken } = environment;
const server = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${serverKey}` } });
const owner = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${accessToken}` } });
const app = createClient<paths>({ baseUrl, headers: { "x-sdk-key": sdkKey } });

const upserted = await server.POST("/v1/subscribers/upsert", {
  body: { external_id: "ada", email: "ada@example.com", attributes: { plan: "pro" } },
});
assert.equal(upserted.error, undefined);
const id = upserted.data!.id;

const got = await server.GET("/v1/subscribers/{id}", { params: { path: { id } } });
assert.equal(got.data?.email, "ada@example.com");

const found = await server.GET("/v1/subscribers", { params: { query: { external_id: "ada" } } });
assert.deepEqual(
  found.data?.items.map((each) => each.id),
  [id],
);

const reported = await server.POST("/v1/events", { body: { event_name: "signed_up", external_id: "ada" } });
assert.equal(reported.response.status, 202);

const topic = await owner.POST("/api/v1/topics", { body: { key: "news", name: "News" } });
assert.equal(topic.data?.key, "news");

const topics = await owner.GET("/api/v1/topics");
assert.deepEqual(
  topics.data?.items.map(({ key }) => key),
  ["news"],
);

const list = await owner.POST("/api/v1/lists", { body: { name: "Readers" } });
assert.ok(list.data);

const added = await owner.POST("/api/v1/lists/{id}/subscribers", {
  params: { path: { id: list.data.id } },
  body: { subscriber_ids: [id] },
});
assert.equal(added.error, undefined);

const sent = await server.POST("/v1/notifications", {
  params: { header: { "Idempotency-Key": "order-7" } },
  body: { external_ids: ["ada"], title: "Shipped", body: "It arrives tomorrow." },
});
assert.ok(sent.data?.id);

await settle();
const inbox = await app.GET("/v1/in-app/messages", { params: { query: { subscriber_id: id } } });
assert.deepEqual(
  inbox.data?.messages.map(({ content }) => content.title),
  ["Shipped"],
);
