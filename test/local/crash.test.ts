// The service is killed at random moments under load, and its write-ahead log cut at arbitrary bytes: it recovers.
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { DAY } from "../../shared/kernel/clock.ts";
import { randomFrom } from "../simulator/random.ts";
import { advance, atMost, aws, load, openLedger, ownerOf, retryUnanswered, scan } from "../support/crash.ts";
import { brokenInvariants, brokenPromises } from "../support/promises.ts";
import { cleanUp, newFolder, type ServiceProcess, startService } from "../support/service-process.ts";
import { START, testWorld } from "../support/world.ts";

const CYCLES = Number(process.env.CRASH_CYCLES ?? 2);
const SEED = Number(process.env.CRASH_SEED ?? 1);
const QUEUES = ["fan-out", "deliver", "due", "erase"];

afterEach(cleanUp);

const messagesIn = async (service: ServiceProcess, queue: string): Promise<number> => {
  const { QueueUrl } = await aws(service, "AmazonSQS.GetQueueUrl", { QueueName: queue });
  const { Attributes } = await aws(service, "AmazonSQS.GetQueueAttributes", { QueueUrl, AttributeNames: ["All"] });
  return Object.entries(Attributes as Record<string, string>)
    .filter(([name]) => name.startsWith("ApproximateNumberOfMessages"))
    .reduce((sum, [, n]) => sum + Number(n), 0);
};

test(`killed ${CYCLES} times under load (seed ${SEED}): nothing lost, nothing twice, nothing stuck`, async () => {
  const random = randomFrom(SEED);
  const ledger = openLedger();
  const env = { DATA_DIR: newFolder(), AWS_PORT: "0" };
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const service = await startService(env);
    await retryUnanswered(service, ledger);
    let over = false;
    const work = load(service, ledger, random, () => over);
    await delay(random.between(100, 1_100));
    // Every other time it dies while time is being moved, with messages and timers in the air.
    if (cycle % 2 === 1) await atMost(random.between(20, 320), advance(service, "7m"));
    await service.kill();
    over = true;
    await work;
  }
  const service = await startService(env);
  await retryUnanswered(service, ledger);
  await advance(service, "2h");
  const rows = await scan((input) => aws(service, "DynamoDB_20120810.Scan", input));
  expect(brokenInvariants(rows)).toEqual([]);
  expect(brokenPromises(rows, ledger)).toEqual([]);
  for (const queue of QUEUES) {
    expect(await messagesIn(service, queue), queue).toBe(0);
    expect(await messagesIn(service, `${queue}-dead`), `${queue}-dead`).toBe(0);
  }
  expect(ledger.surprises).toEqual([]);
  expect(ledger.acknowledged).toBeGreaterThan(CYCLES);
  await everyAnswerHolds(service, ledger);
  if (process.env.CRASH_CYCLES) console.log({ calls: ledger.calls, acknowledged: ledger.acknowledged });
}, 600_000);

test("stopped for three days right after an answer: what must follow from the write still follows", async () => {
  const file = join(newFolder(), "service.sqlite");
  const before = await testWorld({ file });
  const tenant = await before.tenant();
  const upserted = { as: tenant.sdk, body: { external_id: "ada" } };
  const { id } = (await before.call("POST /api/v1/subscribers/upsert", upserted)).body;
  const sent = { as: await tenant.dashboard(), body: { title: "Hi", body: "Ada", subscriberIds: [id] } };
  expect((await before.call("POST /api/v1/notifications", sent)).status).toBe(201);
  await before.close();

  const after = await testWorld({ file, start: START + 3 * DAY });
  await after.advance(DAY);
  const { messages } = (await after.call(`GET /v1/in-app/messages?subscriber_id=${id}`, { as: tenant.sdk })).body;
  expect(messages).toHaveLength(1);
  await after.close();
});

/** The same seen by a client, on a sample. */
async function everyAnswerHolds(service: ServiceProcess, ledger: ReturnType<typeof openLedger>) {
  const headers = await ownerOf(service);
  const status = async (path: string) => (await fetch(service.url + path, { headers })).status;
  for (const { id, erased } of [...ledger.people.values()].slice(-40))
    expect(await status(`/api/v1/subscribers/${id}`)).toBe(erased === "yes" ? 404 : 200);
  for (const { id } of [...ledger.sends.values()].slice(-40))
    if (id) expect(await status(`/api/v1/notifications/${id}`)).toBe(200);
}
