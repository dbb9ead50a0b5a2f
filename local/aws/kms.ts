// The embedded KMS: symmetric encryption with context, data keys and RSA signatures; keys persist with the data.
import { createCipheriv, createDecipheriv, createPublicKey, sign } from "node:crypto";
import { ALIAS, aliasArnOf, arnOf, type Key, metadataOf, openKeys, privateKeyOf, SECRET_BYTES } from "./kms/keys.ts";
import { membersOf, type Operations, operateOn, readers } from "./members.ts";
import { awsFailure, type Deps, type StandIn, type Wire } from "./stand-in.ts";

export interface Kms extends StandIn {
  meter(): { requests: number };
  resetMeter(): void;
}

const members = membersOf({
  CreateKey: "Description KeyUsage KeySpec",
  DescribeKey: "KeyId",
  CreateAlias: "AliasName TargetKeyId",
  Encrypt: "KeyId Plaintext EncryptionContext EncryptionAlgorithm",
  Decrypt: "KeyId CiphertextBlob EncryptionContext EncryptionAlgorithm",
  GenerateDataKey: "KeyId EncryptionContext KeySpec",
  Sign: "KeyId Message MessageType SigningAlgorithm",
  GetPublicKey: "KeyId",
});

const MAX_BYTES = 4_096;
const SYMMETRIC = "SYMMETRIC_DEFAULT";
const SIGNING = "RSASSA_PKCS1_V1_5_SHA_256";

const read = readers("ValidationException", "ValidationException");
const keyIn = (input: Wire): string => read.needed(input, "KeyId");
const bytesIn = (input: Wire, name: string): Buffer => Buffer.from(read.needed(input, name), "base64");
const contextIn = (input: Wire) => read.textMap(input, "EncryptionContext");

export function createKms(deps: Deps & { rsaKey?: () => string }): Kms {
  const { ids } = deps;
  const keys = openKeys(deps);
  let requests = 0;

  const encrypt = (key: Key, plaintext: Buffer, context: Record<string, string>) =>
    seal(key, newIv(ids.bytes), plaintext, context).toString("base64");

  const operations: Operations = {
    CreateKey: (input) => {
      const spec = read.word(input, "KeySpec", ["SYMMETRIC_DEFAULT", "RSA_2048"]) ?? "SYMMETRIC_DEFAULT";
      const usage = read.word(input, "KeyUsage", ["ENCRYPT_DECRYPT", "SIGN_VERIFY"]) ?? "ENCRYPT_DECRYPT";
      if ((spec === "RSA_2048") !== (usage === "SIGN_VERIFY"))
        throw read.refuse(`KeyUsage ${usage} is not compatible with KeySpec ${spec}`);
      return { KeyMetadata: metadataOf(keys.create(spec, usage, read.text(input, "Description") ?? "")) };
    },
    DescribeKey: (input) => ({ KeyMetadata: metadataOf(keys.find(keyIn(input))) }),
    CreateAlias: (input) => {
      const name = read.needed(input, "AliasName");
      if (!ALIAS.test(name) || name.startsWith("alias/aws/"))
        throw awsFailure("InvalidAliasNameException", `Invalid alias name: ${name}`);
      const { id } = keys.find(read.needed(input, "TargetKeyId"));
      if (keys.hasAlias(name))
        throw awsFailure("AlreadyExistsException", `An alias with the name ${aliasArnOf(name)} already exists`);
      keys.addAlias(name, id);
      return {};
    },
    Encrypt: (input) => {
      expectSymmetric(input);
      const key = keys.use(keyIn(input), "ENCRYPT_DECRYPT");
      const plaintext = bytesIn(input, "Plaintext");
      if (plaintext.length > MAX_BYTES)
        throw read.refuse(`1 validation error detected: Plaintext is longer than ${MAX_BYTES} bytes.`);
      const CiphertextBlob = encrypt(key, plaintext, contextIn(input));
      return { CiphertextBlob, KeyId: arnOf(key.id), EncryptionAlgorithm: SYMMETRIC };
    },
    Decrypt: (input) => {
      expectSymmetric(input);
      const ciphertext = bytesIn(input, "CiphertextBlob");
      const id = keyIdOf(ciphertext);
      if (!keys.has(id)) throw invalidCiphertext();
      const key = keys.use(id, "ENCRYPT_DECRYPT");
      const expected = read.text(input, "KeyId");
      if (expected !== undefined && keys.find(expected).id !== key.id)
        throw awsFailure(
          "IncorrectKeyException",
          "The key ID in the request does not identify a CMK that can perform this operation.",
        );
      const Plaintext = unseal(key, ciphertext, contextIn(input)).toString("base64");
      return { Plaintext, KeyId: arnOf(key.id), EncryptionAlgorithm: SYMMETRIC };
    },
    GenerateDataKey: (input) => {
      const key = keys.use(keyIn(input), "ENCRYPT_DECRYPT");
      if (!read.word(input, "KeySpec", ["AES_256"]))
        throw read.refuse("Please specify either number of bytes or key spec.");
      const plaintext = ids.bytes(SECRET_BYTES);
      const CiphertextBlob = encrypt(key, plaintext, contextIn(input));
      return { CiphertextBlob, Plaintext: plaintext.toString("base64"), KeyId: arnOf(key.id) };
    },
    Sign: (input) => {
      const key = keys.use(keyIn(input), "SIGN_VERIFY");
      const algorithm = read.needed(input, "SigningAlgorithm");
      if (algorithm !== SIGNING)
        throw awsFailure(
          "InvalidKeyUsageException",
          `Algorithm ${algorithm} is incompatible with key spec ${key.spec}.`,
        );
      read.word(input, "MessageType", ["RAW"]);
      const message = bytesIn(input, "Message");
      if (message.length > MAX_BYTES)
        throw read.refuse(`1 validation error detected: Message is longer than ${MAX_BYTES} bytes.`);
      const Signature = sign("sha256", message, privateKeyOf(key)).toString("base64");
      return { KeyId: arnOf(key.id), Signature, SigningAlgorithm: algorithm };
    },
    GetPublicKey: (input) => {
      if (keys.find(keyIn(input)).spec !== "RSA_2048")
        throw awsFailure("UnsupportedOperationException", "The key has no public half.");
      const key = keys.use(keyIn(input), "SIGN_VERIFY");
      const PublicKey = createPublicKey(privateKeyOf(key)).export({ type: "spki", format: "der" }).toString("base64");
      const { KeySpec, CustomerMasterKeySpec, KeyUsage, SigningAlgorithms } = metadataOf(key);
      return { KeyId: arnOf(key.id), PublicKey, KeySpec, CustomerMasterKeySpec, KeyUsage, SigningAlgorithms };
    },
  };

  const operate = operateOn(members, operations);
  return {
    operate: async (operation, input) => {
      requests++;
      return operate(operation, input);
    },
    meter: () => ({ requests }),
    resetMeter: () => {
      requests = 0;
    },
  };
}

