// A program for test/planted-channel.test.ts, where there is a channel type `rcs`: prints what became of it.
import { contents } from "../../docs/generate/contents.ts";
import { generatedFiles } from "../../docs/generate/files.ts";
import type { OpenApi } from "../../docs/generate/openapi.ts";
import { consentChannels } from "../../shared/rules/channel-types.ts";
import { channelCalls, type UploadPath } from "./channels.ts";
import { document } from "./document.ts";
import { outboxOf } from "./reached.ts";
import { testWorld } from "./world.ts";

// The answers of a test world are compared with the document: it is made as `npm run docs` does.
const files = await generatedFiles(contents);
Object.assign(document, JSON.parse(files.get("docs/openapi.json")!) satisfies OpenApi);

const RCS = "rcs" as UploadPath;
const world = await testWorld();
const tenant = await world.tenant();
const { create, upload, get } = await channelCalls(world, tenant);
const id = await create(RCS);
const credentials = await upload(id, RCS);
await world.settle();
const channel = await get(id);

const person = { external_id: "ada", attributes: { first_name: "Ada", phone: "+4915112345678" } };
const { body: ada } = await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: person });
const as = await tenant.dashboard();
const message = {
  subscriberIds: [ada.id],
  channel_ids: [id],
  title: "Hello {{ subscriber.first_name }}",
  body: "It works.",
};
const { body: sent } = await world.call("POST /api/v1/notifications", { as, body: message });
await world.settle();
const { body: report } = await world.call(`GET /api/v1/notifications/${sent.id}`, { as });
const { body: list } = await world.call(`GET /api/v1/notifications/${sent.id}/recipients`, { as });
const outbox = await outboxOf(world, "?channel=rcs");
const content = { title: "Hi", body: "Hi", by_channel: { rcs: { body: 7 } } };
const refused = await world.call("POST /api/v1/templates", { as, body: { name: "RCS", content } });
await world.close();

interface Item {
  state: string;
  channel: string;
}
console.log(
  JSON.stringify({
    credentials: { status: credentials.status, type: credentials.body.type },
    channel: { type: channel.type, status: channel.status, settings: channel.settings },
    outbox: outbox.map(({ channel: by, to, title, body }) => ({ channel: by, to, title, body })),
    recipients: list.items.map(({ state, channel: by }: Item) => ({ state, channel: by })),
    report: { status: report.status, delivered_by_channel: report.delivered_by_channel },
    refused: { status: refused.status, fields: Object.keys(refused.body.fields ?? {}) },
    consents: consentChannels,
    published: {
      path: document.paths["/api/v1/channels/{id}/credentials/rcs"]?.post?.summary,
      form: files.get("console/app/forms.gen.ts")?.includes('"channels.rcsCredentials"'),
      content: document.components.schemas.ContentByChannel?.properties?.rcs?.$ref,
    },
  }),
);
