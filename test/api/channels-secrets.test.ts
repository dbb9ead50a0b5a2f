// The secrets of channels: sealed, and shown nowhere (CRD-2, ATH-R12, ARC-13).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { redact } from "../../shared/kernel/log.ts";
import { openCredentials } from "../../shared/store/channels/credentials.ts";
import { CredentialsItem } from "../../shared/store/channels/items.ts";
import { vaultOpening } from "../../shared/store/vault.ts";
import {
  APPLE_KEY,
  CHAT_APP,
  channelCalls,
  GOOGLE_KEY,
  kinds,
  SMS,
  SMTP,
  type UploadPath,
  uploads,
} from "../support/channels.ts";
import { opened } from "../support/opened-credentials.ts";
import { send } from "../support/people.ts";
import { addPhone, openChannels, outboxOf, spoil } from "../support/reached.ts";
import { UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const paths = Object.keys(uploads) as UploadPath[];

/** A row of the data file as text, bytes and all. */
const flat = (row: object) =>
  Object.values(row)
    .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value)))
    .join();

const canaries = [
  APPLE_KEY.split("\n")[1]!,
  GOOGLE_KEY.private_key.split("\n")[1]!,
  ...[
    SMS.api_key,
    SMS.api_secret,
    CHAT_APP.access_token,
    CHAT_APP.app_secret,
    CHAT_APP.webhook_verify_token,
    SMTP.password,
  ],
];

it("no response, log line, stored row or message contains a secret (CRD-2, ATH-R12, ARC-13)", async () => {
  const folder = mkdtempSync(join(tmpdir(), "secrets-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { world, tenant } = await withTenant({ file: join(folder, "data") });
  const { create, upload, call } = await channelCalls(world, tenant);
  const seen: unknown[] = [];
  const secrets = [...canaries];
  for (const path of paths) {
    const id = await create(kinds[path].type);
    seen.push(await upload(id, path), await call(`GET /${id}`), await call(`PATCH /${id}`, { body: { active: true } }));
    const { type, ...sealed } = await opened(world, tenant, id);
    if (type === "vapid") secrets.push((sealed as { private_key: string }).private_key);
    seen.push(await upload(id, path, { body: { ...SMS, ...CHAT_APP, ...SMTP } }));
    seen.push(await call(`POST /${id}/verify`));
  }
  seen.push(await call("GET /"));
  await world.settle();

  const rowsOf = (table: unknown) => Object.values(world.database.all(`SELECT * FROM "${table}"`));
  const tables = world.database.all("SELECT name FROM sqlite_master WHERE type = 'table'");
  const stored = tables.map(({ name }) => Buffer.from(rowsOf(name).map(flat).join()));
  expect(Buffer.concat(stored).includes("sealed")).toBe(true);
  const everything = Buffer.concat([Buffer.from(JSON.stringify([seen, world.logs, redact(world.logs)])), ...stored]);
  for (const secret of secrets) expect(everything.includes(secret), secret).toBe(false);
});

/** The sealed credentials of a channel, and the vault of each workspace. */
async function sealedCredentials() {
  const { world, tenant } = await withTenant();
  const { create, upload } = await channelCalls(world, tenant);
  const channel = await create("sms");
  await upload(channel, "sms");
  const { sealed } = (await tenant.store.get(CredentialsItem, { channel }))!;
  const vaultOf = vaultOpening.open(world.depsFor("test"));
  return { world, sealed, vaultOf, vault: vaultOf(tenant.id), place: { channel, type: "sms" } };
}

it("a ciphertext of credentials opens in its own place alone (ARC-13)", async () => {
  const { world, sealed, vaultOf, vault, place } = await sealedCredentials();
  const other = await world.tenant();

  expect(await vault.open(place, sealed)).toMatchObject(SMS);

  await expect(vaultOf(other.id).open(place, sealed)).rejects.toThrow();
  await expect(vault.open({ ...place, channel: UNKNOWN }, sealed)).rejects.toThrow();
  await expect(vault.open({ ...place, type: "email" }, sealed)).rejects.toThrow();
});

it("a ciphertext of credentials does not open after a change of any of its parts (ARC-13)", async () => {
  const { sealed, vault, place } = await sealedCredentials();
  const parts = sealed.split(".");

  for (const [n, part] of parts.entries()) {
    const touched = parts.with(n, (part.startsWith("A") ? "B" : "A") + part.slice(1)).join(".");
    await expect(vault.open(place, touched)).rejects.toThrow();
  }
  await expect(vault.open(place, parts.slice(0, 4).join("."))).rejects.toThrow();
});

it("each upload of credentials has a data key of its own (ARC-13)", async () => {
  const { world, tenant } = await withTenant();
  const { create, upload } = await channelCalls(world, tenant);
  const keys = new Set<string | undefined>();

  for (const channel of [await create("sms"), await create("sms")]) {
    await upload(channel, "sms");
    keys.add((await tenant.store.get(CredentialsItem, { channel }))!.sealed.split(".")[1]);
  }

  expect(keys.size).toBe(2);
});

it("a data key is decrypted once in five minutes (ARC-13)", async () => {
  const { world, tenant } = await withTenant();
  const { create, upload } = await channelCalls(world, tenant);
  const channel = await create("sms");
  await upload(channel, "sms");
  const row = (await tenant.store.get(CredentialsItem, { channel }))!;
  const calls: string[] = [];
  const deps = world.depsFor("test");
  const vault = vaultOpening.open({
    ...deps,
    aws: (client) => {
      const real = deps.aws(client);
      return Object.assign(Object.create(real), {
        send: (command: object) => {
          calls.push(command.constructor.name);
          return real.send(command);
        },
      });
    },
  })(tenant.id);
  const open = () => openCredentials(vault, channel, row);

  await open();
  await world.advance(5 * MINUTE - 1);
  await open();
  expect(calls).toEqual(["DecryptCommand"]);
  await world.advance(1);
  await open();
  expect(calls).toEqual(["DecryptCommand", "DecryptCommand"]);
});

it("a message that is tried again goes by no channel that was deleted a minute ago (CRD-2)", async () => {
  const { world, tenant } = await withTenant();
  const { ios } = await openChannels(world, tenant, "ios-push");
  const ada = String(await tenant.upsert({ external_id: "ada" }));
  await addPhone(world, tenant, ada, "ios");
  await spoil(world, { channel: "ios", outcome: "transient", times: 1 });
  const { job } = await send(world, tenant, { subscriberIds: [ada], channel_ids: [ios] });
  await tenant.call(`DELETE /api/v1/channels/${ios}?force=true`);

  await world.advance(60 * MINUTE);

  expect(job.status).toBe("processing");
  expect(await outboxOf(world)).toEqual([]);
  const { status, counts } = (await tenant.call(`GET /api/v1/notifications/${job.id}`)).body;
  expect([status, counts]).toMatchObject(["failed", { failed: 1 }]);
});
