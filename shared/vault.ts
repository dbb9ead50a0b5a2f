// The vault: what is secret of a workspace lies in the table sealed, by envelope encryption (ARC-13, CRD-2).
import { createCipheriv, createDecipheriv } from "node:crypto";
import { DecryptCommand, GenerateDataKeyCommand, KMSClient } from "@aws-sdk/client-kms";
import { MINUTE } from "./clock.ts";
import { type Capability, type Deps, setting } from "./deps.ts";
import type { TenantId } from "./store/model.ts";

/** Where a secret belongs: a copy of it does not open in another workspace, for another channel or type. */
export interface SealContext {
  channel: string;
  type: string;
}

export interface Sealer {
  /** Text for the table: the wrapped data key and what it encrypts. */
  seal(sealContext: SealContext, secret: object): Promise<string>;
}

export interface Opener {
  /** @throws for what was sealed for another place, or changed since. */
  open(sealContext: SealContext, sealed: string): Promise<unknown>;
}

const CIPHER = "aes-256-gcm";
const FORM = "v1";
const IV_BYTES = 12;
const KEY_KEPT_MS = 5 * MINUTE;
const MAX_KEYS_CACHED = 500;

const contextOf = (tenant: TenantId, { channel, type }: SealContext) => ({
  ...{ purpose: "channel-credentials", tenant, channel, type },
});
const boundTo = (context: object) => Buffer.from(JSON.stringify(context));

/** The right to put secrets away. */
export const vaultSealing: Capability<"vault", Sealer> = {
  as: "vault",
  env: ["ENCRYPTION_KEY_ID"],
  grants: [{ actions: ["kms:GenerateDataKey"], on: "credentials-key" }],
  open: (deps) => (tenant) => ({ seal: (sealContext, secret) => seal(deps, contextOf(tenant, sealContext), secret) }),
};

/** The right to use secrets: for what talks to providers, and for what proves that a provider talks to us. */
export const vaultOpening: Capability<"vault", Opener> = {
  as: "vault",
  env: [],
  grants: [{ actions: ["kms:Decrypt"], on: "credentials-key" }],
  open: (deps) => {
    const unwrap = openKeys(deps);
    return (tenant) => ({
      open: async (sealContext, sealed) => {
        const context = contextOf(tenant, sealContext);
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

async function seal(deps: Deps, context: Record<string, string>, secret: object): Promise<string> {
  const { Plaintext, CiphertextBlob } = await deps.aws(KMSClient).send(
    new GenerateDataKeyCommand({
      ...{ KeyId: setting(deps, "ENCRYPTION_KEY_ID"), KeySpec: "AES_256", EncryptionContext: context },
    }),
  );
  const key = Buffer.from(Plaintext!);
  const iv = deps.ids.bytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(boundTo(context));
  const text = Buffer.concat([cipher.update(JSON.stringify(secret)), cipher.final()]);
  key.fill(0);
  return [
    FORM,
    ...[CiphertextBlob!, iv, cipher.getAuthTag(), text].map((part) => Buffer.from(part).toString("base64url")),
  ].join(".");
}

/** Unwraps data keys, and keeps each for five minutes from then, under the context it was unwrapped for. */
function openKeys({ aws, clock }: Deps) {
  const kms = aws(KMSClient);
  const kept = new Map<string, { key: Buffer; until: number }>();
  return async (wrapped: string, EncryptionContext: Record<string, string>): Promise<Buffer> => {
    const name = JSON.stringify([wrapped, EncryptionContext]);
    const cached = kept.get(name);
    if (cached && clock.now() < cached.until) return cached.key;
    kept.delete(name);
    const { Plaintext } = await kms.send(new DecryptCommand({ CiphertextBlob: bytes(wrapped), EncryptionContext }));
    const key = Buffer.from(Plaintext!);
    kept.set(name, { key, until: clock.now() + KEY_KEPT_MS });
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_KEYS_CACHED) break;
      kept.delete(oldest);
    }
    return key;
  };
}
