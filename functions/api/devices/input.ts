// The body of a device registration (D-DEV).
import * as v from "valibot";
import { Locale, SomeTextUpTo, TimeZone, Uuid } from "../../../shared/contract/schemas.ts";
import { devicePlatforms } from "../../../shared/rules/channel-types.ts";
import { parseVersion } from "../../../shared/rules/versions.ts";

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
  v.integer("must be a whole number"),
  v.minValue(0, "must not be negative"),
  v.maxValue(MAX_VERSION_PART, `must be at most ${MAX_VERSION_PART}`),
);

/** Stored parsed (NTF-16). */
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

export const Registration = v.pipe(
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
    push_enabled: v.optional(v.boolean("must be true or false")),
    environment: v.optional(v.picklist(["sandbox", "production"], "must be sandbox or production")),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { value } = dataset;
    const blame = (key: keyof typeof value, message: string) =>
      addIssue({ message, path: [{ type: "object", origin: "value", input: value, key, value: value[key] }] });
    if ((value.subscriber_id === undefined) === (value.external_id === undefined))
      blame("subscriber_id", "exactly one of subscriber_id and external_id is required");
    const [needed, other] =
      value.platform === "web" ? (["subscription", "token"] as const) : (["token", "subscription"] as const);
    if (value[needed] === undefined) blame(needed, `is required for ${value.platform}`);
    if (value[other] !== undefined) blame(other, `is not for ${value.platform}`);
  }),
);
