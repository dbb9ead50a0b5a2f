// The embedded KMS: symmetric encryption with context, data keys, signatures, MACs; keys persist with the data.
import { constants, createHmac, createPublicKey, sign, timingSafeEqual, verify } from "node:crypto";
import { administration } from "./kms/administration.ts";
import { signDigest, verifyDigest } from "./kms/digests.ts";
import { tagsAndGrants } from "./kms/grants.ts";
import { keyIn, read, refuseDryRun } from "./kms/input.ts";
import { arnOf, type Key, metadataOf, openKeys, privateKeyOf, SECRET_BYTES, signingAlgorithms } from "./kms/keys.ts";
import { invalidCiphertext, keyIdOf, newIv, seal, unseal } from "./kms/sealing.ts";
import { membersOf, type Operations, operateOn } from "./members.ts";
import { awsFailure, type Deps, type StandIn, type Wire } from "./stand-in.ts";

export interface Kms extends StandIn {
  meter(): { requests: number };
  resetMeter(): void;
}

const members = membersOf({
  CreateKey:
    "Policy Description KeyUsage KeySpec CustomerMasterKeySpec Origin Tags MultiRegion BypassPolicyLockoutSafetyCheck",
  DescribeKey: "KeyId GrantTokens",
  ListKeys: "Limit Marker",
  CreateAlias: "AliasName TargetKeyId",
  UpdateAlias: "AliasName TargetKeyId",
  DeleteAlias: "AliasName",
  ListAliases: "KeyId Limit Marker",
  EnableKey: "KeyId",
  DisableKey: "KeyId",
  EnableKeyRotation: "KeyId RotationPeriodInDays",
  DisableKeyRotation: "KeyId",
  GetKeyRotationStatus: "KeyId",
  ScheduleKeyDeletion: "KeyId PendingWindowInDays",
  CancelKeyDeletion: "KeyId",
  Encrypt: "KeyId Plaintext EncryptionContext GrantTokens EncryptionAlgorithm DryRun",
  Decrypt: "KeyId CiphertextBlob EncryptionContext GrantTokens EncryptionAlgorithm DryRun",
  ReEncrypt:
    "CiphertextBlob SourceEncryptionContext SourceKeyId DestinationKeyId DestinationEncryptionContext GrantTokens SourceEncryptionAlgorithm DestinationEncryptionAlgorithm DryRun",
  GenerateDataKey: "KeyId EncryptionContext NumberOfBytes KeySpec GrantTokens DryRun",
  GenerateDataKeyWithoutPlaintext: "KeyId EncryptionContext NumberOfBytes KeySpec GrantTokens DryRun",
  GenerateRandom: "NumberOfBytes",
  Sign: "KeyId Message MessageType GrantTokens SigningAlgorithm DryRun",
  Verify: "KeyId Message MessageType Signature SigningAlgorithm GrantTokens DryRun",
  GetPublicKey: "KeyId GrantTokens",
  GenerateMac: "KeyId Message MacAlgorithm GrantTokens DryRun",
  TagResource: "KeyId Tags",
  UntagResource: "KeyId TagKeys",
  ListResourceTags: "KeyId Limit Marker",
  CreateGrant: "KeyId GranteePrincipal RetiringPrincipal Operations Constraints GrantTokens Name DryRun",
  ListGrants: "KeyId GrantId GranteePrincipal Limit Marker",
  ListRetirableGrants: "RetiringPrincipal Limit Marker",
  RevokeGrant: "KeyId GrantId DryRun",
  RetireGrant: "GrantToken KeyId GrantId DryRun",
  VerifyMac: "KeyId Message Mac MacAlgorithm GrantTokens DryRun",
});

const MAX_PLAINTEXT = 4_096;
const MAX_RANDOM = 1_024;
const DIGEST_BYTES = 32;
const SYMMETRIC = "SYMMETRIC_DEFAULT";
const MAC = "HMAC_SHA_256";

