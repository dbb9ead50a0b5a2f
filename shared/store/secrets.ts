// Root secrets: one KMS-encrypted item, made on first use, decrypted once per environment
// (docs/decisions/0021#root-secrets).
import { DecryptCommand, EncryptCommand, KMSClient } from "@aws-sdk/client-kms";
import { type Deps, setting } from "../deps.ts";
import { absent } from "./conditions.ts";
import { platformKeys } from "./keys.ts";
import type { Item } from "./model.ts";
import { onConditionFailed } from "./refusals.ts";
import { openPlatformTable } from "./table.ts";

export interface RootSecrets {
  /** Roots of SDK keys: the first mints, all verify. */
  sdkKeyRoots: Buffer[];
  /** Makes subscriber ids; it never rotates (docs/decisions/0021#subscriber-ids). */
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

export function openSecrets(deps: Deps): Secrets {
  let pending: Promise<RootSecrets> | undefined;
  const read = async () => {
    const item = await openPlatformTable(deps).get(platformKeys.secrets());
    if (!item) throw Object.assign(new Error("The service holds no secrets yet."), { name: "NoSecrets" });
    return decrypt(deps, item);
  };
  return {
    root: () => {
      pending ??= read().catch((error: unknown) => {
        pending = undefined;
        throw error;
      });
      return pending;
    },
  };
}

/** Makes the secrets if there are none yet; two that race end with the same ones. */
export async function makeSecrets(deps: Deps): Promise<void> {
  const table = openPlatformTable(deps);
  if (await table.get(platformKeys.secrets())) return;
  const fresh = {
    sdkKeyRoots: [deps.ids.bytes(KEY_BYTES)],
    idKey: deps.ids.bytes(KEY_BYTES),
    cursorKey: deps.ids.bytes(KEY_BYTES),
  };
  const text = JSON.stringify({
    sdkKeyRoots: fresh.sdkKeyRoots.map((root) => root.toString("base64")),
    idKey: fresh.idKey.toString("base64"),
    cursorKey: fresh.cursorKey.toString("base64"),
  });
  const { CiphertextBlob } = await deps.aws(KMSClient).send(
    new EncryptCommand({
      KeyId: setting(deps, "ENCRYPTION_KEY_ID"),
      Plaintext: Buffer.from(text),
      EncryptionContext: ENCRYPTION_CONTEXT,
    }),
  );
  const item: Item = { ...platformKeys.secrets(), sealed: Buffer.from(CiphertextBlob!).toString("base64") };
  await table.put(item, absent()).catch(onConditionFailed(() => undefined));
}

async function decrypt(deps: Deps, item: Item): Promise<RootSecrets> {
  const { Plaintext } = await deps.aws(KMSClient).send(
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
