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
  for (const secret of secrets) expect([secret, everything.includes(secret)]).toEqual([secret, false]);
});

it("a ciphertext does not open for another workspace, channel or type, nor after a change (ARC-13)", async () => {
  const { world, tenant } = await withTenant();
  const { create, upload } = await channelCalls(world, tenant);
  const id = await create("sms");
  await upload(id, "sms");
  const { sealed } = (await tenant.store.get(CredentialsItem, { channel: id }))!;
  const vault = vaultOpening.open(world.depsFor("test"));
  const other = await world.tenant();
  const place = { channel: id, type: "sms" };
  expect(await vault(tenant.id).open(place, sealed)).toMatchObject(SMS);
  await expect(vault(other.id).open(place, sealed)).rejects.toThrow();
  await expect(vault(tenant.id).open({ channel: UNKNOWN, type: "sms" }, sealed)).rejects.toThrow();
  await expect(vault(tenant.id).open({ channel: id, type: "email" }, sealed)).rejects.toThrow();
  const parts = sealed.split(".");
  for (let n = 0; n < parts.length; n++) {
    const first = parts[n]!.startsWith("A") ? "B" : "A";
    const touched = parts.with(n, first + parts[n]!.slice(1)).join(".");
    await expect(vault(tenant.id).open(place, touched)).rejects.toThrow();
  }
  await expect(vault(tenant.id).open(place, parts.slice(0, 4).join("."))).rejects.toThrow();
});

it("a data key is decrypted once in five minutes, and each upload has its own (ARC-13)", async () => {
  const { world, tenant } = await withTenant();
  const { create, upload } = await channelCalls(world, tenant);
  const [one, two] = [await create("sms"), await create("sms")];
  for (const id of [one, two]) await upload(id, "sms");
  const rows = await Promise.all([one, two].map((id) => tenant.store.get(CredentialsItem, { channel: id })));
  expect(new Set(rows.map((row) => row!.sealed.split(".")[1])).size).toBe(2);
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
  const open = () => openCredentials(vault, one, rows[0]!);
  await open();
  await world.advance(5 * MINUTE - 1);
  await open();
  expect(calls).toEqual(["DecryptCommand"]);
  await world.advance(1);
  await open();
  expect(calls).toEqual(["DecryptCommand", "DecryptCommand"]);
});
