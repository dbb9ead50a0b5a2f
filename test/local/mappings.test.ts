// Event source mappings of a queue: what is deleted, what comes again and when.
import type { SQSEvent } from "aws-lambda";
import { describe, expect, test } from "vitest";
import { createSqs, openDatabase } from "../../local/aws/index.ts";
import { createClock, runner } from "../../local/clock.ts";
import { createLambdaHost } from "../../local/lambda.ts";
import { traceOf } from "../../local/lineage.ts";
import { createMappings } from "../../local/mappings.ts";
import { SECOND } from "../../shared/kernel/clock.ts";
import { systemIds } from "../../shared/runtime/system.ts";
import { at, toyStream, world } from "../support/mappings.ts";

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
  test("a queue gives the function Lambda's event, and what succeeded is deleted", async () => {
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
    "a worker whose loops are allowed (%s) is invoked %i times by a chain of messages (OPS-1)",
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
