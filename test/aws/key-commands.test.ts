// What KMS is asked, and under which encryption context.
import { DecryptCommand, EncryptCommand, GenerateDataKeyCommand, KMSClient } from "@aws-sdk/client-kms";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { expect, it } from "vitest";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { makeSecrets, openSecrets } from "../../shared/store/secrets.ts";
import { vaultOpening, vaultSealing } from "../../shared/store/vault.ts";
import { failure, mockedTable } from "./clients.ts";

const KeyId = "alias/engagement";
const shop = "shop" as TenantId;
const place = { channel: "c1", type: "sms" };
const dataKey = Buffer.alloc(32, 7);
const wrapped = Buffer.from("wrapped");

function mockedKeys() {
  const mocked = mockedTable();
  const deps = { ...mocked.deps, env: { ...mocked.deps.env, ENCRYPTION_KEY_ID: KeyId } };
  const kms = mockClient(deps.aws(KMSClient));
  kms.on(GenerateDataKeyCommand).resolves({ Plaintext: Buffer.from(dataKey), CiphertextBlob: wrapped });
  kms.on(DecryptCommand).callsFake(async () => ({ Plaintext: Buffer.from(dataKey) }));
  return { ...mocked, deps, kms, sealer: vaultSealing.open(deps)(shop), opener: vaultOpening.open(deps)(shop) };
}

it("a secret is sealed by a data key of its own, bound to workspace, channel and type", async () => {
  const { kms, sealer } = mockedKeys();
  await sealer.seal(place, { token: "t" });
  const EncryptionContext = { purpose: "channel-credentials", tenant: "shop", channel: "c1", type: "sms" };
  expect(kms.call(0).args[0].input).toEqual({ KeyId, KeySpec: "AES_256", EncryptionContext });
});

it("a secret is opened by its wrapped key under the context of its seal", async () => {
  const { kms, sealer, opener } = mockedKeys();
  const sealed = await sealer.seal(place, { token: "t" });
  expect(await opener.open(place, sealed)).toEqual({ token: "t" });
  const EncryptionContext = { purpose: "channel-credentials", tenant: "shop", channel: "c1", type: "sms" };
  expect(kms.commandCalls(DecryptCommand).map(({ args: [{ input }] }) => input)).toEqual([
    { CiphertextBlob: wrapped, EncryptionContext },
  ]);
});

it("another workspace asks under its own context, and cannot open the secret", async () => {
  const { deps, kms, sealer } = mockedKeys();
  const sealed = await sealer.seal(place, { token: "t" });
  await expect(
    vaultOpening
      .open(deps)("other" as TenantId)
      .open(place, sealed),
  ).rejects.toThrow();
  expect(kms.commandCalls(DecryptCommand)[0]?.args[0].input.EncryptionContext).toMatchObject({ tenant: "other" });
});

it("the root secrets are encrypted under a context of their own, and put only where there are none", async () => {
  const { deps, kms, table } = mockedKeys();
  kms.on(EncryptCommand).resolves({ CiphertextBlob: wrapped });
  await makeSecrets(deps);
  expect(kms.call(0).args[0].input).toMatchObject({ KeyId, EncryptionContext: { purpose: "root-secrets" } });
  const [put] = table.commandCalls(PutCommand);
  expect(put?.args[0].input).toMatchObject({
    Item: { sealed: wrapped.toString("base64") },
    ConditionExpression: "attribute_not_exists(#0)",
  });
});

it("an answer of KMS without bytes is an error, not a secret", async () => {
  const { kms, sealer } = mockedKeys();
  kms.on(GenerateDataKeyCommand).resolves({});
  await expect(sealer.seal(place, {})).rejects.toThrow("KMS returned no bytes.");
});

it.each(["ThrottlingException", "KMSInternalException", "DependencyTimeoutException", "ExpiredTokenException"])(
  "after %s of KMS, the root secrets are read again",
  async (name) => {
    const { deps, kms, table } = mockedKeys();
    const text = JSON.stringify({ sdkKeyRoots: ["cm9vdA=="], idKey: "aWQ=", cursorKey: "Yw==" });
    table.onAnyCommand().resolves({ Item: { sealed: wrapped.toString("base64") } });
    kms
      .on(DecryptCommand)
      .rejectsOnce(failure(name))
      .resolves({ Plaintext: Buffer.from(text) });
    const secrets = openSecrets(deps);
    await expect(secrets.root()).rejects.toMatchObject({ name });
    expect((await secrets.root()).idKey.toString()).toBe("id");
  },
);
