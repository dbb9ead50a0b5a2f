// The embedded EventBridge through the real client: limits of a request, failed entries in a successful answer, buses.
import * as aws from "@aws-sdk/client-eventbridge";
import { describe, expect, test } from "vitest";
import { createEventBridge } from "../eventbridge.ts";
import { requestHandler } from "../protocol.ts";
import { frozenClock, ids } from "./support/clock.ts";
import { nameOf, onlyWith } from "./support/services.ts";

const start = Date.UTC(2026, 0, 1);
const KB = 1_024;

function world() {
  const standIn = createEventBridge({ clock: frozenClock(start), ids, account: "123456789012", region: "eu-west-1" });
  const client = new aws.EventBridgeClient({
    region: "eu-west-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    requestHandler: requestHandler(onlyWith({ eventbridge: standIn })),
    maxAttempts: 1,
  });
  const put = (...Entries: aws.PutEventsRequestEntry[]) => client.send(new aws.PutEventsCommand({ Entries }));
  return { standIn, client, put };
}

const entry = (more: aws.PutEventsRequestEntry = {}): aws.PutEventsRequestEntry => ({
  Source: "shop",
  DetailType: "sold",
  Detail: '{"n":1}',
  ...more,
});

describe("PutEvents", () => {
  test("PutEvents puts events on the bus as a rule gets them", async () => {
    const { standIn, put } = world();
    const { FailedEntryCount, Entries } = await put(entry({ Time: new Date(start + 1_500), Resources: ["arn:x"] }));
    expect(FailedEntryCount).toBe(0);
    expect(standIn.events("default")).toEqual([
      {
        version: "0",
        id: Entries?.[0]?.EventId,
        "detail-type": "sold",
        source: "shop",
        account: "123456789012",
        time: "2026-01-01T00:00:01Z",
        region: "eu-west-1",
        resources: ["arn:x"],
        detail: { n: 1 },
      },
    ]);
  });

  test.each<[about: string, given: aws.PutEventsRequestEntry, code: string]>([
    ["without a source", { Source: "" }, "InvalidArgument"],
    ["of AWS itself", { Source: "aws.s3" }, "NotAuthorizedForSourceException"],
    ["whose detail is no JSON", { Detail: "{" }, "MalformedDetail"],
    ["whose detail is no object", { Detail: "[1]" }, "MalformedDetail"],
  ])("an entry %s fails in a successful answer, and the others are taken", async (_, given, code) => {
    const { standIn, put } = world();
    const { FailedEntryCount, Entries } = await put(entry(), entry(given), entry());
    expect([FailedEntryCount, Entries?.map(({ ErrorCode }) => ErrorCode)]).toEqual([1, [undefined, code, undefined]]);
    expect(standIn.events("default")).toHaveLength(2);
  });

  test("PutEvents takes ten entries and 256 KB at most", async () => {
    const { standIn, put } = world();
    expect(await nameOf(put())).toBe("ValidationException");
    expect(await nameOf(put(...Array.from({ length: 11 }, () => entry())))).toBe("ValidationException");
    const own = "shop".length + "sold".length;
    const large = (bytes: number) => entry({ Detail: JSON.stringify({ x: "x".repeat(bytes - own - 8) }) });
    expect(await nameOf(put(large(128 * KB), large(128 * KB + 1)))).toBe("ValidationException");
    expect(standIn.events("default")).toEqual([]);
    expect((await put(large(128 * KB), large(128 * KB))).FailedEntryCount).toBe(0);
  });

  test("PutEvents drops what is for a bus that does not exist, as AWS does", async () => {
    const { standIn, client, put } = world();
    expect((await put(entry({ EventBusName: "own" }))).FailedEntryCount).toBe(0);
    await client.send(new aws.CreateEventBusCommand({ Name: "own" }));
    expect(standIn.events("own")).toEqual([]);
    await put(entry({ EventBusName: "arn:aws:events:eu-west-1:123456789012:event-bus/own" }));
    expect(standIn.events("own")).toHaveLength(1);
  });

  test("PutEvents fails the entries that its owner wants refused, and counts what was asked", async () => {
    const { standIn, put } = world();
    const failure = { ErrorCode: "ThrottlingException", ErrorMessage: "Slow down." };
    standIn.refuse(({ DetailType }) => (DetailType === "sold" ? failure : undefined));
    const { FailedEntryCount, Entries } = await put(entry(), entry({ DetailType: "seen" }));
    expect([FailedEntryCount, Entries?.[0]]).toEqual([1, failure]);
    expect(standIn.meter()).toEqual({ requests: 1, entries: 2 });
  });
});

test("a bus is made once, and can be asked for", async () => {
  const { client } = world();
  const describe = () => client.send(new aws.DescribeEventBusCommand({ Name: "own" }));
  expect(await nameOf(describe())).toBe("ResourceNotFoundException");
  await client.send(new aws.CreateEventBusCommand({ Name: "own" }));
  expect((await describe()).Arn).toBe("arn:aws:events:eu-west-1:123456789012:event-bus/own");
  expect(await nameOf(client.send(new aws.CreateEventBusCommand({ Name: "own" })))).toBe(
    "ResourceAlreadyExistsException",
  );
});
