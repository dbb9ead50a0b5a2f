// The embedded KMS through the real client: keys, envelopes with their context, signatures that others can verify.
import { createHash, createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import * as aws from "@aws-sdk/client-kms";
import { describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../../local/aws/database.ts";
import { createKms } from "../../local/aws/kms.ts";
import { requestHandler, type Services } from "../../local/aws/protocol.ts";
import { awsFailure, type StandIn } from "../../local/aws/stand-in.ts";
import { createClock } from "../../local/clock.ts";
import { DAY } from "../../shared/kernel/clock.ts";
import { systemIds } from "../../shared/runtime/system.ts";

const start = Date.UTC(2026, 0, 1);
const absent: StandIn = {
  operate: async () => {
    throw awsFailure("InternalFailure", "not part of this test", { status: 500 });
  },
};
const rsa = String(
  generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "pem", type: "pkcs8" }),
);

function world({ database = openDatabase(":memory:") }: { database?: Database } = {}) {
  const clock = createClock({ start, ticking: false });
  const standIn = createKms({ clock, ids: systemIds, database, rsaKey: () => rsa });
  const services: Services = { dynamodb: absent, sqs: absent, scheduler: absent, kms: standIn };
  const client = new aws.KMSClient({
    region: "eu-west-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    requestHandler: requestHandler(services),
    maxAttempts: 1,
  });
  const create = async (KeySpec: aws.KeySpec = "SYMMETRIC_DEFAULT", KeyUsage?: aws.KeyUsageType) => {
    const { KeyMetadata } = await client.send(new aws.CreateKeyCommand({ KeySpec, KeyUsage }));
    return KeyMetadata!.KeyId!;
  };
  const encrypt = async (KeyId: string, text: string, EncryptionContext?: Record<string, string>) => {
    const Plaintext = Buffer.from(text);
    return (await client.send(new aws.EncryptCommand({ KeyId, Plaintext, EncryptionContext }))).CiphertextBlob!;
  };
  const decrypt = async (CiphertextBlob: Uint8Array, more: Partial<aws.DecryptCommandInput> = {}) => {
    const { Plaintext } = await client.send(new aws.DecryptCommand({ CiphertextBlob, ...more }));
    return Buffer.from(Plaintext!).toString();
  };
  return { clock, client, standIn, database, create, encrypt, decrypt };
}

const nameOf = (work: Promise<unknown>) =>
  work.then(
    () => "no error",
    (error: Error) => error.name,
  );

