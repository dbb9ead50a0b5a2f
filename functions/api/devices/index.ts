// Devices: registered by the SDK on a subscriber's phone or browser, listed and removed.
import * as v from "valibot";
import { Uuid } from "../../../shared/contract/schemas.ts";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, existing, group } from "../../../shared/http/endpoint.ts";
import { invalid, notFound } from "../../../shared/kernel/errors.ts";
import { plans } from "../../../shared/rules/plans.ts";
import { egress } from "../../../shared/runtime/resources.ts";
import { audienceSize, secrets } from "../../../shared/store/capabilities.ts";
import { storeRead, storeWrite } from "../../../shared/store/context.ts";
import { registerDevice } from "../../../shared/store/subscribers/device-registration.ts";
import { Device, devicesOf, removeDevice } from "../../../shared/store/subscribers/devices.ts";
import { findByExternalId, getSubscriber, upsertSubscriber } from "../../../shared/store/subscribers/subscribers.ts";
import { Registration } from "./input.ts";

const endpoint = endpoints({ credentials: ["sdk"], uses: [] });

export const devices = group("devices", "The phones and browsers of subscribers.", [
  endpoint(
    "POST /api/v1/devices",
    { uses: [storeWrite, secrets, audienceSize, egress] },
    {
      summary: "Register a device for push",
      description:
        "A device is identified by its `device_id`, else by its token. A known device is updated (200); if it belongs " +
        "to another subscriber, it moves. A subscriber has at most 20 devices: the one seen longest ago is removed.",
      body: Registration,
      returns: Device,
      status: 201,
      example: { body: { external_id: "user-4711", platform: "ios", token: "740f4707bebcf74f", os_version: "17.4.1" } },
      upserts: true,
      errors: ["QUOTA_EXCEEDED"],
    },
    async ({ store, secrets, audienceSize, egress, caller, body }) => {
      const refusal = body.subscription && egress.refusal(body.subscription.endpoint, "web_push");
      if (refusal) throw invalid({ "subscription.endpoint": refusal });
      const { subscriber_id, external_id, ...fields } = body;
      const ensure = async (externalId: string) => {
        const root = await secrets.root();
        const subscriber = await findByExternalId(store, root, externalId);
        if (subscriber) return subscriber.id;
        const cap = await audienceSize.capOf(plans[workspaceOf(caller).plan].subscribers);
        return (await upsertSubscriber(store, root, { external_id: externalId }, { ...cap, isLikelyNew: true })).id;
      };
      const id = external_id === undefined ? subscriber_id : await ensure(external_id);
      const registered = id === undefined ? undefined : await registerDevice(store, { ...fields, subscriber_id: id });
      if (!registered) throw invalid({ subscriber_id: "no such subscriber in this workspace" });
      return registered.isNew ? registered.device : existing(registered.device);
    },
  ),

  endpoint(
    "DELETE /api/v1/devices/:id",
    { credentials: ["sdk", "dashboard"], permission: "subscribers:write", uses: [storeWrite] },
    { summary: "Remove a device, as at a logout", query: v.object({ subscriber_id: Uuid }) },
    async ({ store, params, query }) => {
      const isRemoved = await removeDevice(store, query.subscriber_id, params.id);
      if (!isRemoved) throw notFound("device");
    },
  ),

  endpoint(
    "GET /api/v1/subscribers/:id/devices",
    { credentials: ["dashboard"], uses: [storeRead] },
    { summary: "List a subscriber's devices", returns: v.object({ items: v.array(Device) }) },
    async ({ store, params }) => {
      if (!(await getSubscriber(store, params.id))) throw notFound("subscriber");
      return { items: await devicesOf(store, params.id) };
    },
  ),
]);
