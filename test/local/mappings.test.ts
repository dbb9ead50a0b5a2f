// Event source mappings: what is deleted, what comes again and when, and the order of a table's stream.
import type { SQSEvent } from "aws-lambda";
import { describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../../local/aws/database.ts";
import type { StreamRecord } from "../../local/aws/dynamodb/index.ts";
import { createSqs } from "../../local/aws/sqs.ts";
import { createClock, runner } from "../../local/clock.ts";
import { createLambdaHost } from "../../local/lambda.ts";
import { traceOf } from "../../local/lineage.ts";
import { createMappings, type Mapping, type MappingDeps } from "../../local/mappings.ts";
import { SECOND, systemIds } from "../../shared/clock.ts";

const at = Date.UTC(2026, 0, 1);

/** A table's stream whose records are `key:sequence`. */
function toyStream() {
  const records: StreamRecord[] = [];
  const listeners = new Set<(table: string, key: string) => void>();
  const source: MappingDeps["dynamodb"] & { write(key: string): void } = {
    keepRecords: () => undefined,
    records: (_, after, limit) => records.filter(({ dynamodb }) => dynamodb.SequenceNumber > after).slice(0, limit),
    onWrite: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    write: (key) => {
      const SequenceNumber = String(records.length + 1).padStart(21, "0");
      const record = { eventName: "INSERT", dynamodb: { Keys: { PK: { S: key } }, SequenceNumber } };
      records.push(record as unknown as StreamRecord);
      for (const listener of listeners) listener("app", key);
    },
  };
  return source;
}

function world({ database = openDatabase(":memory:"), dynamodb = toyStream() } = {}) {
  const clock = createClock({ start: at, ticking: false });
  const sqs = createSqs({ clock, ids: systemIds, database });
  const host = createLambdaHost({ clock, ids: systemIds });
  const logged: string[] = [];
  const mappings = createMappings({ clock, database, sqs, dynamodb, host, log: (message) => logged.push(message) });
  return { clock, sqs, host, mappings, dynamodb, logged };
}

async function queueWorld(answer: (bodies: string[], event: SQSEvent) => unknown, batchSize = 10) {
  const parts = world();
  const { QueueUrl } = await parts.sqs.operate("CreateQueue", {
    QueueName: "work",
    Attributes: { VisibilityTimeout: "60" },
  });
  const batches: string[][] = [];
  parts.host.register({
    name: "worker",
    timeoutSeconds: 10,
    create: () => async (event: SQSEvent) => {
      const bodies = event.Records.map((record) => record.body);
      batches.push(bodies);
      return answer(bodies, event);
    },
  });
  const mapping = parts.mappings.mapQueue({ queue: "work", function: "worker", batchSize, maxConcurrency: 2 });
  const send = (MessageBody: string, more = {}) => parts.sqs.operate("SendMessage", { QueueUrl, MessageBody, ...more });
  return { ...parts, mapping, send, batches };
}

describe("a queue", () => {
  test("gives the function Lambda's event, and what succeeded is deleted", async () => {
    let seen: SQSEvent | undefined;
    const { mapping, send, sqs } = await queueWorld((_, event) => {
      seen = event;
    });
    await send("hello", {
      MessageGroupId: "tenant",
      MessageAttributes: { kind: { DataType: "String", StringValue: "greeting" } },
    });
    expect(mapping.runnable()).toBe(true);
    expect(await mapping.pump()).toBe(true);
    expect(seen!.Records).toMatchObject([
      {
        body: "hello",
        attributes: {
          ApproximateReceiveCount: "1",
          SentTimestamp: String(at),
          MessageGroupId: "tenant",
          ApproximateFirstReceiveTimestamp: String(at),
        },
        messageAttributes: { kind: { dataType: "String", stringValue: "greeting" } },
        md5OfBody: "5d41402abc4b2a76b9719d911017c592",
        eventSource: "aws:sqs",
        eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:work",
        awsRegion: "us-east-1",
      },
    ]);
    expect(sqs.depth("work")).toMatchObject({ visible: 0, inFlight: 0 });
    expect(await mapping.pump()).toBe(false);
  });

  const outcomes: [string, (event: SQSEvent) => unknown, string[]][] = [
    ["nothing", () => undefined, []],
    ["null", () => null, []],
    ["an empty list", () => ({ batchItemFailures: [] }), []],
    ["null for the list", () => ({ batchItemFailures: null }), []],
    ["one failure", ({ Records }) => ({ batchItemFailures: [{ itemIdentifier: Records[1]!.messageId }] }), ["b"]],
    ["an unknown identifier", () => ({ batchItemFailures: [{ itemIdentifier: "nobody" }] }), ["a", "b", "c"]],
    ["an empty identifier", () => ({ batchItemFailures: [{ itemIdentifier: "" }] }), ["a", "b", "c"]],
    ["a wrong key", () => ({ batchItemFailures: [{ id: "x" }] }), ["a", "b", "c"]],
    ["no list", () => ({ batchItemFailures: "b" }), ["a", "b", "c"]],
    ["an error", () => Promise.reject(new Error("no")), ["a", "b", "c"]],
  ];
  test.each(outcomes)(
    "after %s, only what failed comes again, after the visibility timeout",
    async (_, answer, again) => {
      let broken = true;
      const { clock, mapping, send, batches, sqs } = await queueWorld((_bodies, event) =>
        broken ? answer(event) : undefined,
      );
      for (const body of ["a", "b", "c"]) await send(body);
      await mapping.pump();
      broken = false;
      clock.jumpTo(at + 59 * SECOND);
      expect(mapping.runnable()).toBe(false);
      clock.jumpTo(at + 60 * SECOND);
      await mapping.pump();
      expect(batches).toEqual(again.length > 0 ? [["a", "b", "c"], again] : [["a", "b", "c"]]);
      expect(sqs.depth("work")).toMatchObject({ visible: 0, inFlight: 0 });
    },
  );

  test.each([
    [false, 16, 1],
    [true, 40, 0],
  ])(
    "OPS-1 a worker whose loops are allowed (%s) is invoked %i times by a chain of messages",
    async (allowsLoops, n, dead) => {
      const database = openDatabase(":memory:");
      const clock = createClock({ start: at, ticking: false });
      const sqs = createSqs({ clock, ids: systemIds, database, trace: () => traceOf(runner.getStore()) });
      const host = createLambdaHost({ clock, ids: systemIds });
      const mappings = createMappings({ clock, database, sqs, dynamodb: toyStream(), host, log: () => undefined });
      await sqs.operate("CreateQueue", { QueueName: "dead" });
      const deadLetterTargetArn = "arn:aws:sqs:us-east-1:000000000000:dead";
      const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 9 });
      const { QueueUrl } = await sqs.operate("CreateQueue", { QueueName: "work", Attributes: { RedrivePolicy } });
      let invoked = 0;
      const create = () => async () => {
        invoked++;
        if (invoked < 40) await sqs.operate("SendMessage", { QueueUrl, MessageBody: `page ${invoked}` });
      };
      host.register({ name: "worker", timeoutSeconds: 10, allowsLoops, create });
      const mapping = mappings.mapQueue({ queue: "work", function: "worker" });
      await sqs.operate("SendMessage", { QueueUrl, MessageBody: "page 0" });
      while (mapping.runnable()) await mapping.pump();
      expect(invoked).toBe(n);
      expect([sqs.depth("work").visible, sqs.depth("dead").visible]).toEqual([0, dead]);
    },
  );

  test("gathers batches over 10 and keeps to its concurrency", async () => {
    const { mapping, send, batches } = await queueWorld(() => undefined, 25);
    for (let index = 0; index < 60; index++) await send(String(index));
    const rounds = [mapping.pump(), mapping.pump()];
    expect(mapping.runnable()).toBe(false);
    await Promise.all(rounds);
    expect(batches.map((batch) => batch.length)).toEqual([25, 25]);
    await mapping.pump();
    expect(batches.flat().length).toBe(60);
  });

  test("backs off when the queue cannot be read", async () => {
    const { clock, mapping, send, sqs, batches } = await queueWorld(() => undefined);
    await send("a");
    const operate = sqs.operate;
    sqs.operate = async () => Promise.reject(new Error("throttled"));
    expect(await mapping.pump()).toBe(false);
    expect(mapping.runnable()).toBe(false);
    expect(mapping.nextAt()).toBe(at + SECOND);
    sqs.operate = operate;
    clock.jumpTo(at + SECOND);
    await mapping.pump();
    expect(batches).toEqual([["a"]]);
  });
});

