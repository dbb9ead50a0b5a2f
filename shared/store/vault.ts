// The vault: secrets of a workspace, stored in the table under envelope encryption (ARC-13, CRD-2).
import { createCipheriv, createDecipheriv } from "node:crypto";
import { DecryptCommand, GenerateDataKeyCommand, KMSClient } from "@aws-sdk/client-kms";
import { MINUTE } from "../kernel/clock.ts";
import { type Capability, type Deps, setting } from "../kernel/deps.ts";
import type { TenantId } from "../kernel/ids.ts";
import { bytesFrom } from "./kms.ts";

/** The owner of a secret: it cannot be opened for another workspace, channel or type. */
interface SealContext {
  channel: string;
  type: string;
}

export interface Sealer {
  /** Text for the table: the encrypted data key and the text that it encrypts. */
  seal(sealContext: SealContext, secret: object): Promise<string>;
}

export interface Opener {
  /** @throws for a secret that was sealed in another context, or changed since. */
  open(sealContext: SealContext, sealed: string): Promise<unknown>;
}

const CIPHER = "aes-256-gcm";
const FORM = "v1";
const IV_BYTES = 12;
const KEY_TTL_MS = 5 * MINUTE;
const MAX_KEYS_CACHED = 500;

const contextOf = (tenant: TenantId, { channel, type }: SealContext) => {
  const purpose = "channel-credentials";
  return { purpose, tenant, channel, type };
};
const boundTo = (context: object) => Buffer.from(JSON.stringify(context));

/** The right to seal secrets. */
export const vaultSealing: Capability<"vault", Sealer> = {
  as: "vault",
  env: ["ENCRYPTION_KEY_ID"],
  grants: [{ actions: ["kms:GenerateDataKey"], on: "credentials-key" }],
  open: (deps) => (tenant) => ({ seal: (sealContext, secret) => seal(deps, contextOf(tenant, sealContext), secret) }),
};

/** The right to open secrets: to call providers, and to verify the callbacks of providers. */
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
      KeyId: setting(deps, "ENCRYPTION_KEY_ID"),
      KeySpec: "AES_256",
      EncryptionContext: context,
    }),
  );
  const key = bytesFrom(Plaintext);
  const iv = deps.ids.bytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(boundTo(context));
  const text = Buffer.concat([cipher.update(JSON.stringify(secret)), cipher.final()]);
  key.fill(0);
  const parts = [bytesFrom(CiphertextBlob), iv, cipher.getAuthTag(), text];
  return [FORM, ...parts.map((part) => part.toString("base64url"))].join(".");
}

/** Decrypts data keys, and caches each for five minutes under its encryption context. */
function openKeys({ aws, clock }: Deps) {
  const kms = aws(KMSClient);
  const cache = new Map<string, { key: Buffer; until: number }>();
  return async (wrapped: string, EncryptionContext: Record<string, string>): Promise<Buffer> => {
    const name = JSON.stringify([wrapped, EncryptionContext]);
    const cached = cache.get(name);
    if (cached && clock.now() < cached.until) return cached.key;
    cache.delete(name);
    const { Plaintext } = await kms.send(new DecryptCommand({ CiphertextBlob: bytes(wrapped), EncryptionContext }));
    const key = bytesFrom(Plaintext);
    cache.set(name, { key, until: clock.now() + KEY_TTL_MS });
    for (const oldest of cache.keys()) {
      if (cache.size <= MAX_KEYS_CACHED) break;
      cache.delete(oldest);
    }
    return key;
  };
}
