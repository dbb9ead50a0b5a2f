// The embedded KMS through the real client: keys, envelopes with their context, signatures that others can verify.
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import * as aws from "@aws-sdk/client-kms";
import { describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../database.ts";
import { createKms } from "../kms.ts";
import { requestHandler } from "../protocol.ts";
import { frozenClock, ids } from "./support/clock.ts";
import { nameOf, onlyWith } from "./support/services.ts";

const start = Date.UTC(2026, 0, 1);
const rsa = String(
  generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "pem", type: "pkcs8" }),
);

function world({ database = openDatabase(":memory:") }: { database?: Database } = {}) {
  const clock = frozenClock(start);
  const standIn = createKms({ clock, ids, database, rsaKey: () => rsa });
  const services = onlyWith({ kms: standIn });
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

describe("keys", () => {
  test("keys are described and found by id, ARN, alias and alias ARN", async () => {
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
  });

  test("keys have aliases, each once", async () => {
    const { client, create } = world();
    const alias = { AliasName: "alias/main", TargetKeyId: await create() };
    await client.send(new aws.CreateAliasCommand(alias));
    expect(await nameOf(client.send(new aws.CreateAliasCommand(alias)))).toBe("AlreadyExistsException");
    const badAlias = { ...alias, AliasName: "main" };
    expect(await nameOf(client.send(new aws.CreateAliasCommand(badAlias)))).toBe("InvalidAliasNameException");
  });

  test("keys survive reopening, and nothing of this service is done for members it does not know", async () => {
    const before = world();
    const id = await before.create();
    const text = await before.encrypt(id, "kept");
    const after = world({ database: before.database });
    expect(await after.decrypt(text)).toBe("kept");
    const enclave = new aws.DecryptCommand({ CiphertextBlob: text, Recipient: {} });
    expect(await nameOf(after.client.send(enclave))).toBe("UnknownParameterException");
    const abroad = new aws.CreateKeyCommand({ MultiRegion: true });
    expect(await nameOf(after.client.send(abroad))).toBe("UnknownParameterException");
    expect(await nameOf(after.client.send(new aws.GetKeyPolicyCommand({ KeyId: id })))).toBe(
      "UnknownOperationException",
    );
    expect(after.standIn.meter()).toEqual({ requests: 4 });
    after.standIn.resetMeter();
    expect(after.standIn.meter()).toEqual({ requests: 0 });
  });
});

describe("envelopes", () => {
  test("envelopes open with their context, in any order, and with no other", async () => {
    const { create, encrypt, decrypt } = world();
    const id = await create();
    const text = await encrypt(id, "secret", { tenant: "a", use: "webhook" });
    expect(await decrypt(text, { EncryptionContext: { use: "webhook", tenant: "a" } })).toBe("secret");
    for (const EncryptionContext of [undefined, {}, { tenant: "a" }, { tenant: "b", use: "webhook" }]) {
      expect(await nameOf(decrypt(text, { EncryptionContext }))).toBe("InvalidCiphertextException");
    }
    expect(await encrypt(id, "secret")).not.toEqual(await encrypt(id, "secret"));
  });

  test("envelopes open only with the key that closed them, and only whole", async () => {
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

  test("envelopes hold data keys", async () => {
    const { client, create } = world();
    const KeyId = await create();
    const context = { EncryptionContext: { tenant: "a" } };
    const made = await client.send(new aws.GenerateDataKeyCommand({ KeyId, KeySpec: "AES_256", ...context }));
    expect(made.Plaintext).toHaveLength(32);
    const { CiphertextBlob } = made;
    const opened = await client.send(new aws.DecryptCommand({ CiphertextBlob, ...context }));
    expect(opened.Plaintext).toEqual(made.Plaintext);
    expect(await nameOf(client.send(new aws.GenerateDataKeyCommand({ KeyId })))).toBe("ValidationException");
  });

  test("envelopes are refused to keys of another use and to long texts", async () => {
    const { create, encrypt } = world();
    expect(await nameOf(encrypt(await create("RSA_2048", "SIGN_VERIFY"), "x"))).toBe("InvalidKeyUsageException");
    expect(await nameOf(encrypt(await create(), "x".repeat(4097)))).toBe("ValidationException");
    expect(await nameOf(create("RSA_2048", "ENCRYPT_DECRYPT"))).toBe("ValidationException");
  });
});

describe("signatures", () => {
  const Message = Buffer.from("header.payload");
  const SigningAlgorithm = "RSASSA_PKCS1_V1_5_SHA_256";

  test("signatures are verified elsewhere, by the public key", async () => {
    const { client, create } = world();
    const KeyId = await create("RSA_2048", "SIGN_VERIFY");
    const sign = new aws.SignCommand({ KeyId, SigningAlgorithm, Message, MessageType: "RAW" });
    const { Signature } = await client.send(sign);
    const { PublicKey, SigningAlgorithms } = await client.send(new aws.GetPublicKeyCommand({ KeyId }));
    expect(SigningAlgorithms).toContain(SigningAlgorithm);
    const key = createPublicKey({ key: Buffer.from(PublicKey!), format: "der", type: "spki" });
    expect(verify("sha256", Message, key, Signature!)).toBe(true);
    expect(verify("sha256", Buffer.from("another"), key, Signature!)).toBe(false);
  });

  test("signatures need a fitting key and algorithm, and the message itself", async () => {
    const { client, create } = world();
    const KeyId = await create("RSA_2048", "SIGN_VERIFY");
    const sign = (more: Partial<aws.SignCommandInput>) =>
      nameOf(client.send(new aws.SignCommand({ KeyId, Message, SigningAlgorithm, ...more })));
    expect(await sign({ SigningAlgorithm: "ECDSA_SHA_256" })).toBe("InvalidKeyUsageException");
    expect(await sign({ KeyId: await create() })).toBe("InvalidKeyUsageException");
    expect(await sign({ MessageType: "DIGEST" })).toBe("ValidationException");
    expect(await sign({ Message: Buffer.alloc(4_097) })).toBe("ValidationException");
    const symmetric = new aws.GetPublicKeyCommand({ KeyId: await create() });
    expect(await nameOf(client.send(symmetric))).toBe("UnsupportedOperationException");
  });
});
