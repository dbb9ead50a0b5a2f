// A body that names what another workspace has is refused like one that names nothing, so that nobody learns what there is.
import { beforeAll, expect, it } from "vitest";
import { timestamp } from "../shared/kernel/clock.ts";
import { foreignIds } from "./support/foreign.ts";
import { START, type Tenant, type TestWorld, testWorld, UNKNOWN } from "./support/world.ts";

const text = { title: "t", body: "b" };
const all = { target: { type: "all" } };
const campaign = { name: "c", content: text };
const cron = { ...all, cron_expression: "0 9 * * *", timezone: "UTC" };
const experience = { name: "e", format: "banner", content: text };
const phone = { platform: "ios", token: "t" };
const report = { interaction: "tapped", platform: "ios", occurred_at: timestamp(START) };

/** The things that one body names beside the other: those of the asking workspace. */
interface OwnReferences {
  template_id: string;
  channel_ids: string[];
}

const references: [route: string, noun: string, body: (id: string, own: OwnReferences) => object][] = [
  ["POST /api/v1/notifications", "templates", (template_id) => ({ ...all, template_id })],
  ["POST /api/v1/notifications", "channels", (id) => ({ ...all, ...text, channel_ids: [id] })],
  ["POST /api/v1/notifications", "lists", (list_id) => ({ ...text, target: { type: "list", list_id } })],
  ["POST /api/v1/notifications", "segments", (segment_id) => ({ ...text, target: { type: "segment", segment_id } })],
  ["POST /api/v1/campaigns", "templates", (template_id, { channel_ids }) => ({ name: "c", channel_ids, template_id })],
  ["POST /api/v1/campaigns", "channels", (id) => ({ ...campaign, channel_ids: [id] })],
  [
    "POST /api/v1/campaigns",
    "lists",
    (list_id, { channel_ids }) => ({ ...campaign, channel_ids, target: { type: "list", list_id } }),
  ],
  ["POST /api/v1/schedules", "templates", (template_id, { channel_ids }) => ({ ...cron, channel_ids, template_id })],
  ["POST /api/v1/schedules", "channels", (id, { template_id }) => ({ ...cron, template_id, channel_ids: [id] })],
  ["POST /api/v1/schedules", "campaigns", (campaign_id, own) => ({ ...cron, ...own, campaign_id })],
  ["POST /api/v1/in-app/experiences", "lists", (id) => ({ ...experience, audience: { type: "list", list_id: id } })],
  ["POST /api/v1/exports", "lists", (list_id) => ({ kind: "list", filter: { list_id } })],
  ["POST /api/v1/exports", "segments", (segment_id) => ({ kind: "segment", filter: { segment_id } })],
  ["POST /api/v1/exports", "notifications", (id) => ({ kind: "recipients", filter: { notification_id: id } })],
  ["POST /api/v1/devices", "subscribers", (subscriber_id) => ({ ...phone, subscriber_id })],
  ["POST /v1/events", "subscribers", (subscriber_id) => ({ event_name: "seen", subscriber_id })],
  ["POST /v1/events/identify", "subscribers", (subscriber_id) => ({ anonymous_id: "a", subscriber_id })],
  ["POST /api/v1/notifications/interactions", "notifications", (job_id) => ({ ...report, job_id })],
];

/** Apps ask with the publishable key. */
const isOfApps = (route: string) => /^POST (\/v1\/|.*\/(devices|interactions)$)/.test(route);

let world: TestWorld;
let tenant: Tenant;
let other: Tenant;

beforeAll(async () => {
  world = await testWorld();
  [tenant, other] = [await world.tenant(), await world.tenant()];
});

it.each(references)(
  "%s refuses one of another workspace's %s as one that there is not (AMB-26, AMB-41, AMB-58, AMB-89, AMB-93, CMP-6, CMP-13, D-DEV, GEN-8, NTF-21, RDA-16, SCH-4)",
  async (route, noun, body) => {
    const idOf = (owner: Tenant, named: string) => foreignIds(world, owner, `GET /api/v1/${named}/:id`);
    const own = { template_id: await idOf(tenant, "templates"), channel_ids: [await idOf(tenant, "channels")] };
    const as = isOfApps(route) ? tenant.sdk : await tenant.dashboard();
    const ask = (id: string) => world.call(route, { as, body: body(id, own) });

    const refused = await ask(await idOf(other, noun));

    expect([400, 422]).toContain(refused.status);
    expect(refused.body).toEqual((await ask(UNKNOWN)).body);
    expect((await ask(await idOf(tenant, noun))).status).toBeLessThan(300);
  },
);
