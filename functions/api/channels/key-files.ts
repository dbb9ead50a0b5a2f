// Key files of push providers, checked at upload (AMB-91), and generated key pairs.
import { createECDH } from "node:crypto";
import * as v from "valibot";
import { type Credentials, credentialEntries, credentialSchema } from "../../../shared/contract/credentials.ts";
import { fieldsOf } from "../../../shared/http/input.ts";
import type { UploadedFile } from "../../../shared/http/upload.ts";
import { invalid } from "../../../shared/kernel/errors.ts";
import type { Ids } from "../../../shared/kernel/ids.ts";

export const KEY_FILE = "key_file";
export const MAX_KEY_FILE_BYTES = 65_536;
const PRIVATE_KEY_BYTES = 32;

const { key_id, team_id, bundle_id, environment } = credentialEntries("ios");
export const IosFields = v.strictObject({
  key_id,
  team_id,
  bundle_id,
  environment: v.optional(environment, "sandbox"),
});

/** Reads the key file of an iOS channel (CRD-3). @throws 422 naming `key_file` */
export function iosCredentials(fields: v.InferOutput<typeof IosFields>, file: UploadedFile | undefined): Credentials {
  return checked(credentialSchema("ios"), { type: "ios_push", key: textOf(file), ...fields });
}

/** Reads the key file of an Android channel (CRD-4). @throws 422 naming `key_file` */
export function androidCredentials(file: UploadedFile | undefined): Credentials {
  const text = textOf(file);
  let key: unknown;
  try {
    key = JSON.parse(text);
  } catch {
    throw invalid({ [KEY_FILE]: "is not JSON" });
  }
  if (typeof key !== "object" || key === null) throw invalid({ [KEY_FILE]: "is not a service-account key" });
  if ("type" in key && key.type !== "service_account") throw invalid({ [KEY_FILE]: "is not a service-account key" });
  return checked(credentialSchema("android"), { ...key, type: "android_push" });
}

/** Makes a key pair of P-256 (CRD-5). Push services receive the contact (RFC 8292). */
export function makeVapid(ids: Ids, email: string): Credentials {
  const pair = createECDH("prime256v1");
  const secret = ids.bytes(PRIVATE_KEY_BYTES);
  pair.setPrivateKey(secret);
  return {
    type: "vapid",
    public_key: pair.getPublicKey("base64url"),
    private_key: secret.toString("base64url"),
    subject: `mailto:${email}`,
  };
}

function textOf(file: UploadedFile | undefined): string {
  if (!file) throw invalid({ [KEY_FILE]: "is required" });
  if (file.bytes.length === 0) throw invalid({ [KEY_FILE]: "must not be empty" });
  return file.bytes.toString("utf8");
}

function checked<S extends v.GenericSchema>(schema: S, input: object): v.InferOutput<S> {
  const result = v.safeParse(schema, input, { abortPipeEarly: true });
  if (result.success) return result.output;
  const [[name, reason] = [KEY_FILE, "is invalid"]] = Object.entries(fieldsOf(result.issues));
  throw invalid({ [KEY_FILE]: name === "key" ? reason : `${name} ${reason}` });
}