describe("a table's stream", () => {
  type Options = Partial<Parameters<ReturnType<typeof world>["mappings"]["mapTableStream"]>[0]>;
  const keyOf = (record: StreamRecord) => record.dynamodb.Keys.PK!.S!;

  function streamWorld(
    answer: (keys: string[], records: StreamRecord[]) => unknown,
    options: Options = {},
    shared = {},
  ) {
    const parts = world(shared);
    const batches: string[] = [];
    parts.host.register({
      name: "react",
      timeoutSeconds: 10,
      create: () => async (event: { Records: StreamRecord[] }) => {
        const keys = event.Records.map(keyOf);
        batches.push(keys.join(""));
        return answer(keys, event.Records);
      },
    });
    const mapping = parts.mappings.mapTableStream({ table: "app", function: "react", batchSize: 4, ...options });
    const write = (keys: string) => [...keys].map((key) => parts.dynamodb.write(key));
    return { ...parts, mapping, write, batches };
  }
  const pumpAll = async (mapping: Mapping) => {
    while (mapping.runnable()) await mapping.pump();
  };

  test("is delivered in order, in batches, without what the filter refuses, and goes on after a restart", async () => {
    const shared = { database: openDatabase(":memory:") as Database, dynamodb: toyStream() };
    const filter = (record: StreamRecord) => keyOf(record) !== "x";
    const first = streamWorld(() => undefined, { filter }, shared);
    first.write("abxcdefxx");
    await pumpAll(first.mapping);
    expect(first.batches).toEqual(["abcd", "ef"]);
    first.write("g");
    const second = streamWorld(() => undefined, { filter }, shared);
    await pumpAll(second.mapping);
    expect(second.batches).toEqual(["g"]);
  });

  test("a failing batch blocks those behind it until a retry succeeds, in service time", async () => {
    let broken = true;
    const { clock, mapping, write, batches } = streamWorld(
      () => {
        if (broken) throw new Error("no");
      },
      { bisect: false },
    );
    write("abcdef");
    await pumpAll(mapping);
    expect(batches).toEqual(["abcd"]);
    expect(mapping.nextAt()).toBe(at + SECOND);
    clock.jumpTo(at + SECOND);
    await pumpAll(mapping);
    expect(mapping.nextAt()).toBe(at + 3 * SECOND);
    broken = false;
    clock.jumpTo(at + 3 * SECOND);
    await pumpAll(mapping);
    expect(batches).toEqual(["abcd", "abcd", "abcd", "ef"]);
    expect(mapping.nextAt()).toBeUndefined();
  });

  test("a crash between delivery and success delivers again", async () => {
    const shared = { database: openDatabase(":memory:") as Database, dynamodb: toyStream() };
    const first = streamWorld(() => new Promise(() => undefined), {}, shared);
    first.write("ab");
    void first.mapping.pump();
    const second = streamWorld(() => undefined, {}, shared);
    await pumpAll(second.mapping);
    expect(second.batches).toEqual(["ab"]);
  });

  test("a reported failure retries from there on, at the lowest of several", async () => {
    let reports = [["d", "b"], ["c"]];
    const { clock, mapping, write, batches } = streamWorld((_, records) => {
      const failed = reports.shift() ?? [];
      const named = records.filter((record) => failed.includes(keyOf(record)));
      return { batchItemFailures: named.map(({ dynamodb }) => ({ itemIdentifier: dynamodb.SequenceNumber })) };
    });
    write("abcd");
    await pumpAll(mapping);
    clock.jumpTo(at + SECOND);
    await pumpAll(mapping);
    clock.jumpTo(at + 2 * SECOND);
    await pumpAll(mapping);
    expect(batches).toEqual(["abcd", "bcd", "cd"]);
    reports = [];
  });

  test("an error is isolated by halves, retried a bounded number of times and given up", async () => {
    const lost: string[] = [];
    const { clock, mapping, write, batches } = streamWorld(
      (keys) => {
        if (keys.includes("c")) throw new Error("no");
      },
      { maxAttempts: 2, onFailure: (records) => lost.push(...records.map(keyOf)) },
    );
    write("abcdef");
    await pumpAll(mapping);
    expect(batches).toEqual(["abcd", "ab", "cd", "c"]);
    clock.jumpTo(at + SECOND);
    await pumpAll(mapping);
    expect(batches.slice(4)).toEqual(["c", "d", "ef"]);
    expect(lost).toEqual(["c"]);
  });

  test("with a factor, keys go side by side and each key keeps its order", async () => {
    const seen = new Map<string, number>();
    let together = 0;
    let max = 0;
    const { mapping, write, batches } = streamWorld(
      async (_, records) => {
        max = Math.max(max, ++together);
        await new Promise(setImmediate);
        together--;
        for (const record of records) {
          const sequence = Number(record.dynamodb.SequenceNumber);
          expect(sequence).toBeGreaterThan(seen.get(keyOf(record)) ?? 0);
          seen.set(keyOf(record), sequence);
        }
      },
      { parallelizationFactor: 3 },
    );
    write("abcabcabcabcaaaaaa");
    await pumpAll(mapping);
    expect(max).toBe(3);
    expect(batches.join("").length).toBe(18);
    expect(batches.every((batch) => batch.length <= 4)).toBe(true);
  });
});
