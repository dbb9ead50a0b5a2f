// TransactWriteItems and TransactGetItems: all or nothing, and once per client token.
import { isAwsFailure, type Wire } from "../stand-in.ts";
import { admitRead, giveBack, isRefusal } from "./admission.ts";
import { CONFLICTING, canceledTransaction, type Reason } from "./canceled.ts";
import { consumedByTable, readUnits, TRANSACTION_FACTOR, writeUnits } from "./capacity.ts";
import type { Call, Engine, Operations } from "./engine.ts";
import { inOlderWords, validation } from "./errors.ts";
import { bill, commit, type GetInput, holds, prepareGet, shownItem } from "./items.ts";
import { refusesAll, targetText } from "./keys.ts";
import {
  CONSUMED,
  checkParameters,
  ITEM_TABLE,
  map,
  NAMES,
  needed,
  ON_FAILURE,
  type Rule,
  type Shape,
  text,
} from "./parameters.ts";
import { itemOf, type StoredItem } from "./stored.ts";
import { clientTokens } from "./transaction-tokens.ts";
import { sizeOfItem } from "./values.ts";
import {
  type PreparedWrite,
  prepareCheck,
  prepareDelete,
  preparePut,
  prepareUpdate,
  type Write,
  type WriteInput,
} from "./writes.ts";

const MAX_ACTIONS = 100;
const MAX_BYTES = 4 * 1024 * 1024;

const ACTIONS: Rule = { type: "List", required: true, ahead: { min: 1, max: MAX_ACTIONS } };
const TOKEN: Rule = { type: "String", min: 1, ahead: { max: 36 } };

const CONDITIONED = {
  TableName: ITEM_TABLE,
  ConditionExpression: text,
  ExpressionAttributeNames: NAMES,
  ExpressionAttributeValues: map,
  ReturnValuesOnConditionCheckFailure: ON_FAILURE,
} satisfies Shape;

interface ActionKind {
  shape: Shape;
  prepare(input: WriteInput, older: boolean): PreparedWrite;
}

const KINDS: Record<string, ActionKind> = {
  ConditionCheck: {
    shape: { ...CONDITIONED, Key: needed(map), ConditionExpression: needed(text) },
    prepare: prepareCheck,
  },
  Put: { shape: { ...CONDITIONED, Item: needed(map) }, prepare: preparePut },
  Update: {
    shape: { ...CONDITIONED, Key: needed(map), UpdateExpression: needed(text) },
    prepare: prepareUpdate,
  },
  Delete: { shape: { ...CONDITIONED, Key: needed(map) }, prepare: prepareDelete },
};

const GET_SHAPE = {
  TableName: ITEM_TABLE,
  Key: needed(map),
  ProjectionExpression: text,
  ExpressionAttributeNames: NAMES,
} satisfies Shape;

const NONE: Reason = { Code: "None" };

export function transactionOperations(engine: Engine): Operations {
  const tokens = clientTokens(engine);
  return {
    TransactWriteItems: {
      shape: {
        ClientRequestToken: TOKEN,
        TransactItems: ACTIONS,
        ReturnConsumedCapacity: CONSUMED,
      },
      writes: true,
      run: (input, call) => {
        const prepared = prepareActions(input.TransactItems as Wire[]);
        const token = input.ClientRequestToken as string | undefined;
        if (token !== undefined && tokens.replay(token, input, call))
          return consumedByTable(call.bill, input.ReturnConsumedCapacity, true);
        const sizes = writeAll(engine, call, prepared);
        if (token !== undefined) tokens.keep(token, input, sizes);
        return consumedByTable(call.bill, input.ReturnConsumedCapacity, true);
      },
    },
    TransactGetItems: {
      shape: { TransactItems: ACTIONS, ReturnConsumedCapacity: CONSUMED },
      writes: false,
      run: (input, call) => {
        const responses = readAll(engine, call, input.TransactItems as Wire[]);
        return { Responses: responses, ...consumedByTable(call.bill, input.ReturnConsumedCapacity, true) };
      },
    },
  };
}

function prepareActions(actions: Wire[]): PreparedWrite[] {
  const prepared = actions.map((action, at) => {
    if (action === null) throw noMember(`transactItems.${at + 1}.member`);
    const kinds = Object.keys(action).filter((kind) => action[kind] != null);
    const [kind] = kinds;
    if (kinds.length === 0)
      throw validation("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request");
    if (kinds.length > 1) throw validation("TransactItems can only contain one of Check, Put, Update or Delete");
    const { shape, prepare } = KINDS[kind!] ?? unknownKind(kind!);
    const input = action[kind!] as WriteInput;
    checkParameters(
      input,
      shape,
      kind!,
      `transactItems.${at + 1}.member.${kind!.charAt(0).toLowerCase()}${kind!.slice(1)}.`,
    );
    return inOlderWords(() => prepare(input, true));
  });
  let bytes = 0;
  for (const { given } of prepared) {
    bytes += sizeOfItem(given);
    if (bytes > MAX_BYTES) throw validation(`Transaction payload size cannot exceed 4MB. Payload Size: ${bytes}`);
  }
  return prepared;
}

const noMember = (where: string) =>
  validation(
    `1 validation error detected: Value null at '${where}' failed to satisfy constraint: Member must not be null`,
  );

