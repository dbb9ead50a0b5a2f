// The write-ahead log cut at arbitrary bytes, as by a machine that lost power: what was acknowledged before the cut is
// there, no transaction is there by half, and everything under way goes on.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openDataFolder } from "../../local/data-folder.ts";
import { randomFrom } from "../simulator/random.ts";
import { openLedger, type Row, scan } from "../support/crash.ts";
import { brokenInvariants, brokenPromises, halfTransactions } from "../support/promises.ts";
import { type TestWorld, testWorld } from "../support/world.ts";

const POSITIONS = Number(process.env.TRUNCATIONS ?? 12);
const SEED = Number(process.env.CRASH_SEED ?? 1);
/** Longer than any timer of the work and any lease or visibility it may have left. */
const SETTLED_AFTER = 20 * 60_000;

const folder = mkdtempSync(join(tmpdir(), "truncated-"));
afterAll(() => rmSync(folder, { recursive: true }));

const FILE = "service.sqlite";

/** A service at work on a file, and how long its log was when each step had been acknowledged. */
async function work() {
  const file = join(folder, FILE);
  const { release } = openDataFolder(folder);
  const world = await testWorld({ file });
  world.database.exec("PRAGMA wal_autocheckpoint = 0");
  const tenant = await world.tenant();
  const owner = await tenant.dashboard();
  world.database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const steps: { logBytes: number; apply(ledger: ReturnType<typeof openLedger>): void }[] = [];
  const acknowledge = (apply: (typeof steps)[number]["apply"]) =>
    steps.push({ logBytes: statSync(`${file}-wal`).size, apply });

  const ids: string[] = [];
  const upsert = async (externalId: string, n: number) => {
    const body = { external_id: externalId, attributes: { n } };
    const id = await tenant.upsert(body);
    if (!ids.includes(id)) ids.push(id);
    acknowledge(({ people }) => people.set(externalId, { id, externalId, n, erased: "no" }));
  };
  const send = async (key: string, to: string[], ahead?: number) => {
    const scheduled_at = ahead && new Date(world.clock.now() + ahead).toISOString();
    const body = { title: key, body: "Hi", subscriberIds: to, ...(scheduled_at && { scheduled_at }) };
    const { id } = (await world.call("POST /api/v1/notifications", { as: owner, body })).body;
    acknowledge(({ sends }) => sends.set(key, { key, to, ahead, id, canceled: false }));
  };
  const erase = async (externalId: string, id: string) => {
    acknowledge(({ people }) => people.set(externalId, { id, externalId, n: 1, erased: "asked" }));
    await world.call(`DELETE /api/v1/subscribers/${id}`, { as: owner });
    acknowledge(({ people }) => people.set(externalId, { id, externalId, n: 1, erased: "yes" }));
  };

  for (let i = 0; i < 8; i++) await upsert(`person-${i}`, 1);
  for (let i = 0; i < 4; i++) {
    await send(`now-${i}`, [ids[i]!, ids[i + 1]!]);
    if (i % 2 === 0) await world.settle();
    await send(`later-${i}`, [ids[i]!, ids[7]!], (i + 1) * 60_000);
    await upsert(`person-${i}`, 2);
    await world.advance(40_000);
  }
  await erase("person-6", ids[6]!);
  await world.settle();
  const end = world.clock.now();
  const copy = { data: readFileSync(file), log: readFileSync(`${file}-wal`) };
  release();
  world.database.close();
  return { steps, end, ...copy };
}

/** Opens what is left of the data after the cut, and lets everything come to rest. */
async function recover(n: number, data: Buffer, log: Buffer, at: number): Promise<{ before: Row[]; after: Row[] }> {
  const path = join(folder, `cut-${n}`);
  mkdirSync(path);
  writeFileSync(join(path, FILE), data);
  writeFileSync(join(path, `${FILE}-wal`), log);
  const { file, release } = openDataFolder(path);
  const world = await testWorld({ file, start: at });
  const read = (from: TestWorld) => scan((input) => from.dynamodb.operate("Scan", input));
  const before = await read(world);
  await world.settle();
  await world.advance(SETTLED_AFTER);
  const after = await read(world);
  await world.close();
  release();
  rmSync(path, { recursive: true });
  return { before, after };
}

test(`the log cut at ${POSITIONS} places (seed ${SEED})`, async () => {
  const { steps, end, data, log } = await work();
  const random = randomFrom(SEED);
  const cuts = [0, log.length, ...Array.from({ length: POSITIONS - 2 }, () => random.between(0, log.length - 1))];
  for (const [n, cut] of cuts.entries()) {
    const ledger = openLedger();
    for (const { logBytes, apply } of steps) if (logBytes <= cut) apply(ledger);
    const { before, after } = await recover(n, data, log.subarray(0, cut), end);
    expect({ cut, broken: halfTransactions(before) }).toEqual({ cut, broken: [] });
    expect({ cut, broken: brokenPromises(after, ledger) }).toEqual({ cut, broken: [] });
    expect({ cut, broken: brokenInvariants(after) }).toEqual({ cut, broken: [] });
  }
}, 600_000);
