// The codec: what real SDK clients send reaches the stand-ins, and what they answer reaches the caller unchanged.
import { DynamoDBClient, GetItemCommand, ListTablesCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { DescribeKeyCommand, EncryptCommand, KMSClient } from "@aws-sdk/client-kms";
import { ListSchedulesCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { GetQueueUrlCommand, SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, test } from "vitest";
import { type Hooks, handleAwsRequest, requestHandler, type Services, sendThrough } from "../protocol.ts";
import { awsFailure, type StandIn, type Wire } from "../stand-in.ts";

type AskedCall = [service: string, operation: string, input: Wire];

/** Services that note what they were asked and answer (or throw) one thing. */
function services(reply: Wire | Error) {
  const asked: AskedCall[] = [];
  const standIn = (service: string): StandIn => ({
    operate: async (operation, input) => {
      asked.push([service, operation, input]);
      if (reply instanceof Error) throw reply;
      return reply;
    },
  });
  const all: Services = {
    dynamodb: standIn("dynamodb"),
    sqs: standIn("sqs"),
    scheduler: standIn("scheduler"),
    kms: standIn("kms"),
  };
  return { all, asked };
}

const options = (all: Services, hooks?: Hooks) => ({
  region: "us-east-1",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
  requestHandler: requestHandler(all, hooks),
  maxAttempts: 1,
});

const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable(),
    (error: Error & Record<string, unknown>) => error,
  );

describe("through the SDK clients", () => {
  test("a JSON service is found by its target", async () => {
    const { all, asked } = services({ Item: { id: { S: "1" }, blob: { B: "AQID" } } });
    const client = new DynamoDBClient(options(all));
    const { Item, $metadata } = await client.send(new GetItemCommand({ TableName: "t", Key: { id: { S: "1" } } }));
    expect(Item).toEqual({ id: { S: "1" }, blob: { B: new Uint8Array([1, 2, 3]) } });
    expect($metadata).toMatchObject({ httpStatusCode: 200, requestId: expect.any(String) });
    expect(asked).toEqual([["dynamodb", "GetItem", { TableName: "t", Key: { id: { S: "1" } } }]]);
  });

  test("a REST service is found by its path; path, query and body become one input", async () => {
    const { all, asked } = services({ Schedules: [] });
    const client = new SchedulerClient(options(all));
    await client.send(new ListSchedulesCommand({ GroupName: "g/1", NamePrefix: "a b", MaxResults: 7 }));
    expect(asked).toEqual([["scheduler", "ListSchedules", { GroupName: "g/1", NamePrefix: "a b", MaxResults: 7 }]]);
  });

  test("errors keep their name, message, status and extra fields", async () => {
    const reasons = [{ Code: "ConditionalCheckFailed", Item: { id: { S: "1" } } }];
    const failure = awsFailure("TransactionCanceledException", "cancelled", {
      fields: { CancellationReasons: reasons },
    });
    const put = new PutItemCommand({ TableName: "t", Item: {} });
    const dynamodb = new DynamoDBClient(options(services(failure).all));
    expect(await errorOf(dynamodb.send(put))).toMatchObject({
      name: "TransactionCanceledException",
      message: "cancelled",
      CancellationReasons: reasons,
      $metadata: { httpStatusCode: 400 },
      $fault: "client",
    });
    const missing = awsFailure("ResourceNotFoundException", "no such schedule", { status: 404 });
    const scheduler = new SchedulerClient(options(services(missing).all));
    expect(await errorOf(scheduler.send(new ListSchedulesCommand()))).toMatchObject({
      name: "ResourceNotFoundException",
      message: "no such schedule",
      $metadata: { httpStatusCode: 404 },
    });
  });

  test("SQS errors carry the name of the shape and the old code", async () => {
    const client = new SQSClient(options(services(awsFailure("QueueDoesNotExist", "gone")).all));
    expect(await errorOf(client.send(new GetQueueUrlCommand({ QueueName: "q" })))).toMatchObject({
      name: "QueueDoesNotExist",
      message: "gone",
      Code: "AWS.SimpleQueueService.NonExistentQueue",
    });
    const other = new SQSClient(options(services(awsFailure("InvalidParameterValue", "bad")).all));
    expect((await errorOf(other.send(new GetQueueUrlCommand({ QueueName: "q" })))).name).toBe("InvalidParameterValue");
  });

  test("a mistake inside a stand-in is a 500", async () => {
    const client = new DynamoDBClient(options(services(new TypeError("oops")).all));
    const error = await errorOf(client.send(new ListTablesCommand()));
    expect(error).toMatchObject({ name: "InternalFailure", $metadata: { httpStatusCode: 500 } });
    expect(error.message).toContain("oops");
  });

  test("KMS answers in its own version of the protocol", async () => {
    const { all } = services({ CiphertextBlob: "AQID", KeyId: "k" });
    const client = new KMSClient(options(all));
    const { CiphertextBlob } = await client.send(new EncryptCommand({ KeyId: "k", Plaintext: new Uint8Array([9]) }));
    expect(CiphertextBlob).toEqual(new Uint8Array([1, 2, 3]));
  });
});

describe("requests without a client", () => {
  test.each([
    ["an unknown target", { method: "POST", path: "/", headers: { "x-amz-target": "Nobody.Knows" } }, 404],
    ["an unknown path", { method: "GET", path: "/nowhere", headers: {} }, 404],
    [
      "a broken body",
      { method: "POST", path: "/", headers: { "x-amz-target": "AmazonSQS.ListQueues" }, body: "{" },
      400,
    ],
  ])("%s is refused", async (_, request, status) => {
    const { all, asked } = services({});
    const answer = await handleAwsRequest(all, request);
    expect(answer.status).toBe(status);
    expect(JSON.parse(String(answer.body))).toMatchObject({ __type: expect.any(String), message: expect.any(String) });
    expect(asked).toEqual([]);
  });
});

describe("hooks", () => {
  test("a failure before is a throttle and the work is not done", async () => {
    const { all, asked } = services({});
    const hooks: Hooks = {
      before: () => {
        throw awsFailure("ThrottlingException", "slow down");
      },
    };
    const client = new DynamoDBClient(options(all, hooks));
    expect((await errorOf(client.send(new ListTablesCommand()))).name).toBe("ThrottlingException");
    expect((await errorOf(sendThrough(all, hooks)(new ListTablesCommand()))).name).toBe("ThrottlingException");
    expect(asked).toEqual([]);
  });

  test("an error after loses the reply though the work is done, and every call is counted", async () => {
    const { all, asked } = services({});
    const counted: string[] = [];
    const hooks: Hooks = {
      count: (service, operation) => counted.push(`${service}.${operation}`),
      after: () => {
        throw Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
      },
    };
    const client = new DynamoDBClient(options(all, hooks));
    expect((await errorOf(client.send(new ListTablesCommand()))).code).toBe("ECONNRESET");
    expect((await errorOf(sendThrough(all, hooks)(new ListTablesCommand()))).code).toBe("ECONNRESET");
    expect(asked).toHaveLength(2);
    expect(counted).toEqual(["dynamodb.ListTables", "dynamodb.ListTables"]);
  });
});

describe("straight through, without HTTP", () => {
  test("inputs are as the SDK would serialize them, outputs as it would parse them", async () => {
    const { all, asked } = services({ KeyMetadata: { KeyId: "k", CreationDate: 1_700_000_000.5 }, Plaintext: "AQID" });
    const output = await sendThrough(all)(new EncryptCommand({ KeyId: "k", Plaintext: new Uint8Array([1, 2]) }));
    expect(output).toMatchObject({ Plaintext: new Uint8Array([1, 2, 3]), $metadata: { httpStatusCode: 200 } });
    const described = await sendThrough(all)(new DescribeKeyCommand({ KeyId: "k", GrantTokens: undefined }));
    expect(described.KeyMetadata?.CreationDate).toEqual(new Date(1_700_000_000_500));
    expect(asked).toEqual([
      ["kms", "Encrypt", { KeyId: "k", Plaintext: "AQI=" }],
      ["kms", "DescribeKey", { KeyId: "k" }],
    ]);
  });

  test("attributes of an item that are named like members stay what they are", async () => {
    const item = {
      B: { S: "text" },
      CreationDate: { N: "5" },
      BS: { L: [{ B: "AQ==" }] },
      set: { BS: ["AQ==", "Ag=="] },
    };
    const { Item } = await sendThrough(services({ Item: item }).all)(
      new GetItemCommand({ TableName: "t", Key: { id: { S: "1" } } }),
    );
    expect(Item).toEqual({
      B: { S: "text" },
      CreationDate: { N: "5" },
      BS: { L: [{ B: new Uint8Array([1]) }] },
      set: { BS: [new Uint8Array([1]), new Uint8Array([2])] },
    });
  });

  test("the values of a document client are sent and come back as by the client itself", async () => {
    const row = {
      id: "1",
      empty: "",
      n: -0,
      large: 2 ** 53 - 1,
      fraction: 0.1,
      bigint: 2n ** 60n,
      flag: false,
      nothing: null,
      gone: undefined,
      bytes: new Uint8Array([1, 2]),
      set: new Set(["a"]),
      list: [1, undefined, { B: "text", blob: new Uint8Array([3]) }],
    };
    const put = () => new PutCommand({ TableName: "t", Item: row, ConditionExpression: undefined });
    const get = () => new GetCommand({ TableName: "t", Key: { id: "1", n: 5 } });
    const { all, asked } = services({});
    const client = DynamoDBDocumentClient.from(new DynamoDBClient(options(all)), {
      marshallOptions: { removeUndefinedValues: true },
    });

    await client.send(put());
    await client.send(get());
    await sendThrough(all)(put());
    await sendThrough(all)(get());

    expect(asked.slice(2)).toStrictEqual(asked.slice(0, 2));
    const Item = asked[0]![2].Item as Wire;
    const stored = services({ Item }).all;
    const own = DynamoDBDocumentClient.from(new DynamoDBClient(options(stored)));
    expect((await sendThrough(stored)(get())).Item).toStrictEqual((await own.send(get())).Item);
    for (const n of [2 ** 53, Number.NaN])
      await expect(sendThrough(all)(new PutCommand({ TableName: "t", Item: { n } }))).rejects.toThrow();
  });

  test("errors look like the client's", async () => {
    const failure = awsFailure("ConditionalCheckFailedException", "no", { fields: { Item: { id: { S: "1" } } } });
    expect(await errorOf(sendThrough(services(failure).all)(new ListTablesCommand()))).toMatchObject({
      name: "ConditionalCheckFailedException",
      message: "no",
      Item: { id: { S: "1" } },
      $fault: "client",
      $metadata: { httpStatusCode: 400, attempts: 1 },
    });
  });
});
