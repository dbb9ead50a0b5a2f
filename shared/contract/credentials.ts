// Schemas of provider credentials, as they are uploaded and stored encrypted (CRD-3 to CRD-7).
import { createPrivateKey } from "node:crypto";
import * as v from "valibot";
import { isEmailAddress } from "../rules/contacts.ts";

const LINE = /^[^\p{Cc}]*$/u;
/** One line of text, because it is used in headers and forms. */
const line = (maxLength: number) =>
  v.pipe(
    v.string("must be a string"),
    v.nonEmpty("must not be empty"),
    v.maxLength(maxLength, `must be at most ${maxLength} characters`),
    v.regex(LINE, "must not contain control characters"),
  );
/** A secret that goes into a header as it is. */
const token = (maxLength: number) =>
  v.pipe(line(maxLength), v.regex(/^[\x21-\x7e]*$/, "must be printable ASCII without spaces"));
const matching = (form: RegExp, message: string) => v.pipe(v.string("must be a string"), v.regex(form, message));

const SHORT = 64;
const NAME = 255;
const SECRET = 4_096;
const MAX_PORT = 65_535;
const accountId = matching(/^[A-Za-z0-9_-]{1,64}$/, "must be letters, digits, - or _");
const email = v.pipe(
  v.string("must be a string"),
  v.maxLength(254, "must be an e-mail address"),
  v.check(isEmailAddress, "must be an e-mail address"),
);

const isKey = (curve: string | undefined) => (pem: string) => {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem);
    return curve ? asymmetricKeyDetails?.namedCurve === curve : asymmetricKeyType === "rsa";
  } catch {
    return false;
  }
};

/** Apple's token-signing key (.p8) with the ids it is used under. */
export const IosPush = v.object({
  type: v.literal("ios_push"),
  key: v.pipe(
    v.string("must be a PEM key"),
    v.maxLength(SECRET),
    v.check(isKey("prime256v1"), "must be a PEM key of the curve P-256 (.p8)"),
  ),
  key_id: matching(/^[A-Za-z0-9]{10}$/, "must be 10 letters or digits"),
  team_id: matching(/^[A-Za-z0-9]{1,32}$/, "must be letters or digits"),
  bundle_id: matching(/^[A-Za-z0-9.-]{1,155}$/, "must be a bundle id such as com.example.app"),
  environment: v.picklist(["sandbox", "production"], "must be sandbox or production"),
});

/** The fields of a service-account key that the service uses. */
export const AndroidPush = v.object({
  type: v.literal("android_push"),
  project_id: matching(/^[a-z0-9:.-]{1,128}$/, "must be a project id"),
  client_email: email,
  private_key: v.pipe(
    v.string("must be a PEM key"),
    v.maxLength(SECRET * 2),
    v.check(isKey(undefined), "must be a PEM RSA key"),
  ),
  private_key_id: v.optional(line(NAME)),
});

/** Base64url without padding: an uncompressed point of P-256, and its secret. */
export const Vapid = v.object({
  type: v.literal("vapid"),
  public_key: matching(/^[A-Za-z0-9_-]{87}$/, "must be an uncompressed public key in base64url"),
  private_key: matching(/^[A-Za-z0-9_-]{43}$/, "must be a private key in base64url"),
  /** `mailto:` or `https:` (RFC 8292). */
  subject: matching(/^(mailto:[^\s@]{1,64}@[^\s@]{1,189}|https:\/\/[^\s]{1,200})$/, "must be a mailto: or https: URL"),
});

export const Sms = v.object({
  type: v.literal("sms"),
  api_key: token(SHORT),
  api_secret: token(NAME),
  sender_id: line(32),
});

export const ChatApp = v.object({
  type: v.literal("chat_app"),
  access_token: token(SECRET),
  phone_number_id: accountId,
  waba_id: accountId,
  app_secret: v.optional(line(NAME)),
  webhook_verify_token: v.optional(line(NAME)),
});

/** D-EMAIL: Amazon SES in the AWS account of the service, or any SMTP server. */
export const Email = v.pipe(
  v.object({
    type: v.literal("email"),
    provider: v.picklist(["ses", "smtp"], "must be ses or smtp"),
    from_email: email,
    from_name: v.optional(line(SHORT)),
    reply_to: v.optional(email),
    host: v.optional(matching(/^[A-Za-z0-9.:-]{1,253}$/, "must be a host name")),
    port: v.optional(
      v.pipe(v.number("must be a number"), v.integer("must be a whole number"), v.minValue(1), v.maxValue(MAX_PORT)),
    ),
    username: v.optional(line(NAME)),
    password: v.optional(line(SECRET)),
    configuration_set: v.optional(matching(/^[A-Za-z0-9_-]{1,64}$/, "must be a configuration set's name")),
  }),
  v.forward(
    v.check(({ provider, host }) => provider !== "smtp" || host !== undefined, "is required for smtp"),
    ["host"],
  ),
);

export const Credentials = v.variant("type", [IosPush, AndroidPush, Vapid, Sms, ChatApp, Email]);
export type Credentials = v.InferOutput<typeof Credentials>;
