// The document client of the table on the wire: what values become, and which answers of DynamoDB it asks for again.
import { GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { absent, is } from "../../shared/store/conditions.ts";
import type { Item } from "../../shared/store/model.ts";
import { failuresOf, onConditionFailed } from "../../shared/store/refusals.ts";
import { openRows, type RawWrite } from "../../shared/store/rows.ts";
import { TableClient } from "../../shared/store/table-client.ts";
import { at } from "../support/stores.ts";
import { answeredDeps, type HttpAnswer, ok, refusal, TABLE_NAME } from "./clients.ts";

function answered(...answers: (HttpAnswer | Error)[]) {
  const { deps, requests } = answeredDeps({ TABLE_NAME }, answers);
  return { deps, requests, rows: openRows(deps)(() => true) };
}

const key = { pk: { S: "T#shop#X" }, sk: { S: "a" } };

describe("values", () => {
  const stored = async (row: object) => {
    const { rows, requests } = answered(ok());
    await rows.put({ ...at("a"), ...row } as Item);
    return requests[0]?.body.Item;
  };

  it.each([
    ["an empty string is stored", { text: "" }, { text: { S: "" } }],
    ["an attribute that is undefined is left out", { gone: undefined }, {}],
    ["a member that is undefined is left out", { map: { gone: undefined, n: 1 } }, { map: { M: { n: { N: "1" } } } }],
    ["an element that is undefined is left out", { list: [undefined, 1] }, { list: { L: [{ N: "1" }] } }],
    ["null is stored", { nothing: null }, { nothing: { NULL: true } }],
    ["a set is stored as one", { ids: new Set(["a"]) }, { ids: { SS: ["a"] } }],
    ["bytes are stored as they are", { bytes: Buffer.from("abc") }, { bytes: { B: "YWJj" } }],
    ["the largest exact number is stored", { n: 2 ** 53 - 1 }, { n: { N: "9007199254740991" } }],
    ["an empty list and an empty map are stored", { list: [], map: {} }, { list: { L: [] }, map: { M: {} } }],
  ])("%s", async (_, row, wire) => {
    expect(await stored(row)).toEqual({ ...key, ...wire });
  });

  it.each([2 ** 53, -(2 ** 53), Number.NaN, Number.POSITIVE_INFINITY])(
    "%d is refused before it is sent, because it would not come back as it is",
    async (n) => {
      const { rows, requests } = answered();
      await expect(rows.put({ ...at("a"), n })).rejects.toThrow();
      expect(requests).toEqual([]);
    },
  );

  it("values of conditions and changes are converted like those of rows", async () => {
    const { rows, requests } = answered(ok({ Attributes: key }));
    await rows.update(at("a"), { set: { map: { n: 1 }, text: "" } }, is("flag", true));
    expect(requests[0]?.body.ExpressionAttributeValues).toEqual({
      ":0": { M: { n: { N: "1" } } },
      ":1": { S: "" },
      ":2": { BOOL: true },
    });
  });

  it("a row comes back with the values that it was stored with", async () => {
    const Item = { ...key, text: { S: "" }, bytes: { B: "YWJj" }, ids: { SS: ["a"] }, list: { L: [{ NULL: true }] } };
    const { rows } = answered(ok({ Item }));
    expect(await rows.get(at("a"))).toEqual({
      ...at("a"),
      text: "",
      bytes: new Uint8Array(Buffer.from("abc")),
      ids: new Set(["a"]),
      list: [null],
    });
  });

  it("what was left unprocessed is sent as it was", async () => {
    const left = { [TABLE_NAME]: [{ PutRequest: { Item: { ...key, map: { M: {} } } } }] };
    const { rows, requests } = answered(ok({ UnprocessedItems: left }), ok({ UnprocessedItems: {} }));
    await rows.writeAll([{ kind: "put", item: { ...at("a"), map: {} } }]);
    expect(requests.map(({ body }) => body.RequestItems)).toEqual([left, left]);
  });

  it("keys that were left unprocessed are sent as they were", async () => {
    const left = { [TABLE_NAME]: { Keys: [key], ConsistentRead: true } };
    const { rows, requests } = answered(ok({ UnprocessedKeys: left }), ok({ Responses: { [TABLE_NAME]: [key] } }));
    expect(await rows.getAll([at("a")])).toEqual([at("a")]);
    expect(requests.map(({ body }) => body.RequestItems)).toEqual([left, left]);
  });
});

describe("refusals in prose", () => {
  it("a failed condition brings the row as it was", async () => {
    const Item = { ...key, n: { N: "5" }, bytes: { B: "YWJj" } };
    const { rows } = answered(refusal("ConditionalCheckFailedException", 400, { Item }));
    const old = await rows.put(at("a"), absent()).catch(onConditionFailed((row) => row));
    expect(old).toEqual({ ...at("a"), n: 5, bytes: new Uint8Array(Buffer.from("abc")) });
  });

  it("a canceled transaction brings the rows as they were, in the places of their writes", async () => {
    const CancellationReasons = [{ Code: "None" }, { Code: "ConditionalCheckFailed", Message: "no", Item: key }];
    const { rows } = answered(refusal("TransactionCanceledException", 400, { CancellationReasons }));
    const writes: RawWrite[] = [
      { kind: "put", item: at("b") },
      { kind: "put", item: at("a"), when: absent() },
    ];
    const failures = await failuresOf(rows, writes);
    expect(failures).toEqual([undefined, { old: at("a") }]);
  });
});

describe("attempts", () => {
  const html = { status: 503, body: "<html>Service Unavailable</html>", headers: { "content-type": "text/html" } };
  const broken = (code: string) => Object.assign(new Error(code), { code });

  it.each<[string, HttpAnswer | Error]>([
    ["a throttle", refusal("ThrottlingException")],
    ["a throughput that is exceeded", refusal("ProvisionedThroughputExceededException")],
    ["a limit of requests", refusal("RequestLimitExceeded")],
    ["an internal error", refusal("InternalServerError", 500)],
    ["a page of HTML", html],
    ["a connection that was reset", broken("ECONNRESET")],
    ["a connection that was not made in time", Object.assign(new Error("timeout"), { name: "TimeoutError" })],
  ])("after %s the same request is sent again", async (_, answer) => {
    const { rows, requests } = answered(answer, ok({ Item: key }));
    expect(await rows.get(at("a"))).toEqual(at("a"));
    expect(requests[1]).toEqual(requests[0]);
  });

  it.each(["ExpiredTokenException", "UnrecognizedClientException", "AccessDeniedException", "ValidationException"])(
    "%s is final at once",
    async (name) => {
      const { rows, requests } = answered(refusal(name));
      await expect(rows.get(at("a"))).rejects.toMatchObject({ name });
      expect(requests).toHaveLength(1);
    },
  );

  it("the fifth throttle is final", async () => {
    const { deps, rows, requests } = answered(...Array.from({ length: 6 }, () => refusal("ThrottlingException")));
    await expect(rows.get(at("a"))).rejects.toMatchObject({ name: "ThrottlingException" });
    expect([requests.length, deps.pauses.length]).toEqual([5, 4]);
  });

  it("each attempt at a transaction carries the same token", async () => {
    const { rows, requests } = answered(refusal("InternalServerError", 500), ok());
    await rows.transact([{ kind: "put", item: at("a") }]);
    expect(requests[0]?.body.ClientRequestToken).toEqual(expect.any(String));
    expect(requests[1]?.body.ClientRequestToken).toBe(requests[0]?.body.ClientRequestToken);
  });
});

describe("middleware", () => {
  it("commands of a kind share it, each with its own input and answer", async () => {
    const rowOf = (sk: string) => ok({ Item: { ...key, sk: { S: sk } } });
    const { rows, requests } = answered(rowOf("a"), ok(), rowOf("b"), rowOf("c"));
    expect(await rows.get(at("a"))).toEqual(at("a"));
    await rows.put(at("x"));
    expect(await Promise.all([rows.get(at("b")), rows.get(at("c"))])).toEqual([at("b"), at("c")]);
    expect(requests.map(({ operation }) => operation)).toEqual(["GetItem", "PutItem", "GetItem", "GetItem"]);
  });

  it("what is added to the client before its first command is in it", async () => {
    const { deps } = answered(ok(), ok());
    const client = deps.aws(TableClient);
    const seen: object[] = [];
    client.middlewareStack.add((next) => async (args) => {
      seen.push(args.input);
      return next(args);
    });
    await client.send(new GetCommand({ TableName: TABLE_NAME, Key: at("a") }));
    await client.send(new PutCommand({ TableName: TABLE_NAME, Item: at("a") }));
    expect(seen).toHaveLength(2);
  });
});
