// The embedded SQS through the real client: what AWS promises of standard queues, on a frozen clock.
import * as sqs from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";
import { openDatabase } from "../../local/aws/database.ts";
import { requestHandler, type Services } from "../../local/aws/protocol.ts";
import { createSqs, type SqsFaults } from "../../local/aws/sqs.ts";
import { awsFailure, type StandIn } from "../../local/aws/stand-in.ts";
import { createClock } from "../../local/clock.ts";
import { HOUR, MINUTE, SECOND, systemIds } from "../../shared/clock.ts";

const start = Date.UTC(2026, 0, 1);
const absent: StandIn = {
  operate: async () => {
    throw awsFailure("InternalFailure", "not part of this test", { status: 500 });
  },
};

function world({
  faults = {},
  database = openDatabase(":memory:"),
}: {
  faults?: SqsFaults;
  database?: ReturnType<typeof openDatabase>;
} = {}) {
  const clock = createClock({ start, ticking: false });
  const standIn = createSqs({ clock, ids: systemIds, database, faults });
  const services: Services = { dynamodb: absent, scheduler: absent, kms: absent, sqs: standIn };
  const client = new sqs.SQSClient({
    region: "eu-west-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    requestHandler: requestHandler(services),
    useQueueUrlAsEndpoint: false,
    maxAttempts: 1,
  });
  const create = async (QueueName: string, Attributes: Record<string, string> = {}) =>
    (await client.send(new sqs.CreateQueueCommand({ QueueName, Attributes }))).QueueUrl!;
  const send = (QueueUrl: string, MessageBody: string, more: Partial<sqs.SendMessageCommandInput> = {}) =>
    client.send(new sqs.SendMessageCommand({ QueueUrl, MessageBody, ...more }));
  const receive = async (QueueUrl: string, more: Partial<sqs.ReceiveMessageCommandInput> = {}) =>
    (await client.send(new sqs.ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, ...more }))).Messages ?? [];
  const bodies = async (QueueUrl: string, more: Partial<sqs.ReceiveMessageCommandInput> = {}) =>
    (await receive(QueueUrl, more)).map((message) => message.Body);
  const remove = (QueueUrl: string, ReceiptHandle = "") =>
    client.send(new sqs.DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  const hide = (QueueUrl: string, ReceiptHandle = "", VisibilityTimeout = 0) =>
    client.send(new sqs.ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }));
  return { clock, standIn, database, client, create, send, receive, bodies, remove, hide };
}

const nameOf = (work: Promise<unknown>) =>
  work.then(
    () => "no error",
    (error: Error) => error.name,
  );

const redrive = (queue: string, maxReceiveCount: number) => ({
  RedrivePolicy: JSON.stringify({
    deadLetterTargetArn: `arn:aws:sqs:us-east-1:000000000000:${queue}`,
    maxReceiveCount,
  }),
});

