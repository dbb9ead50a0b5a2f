// Devices: registered by the SDK on a subscriber's phone or browser, listed and removed.
import * as v from "valibot";
import { atField, Locale, SomeTextUpTo, TimeZone, Uuid } from "../../../shared/contract/schemas.ts";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, existing, group } from "../../../shared/http/endpoint.ts";
import { invalid, notFound } from "../../../shared/kernel/errors.ts";
import { devicePlatforms } from "../../../shared/rules/channel-types.ts";
import { plans } from "../../../shared/rules/plans.ts";
import { parseVersion } from "../../../shared/rules/versions.ts";
import { egress } from "../../../shared/runtime/resources.ts";
import { audienceSize, secrets } from "../../../shared/store/capabilities.ts";
import { storeRead, storeWrite } from "../../../shared/store/context.ts";
import { registerDevice } from "../../../shared/store/subscribers/device-registration.ts";
import { Device, devicesOf, removeDevice } from "../../../shared/store/subscribers/devices.ts";
import { findByExternalId, getSubscriber, upsertSubscriber } from "../../../shared/store/subscribers/subscribers.ts";

const MAX_TOKEN_CHARACTERS = 4_096;
const MAX_ENDPOINT_CHARACTERS = 2_048;
const MAX_KEY_CHARACTERS = 256;
const MAX_DEVICE_ID_CHARACTERS = 128;
const MAX_MODEL_CHARACTERS = 128;
const MAX_EXTERNAL_ID_CHARACTERS = 512;
const MAX_VERSION_PART = 999_999_999;

const VERSION = 'must be a version such as "17.4.1", or an object of major, minor and patch';
const VersionPart = v.pipe(
  v.number("must be a whole number"),
  v.integer(),
  v.minValue(0, "must not be negative"),
  v.maxValue(MAX_VERSION_PART),
);

/** A version is stored parsed (NTF-16). */
const Version = v.union(
  [
    v.pipe(
      v.string(),
      v.maxLength(64, VERSION),
      v.check((text) => parseVersion(text) !== undefined, VERSION),
      v.transform((text) => parseVersion(text)!),
    ),
    v.strictObject({ major: VersionPart, minor: v.optional(VersionPart, 0), patch: v.optional(VersionPart, 0) }),
  ],
  VERSION,
);

const isHttps = (text: string) => URL.canParse(text) && new URL(text).protocol === "https:";

/** The browser's PushSubscription; its other fields are ignored. */
const Subscription = v.object({
  endpoint: v.pipe(SomeTextUpTo(MAX_ENDPOINT_CHARACTERS), v.check(isHttps, "must be an HTTPS URL")),
  keys: v.object({ p256dh: SomeTextUpTo(MAX_KEY_CHARACTERS), auth: SomeTextUpTo(MAX_KEY_CHARACTERS) }),
});

const Registration = v.pipe(
  v.strictObject({
    subscriber_id: v.optional(Uuid),
    external_id: v.optional(SomeTextUpTo(MAX_EXTERNAL_ID_CHARACTERS)),
    platform: v.picklist(devicePlatforms, "must be ios, android or web"),
    token: v.optional(SomeTextUpTo(MAX_TOKEN_CHARACTERS)),
    subscription: v.optional(Subscription),
    device_id: v.optional(SomeTextUpTo(MAX_DEVICE_ID_CHARACTERS)),
    os_version: v.optional(Version),
    app_version: v.optional(Version),
    sdk_version: v.optional(Version),
    model: v.optional(SomeTextUpTo(MAX_MODEL_CHARACTERS)),
    locale: v.optional(Locale),
    timezone: v.optional(TimeZone),
    push_enabled: v.optional(v.boolean()),
    environment: v.optional(v.picklist(["sandbox", "production"], "must be sandbox or production")),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { value } = dataset;
    const blame = (key: keyof typeof value, message: string) => addIssue({ message, path: [atField(value, key)] });
    if ((value.subscriber_id === undefined) === (value.external_id === undefined))
      blame("subscriber_id", "exactly one of subscriber_id and external_id is required");
    const [needed, other] =
      value.platform === "web" ? (["subscription", "token"] as const) : (["token", "subscription"] as const);
    if (value[needed] === undefined) blame(needed, `is required for ${value.platform}`);
    if (value[other] !== undefined) blame(other, `is not for ${value.platform}`);
  }),
);

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
