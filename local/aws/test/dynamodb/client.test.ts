// The real SDK client on the embedded service, in process: what our code will send and read.
import * as dynamodb from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import { requestHandler } from "../../protocol.ts";
import { type Item, key, N, S, world } from "../support/dynamodb-world.ts";
import { onlyWith } from "../support/services.ts";

async function start() {
  const { db } = await world({ table: { indexes: { byKind: { hash: ["kind", "S"] } } } });
  const client = new dynamodb.DynamoDBClient({
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    requestHandler: requestHandler(onlyWith({ dynamodb: db })),
    maxAttempts: 1,
  });
  const attributes = (item: Item) => item as unknown as Record<string, dynamodb.AttributeValue>;
  return { client, attributes };
}

const TableName = "things";

test("items make the round trip, bytes as bytes", async () => {
  const { client, attributes } = await start();
  const Item = {
    ...attributes(key("a")),
    bytes: { B: new Uint8Array([0, 1, 255]) },
    set: { BS: [new Uint8Array([7])] },
  };
  await client.send(new dynamodb.PutItemCommand({ TableName, Item }));
  const read = await client.send(new dynamodb.GetItemCommand({ TableName, Key: attributes(key("a")) }));
  expect(read.Item).toEqual(Item);
});

test("a failed condition is the client's own exception, with the item", async () => {
  const { client, attributes } = await start();
  const Item = attributes({ ...key("a"), n: N(1) });
  await client.send(new dynamodb.PutItemCommand({ TableName, Item }));
  const again = client.send(
    new dynamodb.PutItemCommand({
      TableName,
      Item,
      ConditionExpression: "attribute_not_exists(pk)",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    }),
  );
  const error = await again.catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(dynamodb.ConditionalCheckFailedException);
  expect(error).toMatchObject({ message: "The conditional request failed", Item, $metadata: { httpStatusCode: 400 } });
});

test("a cancelled transaction is the client's own exception, with its reasons", async () => {
  const { client, attributes } = await start();
  const check = { TableName, Key: attributes(key("a")), ConditionExpression: "attribute_exists(pk)" };
  const send = client.send(new dynamodb.TransactWriteItemsCommand({ TransactItems: [{ ConditionCheck: check }] }));
  const error = await send.catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(dynamodb.TransactionCanceledException);
  expect((error as dynamodb.TransactionCanceledException).CancellationReasons).toEqual([
    { Code: "ConditionalCheckFailed", Message: "The conditional request failed" },
  ]);
});

test("paginators walk a query and waiters see tables come and go", async () => {
  const { client, attributes } = await start();
  for (let at = 0; at < 5; at++)
    await client.send(
      new dynamodb.PutItemCommand({ TableName, Item: attributes({ ...key("p", String(at)), kind: S("k") }) }),
    );
  const pages = dynamodb.paginateQuery(
    { client, pageSize: 2 },
    {
      TableName,
      IndexName: "byKind",
      KeyConditionExpression: "kind = :k",
      ExpressionAttributeValues: attributes({ ":k": S("k") }),
    },
  );
  const found = [];
  for await (const page of pages) found.push(...(page.Items ?? []));
  expect(found).toHaveLength(5);

  await dynamodb.waitUntilTableExists({ client, maxWaitTime: 60 }, { TableName });
  const { Table } = await client.send(new dynamodb.DescribeTableCommand({ TableName }));
  expect(Table!.CreationDateTime).toEqual(new Date("2026-01-01T00:00:00.000Z"));
  await client.send(new dynamodb.DeleteTableCommand({ TableName }));
  await dynamodb.waitUntilTableNotExists({ client, maxWaitTime: 60 }, { TableName });
});

test("errors of validation and of absence keep their names", async () => {
  const { client, attributes } = await start();
  const name = (sent: Promise<unknown>) => sent.catch((error: Error) => error.name);
  const Key = attributes(key("a"));
  expect(await name(client.send(new dynamodb.GetItemCommand({ TableName: "nowhere", Key })))).toBe(
    "ResourceNotFoundException",
  );
  expect(await name(client.send(new dynamodb.GetItemCommand({ TableName, Key: { pk: { S: "a" } } })))).toBe(
    "ValidationException",
  );
});