describe("queues", () => {
  test("are created once, found by name and listed", async () => {
    const { client, create } = world();
    const url = await create("jobs", { VisibilityTimeout: "60" });
    expect(url).toBe("http://sqs.local/000000000000/jobs");
    expect(await create("jobs", { VisibilityTimeout: "60" })).toBe(url);
    expect(await create("jobs")).toBe(url);
    expect(await nameOf(create("jobs", { VisibilityTimeout: "61" }))).toBe("QueueNameExists");
    await create("other");
    await create("jobs-2");
    const listed = await client.send(new sqs.ListQueuesCommand({ QueueNamePrefix: "jobs" }));
    expect(listed.QueueUrls).toEqual([url, `${url}-2`]);
    const first = await client.send(new sqs.ListQueuesCommand({ MaxResults: 2 }));
    const second = await client.send(new sqs.ListQueuesCommand({ MaxResults: 2, NextToken: first.NextToken }));
    expect([first.QueueUrls?.length, second.QueueUrls?.length, second.NextToken]).toEqual([2, 1, undefined]);
    expect((await client.send(new sqs.GetQueueUrlCommand({ QueueName: "jobs" }))).QueueUrl).toBe(url);
    expect((await client.send(new sqs.ListQueuesCommand({ QueueNamePrefix: "x" }))).QueueUrls).toBeUndefined();
  });

  test("tell and change their attributes", async () => {
    const { client, create, send, clock } = world();
    const QueueUrl = await create("q", { DelaySeconds: "5" });
    const attributes = async (...AttributeNames: sqs.QueueAttributeName[]) =>
      (await client.send(new sqs.GetQueueAttributesCommand({ QueueUrl, AttributeNames }))).Attributes;
    await send(QueueUrl, "later");
    await send(QueueUrl, "now", { DelaySeconds: 0 });
    expect(await attributes("All")).toMatchObject({
      QueueArn: "arn:aws:sqs:us-east-1:000000000000:q",
      DelaySeconds: "5",
      VisibilityTimeout: "30",
      MessageRetentionPeriod: "345600",
      MaximumMessageSize: "1048576",
      ReceiveMessageWaitTimeSeconds: "0",
      ApproximateNumberOfMessages: "1",
      ApproximateNumberOfMessagesDelayed: "1",
      ApproximateNumberOfMessagesNotVisible: "0",
      CreatedTimestamp: String(start / 1000),
    });
    clock.jumpTo(start + MINUTE);
    await client.send(new sqs.SetQueueAttributesCommand({ QueueUrl, Attributes: { VisibilityTimeout: "7" } }));
    expect(await attributes("VisibilityTimeout", "LastModifiedTimestamp")).toEqual({
      VisibilityTimeout: "7",
      LastModifiedTimestamp: String(start / 1000 + 60),
    });
    expect(await attributes()).toBeUndefined();
  });

  test("are tagged, purged and deleted", async () => {
    const { client, create, send, bodies } = world();
    const QueueUrl = await create("q");
    await client.send(new sqs.TagQueueCommand({ QueueUrl, Tags: { team: "a", cost: "b" } }));
    await client.send(new sqs.UntagQueueCommand({ QueueUrl, TagKeys: ["cost"] }));
    expect((await client.send(new sqs.ListQueueTagsCommand({ QueueUrl }))).Tags).toEqual({ team: "a" });
    await send(QueueUrl, "1");
    await client.send(new sqs.PurgeQueueCommand({ QueueUrl }));
    expect(await bodies(QueueUrl)).toEqual([]);
    await client.send(new sqs.DeleteQueueCommand({ QueueUrl }));
    expect(await nameOf(send(QueueUrl, "2"))).toBe("QueueDoesNotExist");
  });

  test.each([
    ["an unknown attribute", "q", { Colour: "red" }, "InvalidAttributeName"],
    ["an attribute out of range", "q", { DelaySeconds: "901" }, "InvalidAttributeValue"],
    ["a bad name", "no spaces", {}, "InvalidParameterValue"],
    ["a FIFO queue", "q.fifo", { FifoQueue: "true" }, "UnsupportedOperation"],
    ["a dead-letter queue that is not there", "q", redrive("nowhere", 3), "InvalidParameterValue"],
  ])("refuse %s", async (_, name, attributes, error) => {
    expect(await nameOf(world().create(name, attributes))).toBe(error);
  });
});

