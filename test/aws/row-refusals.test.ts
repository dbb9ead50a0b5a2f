// What the table makes of the answers that AWS gives when it does not do what it was asked.
import {
  BatchGetCommand,
  BatchWriteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
} from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { toApiError } from "../../shared/kernel/errors.ts";
import { absent } from "../../shared/store/conditions.ts";
import { failuresOf, onConditionFailed, tooLarge } from "../../shared/store/refusals.ts";
import type { RawWrite } from "../../shared/store/rows.ts";
import { at } from "../support/stores.ts";
import { failure, mockedTable, TABLE_NAME } from "./clients.ts";

const wire = (sk: string, n: number) => ({ pk: { S: "T#shop#X" }, sk: { S: sk }, n: { N: String(n) } });
const errorOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => expect.fail("It was done."),
    (error) => error,
  );

describe("busy", () => {
  it.each([
    "ThrottlingException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "InternalServerError",
    "ServiceUnavailable",
    "TimeoutError",
  ])("a write that ends as %s makes a request answer 503 with Retry-After", async (name) => {
    const { rows, table } = mockedTable();
    table.on(PutCommand).rejects(failure(name));
    const { status, details } = toApiError(await errorOf(rows.put(at("a"))), "r");
    expect([status, details.headers]).toEqual([503, { "retry-after": "1" }]);
  });

  it.each(["ExpiredTokenException", "UnrecognizedClientException", "AccessDeniedException"])(
    "%s is thrown as it is after one request, and its text stays inside",
    async (name) => {
      const { rows, table } = mockedTable();
      table.on(GetCommand).rejects(failure(name));
      const error = await errorOf(rows.get(at("a")));
      expect([error.name, table.calls().length]).toEqual([name, 1]);
      const shown = toApiError(error, "r");
      expect([shown.status, shown.message]).toEqual([500, expect.not.stringContaining("prose")]);
    },
  );

  it("a query that is throttled on its second page fails as a whole", async () => {
    const { rows, table } = mockedTable();
    table
      .on(QueryCommand)
      .resolvesOnce({ Count: 3, LastEvaluatedKey: at("c") })
      .rejects(failure("ThrottlingException"));
    expect((await errorOf(rows.count({ pk: "T#shop#X" }))).name).toBe("ThrottlingException");
  });

  it("an error without metadata is told by its name", async () => {
    const { rows, table } = mockedTable();
    table
      .on(PutCommand)
      .rejects(failure("ConditionalCheckFailedException", { $metadata: undefined, Item: wire("a", 1) }));
    const old = await rows.put(at("a"), absent()).catch(onConditionFailed((row) => row));
    expect(old).toEqual({ ...at("a"), n: 1 });
  });
});

