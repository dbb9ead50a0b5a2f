// Keys of the embedded KMS: their material is stored with the data, found by id, ARN or alias.
import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";

import { type AwsFailure, awsFailure, type Deps, type Wire } from "../stand-in.ts";

export type KeySpec = "SYMMETRIC_DEFAULT" | "RSA_2048" | "ECC_NIST_P256" | "HMAC_256";

export interface Key {
  id: string;
  spec: KeySpec;
  usage: "ENCRYPT_DECRYPT" | "SIGN_VERIFY" | "GENERATE_VERIFY_MAC";
  state: "Enabled" | "Disabled" | "PendingDeletion";
  description: string;
  /** The rotation period in days, if it rotates; the material does not change. */
  rotation: number | null;
  createdAt: number;
  deleteAt: number | null;
  tags?: Record<string, string>;
  grants?: Grant[];
  /** 32 bytes in base64 for secret keys, a PEM for key pairs. */
  material: string;
}

export interface Grant {
  id: string;
  token: string;
  createdAt: number;
  /** What the request said of it. */
  given: Wire;
}

const REGION = "us-east-1";
const ACCOUNT = "000000000000";
export const SECRET_BYTES = 32;

export const usages: Record<KeySpec, readonly Key["usage"][]> = {
  SYMMETRIC_DEFAULT: ["ENCRYPT_DECRYPT"],
  RSA_2048: ["SIGN_VERIFY", "ENCRYPT_DECRYPT"],
  ECC_NIST_P256: ["SIGN_VERIFY"],
  HMAC_256: ["GENERATE_VERIFY_MAC"],
};

export const signingAlgorithms: Record<string, readonly string[]> = {
  RSA_2048: ["RSASSA_PKCS1_V1_5_SHA_256", "RSASSA_PSS_SHA_256"],
  ECC_NIST_P256: ["ECDSA_SHA_256"],
};

export const arnOf = (id: string): string => `arn:aws:kms:${REGION}:${ACCOUNT}:key/${id}`;
export const aliasArnOf = (alias: string): string => `arn:aws:kms:${REGION}:${ACCOUNT}:${alias}`;

export const notFound = (what: string): AwsFailure =>
  awsFailure(
    "NotFoundException",
    what.startsWith("alias/") ? `Alias ${aliasArnOf(what)} is not found.` : `Key '${arnOf(what)}' does not exist`,
  );

export interface KeyStore {
  /** @throws NotFoundException. */
  find(keyId: string): Key;
  /** A key that may be used for `usage`. @throws the real service's error for the key's state or kind. */
  use(keyId: string, usage: Key["usage"]): Key;
  all(): Key[];
  create(spec: KeySpec, usage: Key["usage"], more: Pick<Key, "description" | "tags">): Key;
  save(key: Key): void;
  aliases(): { name: string; key: string }[];
  saveAlias(name: string, key: string | undefined): void;
}