describe("messages", () => {
  test("arrive with their ids, sums and attributes", async () => {
    const { create, send, receive, clock } = world();
    const url = await create("q");
    const sent = await send(url, "This is a test message", {
      MessageAttributes: {
        timestamp: { DataType: "Number", StringValue: "1493147359900" },
      },
      MessageSystemAttributes: { AWSTraceHeader: { DataType: "String", StringValue: "Root=1" } },
      MessageGroupId: "tenant-1",
    });
    // What AWS answers to exactly this.
    expect(sent.MD5OfMessageBody).toBe("fafb00f5732ab283681e124bf8747ed1");
    expect(sent.MD5OfMessageAttributes).toBe("235c5c510d26fb653d073faed50ae77c");
    expect(sent.MD5OfMessageSystemAttributes).toHaveLength(32);
    clock.jumpTo(start + 1500);
    const [message] = await receive(url, {
      MessageSystemAttributeNames: ["All"],
      MessageAttributeNames: ["All"],
    });
    expect(message).toMatchObject({
      MessageId: sent.MessageId,
      Body: "This is a test message",
      MD5OfMessageAttributes: sent.MD5OfMessageAttributes,
      MessageAttributes: { timestamp: { DataType: "Number", StringValue: "1493147359900" } },
      Attributes: {
        SentTimestamp: String(start),
        ApproximateReceiveCount: "1",
        ApproximateFirstReceiveTimestamp: String(start + 1500),
        MessageGroupId: "tenant-1",
        AWSTraceHeader: "Root=1",
      },
    });
  });

  test("tell only the attributes that were asked for", async () => {
    const { create, send, receive, hide } = world();
    const url = await create("q");
    const attribute = (StringValue: string) => ({ DataType: "String", StringValue });
    const bytes = { DataType: "Binary", BinaryValue: new Uint8Array([1, 2]) };
    await send(url, "b", { MessageAttributes: { "a.x": attribute("1"), "a.y": bytes, b: attribute("2") } });
    const [bare] = await receive(url);
    expect([bare?.Attributes, bare?.MessageAttributes]).toEqual([undefined, undefined]);
    await hide(url, bare?.ReceiptHandle);
    const some = { MessageSystemAttributeNames: ["ApproximateReceiveCount" as const], MessageAttributeNames: ["a.*"] };
    const [message] = await receive(url, some);
    expect(message?.Attributes).toEqual({ ApproximateReceiveCount: "2" });
    expect(message?.MessageAttributes).toEqual({ "a.x": attribute("1"), "a.y": bytes });
  });

  test("are hidden while in flight, come back, and are gone when deleted", async () => {
    const { create, send, receive, bodies, remove, clock, standIn } = world();
    const url = await create("q", { VisibilityTimeout: "10" });
    await send(url, "1");
    const [first] = await receive(url);
    expect(await bodies(url)).toEqual([]);
    expect(standIn.depth("q")).toEqual({ visible: 0, delayed: 0, inFlight: 1 });
    expect(standIn.nextVisible()).toBe(start + 10 * SECOND);
    clock.jumpTo(start + 9_999);
    expect(standIn.ready("q")).toBe(0);
    clock.jumpTo(start + 10_000);
    expect(standIn.ready("q")).toBe(1);
    const [second] = await receive(url, { VisibilityTimeout: 100 });
    expect(second?.MessageId).toBe(first?.MessageId);
    await remove(url, first?.ReceiptHandle);
    expect(standIn.depth("q").inFlight).toBe(1);
    await remove(url, second?.ReceiptHandle);
    await remove(url, second?.ReceiptHandle);
    expect(standIn.depth("q")).toEqual({ visible: 0, delayed: 0, inFlight: 0 });
  });

  test("change how long they stay hidden", async () => {
    const { create, send, receive, hide, remove, clock, standIn } = world();
    const url = await create("q");
    await send(url, "1");
    const [message] = await receive(url);
    await hide(url, message?.ReceiptHandle, 300);
    clock.jumpTo(start + 299 * SECOND);
    expect(standIn.ready("q")).toBe(0);
    await hide(url, message?.ReceiptHandle, 0);
    expect(standIn.ready("q")).toBe(1);
    expect(await nameOf(hide(url, message?.ReceiptHandle, 5))).toBe("MessageNotInflight");
    const [again] = await receive(url);
    expect(await nameOf(hide(url, message?.ReceiptHandle, 5))).toBe("InvalidParameterValue");
    await remove(url, again?.ReceiptHandle);
    expect(await nameOf(hide(url, again?.ReceiptHandle, 5))).toBe("InvalidParameterValue");
    expect(await nameOf(hide(url, "nonsense", 5))).toBe("ReceiptHandleIsInvalid");
    expect(await nameOf(hide(url, again?.ReceiptHandle, 43_201))).toBe("InvalidParameterValue");
  });

  test("wait for their delay, their own before the queue's", async () => {
    const { create, send, bodies, clock, standIn } = world();
    const url = await create("q", { DelaySeconds: "60" });
    await send(url, "queue");
    await send(url, "own", { DelaySeconds: 10 });
    expect(standIn.depth("q")).toEqual({ visible: 0, delayed: 2, inFlight: 0 });
    expect(standIn.nextVisible()).toBe(start + 10 * SECOND);
    clock.jumpTo(start + 10 * SECOND);
    expect(await bodies(url, { VisibilityTimeout: 600 })).toEqual(["own"]);
    clock.jumpTo(start + 60 * SECOND);
    expect(await bodies(url)).toEqual(["queue"]);
  });

  test("are kept for the retention period", async () => {
    const { create, send, bodies, clock, standIn } = world();
    const url = await create("q", { MessageRetentionPeriod: "3600" });
    await send(url, "old");
    clock.jumpTo(start + HOUR - 1);
    await send(url, "young");
    expect(standIn.ready("q")).toBe(2);
    clock.jumpTo(start + HOUR);
    expect(standIn.ready("q")).toBe(1);
    expect(await bodies(url)).toEqual(["young"]);
  });

  test.each<[string, Partial<sqs.SendMessageCommandInput>, string]>([
    ["a forbidden character", { MessageBody: "\u0001" }, "InvalidMessageContents"],
    ["half a character", { MessageBody: "\ud800" }, "InvalidMessageContents"],
    ["no body", { MessageBody: "" }, "MissingParameter"],
    ["a delay over 15 minutes", { DelaySeconds: 901 }, "InvalidParameterValue"],
    ["more than 1 MiB", { MessageBody: "x".repeat(1_048_577) }, "InvalidParameterValue"],
    [
      "a reserved attribute",
      { MessageAttributes: { "aws.x": { DataType: "String", StringValue: "1" } } },
      "InvalidParameterValue",
    ],
    [
      "an empty attribute",
      { MessageAttributes: { x: { DataType: "String", StringValue: "" } } },
      "InvalidParameterValue",
    ],
    ["an unknown type", { MessageAttributes: { x: { DataType: "Date", StringValue: "1" } } }, "InvalidParameterValue"],
    [
      "a number that is none",
      { MessageAttributes: { x: { DataType: "Number", StringValue: "a" } } },
      "InvalidParameterValue",
    ],
    ["a FIFO parameter", { MessageDeduplicationId: "1" }, "UnknownParameterException"],
    ["a group id with spaces", { MessageGroupId: "a b" }, "InvalidParameterValue"],
  ])("are refused with %s", async (_, more, error) => {
    const { create, send } = world();
    const url = await create("q");
    expect(await nameOf(send(url, "b", more))).toBe(error);
  });
});