describe("batches", () => {
  const keysOf = (table: ReturnType<typeof mockedTable>["table"]) =>
    table.commandCalls(BatchGetCommand).map(({ args: [{ input }] }) => input.RequestItems?.[TABLE_NAME]?.Keys);

  it("keys that were left unprocessed are asked for again, without the others", async () => {
    const { rows, table } = mockedTable();
    table
      .on(BatchGetCommand)
      .resolvesOnce({ Responses: { [TABLE_NAME]: [at("a")] }, UnprocessedKeys: { [TABLE_NAME]: { Keys: [at("b")] } } })
      .resolvesOnce({ Responses: { [TABLE_NAME]: [at("b")] } });
    expect(await rows.getAll([at("a"), at("b")])).toEqual([at("a"), at("b")]);
    expect(keysOf(table)).toEqual([[at("a"), at("b")], [at("b")]]);
  });

  it("keys that are asked for again are read with the same consistency", async () => {
    const { rows, table, sent } = mockedTable();
    table
      .on(BatchGetCommand)
      .resolvesOnce({ UnprocessedKeys: { [TABLE_NAME]: { Keys: [at("a")] } } })
      .resolvesOnce({});
    await rows.getAll([at("a")]);
    const consistent = { RequestItems: { [TABLE_NAME]: { ConsistentRead: true } } };
    expect(sent()).toMatchObject([consistent, consistent]);
  });

  it("an answer that names no rows of the table is one of no rows", async () => {
    const { rows, table } = mockedTable();
    table.on(BatchGetCommand).resolves({ Responses: {}, UnprocessedKeys: {} });
    expect(await rows.getAll([at("a")])).toEqual([undefined]);
  });

  it("writes that were left unprocessed are sent again, without the others", async () => {
    const { rows, table, sent } = mockedTable();
    const left = [{ PutRequest: { Item: at("b") } }];
    table
      .on(BatchWriteCommand)
      .resolvesOnce({ UnprocessedItems: { [TABLE_NAME]: left } })
      .resolvesOnce({ UnprocessedItems: {} });
    await rows.writeAll([
      { kind: "put", item: at("a") },
      { kind: "put", item: at("b") },
    ]);
    expect(sent()[1]).toEqual({ RequestItems: { [TABLE_NAME]: left } });
  });

  it("a batch of which something is left eight times ends as a throttle", async () => {
    const { rows, table } = mockedTable();
    table.on(BatchWriteCommand).resolves({ UnprocessedItems: { [TABLE_NAME]: [{ PutRequest: { Item: at("a") } }] } });
    expect((await errorOf(rows.writeAll([{ kind: "put", item: at("a") }]))).name).toBe("ThrottlingException");
    expect(table.calls()).toHaveLength(8);
  });

  it("the pauses between the requests of a batch double", async () => {
    const { deps, rows, table } = mockedTable();
    table.on(BatchGetCommand).resolves({ UnprocessedKeys: { [TABLE_NAME]: { Keys: [at("a")] } } });
    await errorOf(rows.getAll([at("a")]));
    expect(deps.pauses).toEqual([40, 80, 160, 320, 640, 1280, 2560]);
  });

  it("a batch that fails leaves no other batch under way", async () => {
    const { rows, table } = mockedTable();
    let ended = 0;
    const slow = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      ended++;
      return {};
    };
    table.on(BatchWriteCommand).rejectsOnce(failure("ThrottlingException")).callsFake(slow);
    await errorOf(rows.writeAll(Array.from({ length: 60 }, (_, n) => ({ kind: "put", item: at(`${n}`) }))));
    expect(ended).toBe(2);
  });
});

describe("single writes", () => {
  it("a write that meets a transaction is sent again", async () => {
    const { deps, rows, table } = mockedTable();
    table.on(PutCommand).rejectsOnce(failure("TransactionConflictException")).resolves({});
    await rows.put(at("a"));
    expect([table.calls().length, deps.pauses]).toEqual([2, [20]]);
  });

  it("a failed condition of a row that is not there carries none", async () => {
    const { rows, table } = mockedTable();
    table.on(PutCommand).rejects(failure("ConditionalCheckFailedException"));
    const refused = rows.put(at("a"), absent()).catch(onConditionFailed((old) => ({ old })));
    expect(await refused).toEqual({ old: undefined });
  });

  it("an insert whose reply was lost finds its own row, and is done", async () => {
    const { rows, table } = mockedTable();
    table.on(PutCommand).rejects(failure("ConditionalCheckFailedException", { Item: wire("a", 5) }));
    expect(await rows.insertAll([{ ...at("a"), n: 5, gone: undefined }])).toEqual([undefined]);
  });

  it("an insert returns the row of another", async () => {
    const { rows, table } = mockedTable();
    table.on(PutCommand).rejects(failure("ConditionalCheckFailedException", { Item: wire("a", 6) }));
    expect(await rows.insertAll([{ ...at("a"), n: 5 }])).toEqual([{ ...at("a"), n: 6 }]);
  });

  it("a row beyond 400 KB is told from other invalid input", async () => {
    const { rows, table } = mockedTable();
    const message = "Item size has exceeded the maximum allowed size";
    table.on(PutCommand).rejects(failure("ValidationException", { message }));
    expect(await rows.put(at("a")).catch(tooLarge(() => "too large"))).toBe("too large");
    table.on(PutCommand).rejects(failure("ValidationException"));
    expect((await errorOf(rows.put(at("a")).catch(tooLarge(() => "too large")))).name).toBe("ValidationException");
  });
});