describe("keys", () => {
  test("are described, listed and found by id, ARN, alias and alias ARN", async () => {
    const { client, create } = world();
    const id = await create();
    await client.send(new aws.CreateAliasCommand({ AliasName: "alias/main", TargetKeyId: id }));
    const arn = `arn:aws:kms:us-east-1:000000000000:key/${id}`;
    for (const KeyId of [id, arn, "alias/main", "arn:aws:kms:us-east-1:000000000000:alias/main"]) {
      const { KeyMetadata } = await client.send(new aws.DescribeKeyCommand({ KeyId }));
      expect(KeyMetadata).toMatchObject({
        KeyId: id,
        Arn: arn,
        Enabled: true,
        KeyState: "Enabled",
        CreationDate: new Date(start),
        KeySpec: "SYMMETRIC_DEFAULT",
        KeyUsage: "ENCRYPT_DECRYPT",
        KeyManager: "CUSTOMER",
        Origin: "AWS_KMS",
      });
    }
    expect(await nameOf(client.send(new aws.DescribeKeyCommand({ KeyId: "alias/none" })))).toBe("NotFoundException");
    const ids = [id, await create(), await create()].sort();
    const first = await client.send(new aws.ListKeysCommand({ Limit: 2 }));
    const second = await client.send(new aws.ListKeysCommand({ Limit: 2, Marker: first.NextMarker }));
    expect([first.Truncated, second.Truncated]).toEqual([true, false]);
    expect([...first.Keys!, ...second.Keys!].map(({ KeyId }) => KeyId)).toEqual(ids);
  });

  test("have aliases that move and go", async () => {
    const { client, create, encrypt, decrypt } = world();
    const [one, two] = [await create(), await create()];
    const alias = { AliasName: "alias/main", TargetKeyId: one };
    await client.send(new aws.CreateAliasCommand(alias));
    expect(await nameOf(client.send(new aws.CreateAliasCommand(alias)))).toBe("AlreadyExistsException");
    const before = await encrypt("alias/main", "old");
    await client.send(new aws.UpdateAliasCommand({ ...alias, TargetKeyId: two }));
    expect(await decrypt(before)).toBe("old");
    const { Aliases } = await client.send(new aws.ListAliasesCommand({ KeyId: two }));
    expect(Aliases).toMatchObject([{ AliasName: "alias/main", TargetKeyId: two }]);
    await client.send(new aws.DeleteAliasCommand({ AliasName: "alias/main" }));
    expect(await nameOf(encrypt("alias/main", "x"))).toBe("NotFoundException");
    const badAlias = { AliasName: "main", TargetKeyId: one };
    expect(await nameOf(client.send(new aws.CreateAliasCommand(badAlias)))).toBe("InvalidAliasNameException");
  });

  test("are disabled, enabled, and gone when their waiting time is over", async () => {
    const { client, create, encrypt, decrypt, clock } = world();
    const KeyId = await create();
    const text = await encrypt(KeyId, "kept");
    await client.send(new aws.DisableKeyCommand({ KeyId }));
    expect(await nameOf(encrypt(KeyId, "x"))).toBe("DisabledException");
    expect(await nameOf(decrypt(text))).toBe("DisabledException");
    await client.send(new aws.EnableKeyCommand({ KeyId }));
    expect(await decrypt(text)).toBe("kept");
    const remove = () => client.send(new aws.ScheduleKeyDeletionCommand({ KeyId, PendingWindowInDays: 7 }));
    expect(await remove()).toMatchObject({ KeyState: "PendingDeletion", DeletionDate: new Date(start + 7 * DAY) });
    expect(await nameOf(decrypt(text))).toBe("KMSInvalidStateException");
    expect(await nameOf(remove())).toBe("KMSInvalidStateException");
    expect(await nameOf(client.send(new aws.EnableKeyCommand({ KeyId })))).toBe("KMSInvalidStateException");
    await client.send(new aws.CancelKeyDeletionCommand({ KeyId }));
    await client.send(new aws.EnableKeyCommand({ KeyId }));
    expect(await decrypt(text)).toBe("kept");
    await remove();
    clock.jumpTo(start + 7 * DAY);
    expect(await nameOf(client.send(new aws.DescribeKeyCommand({ KeyId })))).toBe("NotFoundException");
    expect(await nameOf(decrypt(text))).toBe("NotFoundException");
  });

  test("rotate if enabled", async () => {
    const { client, create } = world();
    const KeyId = await create();
    const status = () => client.send(new aws.GetKeyRotationStatusCommand({ KeyId }));
    expect(await status()).toMatchObject({ KeyRotationEnabled: false });
    await client.send(new aws.EnableKeyRotationCommand({ KeyId, RotationPeriodInDays: 180 }));
    expect(await status()).toMatchObject({ KeyRotationEnabled: true, RotationPeriodInDays: 180 });
    await client.send(new aws.DisableKeyRotationCommand({ KeyId }));
    expect(await status()).toMatchObject({ KeyRotationEnabled: false });
  });

  test("survive reopening, and nothing of this service is done for members it does not know", async () => {
    const before = world();
    const id = await before.create();
    const text = await before.encrypt(id, "kept");
    const after = world({ database: before.database });
    expect(await after.decrypt(text)).toBe("kept");
    const enclave = new aws.DecryptCommand({ CiphertextBlob: text, Recipient: {} });
    expect(await nameOf(after.client.send(enclave))).toBe("UnknownParameterException");
    const abroad = new aws.CreateKeyCommand({ MultiRegion: true });
    expect(await nameOf(after.client.send(abroad))).toBe("UnsupportedOperationException");
    expect(await nameOf(after.client.send(new aws.GetKeyPolicyCommand({ KeyId: id })))).toBe(
      "UnknownOperationException",
    );
    expect(after.standIn.meter()).toEqual({ requests: 4 });
    after.standIn.resetMeter();
    expect(after.standIn.meter()).toEqual({ requests: 0 });
  });
});