export function openKeys({ clock, ids, database, rsaKey }: Deps & { rsaKey?: () => string }): KeyStore {
  let ready = false;
  const found = new Map<string, Key>();
  const aliases = new Map<string, string>();

  const load = () => {
    if (ready) return;
    ready = true;
    database.exec(
      "CREATE TABLE IF NOT EXISTS kms_keys (id TEXT PRIMARY KEY, key TEXT NOT NULL);" +
        "CREATE TABLE IF NOT EXISTS kms_aliases (name TEXT PRIMARY KEY, key TEXT NOT NULL);",
    );
    for (const { id, key } of database.all("SELECT id, key FROM kms_keys"))
      found.set(String(id), JSON.parse(String(key)));
    for (const { name, key } of database.all("SELECT name, key FROM kms_aliases"))
      aliases.set(String(name), String(key));
  };

  const idOf = (keyId: string): string => {
    const name = keyId.startsWith("arn:") ? keyId.slice(keyId.lastIndexOf(":") + 1) : keyId;
    if (name.startsWith("alias/")) {
      const id = aliases.get(name);
      if (!id) throw notFound(name);
      return id;
    }
    return name.startsWith("key/") ? name.slice("key/".length) : name;
  };

  const find: KeyStore["find"] = (keyId) => {
    load();
    const id = idOf(keyId);
    const key = found.get(id);
    if (!key || (key.deleteAt !== null && key.deleteAt <= clock.now())) throw notFound(id);
    return key;
  };

  const save: KeyStore["save"] = (key) => {
    load();
    database.run(
      "INSERT INTO kms_keys (id, key) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET key = excluded.key",
      key.id,
      JSON.stringify(key),
    );
    found.set(key.id, key);
  };

  const pairPem = (spec: KeySpec): string => {
    if (spec === "RSA_2048" && rsaKey) return rsaKey();
    const { privateKey } =
      spec === "RSA_2048"
        ? generateKeyPairSync("rsa", { modulusLength: 2048 })
        : generateKeyPairSync("ec", { namedCurve: "P-256" });
    return String(privateKey.export({ format: "pem", type: "pkcs8" }));
  };

  return {
    find,
    save,
    all: () => {
      load();
      return [...found.values()];
    },
    use: (keyId, usage) => {
      const key = find(keyId);
      if (key.state === "PendingDeletion")
        throw awsFailure("KMSInvalidStateException", `${arnOf(key.id)} is pending deletion.`);
      if (key.state === "Disabled") throw awsFailure("DisabledException", `${arnOf(key.id)} is disabled.`);
      if (key.usage !== usage)
        throw awsFailure(
          "InvalidKeyUsageException",
          `${arnOf(key.id)} key usage is ${key.usage} which is not valid for this operation.`,
        );
      return key;
    },
    create: (spec, usage, more) => {
      const isSecret = spec === "SYMMETRIC_DEFAULT" || spec === "HMAC_256";
      const material = isSecret ? randomBytes(SECRET_BYTES).toString("base64") : pairPem(spec);
      const key: Key = {
        id: ids.uuid(),
        spec,
        usage,
        ...more,
        material,
        state: "Enabled",
        rotation: null,
        createdAt: clock.now(),
        deleteAt: null,
      };
      save(key);
      return key;
    },
    aliases: () => {
      load();
      return [...aliases].map(([name, key]) => ({ name, key })).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    saveAlias: (name, key) => {
      load();
      database.run("DELETE FROM kms_aliases WHERE name = ?", name);
      aliases.delete(name);
      if (key === undefined) return;
      database.run("INSERT INTO kms_aliases (name, key) VALUES (?, ?)", name, key);
      aliases.set(name, key);
    },
  };
}

/** The description of a key. */
export function metadataOf(key: Key): Wire {
  return {
    AWSAccountId: ACCOUNT,
    KeyId: key.id,
    Arn: arnOf(key.id),
    CreationDate: key.createdAt / 1_000,
    Enabled: key.state === "Enabled",
    Description: key.description,
    KeyUsage: key.usage,
    KeyState: key.state,
    ...(key.deleteAt !== null && { DeletionDate: key.deleteAt / 1_000 }),
    Origin: "AWS_KMS",
    KeyManager: "CUSTOMER",
    CustomerMasterKeySpec: key.spec,
    KeySpec: key.spec,
    MultiRegion: false,
    ...(key.spec === "SYMMETRIC_DEFAULT" && { EncryptionAlgorithms: ["SYMMETRIC_DEFAULT"] }),
    ...(key.usage === "SIGN_VERIFY" && { SigningAlgorithms: signingAlgorithms[key.spec] }),
    ...(key.spec === "HMAC_256" && { MacAlgorithms: ["HMAC_SHA_256"] }),
  };
}

const pairs = new Map<string, KeyObject>();

/** The private half, parsed once. */
export function privateKeyOf(key: Key): KeyObject {
  let parsed = pairs.get(key.material);
  if (!parsed) {
    parsed = createPrivateKey(key.material);
    pairs.set(key.material, parsed);
  }
  return parsed;
}