function expectSymmetric(input: Wire): void {
  const algorithm = read.text(input, "EncryptionAlgorithm") ?? SYMMETRIC;
  if (algorithm !== SYMMETRIC) throw awsFailure("InvalidKeyUsageException", `The key does not know ${algorithm}.`);
}

const IV_BYTES = 12;
const TAG_BYTES = 16;
const ID_CHARACTERS = 36;

/** The context in canonical form: the order of its members does not matter. */
const associated = (context: Record<string, string>) =>
  Buffer.from(JSON.stringify(Object.entries(context).sort(([a], [b]) => (a < b ? -1 : 1))));

/** key id, iv, tag, text: a ciphertext names its key, as in the real service. */
function seal(key: Key, iv: Buffer, plaintext: Buffer, context: Record<string, string>): Buffer {
  const cipher = createCipheriv("aes-256-gcm", secretOf(key), iv).setAAD(associated(context));
  const text = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([Buffer.from(key.id), iv, cipher.getAuthTag(), text]);
}

function keyIdOf(ciphertext: Buffer): string {
  if (ciphertext.length < ID_CHARACTERS + IV_BYTES + TAG_BYTES) throw invalidCiphertext();
  return ciphertext.subarray(0, ID_CHARACTERS).toString("latin1");
}

/** @throws InvalidCiphertextException if the text, its key or its context differs. */
function unseal(key: Key, ciphertext: Buffer, context: Record<string, string>): Buffer {
  const iv = ciphertext.subarray(ID_CHARACTERS, ID_CHARACTERS + IV_BYTES);
  const tag = ciphertext.subarray(ID_CHARACTERS + IV_BYTES, ID_CHARACTERS + IV_BYTES + TAG_BYTES);
  const text = ciphertext.subarray(ID_CHARACTERS + IV_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv("aes-256-gcm", secretOf(key), iv).setAAD(associated(context)).setAuthTag(tag);
    return Buffer.concat([decipher.update(text), decipher.final()]);
  } catch {
    throw invalidCiphertext();
  }
}

const invalidCiphertext = () => awsFailure("InvalidCiphertextException", "");

const newIv = (bytes: (length: number) => Buffer): Buffer => bytes(IV_BYTES);

function secretOf(key: Key): Buffer {
  const secret = Buffer.from(key.material, "base64");
  if (secret.length !== SECRET_BYTES) throw new Error(`The key ${key.id} is no secret key.`);
  return secret;
}
