// The vault: what is secret of a workspace lies in the table sealed, by envelope encryption (ARC-13, CRD-2).
import { createCipheriv, createDecipheriv } from "node:crypto";
import { DecryptCommand, GenerateDataKeyCommand, KMSClient } from "@aws-sdk/client-kms";
import { MINUTE } from "./clock.ts";
import { type Capability, type Parts, setting } from "./parts.ts";
import type { TenantId } from "./store/model.ts";

/** Where a secret belongs: a copy of it does not open in another workspace, for another channel or type. */
export interface Place {
  channel: string;
  type: string;
}

export interface Sealer {
  /** Text for the table: the wrapped data key and what it encrypts. */
  seal(place: Place, secret: object): Promise<string>;
}

export interface Opener {
  /** @throws for what was sealed for another place, or changed since. */
  open(place: Place, sealed: string): Promise<unknown>;
}

const CIPHER = "aes-256-gcm";
const FORM = "v1";
const IV_BYTES = 12;
const KEY_KEPT_MS = 5 * MINUTE;
const MOST_KEYS_KEPT = 500;

const contextOf = (tenant: TenantId, { channel, type }: Place) => ({
  ...{ purpose: "channel-credentials", tenant, channel, type },
});
const boundTo = (context: object) => Buffer.from(JSON.stringify(context));

/** The right to put secrets away. */
export const vaultSealing: Capability<"vault", Sealer> = {
  as: "vault",
  env: ["ENCRYPTION_KEY_ID"],
  grants: [{ actions: ["kms:GenerateDataKey"], on: "credentials-key" }],
  open: (parts) => (tenant) => ({ seal: (place, secret) => seal(parts, contextOf(tenant, place), secret) }),
};

/** The right to use secrets: for what talks to providers, and for what proves that a provider talks to us. */
export const vaultOpening: Capability<"vault", Opener> = {
  as: "vault",
  env: [],
  grants: [{ actions: ["kms:Decrypt"], on: "credentials-key" }],
  open: (parts) => {
    const unwrap = openKeys(parts);
    return (tenant) => ({
      open: async (place, sealed) => {
        const context = contextOf(tenant, place);
        const [form, wrapped, iv, tag, text] = sealed.split(".");
        if (form !== FORM || !wrapped || !iv || !tag || !text) throw new Error("A sealed secret has an unknown form.");
        const decipher = createDecipheriv(CIPHER, await unwrap(wrapped, context), bytes(iv));
        decipher.setAAD(boundTo(context)).setAuthTag(bytes(tag));
        return JSON.parse(Buffer.concat([decipher.update(bytes(text)), decipher.final()]).toString());
      },
    });
  },
};

const bytes = (text: string) => Buffer.from(text, "base64url");

async function seal(parts: Parts, context: Record<string, string>, secret: object): Promise<string> {
  const { Plaintext, CiphertextBlob } = await parts.aws(KMSClient).send(
    new GenerateDataKeyCommand({
      ...{ KeyId: setting(parts, "ENCRYPTION_KEY_ID"), KeySpec: "AES_256", EncryptionContext: context },
    }),
  );
  const key = Buffer.from(Plaintext!);
  const iv = parts.ids.bytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(boundTo(context));
  const text = Buffer.concat([cipher.update(JSON.stringify(secret)), cipher.final()]);
  key.fill(0);
  return [
    FORM,
    ...[CiphertextBlob!, iv, cipher.getAuthTag(), text].map((part) => Buffer.from(part).toString("base64url")),
  ].join(".");
}

/** Unwraps data keys, and keeps each for five minutes from then, under the context it was unwrapped for. */
function openKeys({ aws, clock }: Parts) {
  const kms = aws(KMSClient);
  const kept = new Map<string, { key: Buffer; until: number }>();
  return async (wrapped: string, EncryptionContext: Record<string, string>): Promise<Buffer> => {
    const name = JSON.stringify([wrapped, EncryptionContext]);
    const known = kept.get(name);
    if (known && clock.now() < known.until) return known.key;
    kept.delete(name);
    const { Plaintext } = await kms.send(new DecryptCommand({ CiphertextBlob: bytes(wrapped), EncryptionContext }));
    const key = Buffer.from(Plaintext!);
    kept.set(name, { key, until: clock.now() + KEY_KEPT_MS });
    for (const oldest of kept.keys()) {
      if (kept.size <= MOST_KEYS_KEPT) break;
      kept.delete(oldest);
    }
    return key;
  };
}