describe("envelopes", () => {
  test("open with their context, in any order, and with no other", async () => {
    const { create, encrypt, decrypt } = world();
    const id = await create();
    const text = await encrypt(id, "secret", { tenant: "a", use: "webhook" });
    expect(await decrypt(text, { EncryptionContext: { use: "webhook", tenant: "a" } })).toBe("secret");
    for (const EncryptionContext of [undefined, {}, { tenant: "a" }, { tenant: "b", use: "webhook" }]) {
      expect(await nameOf(decrypt(text, { EncryptionContext }))).toBe("InvalidCiphertextException");
    }
    expect(await encrypt(id, "secret")).not.toEqual(await encrypt(id, "secret"));
  });

  test("open only with the key that closed them, and only whole", async () => {
    const { create, encrypt, decrypt } = world();
    const [one, two] = [await create(), await create()];
    const text = await encrypt(one, "secret");
    expect(await decrypt(text, { KeyId: one })).toBe("secret");
    expect(await nameOf(decrypt(text, { KeyId: two }))).toBe("IncorrectKeyException");
    for (const at of [0, 40, 50, text.length - 1]) {
      const changed = Uint8Array.from(text);
      changed[at]! ^= 1;
      expect(await nameOf(decrypt(changed))).toBe("InvalidCiphertextException");
    }
    expect(await nameOf(decrypt(text.subarray(0, 20)))).toBe("InvalidCiphertextException");
  });

  test("are closed again under another key and context", async () => {
    const { client, create, encrypt, decrypt } = world();
    const [one, two] = [await create(), await create()];
    const CiphertextBlob = await encrypt(one, "secret", { tenant: "a" });
    const answer = await client.send(
      new aws.ReEncryptCommand({
        CiphertextBlob,
        SourceEncryptionContext: { tenant: "a" },
        DestinationKeyId: two,
        DestinationEncryptionContext: { tenant: "b" },
      }),
    );
    expect(answer.KeyId).toContain(two);
    expect(answer.SourceKeyId).toContain(one);
    expect(await decrypt(answer.CiphertextBlob!, { EncryptionContext: { tenant: "b" } })).toBe("secret");
  });

  test("hold data keys", async () => {
    const { client, create } = world();
    const KeyId = await create();
    const context = { EncryptionContext: { tenant: "a" } };
    const made = await client.send(new aws.GenerateDataKeyCommand({ KeyId, KeySpec: "AES_256", ...context }));
    expect(made.Plaintext).toHaveLength(32);
    const { CiphertextBlob } = made;
    const opened = await client.send(new aws.DecryptCommand({ CiphertextBlob, ...context }));
    expect(opened.Plaintext).toEqual(made.Plaintext);
    const blind = new aws.GenerateDataKeyWithoutPlaintextCommand({ KeyId, NumberOfBytes: 64 });
    const closed = await client.send(blind);
    expect("Plaintext" in closed).toBe(false);
    const reopened = await client.send(new aws.DecryptCommand({ CiphertextBlob: closed.CiphertextBlob }));
    expect(reopened.Plaintext).toHaveLength(64);
    expect(await nameOf(client.send(new aws.GenerateDataKeyCommand({ KeyId })))).toBe("ValidationException");
    const random = await client.send(new aws.GenerateRandomCommand({ NumberOfBytes: 24 }));
    expect(random.Plaintext).toHaveLength(24);
  });

  test("are refused to keys of another use and to long texts", async () => {
    const { create, encrypt } = world();
    expect(await nameOf(encrypt(await create("HMAC_256", "GENERATE_VERIFY_MAC"), "x"))).toBe(
      "InvalidKeyUsageException",
    );
    expect(await nameOf(encrypt(await create(), "x".repeat(4097)))).toBe("ValidationException");
    expect(await nameOf(create("ECC_NIST_P256", "ENCRYPT_DECRYPT"))).toBe("ValidationException");
  });
});

