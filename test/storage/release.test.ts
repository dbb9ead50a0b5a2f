// Rows and messages across an upgrade and a rollback: what the release recorded is read by this version, and what this
// version writes is read by the release (docs/operate.md, "Upgrading and going back").
import { existsSync, readFileSync } from "node:fs";
import * as v from "valibot";
import { expect, it } from "vitest";
import { declaredItems } from "../../docs/generate/items.ts";
import { invoke } from "../../local/invoke.ts";
import { type QueueName, queues } from "../../shared/contract/messages.ts";
import { faultsOfRow } from "../support/checked-rows.ts";
import { faultsOf } from "../support/json-schema.ts";
import { testWorld } from "../support/world.ts";
import { readsOf, requiredOf, type StorageRelease, valuesOf, writtenNow } from "./corpus.ts";

const recorded = new URL("released.json", import.meta.url);
/** What the last release recorded; before the first one, what this version writes and reads itself. */
const release: StorageRelease = existsSync(recorded)
  ? JSON.parse(readFileSync(recorded, "utf8"))
  : { ...(await writtenNow()), reads: readsOf(), required: await requiredOf() };
const { items } = await declaredItems();
const itemNamed = new Map(items.map(({ name, item }) => [name, item]));

it("every message of the release is read by this version (OPS-3)", () => {
  const faults = Object.entries(release.messages).flatMap(([queue, bodies]) =>
    bodies.flatMap((body) => {
      const declared = queues[queue as QueueName];
      if (!declared) return [`the queue ${queue} is gone`];
      const { issues } = v.safeParse(declared.message, body);
      return issues ? [`${queue}: ${issues[0].message}: ${JSON.stringify(body)}`] : [];
    }),
  );
  expect(faults).toEqual([]);
  expect(Object.keys(release.messages).length).toBeGreaterThan(10);
});

it("every message of the release is handled by this version, though what it names was never written or is gone (OPS-3)", async () => {
  const world = await testWorld();
  const { id: tenant } = await world.tenant();
  const failed: unknown[] = [];
  for (const [queue, bodies] of Object.entries(release.messages))
    for (const message of bodies) {
      const body = JSON.stringify("tenant" in message ? { ...message, tenant } : message);
      const attributes = { ApproximateReceiveCount: "1", SentTimestamp: String(world.clock.now()) };
      const event = { Records: [{ messageId: "1", receiptHandle: "1", body, attributes, eventSource: "aws:sqs" }] };
      const answer = await invoke(world, queue, event, () => world.advance(1_000));
      const { batchItemFailures = [] } = (answer ?? {}) as { batchItemFailures?: object[] };
      if (batchItemFailures.length > 0) failed.push([queue, message]);
    }
  expect(failed).toEqual([]);
});

it("every row of the release is read by this version (OPS-3)", () => {
  const faults = Object.entries(release.rows).flatMap(([name, rows]) => {
    const item = itemNamed.get(name);
    if (!item) return [`${name} is gone`];
    // What is no longer declared is no longer read.
    const all = rows.flatMap((row) => faultsOfRow(item, valuesOf(row)));
    return all.filter((fault) => !fault.endsWith("is not declared")).map((fault) => `${name}: ${fault}`);
  });
  expect(faults).toEqual([]);
  expect(Object.keys(release.rows).length).toBeGreaterThan(50);
});

it("every message that this version writes is read by the release, unless its queue is new (OPS-3)", async () => {
  const { messages } = await writtenNow();
  const faults = Object.entries(messages).flatMap(([queue, bodies]) => {
    const schema = release.reads[queue];
    return schema ? bodies.flatMap((body) => faultsOf(schema, body, {}, queue)) : [];
  });
  expect(faults).toEqual([]);
});

it("every attribute that the release expects in a row is still written (OPS-3)", async () => {
  const required = await requiredOf();
  const missing = Object.entries(release.required).flatMap(([name, attributes]) =>
    attributes.filter((attribute) => !required[name]?.includes(attribute)).map((attribute) => `${name}.${attribute}`),
  );
  expect(missing).toEqual([]);
});