const severalOnOne = () => validation("Transaction request cannot include multiple operations on one item");

function unknownKind(kind: string): never {
  throw validation(`The embedded service does not support the transaction action ${kind}.`);
}

interface Ready {
  write: Write;
  before: StoredItem | undefined;
  after: StoredItem | undefined;
}

/** Checks every action against the current items, then writes them all. @returns each action's billed bytes. */
function writeAll(engine: Engine, call: Call, prepared: PreparedWrite[]): { table: string; bytes: number }[] {
  const tables = prepared.map(({ tableName }) => engine.tables.need(tableName));
  const targets = new Set<string>();
  const reasons: Reason[] = [];
  const ready: Ready[] = [];
  const writes = prepared.map((one, at) => reasoned(reasons, at, () => one.on(tables[at]!)));
  for (const write of writes) {
    if (!write) continue;
    const target = targetText(write.table, write.key);
    if (targets.has(target)) throw severalOnOne();
    targets.add(target);
  }
  if (writes.includes(undefined)) throw canceledTransaction(reasons);
  for (const [at, write] of writes.entries()) if (engine.flights.meets(write!)) reasons[at] = CONFLICTING;
  if (reasons.some(({ Code }) => Code === "TransactionConflict")) throw canceledTransaction(reasons);
  for (const [at, write] of writes.entries()) {
    if (!write) continue;
    const before = engine.storage.read(write.table, write.key);
    if (holds(write, before)) {
      const after = reasoned(reasons, at, () => write.after(before));
      ready.push({ write, before, after });
    } else
      reasons[at] = {
        Code: "ConditionalCheckFailed",
        Message: "The conditional request failed",
        ...(write.showsOld && before && { Item: itemOf(before) }),
      };
  }
  if (reasons.some(({ Code }) => Code !== "None")) {
    for (const [at, write] of writes.entries())
      if (write)
        admitted(reasons, at, () =>
          bill(engine, call, write, writeUnits(engine.storage.read(write.table, write.key)?.size)),
        );
    throw canceledTransaction(reasons);
  }
  for (const [at, { write, before, after }] of ready.entries())
    admitted(reasons, at, () => commit(engine, call, write, before, after, TRANSACTION_FACTOR));
  refuseThrottled(engine, call, reasons);
  call.flight = [...targets];
  return ready.map(({ write, before, after }) => ({
    table: write.table.name,
    bytes: Math.max(before?.size ?? 0, after?.size ?? 0),
  }));
}

/** Runs one action's step. An error becomes the cancellation reason at its index, and later actions are not checked. */
function reasoned<T>(reasons: Reason[], at: number, work: () => T): T | undefined {
  reasons[at] ??= NONE;
  if (reasons.some(({ Code }) => Code === "ValidationError")) return undefined;
  try {
    return work();
  } catch (error) {
    if (!isAwsFailure(error) || error.name !== "ValidationException" || refusesAll(error)) throw error;
    reasons[at] = { Code: "ValidationError", Message: error.message };
    return undefined;
  }
}

/** Runs one action's consumption. A refusal becomes the cancellation reason at its index. */
function admitted(reasons: Reason[], at: number, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    reasons[at] = { Code: "ThrottlingError", Message: error.message };
  }
}

function refuseThrottled(engine: Engine, call: Call, reasons: Reason[]): void {
  if (!reasons.some(({ Code }) => Code === "ThrottlingError")) return;
  giveBack(engine, call);
  throw canceledTransaction(reasons);
}

function readAll(engine: Engine, call: Call, gets: Wire[]): Wire[] {
  const prepared = gets.map((entry, at) => {
    if (entry === null) throw noMember(`transactItems.${at + 1}.member`);
    checkParameters(entry, { Get: needed(map) }, "TransactGetItem", `transactItems.${at + 1}.member.`);
    const input = entry.Get as GetInput;
    checkParameters(input, GET_SHAPE, "Get", `transactItems.${at + 1}.member.get.`);
    return { input, on: inOlderWords(() => prepareGet(input, true)) };
  });
  const tables = prepared.map(({ input }) => engine.tables.need(input.TableName));
  const reasons: Reason[] = [];
  const reads = prepared.map(({ on }, at) => reasoned(reasons, at, () => on(tables[at]!)));
  const targets = reads.flatMap((read, at) => (read ? targetText(tables[at]!, read.key) : []));
  if (new Set(targets).size < targets.length) throw severalOnOne();
  for (const [at, read] of reads.entries())
    if (read && engine.flights.meets({ table: tables[at]!, key: read.key })) reasons[at] = CONFLICTING;
  if (reasons.some(({ Code }) => Code !== "None")) throw canceledTransaction(reasons);
  const answers = reads.map((read, at) => {
    const table = tables[at]!;
    const stored = read!.read(engine);
    const units = readUnits(stored?.size ?? 0, true) * TRANSACTION_FACTOR;
    admitted(reasons, at, () => admitRead(engine, call, { table, key: read!.key }, units));
    call.bill.spend(table, "read", units);
    return stored ? { Item: shownItem(stored, read!.paths) } : {};
  });
  refuseThrottled(engine, call, reasons);
  return answers;
}
