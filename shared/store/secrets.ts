// Root secrets: one KMS-encrypted item, made on first use, decrypted once per environment (decision 31).
import { DecryptCommand, EncryptCommand, KMSClient } from "@aws-sdk/client-kms";
import { type Parts, setting } from "../parts.ts";
import { absent } from "./conditions.ts";
import { platform } from "./keys.ts";
import type { Item } from "./model.ts";
import { refused } from "./refusals.ts";
import { openTable } from "./table.ts";

export interface RootSecrets {
  /** Roots of SDK keys: the first mints, all verify. */
  sdkKeyRoots: Buffer[];
  /** Makes subscriber ids; it never rotates (decision 3). */
  idKey: Buffer;
  /** Authenticates page cursors and tokens in links. */
  cursorKey: Buffer;
}

export interface Secrets {
  /** @throws where no workspace was ever made, so nothing can be verified yet. */
  root(): Promise<RootSecrets>;
}

/** For `root().catch(…)`: undefined where there are no secrets yet, so that nothing presented can be genuine. */
export function noSecrets(error: unknown): undefined {
  if (error instanceof Error && error.name === "NoSecrets") return undefined;
  throw error;
}

const ENCRYPTION_CONTEXT = { purpose: "root-secrets" };
const KEY_BYTES = 32;

export function openSecrets(parts: Parts): Secrets {
  let known: Promise<RootSecrets> | undefined;
  const read = async () => {
    const item = await openTable(parts)((pk) => !pk.startsWith("T#")).get(platform.secrets());
    if (!item) throw Object.assign(new Error("The service holds no secrets yet."), { name: "NoSecrets" });
    return decrypt(parts, item);
  };
  return {
    root: () => {
      known ??= read().catch((error: unknown) => {
        known = undefined;
        throw error;
      });
      return known;
    },
  };
}

/** Makes the secrets if there are none yet; two that race end with the same ones. */
export async function makeSecrets(parts: Parts): Promise<void> {
  const table = openTable(parts)((pk) => !pk.startsWith("T#"));
  if (await table.get(platform.secrets())) return;
  const fresh = {
    sdkKeyRoots: [parts.ids.bytes(KEY_BYTES)],
    idKey: parts.ids.bytes(KEY_BYTES),
    cursorKey: parts.ids.bytes(KEY_BYTES),
  };
  const text = JSON.stringify({
    sdkKeyRoots: fresh.sdkKeyRoots.map((root) => root.toString("base64")),
    idKey: fresh.idKey.toString("base64"),
    cursorKey: fresh.cursorKey.toString("base64"),
  });
  const { CiphertextBlob } = await parts.aws(KMSClient).send(
    new EncryptCommand({
      KeyId: setting(parts, "ENCRYPTION_KEY_ID"),
      Plaintext: Buffer.from(text),
      EncryptionContext: ENCRYPTION_CONTEXT,
    }),
  );
  const item: Item = { ...platform.secrets(), sealed: Buffer.from(CiphertextBlob!).toString("base64") };
  await table.put(item, absent()).catch(refused(() => undefined));
}

async function decrypt(parts: Parts, item: Item): Promise<RootSecrets> {
  const { Plaintext } = await parts.aws(KMSClient).send(
    new DecryptCommand({
      CiphertextBlob: Buffer.from(String(item.sealed), "base64"),
      EncryptionContext: ENCRYPTION_CONTEXT,
    }),
  );
  const { sdkKeyRoots, idKey, cursorKey } = JSON.parse(Buffer.from(Plaintext!).toString()) as {
    sdkKeyRoots: string[];
    idKey: string;
    cursorKey: string;
  };
  const bytes = (text: string) => Buffer.from(text, "base64");
  return { sdkKeyRoots: sdkKeyRoots.map(bytes), idKey: bytes(idKey), cursorKey: bytes(cursorKey) };
}
