// A program for test/planted-field.test.ts: what becomes of a campaign's field `color`, as JSON on standard output.
import { contents } from "../../docs/generate/contents.ts";
import { openApiOf } from "../../docs/generate/openapi.ts";
import { testWorld } from "./world.ts";

const world = await testWorld();
const tenant = await world.tenant();
const as = await tenant.dashboard();
const { channels } = (await world.call("GET /api/v1/channels", { as })).body;
const messages = [{ content: { title: "Hello", body: "It is spring." }, channel_ids: [channels[0].id] }];
const call = (route: string, body?: object) => world.call(route, { as, ...(body && { body }) });

const refused = await call("POST /api/v1/campaigns", { name: "Sale", messages, color: "green" });
const made = await call("POST /api/v1/campaigns", { name: "Sale", messages, color: "red" });
const path = `/api/v1/campaigns/${made.body.id}`;
const read = await call(`GET ${path}`);
const copy = await call(`POST ${path}/duplicate`);
const replaced = await call(`PUT ${path}`, { name: "Sale", messages, color: "blue" });
const removed = await call(`PUT ${path}`, { name: "Sale", messages });
const after = await call(`GET ${path}`);
const document = await openApiOf(contents);
const { post } = document.paths["/api/v1/campaigns"]!;
await world.close();

const fieldsOf = (schema: { properties?: object } | undefined) => Object.keys(schema?.properties ?? {});
process.stdout.write(
  JSON.stringify({
    refused: [refused.status, Object.keys(refused.body.fields ?? {})],
    colors: [made, read, copy, replaced, removed, after].map(({ status, body }) => [status, body.color ?? null]),
    isInRequest: fieldsOf(post?.requestBody?.content["application/json"]?.schema).includes("color"),
    isInResponse: fieldsOf(document.components.schemas.CampaignsCampaign).includes("color"),
  }),
);
