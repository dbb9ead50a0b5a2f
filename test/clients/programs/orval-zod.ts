// Ten calls whose bodies and answers pass the schemas that orval wrote for zod.
import assert from "node:assert/strict";
import * as schemas from "../generated/orval-zod/schemas.ts";
import { environment, settle } from "./environment.ts";

const { baseUrl, serverKey, sdkKey, accessToken } = environment;
const server = { authorization: `Bearer ${serverKey}` };
const owner = { authorization: `Bearer ${accessToken}` };
const app = { "x-sdk-key": sdkKey };

async function call(route: string, headers: Record<string, string>, body?: unknown): Promise<unknown> {
  const [method = "GET", path = "/"] = route.split(" ");
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  assert.ok(response.ok, `${route} answered ${response.status}`);
  return response.json();
}

const ada = schemas.SubscribersUpsertWithServerKeyBody.parse({ external_id: "ada", email: "ada@example.com" });
const upserted = await call("POST /v1/subscribers/upsert", server, ada);
const { id } = schemas.SubscribersUpsertWithServerKeyResponse.parse(upserted);

const got = schemas.SubscribersGetWithServerKeyResponse.parse(await call(`GET /v1/subscribers/${id}`, server));
assert.equal(got.email, "ada@example.com");

const found = await call("GET /v1/subscribers?external_id=ada", server);
assert.equal(schemas.SubscribersListWithServerKeyResponse.parse(found).items.length, 1);

const event = schemas.EventsCreateBody.parse({ event_name: "signed_up", external_id: "ada" });
schemas.EventsCreateResponse.parse(await call("POST /v1/events", server, event));

const news = schemas.TopicsCreateBody.parse({ key: "news", name: "News" });
schemas.TopicsCreateResponse.parse(await call("POST /api/v1/topics", owner, news));

const topics = schemas.TopicsListResponse.parse(await call("GET /api/v1/topics", owner));
assert.equal(topics.items.length, 1);

const readers = schemas.ListsCreateBody.parse({ name: "Readers" });
const list = schemas.ListsCreateResponse.parse(await call("POST /api/v1/lists", owner, readers));

const members = schemas.ListsCreateSubscriberBody.parse({ subscriber_ids: [id] });
const added = await call(`POST /api/v1/lists/${list.id}/subscribers`, owner, members);
schemas.ListsCreateSubscriberResponse.parse(added);

const message = schemas.NotificationsCreateWithServerKeyBody.parse({
  external_ids: ["ada"],
  title: "Shipped",
  body: "It arrives tomorrow.",
});
schemas.NotificationsCreateWithServerKeyResponse.parse(await call("POST /v1/notifications", server, message));

await settle();
const inbox = await call(`GET /v1/in-app/messages?subscriber_id=${id}`, app);
assert.equal(schemas.InboxListMessagesResponse.parse(inbox).messages[0]?.content.title, "Shipped");
