// Tags, grants and dry runs of the embedded KMS through the real client.
import * as aws from "@aws-sdk/client-kms";
import { expect, test } from "vitest";
import { requestHandler } from "../../local/aws/protocol.ts";
import { testWorld } from "../support/world.ts";

async function kms() {
  const client = new aws.KMSClient({
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    requestHandler: requestHandler(await testWorld()),
    maxAttempts: 1,
  });
  const create = async () => (await client.send(new aws.CreateKeyCommand({}))).KeyMetadata!.KeyId!;
  return { client, create };
}

const nameOf = (work: Promise<unknown>) =>
  work.then(
    () => "no error",
    (error: Error) => error.name,
  );

test("tags are kept with a key, from its creation on; a key has fifty at most, each once", async () => {
  const { client } = await kms();
  const { KeyMetadata } = await client.send(new aws.CreateKeyCommand({ Tags: [{ TagKey: "team", TagValue: "crm" }] }));
  const KeyId = KeyMetadata!.KeyId!;
  const tagsOf = async () => (await client.send(new aws.ListResourceTagsCommand({ KeyId }))).Tags;
  await client.send(new aws.TagResourceCommand({ KeyId, Tags: [{ TagKey: "cost", TagValue: "7" }] }));
  expect(await tagsOf()).toEqual([
    { TagKey: "cost", TagValue: "7" },
    { TagKey: "team", TagValue: "crm" },
  ]);
  await client.send(new aws.UntagResourceCommand({ KeyId, TagKeys: ["team"] }));
  expect(await tagsOf()).toEqual([{ TagKey: "cost", TagValue: "7" }]);
  const many = Array.from({ length: 50 }, (_, n) => ({ TagKey: `t${n}`, TagValue: "" }));
  expect(await nameOf(client.send(new aws.TagResourceCommand({ KeyId, Tags: many })))).toBe("TagException");
  const twice = [many[0]!, many[0]!];
  expect(await nameOf(client.send(new aws.TagResourceCommand({ KeyId, Tags: twice })))).toBe("TagException");
});

test("grants are listed, the same one of a name is made once, and they are revoked or retired", async () => {
  const { client, create } = await kms();
  const KeyId = await create();
  const role = "arn:aws:iam::000000000000:role/reader";
  const wanted: aws.CreateGrantCommandInput = {
    KeyId,
    GranteePrincipal: role,
    RetiringPrincipal: role,
    Operations: ["Decrypt"],
    Constraints: { EncryptionContextSubset: { tenant: "a" } },
    Name: "read",
  };
  const make = (more: Partial<aws.CreateGrantCommandInput> = {}) =>
    client.send(new aws.CreateGrantCommand({ ...wanted, ...more }));
  const first = await make();
  expect((await make()).GrantId).toBe(first.GrantId);
  const second = await make({ Name: undefined });
  const list = async () => (await client.send(new aws.ListGrantsCommand({ KeyId }))).Grants!.map((one) => one.GrantId);
  expect((await list()).sort()).toEqual([first.GrantId, second.GrantId].sort());
  const { Grants } = await client.send(new aws.ListRetirableGrantsCommand({ RetiringPrincipal: role }));
  expect(Grants).toContainEqual(expect.objectContaining({ ...wanted, KeyId: expect.stringContaining(KeyId) }));
  expect(await nameOf(make({ Operations: ["Fly" as "Decrypt"] }))).toBe("ValidationException");
  await client.send(new aws.RetireGrantCommand({ GrantToken: second.GrantToken }));
  expect(await list()).toEqual([first.GrantId]);
  await client.send(new aws.RevokeGrantCommand({ KeyId, GrantId: first.GrantId }));
  expect(await list()).toEqual([]);
  const again = client.send(new aws.RevokeGrantCommand({ KeyId, GrantId: first.GrantId }));
  expect(await nameOf(again)).toBe("InvalidGrantIdException");
});

test("a dry run says whether a request would have succeeded, and changes nothing", async () => {
  const { client, create } = await kms();
  const KeyId = await create();
  const DryRun = true;
  const Plaintext = Buffer.from("a");
  const encrypting = () => client.send(new aws.EncryptCommand({ KeyId, Plaintext, DryRun }));
  expect(await nameOf(encrypting())).toBe("DryRunOperationException");
  const granting = new aws.CreateGrantCommand({ KeyId, GranteePrincipal: "arn", Operations: ["Decrypt"], DryRun });
  expect(await nameOf(client.send(granting))).toBe("DryRunOperationException");
  expect((await client.send(new aws.ListGrantsCommand({ KeyId }))).Grants).toEqual([]);
  await client.send(new aws.DisableKeyCommand({ KeyId }));
  expect(await nameOf(encrypting())).toBe("DisabledException");
});
