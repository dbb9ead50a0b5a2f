// Root secrets: one KMS-encrypted item, made on first use, decrypted once per environment
// (docs/decisions/0021#root-secrets).
import { DecryptCommand, EncryptCommand, KMSClient } from "@aws-sdk/client-kms";
import { type Deps, setting } from "../kernel/deps.ts";
import { namedError } from "../kernel/errors.ts";
import { absent } from "./conditions.ts";
import { bytesFrom } from "./kms.ts";
import { SecretsItem } from "./platform-items.ts";
import { whereItHolds } from "./refusals.ts";
import { openPlatformTable } from "./table.ts";

export interface RootSecrets {
  /** Roots of SDK keys: the first mints, all verify. */
  sdkKeyRoots: Buffer[];
  /** Makes subscriber ids; it never rotates (docs/decisions/0021#subscriber-ids). */
  idKey: Buffer;
  /** Authenticates page cursors and tokens in links. */
  cursorKey: Buffer;
}

/** The same in base64, as it is encrypted. */
interface RootSecretsText {
  sdkKeyRoots: string[];
  idKey: string;
  cursorKey: string;
}

export interface Secrets {
  /** The root secrets. @throws before the first workspace exists: nothing can be verified then */
  root(): Promise<RootSecrets>;
}

/** For `root().catch(…)`: undefined while there are no secrets yet. */
export function noSecrets(error: unknown): undefined {
  if (error instanceof Error && error.name === "NoSecrets") return undefined;
  throw error;
}

const ENCRYPTION_CONTEXT = { purpose: "root-secrets" };
const KEY_BYTES = 32;

/** The root secrets of the installation, which are read and decrypted once an environment. */
export function openSecrets(deps: Deps): Secrets {
  let pending: Promise<RootSecrets> | undefined;
  const read = async () => {
    const row = await openPlatformTable(deps).get(SecretsItem, {});
    if (!row) throw namedError("NoSecrets", "The service holds no secrets yet.");
    return decrypt(deps, row.sealed);
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

/** Makes the secrets if there are none yet; of two at once, the first one's are kept. */
export async function makeSecrets(deps: Deps): Promise<void> {
  const table = openPlatformTable(deps);
  if (await table.get(SecretsItem, {})) return;
  const fresh = {
    sdkKeyRoots: [deps.ids.bytes(KEY_BYTES)],
    idKey: deps.ids.bytes(KEY_BYTES),
    cursorKey: deps.ids.bytes(KEY_BYTES),
  };
  const text: RootSecretsText = {
    sdkKeyRoots: fresh.sdkKeyRoots.map((root) => root.toString("base64")),
    idKey: fresh.idKey.toString("base64"),
    cursorKey: fresh.cursorKey.toString("base64"),
  };
  const { CiphertextBlob } = await deps.aws(KMSClient).send(
    new EncryptCommand({
      KeyId: setting(deps, "ENCRYPTION_KEY_ID"),
      Plaintext: Buffer.from(JSON.stringify(text)),
      EncryptionContext: ENCRYPTION_CONTEXT,
    }),
  );
  const sealed = bytesFrom(CiphertextBlob).toString("base64");
  await whereItHolds(table.put(SecretsItem, {}, { sealed }, absent()));
}

async function decrypt(deps: Deps, sealed: string): Promise<RootSecrets> {
  const { Plaintext } = await deps.aws(KMSClient).send(
    new DecryptCommand({
      CiphertextBlob: Buffer.from(sealed, "base64"),
      EncryptionContext: ENCRYPTION_CONTEXT,
    }),
  );
  const { sdkKeyRoots, idKey, cursorKey }: RootSecretsText = JSON.parse(bytesFrom(Plaintext).toString());
  const bytes = (text: string) => Buffer.from(text, "base64");
  return { sdkKeyRoots: sdkKeyRoots.map(bytes), idKey: bytes(idKey), cursorKey: bytes(cursorKey) };
}
