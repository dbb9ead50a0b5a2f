// The embedded SQS through the real client: what AWS promises of messages in standard queues, on a frozen clock.
import * as sqs from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";
import { HOUR, SECOND } from "../time.ts";
import { places, queuesIn, start } from "./support/queue-world.ts";
import { nameOf } from "./support/services.ts";

describe.each(places)("queues in %s", (place) => {
  const queueWorld = queuesIn(place);

  describe("messages", () => {
    test("messages of a queue arrive with their ids, sums and attributes", async () => {
      const { create, send, receive, clock } = queueWorld({ trace: () => "Root=1-2" });
      const url = await create("q");
      const sent = await send(url, "This is a test message", {
        MessageAttributes: {
          timestamp: { DataType: "Number", StringValue: "1493147359900" },
        },
        MessageGroupId: "tenant-1",
      });
      // What AWS answers to exactly this.
      expect(sent.MD5OfMessageBody).toBe("fafb00f5732ab283681e124bf8747ed1");
      expect(sent.MD5OfMessageAttributes).toBe("235c5c510d26fb653d073faed50ae77c");
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
          AWSTraceHeader: "Root=1-2",
        },
      });
    });

    test("messages of a queue have no attributes of other names", async () => {
      const { create, receive } = queueWorld();
      const url = await create("q");
      const asked = receive(url, { MessageSystemAttributeNames: ["Colour" as "All"] });
      expect(await nameOf(asked)).toBe("InvalidAttributeName");
    });

    test("messages of a queue tell only the attributes that were asked for", async () => {
      const { create, send, receive, hide } = queueWorld();
      const url = await create("q");
      const attribute = (StringValue: string) => ({ DataType: "String", StringValue });
      const bytes = { DataType: "Binary", BinaryValue: new Uint8Array([1, 2]) };
      await send(url, "b", { MessageAttributes: { "a.x": attribute("1"), "a.y": bytes, b: attribute("2") } });
      const [bare] = await receive(url);
      expect([bare?.Attributes, bare?.MessageAttributes]).toEqual([undefined, undefined]);
      await hide(url, bare?.ReceiptHandle);
      const some = {
        MessageSystemAttributeNames: ["ApproximateReceiveCount" as const],
        MessageAttributeNames: ["a.*"],
      };
      const [message] = await receive(url, some);
      expect(message?.Attributes).toEqual({ ApproximateReceiveCount: "2" });
      expect(message?.MessageAttributes).toEqual({ "a.x": attribute("1"), "a.y": bytes });
    });

    test("a message in flight is hidden until its time is over", async () => {
      const { create, send, receive, bodies, clock, standIn } = queueWorld();
      const url = await create("q", { VisibilityTimeout: "10" });
      await send(url, "1");
      await receive(url);
      expect(await bodies(url)).toEqual([]);
      expect(standIn.depth("q")).toEqual({ visible: 0, delayed: 0, inFlight: 1 });
      expect(standIn.nextVisible()).toBe(start + 10 * SECOND);
      clock.jumpTo(start + 9_999);
      expect(standIn.ready("q")).toBe(0);
      clock.jumpTo(start + 10_000);
      expect(standIn.ready("q")).toBe(1);
    });

    test("a message that came back is deleted by its newest receipt alone, also twice", async () => {
      const { create, send, receive, remove, clock, standIn } = queueWorld();
      const url = await create("q", { VisibilityTimeout: "10" });
      await send(url, "1");
      const [first] = await receive(url);
      clock.jumpTo(start + 10_000);
      const [second] = await receive(url, { VisibilityTimeout: 100 });
      expect(second?.MessageId).toBe(first?.MessageId);
      await remove(url, first?.ReceiptHandle);
      expect(standIn.depth("q").inFlight).toBe(1);
      await remove(url, second?.ReceiptHandle);
      await remove(url, second?.ReceiptHandle);
      expect(standIn.depth("q")).toEqual({ visible: 0, delayed: 0, inFlight: 0 });
    });

    test("messages of a queue change how long they stay hidden", async () => {
      const { create, send, receive, hide, remove, clock, standIn } = queueWorld();
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

    test("messages of a queue wait for their delay, their own before the queue's", async () => {
      const { create, send, bodies, clock, standIn } = queueWorld();
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

    test("messages of a queue are kept for the retention period", async () => {
      const { create, send, bodies, clock, standIn } = queueWorld();
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
      [
        "an unknown type",
        { MessageAttributes: { x: { DataType: "Date", StringValue: "1" } } },
        "InvalidParameterValue",
      ],
      [
        "a number that is none",
        { MessageAttributes: { x: { DataType: "Number", StringValue: "a" } } },
        "InvalidParameterValue",
      ],
      ["a FIFO parameter", { MessageDeduplicationId: "1" }, "UnknownParameterException"],
      ["a group id with spaces", { MessageGroupId: "a b" }, "InvalidParameterValue"],
    ])("messages of a queue are refused with %s", async (_, more, error) => {
      const { create, send } = queueWorld();
      const url = await create("q");
      expect(await nameOf(send(url, "b", more))).toBe(error);
    });
  });

  describe("batches", () => {
    test("batches of messages send, hide and delete each entry on its own", async () => {
      const { client, create, receive, standIn } = queueWorld();
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

    test("an entry with a wrong attribute fails alone, and a queue of short messages takes long batches", async () => {
      const { client, create } = queueWorld();
      const QueueUrl = await create("q", { MaximumMessageSize: "1024" });
      const MessageBody = "x".repeat(1_000);
      const bad = { "": { DataType: "String", StringValue: "x" } };
      const Entries = ["a", "b", "c"].map((Id) => ({ Id, MessageBody, ...(Id === "b" && { MessageAttributes: bad }) }));
      const { Successful, Failed } = await client.send(new sqs.SendMessageBatchCommand({ QueueUrl, Entries }));
      expect([Successful?.map(({ Id }) => Id), Failed?.map(({ Id, SenderFault }) => [Id, SenderFault])]).toEqual([
        ["a", "c"],
        [["b", true]],
      ]);
    });

    test.each([
      ["empty", [], "EmptyBatchRequest"],
      ["of eleven", entries(11), "TooManyEntriesInBatchRequest"],
      ["with an id twice", [...entries(1), ...entries(1)], "BatchEntryIdsNotDistinct"],
      ["with a bad id", [{ Id: "a b", MessageBody: "x" }], "InvalidBatchEntryId"],
      ["together over 1 MiB", entries(5, "x".repeat(220_000)), "BatchRequestTooLong"],
    ])("batches of messages are refused %s", async (_, Entries, error) => {
      const { client, create, standIn } = queueWorld();
      const QueueUrl = await create("q");
      expect(await nameOf(client.send(new sqs.SendMessageBatchCommand({ QueueUrl, Entries })))).toBe(error);
      expect(standIn.ready("q")).toBe(0);
    });
  });

  describe("long poll", () => {
    test("a long poll wakes when a message is sent", async () => {
      const { create, send, bodies } = queueWorld();
      const url = await create("q");
      const waiting = bodies(url, { WaitTimeSeconds: 20 });
      await send(url, "now");
      expect(await waiting).toEqual(["now"]);
    });

    test("a long poll wakes when a delay ends, and gives up when its time is over", async () => {
      const { create, send, bodies, clock } = queueWorld();
      const url = await create("q", { ReceiveMessageWaitTimeSeconds: "20" });
      await send(url, "later", { DelaySeconds: 5 });
      const waiting = bodies(url);
      await expect.poll(() => clock.nextTimer()).toBe(start + 5 * SECOND);
      clock.jumpTo(start + 5 * SECOND);
      expect(await waiting).toEqual(["later"]);
      const vain = bodies(url);
      await expect.poll(() => clock.nextTimer()).toBe(start + 25 * SECOND);
      clock.jumpTo(start + 25 * SECOND);
      expect(await vain).toEqual([]);
    });
  });
});
