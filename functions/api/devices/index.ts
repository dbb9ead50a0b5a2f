// Devices: registered by the SDK on a subscriber's phone or browser, listed and removed.
import * as v from "valibot";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, existing, group } from "../../../shared/http/endpoint.ts";
import { invalid, notFound } from "../../../shared/http/errors.ts";
import { Timestamp, Uuid } from "../../../shared/http/schemas.ts";
import { plans } from "../../../shared/plans.ts";
import { audienceSize, secrets, storeRead, storeWrite } from "../../../shared/resources.ts";
import { devicePlatforms, devicesOf, registerDevice, removeDevice } from "../../../shared/store/subscribers/devices.ts";
import { findByExternalId, getSubscriber, upsertSubscriber } from "../../../shared/store/subscribers/subscribers.ts";
import { Registration } from "./input.ts";

const Version = v.object({ major: v.number(), minor: v.number(), patch: v.number() });

const Device = v.object({
  id: v.string(),
  subscriber_id: v.string(),
  platform: v.picklist(devicePlatforms),
  device_id: v.nullable(v.string()),
  model: v.nullable(v.string()),
  os_version: v.nullable(Version),
  app_version: v.nullable(Version),
  sdk_version: v.nullable(Version),
  locale: v.nullable(v.string()),
  timezone: v.nullable(v.string()),
  push_enabled: v.boolean(),
  environment: v.nullable(v.picklist(["sandbox", "production"])),
  status: v.picklist(["active", "invalid", "disabled"]),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_seen_at: Timestamp,
});

const client = endpoints({ credentials: ["sdk"], uses: [storeWrite, secrets, audienceSize] });
const removing = endpoints({
  credentials: ["sdk", "dashboard"],
  permission: "subscribers:write",
  uses: [storeWrite],
});
const dashboard = endpoints({ credentials: ["dashboard"], uses: [storeRead] });

export const devices = group("devices", "The phones and browsers of subscribers.", [
  client(
    "POST /api/v1/devices",
    {},
    {
      summary: "Register a device for push",
      description:
        "Known by its `device_id`, else by its token: the same device again is a 200, and one presented for another " +
        "subscriber moves there. A subscriber has at most 20 devices; the one seen longest ago goes.",
      body: Registration,
      returns: Device,
      status: 201,
      example: { body: { external_id: "user-4711", platform: "ios", token: "740f4707bebcf74f", os_version: "17.4.1" } },
      upserts: true,
      errors: ["QUOTA_EXCEEDED", "SERVICE_UNAVAILABLE"],
    },
    async ({ store, secrets, audienceSize, caller, body }) => {
      const { subscriber_id, external_id, ...fields } = body;
      const ensure = async (externalId: string) => {
        const root = await secrets.root();
        const subscriber = await findByExternalId(store, root, externalId);
        if (subscriber) return subscriber.id;
        const cap = await audienceSize.capOf(plans[workspaceOf(caller).plan].subscribers);
        return (await upsertSubscriber(store, root, { external_id: externalId }, cap)).id;
      };
      const id = subscriber_id ?? (await ensure(external_id!));
      const registered = await registerDevice(store, { ...fields, subscriber_id: id });
      if (!registered) throw invalid({ subscriber_id: "no such subscriber in this workspace" });
      return registered.isNew ? registered.device : existing(registered.device);
    },
  ),

  removing(
    "DELETE /api/v1/devices/:id",
    {},
    { summary: "Remove a device, as at a logout", query: v.object({ subscriber_id: Uuid }), errors: ["NOT_FOUND"] },
    async ({ store, params, query }) => {
      if (!(await removeDevice(store, query.subscriber_id, params.id))) throw notFound("device");
    },
  ),

  dashboard(
    "GET /api/v1/subscribers/:id/devices",
    {},
    {
      summary: "List a subscriber's devices",
      returns: v.object({ items: v.array(Device) }),
      errors: ["NOT_FOUND"],
    },
    async ({ store, params }) => {
      if (!(await getSubscriber(store, params.id))) throw notFound("subscriber");
      return { items: await devicesOf(store, params.id) };
    },
  ),
]);