export function createKms(deps: Deps & { rsaKey?: () => string }): Kms {
  const { clock, ids } = deps;
  const keys = openKeys(deps);
  let requests = 0;

  const bytesIn = (input: Wire, name: string) => Buffer.from(read.needed(input, name), "base64");
  const contextIn = (input: Wire, name = "EncryptionContext") => read.textMap(input, name);

  const encrypt = (key: Key, plaintext: Buffer, context: Record<string, string>) =>
    seal(key, newIv(ids.bytes), plaintext, context).toString("base64");

  const decrypt = (
    ciphertext: Buffer,
    context: Record<string, string>,
    expected: string | undefined,
  ): { key: Key; plaintext: Buffer } => {
    const named = keyIdOf(ciphertext);
    const found = keys.all().find(({ id }) => id === named);
    if (!found) throw invalidCiphertext();
    const key = keys.use(found.id, "ENCRYPT_DECRYPT");
    if (expected !== undefined && keys.find(expected).id !== key.id)
      throw awsFailure(
        "IncorrectKeyException",
        "The key ID in the request does not identify a CMK that can perform this operation.",
      );
    return { key, plaintext: unseal(key, ciphertext, context) };
  };

  const dataKey = (input: Wire): { key: Key; plaintext: Buffer; sealed: string } => {
    const key = keys.use(keyIn(input), "ENCRYPT_DECRYPT");
    const spec = read.word(input, "KeySpec", ["AES_256", "AES_128"]);
    const length = read.integer(input, "NumberOfBytes", 1, MAX_RANDOM);
    if ((spec === undefined) === (length === undefined))
      throw read.refuse("Please specify either number of bytes or key spec.");
    const plaintext = ids.bytes(length ?? (spec === "AES_128" ? 16 : SECRET_BYTES));
    return { key, plaintext, sealed: encrypt(key, plaintext, contextIn(input)) };
  };

  const message = (input: Wire): { bytes: Buffer; isDigest: boolean } => {
    const bytes = bytesIn(input, "Message");
    const isDigest = read.word(input, "MessageType", ["RAW", "DIGEST"]) === "DIGEST";
    if (isDigest && bytes.length !== DIGEST_BYTES) throw read.refuse("Digest is invalid length for algorithm.");
    if (bytes.length > MAX_PLAINTEXT)
      throw read.refuse("1 validation error detected: Message is longer than 4096 bytes.");
    return { bytes, isDigest };
  };

  /** Symmetric keys have one algorithm, and MAC keys another one. */
  const expectAlgorithm = (input: Wire, member: string, only: string): void => {
    const algorithm = read.text(input, member) ?? only;
    if (algorithm !== only) throw awsFailure("InvalidKeyUsageException", `The key does not know ${algorithm}.`);
  };

  const algorithmFor = (key: Key, input: Wire): string => {
    const algorithm = read.needed(input, "SigningAlgorithm");
    if (!signingAlgorithms[key.spec]?.includes(algorithm))
      throw awsFailure("InvalidKeyUsageException", `Algorithm ${algorithm} is incompatible with key spec ${key.spec}.`);
    return algorithm;
  };

  const operations: Operations = {
    ...administration(keys, clock),
    ...tagsAndGrants(keys, deps),
    Encrypt: (input) => {
      expectAlgorithm(input, "EncryptionAlgorithm", SYMMETRIC);
      const key = keys.use(keyIn(input), "ENCRYPT_DECRYPT");
      const plaintext = bytesIn(input, "Plaintext");
      if (plaintext.length > MAX_PLAINTEXT)
        throw read.refuse("1 validation error detected: Plaintext is longer than 4096 bytes.");
      return {
        CiphertextBlob: encrypt(key, plaintext, contextIn(input)),
        KeyId: arnOf(key.id),
        EncryptionAlgorithm: SYMMETRIC,
      };
    },
    Decrypt: (input) => {
      expectAlgorithm(input, "EncryptionAlgorithm", SYMMETRIC);
      const { key, plaintext } = decrypt(bytesIn(input, "CiphertextBlob"), contextIn(input), read.text(input, "KeyId"));
      return {
        Plaintext: plaintext.toString("base64"),
        KeyId: arnOf(key.id),
        EncryptionAlgorithm: SYMMETRIC,
      };
    },
    ReEncrypt: (input) => {
      expectAlgorithm(input, "SourceEncryptionAlgorithm", SYMMETRIC);
      expectAlgorithm(input, "DestinationEncryptionAlgorithm", SYMMETRIC);
      const source = contextIn(input, "SourceEncryptionContext");
      const { key, plaintext } = decrypt(bytesIn(input, "CiphertextBlob"), source, read.text(input, "SourceKeyId"));
      const target = keys.use(read.needed(input, "DestinationKeyId"), "ENCRYPT_DECRYPT");
      const sealed = encrypt(target, plaintext, contextIn(input, "DestinationEncryptionContext"));
      return {
        CiphertextBlob: sealed,
        SourceKeyId: arnOf(key.id),
        KeyId: arnOf(target.id),
        SourceEncryptionAlgorithm: SYMMETRIC,
        DestinationEncryptionAlgorithm: SYMMETRIC,
      };
    },
    GenerateDataKey: (input) => {
      const { key, plaintext, sealed } = dataKey(input);
      return { CiphertextBlob: sealed, Plaintext: plaintext.toString("base64"), KeyId: arnOf(key.id) };
    },
    GenerateDataKeyWithoutPlaintext: (input) => {
      const { key, sealed } = dataKey(input);
      return { CiphertextBlob: sealed, KeyId: arnOf(key.id) };
    },
    GenerateRandom: (input) => {
      const length = read.integer(input, "NumberOfBytes", 1, MAX_RANDOM);
      if (length === undefined) throw read.refuse("NumberOfBytes is required.");
      return { Plaintext: ids.bytes(length).toString("base64") };
    },
    Sign: (input) => {
      const key = keys.use(keyIn(input), "SIGN_VERIFY");
      const algorithm = algorithmFor(key, input);
      const { bytes, isDigest } = message(input);
      const signature = isDigest
        ? signDigest(privateKeyOf(key), algorithm, bytes)
        : sign("sha256", bytes, { key: privateKeyOf(key), ...paddingOf(algorithm) });
      return { KeyId: arnOf(key.id), Signature: signature.toString("base64"), SigningAlgorithm: algorithm };
    },
    Verify: (input) => {
      const key = keys.use(keyIn(input), "SIGN_VERIFY");
      const algorithm = algorithmFor(key, input);
      const { bytes, isDigest } = message(input);
      const publicKey = createPublicKey(privateKeyOf(key));
      const signature = bytesIn(input, "Signature");
      const isValid = isDigest
        ? verifyDigest(privateKeyOf(key), algorithm, bytes, signature)
        : verify("sha256", bytes, { key: publicKey, ...paddingOf(algorithm) }, signature);
      if (!isValid) throw awsFailure("KMSInvalidSignatureException", "");
      return { KeyId: arnOf(key.id), SignatureValid: true, SigningAlgorithm: algorithm };
    },
    GetPublicKey: (input) => {
      if (!signingAlgorithms[keys.find(keyIn(input)).spec])
        throw awsFailure("UnsupportedOperationException", "The key has no public half.");
      const key = keys.use(keyIn(input), "SIGN_VERIFY");
      const publicKey = createPublicKey(privateKeyOf(key)).export({ type: "spki", format: "der" }).toString("base64");
      const { KeySpec, KeyUsage, CustomerMasterKeySpec, SigningAlgorithms } = metadataOf(key);
      return {
        KeyId: arnOf(key.id),
        PublicKey: publicKey,
        KeySpec,
        KeyUsage,
        CustomerMasterKeySpec,
        SigningAlgorithms,
      };
    },
    GenerateMac: (input) => {
      expectAlgorithm(input, "MacAlgorithm", MAC);
      const key = keys.use(keyIn(input), "GENERATE_VERIFY_MAC");
      return {
        Mac: macOf(key, bytesIn(input, "Message")).toString("base64"),
        MacAlgorithm: MAC,
        KeyId: arnOf(key.id),
      };
    },
    VerifyMac: (input) => {
      expectAlgorithm(input, "MacAlgorithm", MAC);
      const key = keys.use(keyIn(input), "GENERATE_VERIFY_MAC");
      const expected = macOf(key, bytesIn(input, "Message"));
      const given = bytesIn(input, "Mac");
      if (given.length !== expected.length || !timingSafeEqual(given, expected))
        throw awsFailure("KMSInvalidMacException", "");
      return { KeyId: arnOf(key.id), MacValid: true, MacAlgorithm: MAC };
    },
  };

  const operate = operateOn(members, operations);
  return {
    operate: async (operation, input) => {
      requests++;
      const output = await operate(operation, input);
      refuseDryRun(input);
      return output;
    },
    meter: () => ({ requests }),
    resetMeter: () => {
      requests = 0;
    },
  };
}

const macOf = (key: Key, bytes: Buffer) =>
  createHmac("sha256", Buffer.from(key.material, "base64")).update(bytes).digest();

const paddingOf = (algorithm: string) =>
  algorithm === "RSASSA_PSS_SHA_256"
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : {};