describe("canceled transactions", () => {
  const canceled = (...reasons: ({ Code?: string; Message?: string; Item?: object } | string)[]) =>
    failure("TransactionCanceledException", {
      CancellationReasons: reasons.map((reason) => (typeof reason === "string" ? { Code: reason } : reason)),
    });
  const writes: RawWrite[] = [
    { kind: "put", item: at("a"), when: absent() },
    { kind: "put", item: at("b") },
  ];

  it.each([
    ["met another transaction", canceled("None", "TransactionConflict")],
    ["was throttled", canceled("ThrottlingError", "None")],
    ["went beyond the throughput of the table", canceled("None", "ProvisionedThroughputExceeded")],
    ["met another one and was throttled", canceled("TransactionConflict", "ThrottlingError")],
    ["was canceled for no reason", canceled()],
    ["was canceled without a list of reasons", failure("TransactionCanceledException")],
  ])("a transaction that %s is sent again as it was, as another one", async (_, error) => {
    const { rows, table, sent } = mockedTable();
    table.on(TransactWriteCommand).rejectsOnce(error).resolves({});
    await rows.transact(writes);
    const [first, second, ...more] = sent();
    expect(more).toEqual([]);
    expect(second).toEqual({ ...first, ClientRequestToken: expect.any(String) });
    expect(second).not.toEqual(first);
  });

  it("a transaction that is still under way is sent again as the same, so that it is done once", async () => {
    const { rows, table, sent } = mockedTable();
    table.on(TransactWriteCommand).rejectsOnce(failure("TransactionInProgressException")).resolves({});
    await rows.transact(writes);
    expect(sent()).toEqual([sent()[0], sent()[0]]);
    expect(sent()[0]).toMatchObject({ ClientRequestToken: expect.any(String) });
  });

  it("a transaction that meets others nine times ends as a throttle", async () => {
    const { rows, table } = mockedTable();
    table.on(TransactWriteCommand).rejects(canceled("TransactionConflict", "None"));
    expect((await errorOf(rows.transact(writes))).name).toBe("ThrottlingException");
    expect(table.calls()).toHaveLength(9);
  });

  it("a failed condition is a refusal with the row as it was, in the place of its write", async () => {
    const { rows, table } = mockedTable();
    table.on(TransactWriteCommand).rejects(canceled({ Code: "ConditionalCheckFailed", Item: wire("a", 1) }, "None"));
    expect(await failuresOf(rows, writes)).toEqual([{ old: { ...at("a"), n: 1 } }, undefined]);
  });

  it("a failed condition without a row is a refusal without one", async () => {
    const { rows, table } = mockedTable();
    table.on(TransactWriteCommand).rejects(canceled("None", "ConditionalCheckFailed"));
    expect(await failuresOf(rows, writes)).toEqual([undefined, { old: undefined }]);
  });

  it.each(["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"])(
    "a failed condition beside a %s is a refusal at once",
    async (code) => {
      const { rows, table } = mockedTable();
      table.on(TransactWriteCommand).rejects(canceled({ Code: "ConditionalCheckFailed", Item: wire("a", 1) }, code));
      expect(await failuresOf(rows, writes)).toEqual([{ old: { ...at("a"), n: 1 } }, undefined]);
      expect(table.calls()).toHaveLength(1);
    },
  );

  it("a write beyond 400 KB is told by the message of its reason", async () => {
    const { rows, table } = mockedTable();
    const Message = "Item size to update has exceeded the maximum allowed size";
    table.on(TransactWriteCommand).rejects(canceled({ Code: "ValidationError", Message }, "None"));
    expect(await rows.transact(writes).catch(tooLarge(() => "too large"))).toBe("too large");
  });

  it.each(["ValidationError", "ItemCollectionSizeLimitExceeded", "AccessDenied"])(
    "a transaction that is canceled by a %s fails as it is, and is not sent again",
    async (code) => {
      const { rows, table } = mockedTable();
      table.on(TransactWriteCommand).rejects(canceled("TransactionConflict", code));
      expect((await errorOf(rows.transact(writes))).name).toBe("TransactionCanceledException");
      expect(table.calls()).toHaveLength(1);
    },
  );

  it("IdempotentParameterMismatchException is thrown as it is", async () => {
    const { rows, table } = mockedTable();
    table.on(TransactWriteCommand).rejects(failure("IdempotentParameterMismatchException"));
    expect((await errorOf(rows.transact(writes))).name).toBe("IdempotentParameterMismatchException");
  });
});