describe("batches", () => {
  test("send, hide and delete each entry on its own", async () => {
    const { client, create, receive, standIn } = world();
    const QueueUrl = await create("q");
    const sent = await client.send(
      new sqs.SendMessageBatchCommand({
        QueueUrl,
        Entries: [
          { Id: "a", MessageBody: "1" },
          { Id: "b", MessageBody: "\u0000" },
          { Id: "c", MessageBody: "3", MessageGroupId: "t" },
        ],
      }),
    );
    expect(sent.Successful?.map(({ Id }) => Id)).toEqual(["a", "c"]);
    expect(sent.Failed).toMatchObject([{ Id: "b", SenderFault: true, Code: "InvalidMessageContents" }]);
    const messages = await receive(QueueUrl);
    const handles = messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    const hidden = handles.map((entry) => ({ ...entry, VisibilityTimeout: 0 }));
    await client.send(new sqs.ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries: hidden }));
    expect(standIn.ready("q")).toBe(2);
    const gone = await client.send(
      new sqs.DeleteMessageBatchCommand({ QueueUrl, Entries: [...handles, { Id: "x", ReceiptHandle: "?" }] }),
    );
    expect(gone.Successful).toHaveLength(2);
    expect(gone.Failed).toMatchObject([{ Id: "x", Code: "ReceiptHandleIsInvalid" }]);
    expect(standIn.depth("q").visible).toBe(0);
  });

  const entries = (count: number, body = "x") =>
    Array.from({ length: count }, (_, index) => ({ Id: String(index), MessageBody: body }));

  test.each([
    ["empty", [], "EmptyBatchRequest"],
    ["of eleven", entries(11), "TooManyEntriesInBatchRequest"],
    ["with an id twice", [...entries(1), ...entries(1)], "BatchEntryIdsNotDistinct"],
    ["with a bad id", [{ Id: "a b", MessageBody: "x" }], "InvalidBatchEntryId"],
    ["together over 1 MiB", entries(5, "x".repeat(220_000)), "BatchRequestTooLong"],
  ])("are refused %s", async (_, Entries, error) => {
    const { client, create, standIn } = world();
    const QueueUrl = await create("q");
    expect(await nameOf(client.send(new sqs.SendMessageBatchCommand({ QueueUrl, Entries })))).toBe(error);
    expect(standIn.ready("q")).toBe(0);
  });
});

