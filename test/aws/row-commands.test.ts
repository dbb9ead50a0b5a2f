// What each command of the table carries.
import {
  BatchGetCommand,
  BatchWriteCommand,
  GetCommand,
  QueryCommand,
  ScanCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { above, absent, all, is, present } from "../../shared/store/conditions.ts";
import { workspaceRows } from "../../shared/store/workspaces/rows.ts";
import { at } from "../support/stores.ts";
import { mockedTable, TABLE_NAME } from "./clients.ts";

const pk = "T#shop#X";
const TableName = TABLE_NAME;
const many = (count: number) => Array.from({ length: count }, (_, n) => at(`${n}`));

describe("reads", () => {
  it("a read names the table and the key, and is strongly consistent", async () => {
    const { rows, sent } = mockedTable();
    await rows.get(at("a"));
    expect(sent()).toEqual([{ TableName, Key: at("a"), ConsistentRead: true }]);
  });

  it("an eventual read is not strongly consistent", async () => {
    const { rows, sent } = mockedTable();
    await rows.get(at("a"), { eventual: true });
    expect(sent()).toMatchObject([{ ConsistentRead: false }]);
  });

  it("a key is sent without the other attributes of its row", async () => {
    const { rows, sent } = mockedTable();
    const row = { ...at("a"), status: "here" };
    await rows.get(row);
    await rows.remove(row);
    expect(sent()).toMatchObject([{ Key: at("a") }, { Key: at("a") }]);
    expect(sent().every((input) => !JSON.stringify(input).includes("here"))).toBe(true);
  });

  it("a read of many keys asks for each key once, 100 in a request", async () => {
    const { rows, table } = mockedTable();
    await rows.getAll([...many(150), ...many(150)]);
    const asked = table
      .commandCalls(BatchGetCommand)
      .map(({ args: [{ input }] }) => input.RequestItems?.[TableName]?.Keys ?? []);
    expect(asked.map(({ length }) => length)).toEqual([100, 50]);
    expect(asked.flat()).toEqual(many(150));
  });

  it("a query names attributes and values by placeholders", async () => {
    const { rows, sent } = mockedTable();
    await rows.query({ pk, from: "a", to: "b", filter: is("status", "here"), limit: 5, newestFirst: true });
    expect(sent()).toEqual([
      {
        TableName,
        KeyConditionExpression: "#0 = :0 AND #1 BETWEEN :1 AND :2",
        FilterExpression: "#2 = :3",
        ExpressionAttributeNames: { "#0": "pk", "#1": "sk", "#2": "status" },
        ExpressionAttributeValues: { ":0": pk, ":1": "a", ":2": "b", ":3": "here" },
        ScanIndexForward: false,
        ConsistentRead: true,
        Limit: 5,
      },
    ]);
  });

  it("a query of an index names it, and is eventually consistent, because an index cannot be read otherwise", async () => {
    const { rows, sent } = mockedTable();
    await rows.query({ pk, index: "i3", prefix: "a" });
    expect(sent()).toMatchObject([
      {
        IndexName: expect.any(String),
        ConsistentRead: false,
        KeyConditionExpression: "#0 = :0 AND begins_with(#1, :1)",
        ExpressionAttributeNames: { "#0": "i3pk", "#1": "i3sk" },
      },
    ]);
  });

  it("a page begins after the key that the page before it named", async () => {
    const { rows, table, sent } = mockedTable();
    table
      .on(QueryCommand)
      .resolvesOnce({ Items: [at("a")], LastEvaluatedKey: at("a") })
      .resolvesOnce({});
    const { next } = await rows.query({ pk });
    await rows.query({ pk, after: next });
    expect(sent()).toMatchObject([{}, { ExclusiveStartKey: at("a") }]);
  });

  it("a count asks for no rows, and adds up its pages", async () => {
    const { rows, table, sent } = mockedTable();
    table
      .on(QueryCommand)
      .resolvesOnce({ Count: 3, LastEvaluatedKey: at("c") })
      .resolvesOnce({ Count: 2 });
    expect(await rows.count({ pk })).toBe(5);
    expect(sent()).toMatchObject([{ Select: "COUNT" }, { Select: "COUNT", ExclusiveStartKey: at("c") }]);
  });

  it("a scan for the rows of a workspace reads keys only", async () => {
    const { deps, table, sent } = mockedTable();
    table.on(ScanCommand).resolvesOnce({ Items: [at("a")], LastEvaluatedKey: at("a") });
    const found = await workspaceRows
      .open(deps)("shop" as TenantId)
      .find(at("0"));
    expect(found).toEqual({ found: [at("a")], next: at("a") });
    expect(sent()).toMatchObject([
      {
        TableName,
        ProjectionExpression: "#pk, #sk",
        ExclusiveStartKey: at("0"),
        ExpressionAttributeValues: { ":tenant": "shop" },
      },
    ]);
  });
});

describe("writes", () => {
  it("a put carries its condition, and asks for the old row in case that fails", async () => {
    const { rows, sent } = mockedTable();
    await rows.put({ ...at("a"), n: 1 }, absent());
    expect(sent()).toEqual([
      {
        TableName,
        Item: { ...at("a"), n: 1 },
        ConditionExpression: "attribute_not_exists(#0)",
        ExpressionAttributeNames: { "#0": "pk" },
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      },
    ]);
  });

  it("a put without a condition carries no expression", async () => {
    const { rows, sent } = mockedTable();
    await rows.put(at("a"));
    expect(sent()).toEqual([{ TableName, Item: at("a"), ReturnValuesOnConditionCheckFailure: "ALL_OLD" }]);
  });

  it("an update carries every part of its change, and returns the row after it", async () => {
    const { rows, table, sent } = mockedTable();
    table.on(UpdateCommand).resolvesOnce({ Attributes: { ...at("a"), n: 2 } });
    const change = { set: { status: "here", gone: undefined }, initial: { first: 1 }, add: { n: 1 }, remove: ["old"] };
    expect(await rows.update(at("a"), change, all(present(), above("n", 0)))).toEqual({ ...at("a"), n: 2 });
    expect(sent()).toEqual([
      {
        TableName,
        Key: at("a"),
        UpdateExpression: "SET #0 = :0, #1 = if_not_exists(#1, :1) REMOVE #3 ADD #2 :2",
        ConditionExpression: "(attribute_exists(#4)) AND (#2 > :3)",
        ExpressionAttributeNames: { "#0": "status", "#1": "first", "#2": "n", "#3": "old", "#4": "pk" },
        ExpressionAttributeValues: { ":0": "here", ":1": 1, ":2": 1, ":3": 0 },
        ReturnValues: "ALL_NEW",
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      },
    ]);
  });

  it("a removal returns the row as it was", async () => {
    const { rows, sent } = mockedTable();
    expect(await rows.remove(at("a"))).toBeUndefined();
    expect(sent()).toEqual([
      { TableName, Key: at("a"), ReturnValues: "ALL_OLD", ReturnValuesOnConditionCheckFailure: "ALL_OLD" },
    ]);
  });

  it("a batch of writes goes in requests of 25", async () => {
    const { rows, table } = mockedTable();
    await rows.writeAll(many(60).map((item) => ({ kind: "put", item })));
    const requests = table.commandCalls(BatchWriteCommand).map(({ args: [{ input }] }) => input.RequestItems);
    expect(requests.map((items) => items?.[TableName]?.length)).toEqual([25, 25, 10]);
  });

  it("a batch holds puts of rows and removals of keys", async () => {
    const { rows, sent } = mockedTable();
    await rows.writeAll([
      { kind: "put", item: { ...at("a"), n: 1 } },
      { kind: "remove", key: at("b") },
    ]);
    const requests = [{ PutRequest: { Item: { ...at("a"), n: 1 } } }, { DeleteRequest: { Key: at("b") } }];
    expect(sent()).toEqual([{ RequestItems: { [TableName]: requests } }]);
  });

  it("each write of a transaction names the table and its condition, and asks for the old row", async () => {
    const { rows, sent } = mockedTable();
    await rows.transact([
      { kind: "put", item: at("a"), when: absent() },
      { kind: "change", key: at("b"), change: { set: { n: 1 } } },
      { kind: "remove", key: at("c") },
      { kind: "check", key: at("d"), when: is("n", 1) },
    ]);
    const common = { TableName, ReturnValuesOnConditionCheckFailure: "ALL_OLD" };
    const notThere = { ConditionExpression: "attribute_not_exists(#0)", ExpressionAttributeNames: { "#0": "pk" } };
    const n = { ExpressionAttributeNames: { "#0": "n" }, ExpressionAttributeValues: { ":0": 1 } };
    expect(sent()).toEqual([
      {
        ClientRequestToken: "id-1",
        TransactItems: [
          { Put: { ...common, Item: at("a"), ...notThere } },
          { Update: { ...common, Key: at("b"), UpdateExpression: "SET #0 = :0", ...n } },
          { Delete: { ...common, Key: at("c") } },
          { ConditionCheck: { ...common, Key: at("d"), ConditionExpression: "#0 = :0", ...n } },
        ],
      },
    ]);
  });
});

it("an answer without metadata is an answer", async () => {
  const { rows, table } = mockedTable();
  table.on(GetCommand).resolvesOnce({ Item: { ...at("a"), n: 1 } });
  expect(await rows.get(at("a"))).toEqual({ ...at("a"), n: 1 });
});