describe("signatures", () => {
  const Message = Buffer.from("header.payload");
  const Digest = createHash("sha256").update(Message).digest();

  test.each<[aws.KeySpec, aws.SigningAlgorithmSpec]>([
    ["RSA_2048", "RSASSA_PKCS1_V1_5_SHA_256"],
    ["RSA_2048", "RSASSA_PSS_SHA_256"],
    ["ECC_NIST_P256", "ECDSA_SHA_256"],
  ])("of a %s key by %s are verified here and elsewhere", async (spec, SigningAlgorithm) => {
    const { client, create } = world();
    const KeyId = await create(spec, "SIGN_VERIFY");
    const by = { KeyId, SigningAlgorithm };
    const { Signature } = await client.send(new aws.SignCommand({ ...by, Message, MessageType: "RAW" }));
    const check = (more: Partial<aws.VerifyCommandInput>) =>
      client.send(new aws.VerifyCommand({ ...by, Message, Signature, ...more }));
    expect((await check({})).SignatureValid).toBe(true);
    expect(await nameOf(check({ Message: Buffer.from("another") }))).toBe("KMSInvalidSignatureException");
    const { PublicKey, SigningAlgorithms } = await client.send(new aws.GetPublicKeyCommand({ KeyId }));
    expect(SigningAlgorithms).toContain(SigningAlgorithm);
    const key = createPublicKey({ key: Buffer.from(PublicKey!), format: "der", type: "spki" });
    const padding = SigningAlgorithm === "RSASSA_PSS_SHA_256" ? { padding: 6, saltLength: 32 } : {};
    expect(verify("sha256", Message, { key, ...padding }, Signature!)).toBe(true);

    const digest = { Message: Digest, MessageType: "DIGEST" } as const;
    expect((await check(digest)).SignatureValid).toBe(true);
    expect(await nameOf(check({ ...digest, Message: Digest.toReversed() }))).toBe("KMSInvalidSignatureException");
    expect(await nameOf(check({ ...digest, Signature: Buffer.alloc(70, 1) }))).toBe("KMSInvalidSignatureException");
    const signed = await client.send(new aws.SignCommand({ ...by, ...digest }));
    expect(verify("sha256", Message, { key, ...padding }, signed.Signature!)).toBe(true);
    expect((await check({ Signature: signed.Signature! })).SignatureValid).toBe(true);
  });

  test("need a fitting key and algorithm, and a digest of its length", async () => {
    const { client, create } = world();
    const KeyId = await create("ECC_NIST_P256", "SIGN_VERIFY");
    const sign = (more: Partial<aws.SignCommandInput>) =>
      nameOf(client.send(new aws.SignCommand({ KeyId, Message, SigningAlgorithm: "ECDSA_SHA_256", ...more })));
    expect(await sign({ SigningAlgorithm: "RSASSA_PSS_SHA_256" })).toBe("InvalidKeyUsageException");
    expect(await sign({ KeyId: await create() })).toBe("InvalidKeyUsageException");
    expect(await sign({ Message: Digest.subarray(1), MessageType: "DIGEST" })).toBe("ValidationException");
    await client.send(new aws.DisableKeyCommand({ KeyId }));
    expect(await sign({})).toBe("DisabledException");
    expect(await nameOf(client.send(new aws.GetPublicKeyCommand({ KeyId })))).toBe("DisabledException");
    const symmetric = new aws.GetPublicKeyCommand({ KeyId: await create() });
    expect(await nameOf(client.send(symmetric))).toBe("UnsupportedOperationException");
  });

  test("by a MAC key are verified by the same key only", async () => {
    const { client, create } = world();
    const [one, two] = [
      await create("HMAC_256", "GENERATE_VERIFY_MAC"),
      await create("HMAC_256", "GENERATE_VERIFY_MAC"),
    ];
    const by = { Message, MacAlgorithm: "HMAC_SHA_256" as const };
    const { Mac } = await client.send(new aws.GenerateMacCommand({ ...by, KeyId: one }));
    expect(Mac).toHaveLength(32);
    expect((await client.send(new aws.VerifyMacCommand({ ...by, KeyId: one, Mac }))).MacValid).toBe(true);
    expect(await nameOf(client.send(new aws.VerifyMacCommand({ ...by, KeyId: two, Mac })))).toBe(
      "KMSInvalidMacException",
    );
    const stronger = new aws.GenerateMacCommand({ ...by, KeyId: one, MacAlgorithm: "HMAC_SHA_512" });
    expect(await nameOf(client.send(stronger))).toBe("InvalidKeyUsageException");
  });
});