describe("long poll", () => {
  test("wakes when a message is sent", async () => {
    const { create, send, bodies } = world();
    const url = await create("q");
    const waiting = bodies(url, { WaitTimeSeconds: 20 });
    await send(url, "now");
    expect(await waiting).toEqual(["now"]);
  });

  test("wakes when a delay ends, and gives up when its time is over", async () => {
    const { create, send, bodies, clock } = world();
    const url = await create("q", { ReceiveMessageWaitTimeSeconds: "20" });
    await send(url, "later", { DelaySeconds: 5 });
    const waiting = bodies(url);
    await expect.poll(() => clock.nextWake()).toBe(start + 5 * SECOND);
    clock.jumpTo(start + 5 * SECOND);
    expect(await waiting).toEqual(["later"]);
    const vain = bodies(url);
    await expect.poll(() => clock.nextWake()).toBe(start + 25 * SECOND);
    clock.jumpTo(start + 25 * SECOND);
    expect(await vain).toEqual([]);
  });
});

describe("dead letters", () => {
  test("a message that was received too often moves, keeps its age and goes back on request", async () => {
    const { client, create, send, receive, bodies, clock, standIn } = world();
    const dlq = await create("dead");
    const url = await create("q", { VisibilityTimeout: "1", ...redrive("dead", 2) });
    const changed: string[] = [];
    standIn.onSend((queue) => changed.push(queue));
    await send(url, "poison");
    await bodies(url);
    clock.jumpTo(start + 1 * SECOND);
    expect(await bodies(url)).toEqual(["poison"]);
    clock.jumpTo(start + 2 * SECOND);
    expect(await bodies(url)).toEqual([]);
    expect(changed).toEqual(["q", "dead"]);
    const [dead] = await receive(dlq, { MessageSystemAttributeNames: ["All"], VisibilityTimeout: 0 });
    expect(dead?.Attributes).toMatchObject({
      SentTimestamp: String(start),
      DeadLetterQueueSourceArn: "arn:aws:sqs:us-east-1:000000000000:q",
    });
    const sources = await client.send(new sqs.ListDeadLetterSourceQueuesCommand({ QueueUrl: dlq }));
    expect(sources.queueUrls).toEqual([url]);
    const SourceArn = "arn:aws:sqs:us-east-1:000000000000:dead";
    await client.send(new sqs.StartMessageMoveTaskCommand({ SourceArn }));
    const { Results } = await client.send(new sqs.ListMessageMoveTasksCommand({ SourceArn }));
    expect(Results).toMatchObject([{ Status: "COMPLETED", ApproximateNumberOfMessagesMoved: 1 }]);
    const [back] = await receive(url, { MessageSystemAttributeNames: ["All"] });
    expect(back?.Attributes).toMatchObject({ ApproximateReceiveCount: "1", SentTimestamp: String(start + 2000) });
  });
});

describe("the host's view", () => {
  test("counts requests, messages sent and received", async () => {
    const { create, send, bodies, standIn } = world();
    const url = await create("q");
    await send(url, "1");
    await bodies(url);
    expect(standIn.meter()).toEqual({ requests: 3, sent: 1, received: 1 });
    standIn.resetMeter();
    expect(standIn.meter()).toEqual({ requests: 0, sent: 0, received: 0 });
  });

  test("a standard queue may deliver twice and out of order", async () => {
    const { create, send, receive, bodies, remove } = world({ faults: { duplicate: () => true, reorder: () => true } });
    const url = await create("q");
    const { MessageId } = await send(url, "1");
    const [copy] = await receive(url, { MaxNumberOfMessages: 1 });
    await remove(url, copy?.ReceiptHandle);
    expect((await receive(url)).map((message) => message.MessageId)).toEqual([MessageId]);
    await send(url, "2");
    await send(url, "3");
    expect(await bodies(url)).toEqual(["3", "3", "2", "2"]);
  });

  test("everything survives reopening", async () => {
    const database = openDatabase(":memory:");
    const before = world({ database });
    const url = await before.create("q");
    await before.send(url, "kept");
    const after = world({ database });
    expect(after.standIn.ready("q")).toBe(1);
    expect(await after.bodies(url)).toEqual(["kept"]);
  });

  test("unknown operations are refused", async () => {
    const { client, create } = world();
    const QueueUrl = await create("q");
    expect(await nameOf(client.send(new sqs.RemovePermissionCommand({ QueueUrl, Label: "x" })))).toBe(
      "UnknownOperationException",
    );
  });
});
