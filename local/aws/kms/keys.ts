// Keys of the embedded KMS: their material is stored with the data, found by id, ARN or alias.
import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import { type AwsFailure, awsFailure, type Deps, type Wire } from "../stand-in.ts";

export interface Key {
  id: string;
  spec: "SYMMETRIC_DEFAULT" | "RSA_2048";
  usage: "ENCRYPT_DECRYPT" | "SIGN_VERIFY";
  description: string;
  createdAt: number;
  /** 32 bytes in base64 for secret keys, a PEM for key pairs. */
  material: string;
}

const REGION = "us-east-1";
const ACCOUNT = "000000000000";
export const SECRET_BYTES = 32;
export const ALIAS = /^alias\/[A-Za-z0-9/_-]{1,250}$/;

export const arnOf = (id: string): string => `arn:aws:kms:${REGION}:${ACCOUNT}:key/${id}`;
export const aliasArnOf = (alias: string): string => `arn:aws:kms:${REGION}:${ACCOUNT}:${alias}`;

const notFound = (what: string): AwsFailure =>
  awsFailure(
    "NotFoundException",
    what.startsWith("alias/") ? `Alias ${aliasArnOf(what)} is not found.` : `Key '${arnOf(what)}' does not exist`,
  );

interface KeyStore {
  /** @throws NotFoundException. */
  find(keyId: string): Key;
  /** A key that may be used for `usage`. @throws the real service's error for the key's kind. */
  use(keyId: string, usage: Key["usage"]): Key;
  has(id: string): boolean;
  create(spec: Key["spec"], usage: Key["usage"], description: string): Key;
  hasAlias(name: string): boolean;
  addAlias(name: string, id: string): void;
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
    if (!key) throw notFound(id);
    return key;
  };

  const pairPem = (): string => {
    if (rsaKey) return rsaKey();
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    return String(privateKey.export({ format: "pem", type: "pkcs8" }));
  };

  return {
    find,
    has: (id) => {
      load();
      return found.has(id);
    },
    use: (keyId, usage) => {
      const key = find(keyId);
      if (key.usage !== usage)
        throw awsFailure(
          "InvalidKeyUsageException",
          `${arnOf(key.id)} key usage is ${key.usage} which is not valid for this operation.`,
        );
      return key;
    },
    create: (spec, usage, description) => {
      load();
      const material = spec === "SYMMETRIC_DEFAULT" ? randomBytes(SECRET_BYTES).toString("base64") : pairPem();
      const key: Key = { id: ids.uuid(), spec, usage, description, createdAt: clock.now(), material };
      database.run("INSERT INTO kms_keys (id, key) VALUES (?, ?)", key.id, JSON.stringify(key));
      found.set(key.id, key);
      return key;
    },
    hasAlias: (name) => {
      load();
      return aliases.has(name);
    },
    addAlias: (name, id) => {
      load();
      database.run("INSERT INTO kms_aliases (name, key) VALUES (?, ?)", name, id);
      aliases.set(name, id);
    },
  };
}

export function metadataOf(key: Key): Wire {
  return {
    AWSAccountId: ACCOUNT,
    KeyId: key.id,
    Arn: arnOf(key.id),
    CreationDate: key.createdAt / 1_000,
    Enabled: true,
    Description: key.description,
    KeyUsage: key.usage,
    KeyState: "Enabled",
    Origin: "AWS_KMS",
    KeyManager: "CUSTOMER",
    CustomerMasterKeySpec: key.spec,
    KeySpec: key.spec,
    MultiRegion: false,
    ...(key.usage === "ENCRYPT_DECRYPT" && { EncryptionAlgorithms: ["SYMMETRIC_DEFAULT"] }),
    ...(key.usage === "SIGN_VERIFY" && { SigningAlgorithms: ["RSASSA_PKCS1_V1_5_SHA_256"] }),
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
