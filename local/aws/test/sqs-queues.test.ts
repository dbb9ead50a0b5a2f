// The embedded SQS through the real client: queues, dead letters and what the host asks of it.
import * as sqs from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";
import { requestHandler } from "../protocol.ts";
import { MINUTE, SECOND } from "../time.ts";
import { databaseOnFile, places, queuesIn, redrive, start } from "./support/queue-world.ts";
import { nameOf } from "./support/services.ts";

const arnOf = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`;

describe.each(places)("queues in %s", (place) => {
  const queueWorld = queuesIn(place);

  describe("queues", () => {
    test("a queue is created once, with the attributes that it was created with", async () => {
      const { create } = queueWorld();
      const url = await create("jobs", { VisibilityTimeout: "60" });

      expect(url).toBe("http://sqs.local/000000000000/jobs");
      expect(await create("jobs", { VisibilityTimeout: "60" })).toBe(url);
      expect(await create("jobs")).toBe(url);
      expect(await nameOf(create("jobs", { VisibilityTimeout: "61" }))).toBe("QueueNameExists");
    });

    test("a queue is found by its name", async () => {
      const { client, create } = queueWorld();
      const url = await create("jobs");

      expect((await client.send(new sqs.GetQueueUrlCommand({ QueueName: "jobs" }))).QueueUrl).toBe(url);
    });

    test.each([
      ["jobs", ["jobs", "jobs-2"]],
      ["x", undefined],
    ])("queues are listed by the beginning of their names: %s", async (QueueNamePrefix, names) => {
      const { client, create } = queueWorld();
      for (const name of ["jobs", "other", "jobs-2"]) await create(name);
      const { QueueUrls } = await client.send(new sqs.ListQueuesCommand({ QueueNamePrefix }));

      expect(QueueUrls?.map((url) => url.split("/").at(-1))).toEqual(names);
    });

    test("queues are listed page by page", async () => {
      const { client, create } = queueWorld();
      for (const name of ["jobs", "other", "jobs-2"]) await create(name);
      const first = await client.send(new sqs.ListQueuesCommand({ MaxResults: 2 }));
      const second = await client.send(new sqs.ListQueuesCommand({ MaxResults: 2, NextToken: first.NextToken }));

      expect([first.QueueUrls?.length, second.QueueUrls?.length, second.NextToken]).toEqual([2, 1, undefined]);
    });

    test("queues tell their attributes", async () => {
      const { client, create, send } = queueWorld();
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
      expect(await attributes()).toBeUndefined();
    });

    test.each([
      ["an unknown attribute", "q", { Colour: "red" }, "InvalidAttributeName"],
      ["an attribute out of range", "q", { DelaySeconds: "901" }, "InvalidAttributeValue"],
      ["a bad name", "no spaces", {}, "InvalidParameterValue"],
      ["a FIFO queue", "q.fifo", { FifoQueue: "true" }, "UnsupportedOperation"],
      ["a dead-letter queue that is not there", "q", redrive("nowhere", 3), "InvalidParameterValue"],
      ["a dead-letter queue that is the queue itself", "q", redrive("q", 3), "InvalidParameterValue"],
      ["a share of a receive", "q", redrive("dead", 1.5), "InvalidParameterValue"],
      ["no receive", "q", redrive("dead", 0), "InvalidParameterValue"],
      ["a redrive policy that is no JSON", "q", { RedrivePolicy: "yes" }, "InvalidAttributeValue"],
    ])("queues refuse %s", async (_, name, attributes, error) => {
      expect(await nameOf(queueWorld().create(name, attributes))).toBe(error);
    });
  });

  describe("dead letters", () => {
    test("a queue that was seen to be empty is ready once a message is sent, shown again or moved", async () => {
      const { create, send, receive, clock, standIn } = queueWorld();
      await create("dead");
      const url = await create("q", { VisibilityTimeout: "1", ...redrive("dead", 1) });
      const ready = () => [standIn.ready("q"), standIn.ready("dead")];
      expect(ready()).toEqual([0, 0]);
      await send(url, "later", { DelaySeconds: 5 });
      expect(ready()).toEqual([0, 0]);
      clock.jumpTo(start + 5_000);
      expect(ready()).toEqual([1, 0]);
      await receive(url);
      expect(ready()).toEqual([0, 0]);
      clock.jumpTo(start + 7_000);
      await receive(url);
      expect(ready()).toEqual([0, 1]);
    });

    test("a message that was received too often moves, keeps its age and goes back on request", async () => {
      const { client, create, send, receive, bodies, clock, standIn } = queueWorld();
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
      const SourceArn = "arn:aws:sqs:us-east-1:000000000000:dead";
      await client.send(new sqs.StartMessageMoveTaskCommand({ SourceArn }));
      const [back] = await receive(url, { MessageSystemAttributeNames: ["All"] });
      expect(back?.Attributes).toMatchObject({ ApproximateReceiveCount: "1", SentTimestamp: String(start + 2000) });
    });
  });

  describe("moving messages back", () => {
    const stranded = async () => {
      const world = queueWorld();
      const { client, create, send, bodies, clock } = world;
      const dead = await create("dead");
      const url = await create("q", { VisibilityTimeout: "1", ...redrive("dead", 1) });
      await send(url, "poison");
      await bodies(url);
      clock.jumpTo(start + 1 * SECOND);
      await bodies(url);
      const move = (SourceArn: string, DestinationArn?: string) =>
        client.send(new sqs.StartMessageMoveTaskCommand({ SourceArn, DestinationArn }));
      return { ...world, dead, url, move };
    };

    test("a message that is moved back goes to another queue where that is asked for", async () => {
      const { create, move, bodies, dead } = await stranded();
      const other = await create("other");
      await move(arnOf("dead"), arnOf("other"));
      expect([await bodies(other), await bodies(dead)]).toEqual([["poison"], []]);
    });

    test("a message that is moved back is refused for what is no dead-letter queue, itself, or not there", async () => {
      const { move } = await stranded();
      expect(await nameOf(move(arnOf("q")))).toBe("InvalidParameterValue");
      expect(await nameOf(move(arnOf("dead"), arnOf("dead")))).toBe("InvalidParameterValue");
      expect(await nameOf(move(arnOf("nowhere")))).toBe("ResourceNotFoundException");
      expect(await nameOf(move(arnOf("dead"), arnOf("nowhere")))).toBe("ResourceNotFoundException");
    });

    test("a move of messages is refused while one of the same queue is running", async () => {
      const { move, clock } = await stranded();
      await move(arnOf("dead"));
      await expect(move(arnOf("dead"))).rejects.toThrow("Only one active task is allowed");
      clock.jumpTo(start + 1 * MINUTE);
      await move(arnOf("dead"));
    });
  });

  describe("the host's view", () => {
    test("the host's view of a queue counts requests, messages sent and received", async () => {
      const { create, send, bodies, standIn } = queueWorld();
      const url = await create("q");
      await send(url, "1");
      await bodies(url);
      expect(standIn.meter()).toEqual({ requests: 3, sent: 1, received: 1 });
      standIn.resetMeter();
      expect(standIn.meter()).toEqual({ requests: 0, sent: 0, received: 0 });
    });

    test("a standard queue may deliver twice and out of order", async () => {
      const { create, send, receive, bodies, remove } = queueWorld({
        faults: { duplicate: () => true, reorder: () => true },
      });
      const url = await create("q");
      const { MessageId } = await send(url, "1");
      const [copy] = await receive(url, { MaxNumberOfMessages: 1 });
      await remove(url, copy?.ReceiptHandle);
      expect((await receive(url)).map((message) => message.MessageId)).toEqual([MessageId]);
      await send(url, "2");
      await send(url, "3");
      expect(await bodies(url)).toEqual(["3", "3", "2", "2"]);
    });

    test("a lost reply is a message that is there all the same", async () => {
      const lost = { after: () => Promise.reject(new Error("the reply was lost")) };
      const { create, send, bodies, services } = queueWorld();
      const url = await create("q");
      const through = requestHandler(services, lost);
      const client = new sqs.SQSClient({
        region: "eu-west-1",
        credentials: { accessKeyId: "local", secretAccessKey: "local" },
        requestHandler: through,
        useQueueUrlAsEndpoint: false,
        maxAttempts: 1,
      });
      const sent = client.send(new sqs.SendMessageCommand({ QueueUrl: url, MessageBody: "once" }));
      await expect(sent).rejects.toThrow("the reply was lost");
      await send(url, "again");
      expect(await bodies(url)).toEqual(["once", "again"]);
    });

    test("everything survives reopening", async () => {
      const database = databaseOnFile();
      const before = queueWorld({ database });
      const url = await before.create("q");
      await before.send(url, "kept");
      const after = queueWorld({ database });
      expect(after.standIn.ready("q")).toBe(1);
      expect(await after.bodies(url)).toEqual(["kept"]);
    });

    test("unknown operations are refused", async () => {
      const { client, create } = queueWorld();
      const QueueUrl = await create("q");
      expect(await nameOf(client.send(new sqs.RemovePermissionCommand({ QueueUrl, Label: "x" })))).toBe(
        "UnknownOperationException",
      );
    });
  });
});
