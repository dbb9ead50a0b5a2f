// What the sender of a queue sends, and what it makes of the answers.
import { SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import { mockClient } from "aws-sdk-client-mock";
import { expect, it } from "vitest";
import { openSender } from "../../shared/store/queue-sender.ts";
import { awsDeps, failure } from "./clients.ts";

const QueueUrl = "https://sqs.eu-central-1.amazonaws.com/123456789012/segment";
/** Of one request, all its messages together. */
const MAX_REQUEST_BYTES = 1_048_576;

function mockedSender() {
  const deps = awsDeps({ SEGMENT_QUEUE_URL: QueueUrl });
  const sqs = mockClient(deps.aws(SQSClient));
  sqs.on(SendMessageBatchCommand).resolves({ Successful: [], Failed: [] });
  const batches = () => sqs.commandCalls(SendMessageBatchCommand).map(({ args: [{ input }] }) => input.Entries ?? []);
  return { sqs, send: openSender(deps, "segment"), batches };
}

it("a message is JSON in the group of its workspace", async () => {
  const { sqs, send } = mockedSender();
  await send([{ message: { tenant: "shop", subscribers: [] } }]);
  expect(sqs.call(0).args[0].input).toEqual({
    QueueUrl,
    Entries: [{ Id: "0", MessageBody: '{"tenant":"shop","subscribers":[]}', MessageGroupId: "shop" }],
  });
});

it("a message that names no workspace has no group", async () => {
  const { send, batches } = mockedSender();
  await send([{ message: { minute: 1 } }]);
  expect(batches()).toEqual([[{ Id: "0", MessageBody: '{"minute":1}' }]]);
});

it("each message has its own delay, and none where there is none", async () => {
  const { send, batches } = mockedSender();
  await send([{ message: 1, delaySeconds: 60 }, { message: 2, delaySeconds: 0 }, { message: 3 }]);
  expect(batches()[0]?.map(({ DelaySeconds }) => DelaySeconds)).toEqual([60, undefined, undefined]);
});

it("a request holds at most ten messages, whose ids differ", async () => {
  const { send, batches } = mockedSender();
  await send(Array.from({ length: 25 }, (_, n) => ({ message: { n } })));
  expect(batches().map(({ length }) => length)).toEqual([10, 10, 5]);
  expect(batches().every((entries) => new Set(entries.map(({ Id }) => Id)).size === entries.length)).toBe(true);
});

it("at most ten requests are under way at once", async () => {
  const { sqs, send } = mockedSender();
  const open = { now: 0, most: 0 };
  sqs.on(SendMessageBatchCommand).callsFake(async () => {
    open.most = Math.max(open.most, ++open.now);
    await new Promise((resolve) => setImmediate(resolve));
    open.now--;
    return {};
  });
  await send(Array.from({ length: 250 }, (_, n) => ({ message: { n } })));
  expect(open.most).toBe(10);
});

it("ten of the largest messages fit in one request", async () => {
  const { send, batches } = mockedSender();
  const id = "x".repeat(128);
  const visitor = { anonymous: "x".repeat(256), segments: Array.from({ length: 4 }, () => id) };
  const message = { tenant: id, subscribers: [], visitors: Array.from({ length: 100 }, () => visitor) };
  await send(Array.from({ length: 10 }, () => ({ message })));
  const [entries = []] = batches();
  const bytes = entries.reduce((sum, { MessageBody = "" }) => sum + Buffer.byteLength(MessageBody), 0);
  expect(entries).toHaveLength(10);
  expect(bytes).toBeLessThan(MAX_REQUEST_BYTES);
});

it("nothing to send is no request", async () => {
  const { sqs, send } = mockedSender();
  await send([]);
  expect(sqs.calls()).toEqual([]);
});

it("a message that the queue did not take fails the send, so that its cause is handled again", async () => {
  const { sqs, send } = mockedSender();
  const Failed = [{ Id: "1", SenderFault: false, Code: "InternalError" }];
  sqs.on(SendMessageBatchCommand).resolves({ Successful: [], Failed });
  await expect(send([{ message: 1 }, { message: 2 }])).rejects.toMatchObject({
    name: "ServiceUnavailable",
    message: "The queue segment refused 1 messages: InternalError",
  });
});

it("an answer that lists neither what was taken nor what was not is a success", async () => {
  const { sqs, send } = mockedSender();
  sqs.on(SendMessageBatchCommand).resolves({});
  await expect(send([{ message: 1 }])).resolves.toBeUndefined();
});

it.each(["RequestThrottled", "ExpiredToken", "TimeoutError"])("%s of the queue fails the send", async (name) => {
  const { sqs, send } = mockedSender();
  sqs.on(SendMessageBatchCommand).rejects(failure(name));
  await expect(send([{ message: 1 }])).rejects.toMatchObject({ name });
});
