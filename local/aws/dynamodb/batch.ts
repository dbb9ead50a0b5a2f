// BatchGetItem and BatchWriteItem.
import type { Wire } from "../stand-in.ts";
import { admitRead, isRefusal } from "./admission.ts";
import { consumedByTable, readUnits } from "./capacity.ts";
import type { Engine, Operations } from "./engine.ts";
import { inOlderWords, validation } from "./errors.ts";
import { type ExpressionInput, readExpressions } from "./expressions.ts";
import { commit, shownItem } from "./items.ts";
import { checkKey, checkScalarKeys, schemaMismatch, storedKey, targetText } from "./keys.ts";
import {
  CONSUMED,
  flag,
  listOf,
  MODEL,
  map,
  NAME,
  NAMES,
  needed,
  type Rule,
  type Shape,
  shown,
  structure,
  text,
} from "./parameters.ts";
import type { Path } from "./paths.ts";
import { keyParts, type Table } from "./tables.ts";
import { attributeOf, type Item, normalizeItem, typeOf } from "./values.ts";
import { type PreparedWrite, prepareDelete, preparePut, type Write } from "./writes.ts";

const MAX_KEYS = 100;
const MAX_WRITES = 25;
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

const KEYS_SHAPE = {
  Keys: needed(listOf(map)),
  ConsistentRead: flag,
  ProjectionExpression: text,
  ExpressionAttributeNames: NAMES,
} satisfies Shape;

const GET_REQUESTS: Rule = {
  type: "Map",
  required: true,
  ahead: { min: 1 },
  keys: NAME,
  values: structure(KEYS_SHAPE, "KeysAndAttributes"),
  called: `${MODEL}.KeysAndAttributes`,
};

const WRITE_REQUESTS: Rule = {
  type: "Map",
  required: true,
  keys: NAME,
  called: `java.util.List<${MODEL}.WriteRequest>`,
  values: listOf(
    structure(
      {
        PutRequest: structure({ Item: needed(map) }, "PutRequest"),
        DeleteRequest: structure({ Key: needed(map) }, "DeleteRequest"),
      },
      "WriteRequest",
    ),
  ),
};

interface KeysInput extends ExpressionInput, Wire {
  Keys: Item[];
  ConsistentRead?: boolean;
  ProjectionExpression?: string;
}

interface WriteRequest extends Wire {
  PutRequest?: { Item: Item };
  DeleteRequest?: { Key: Item };
}

const duplicates = () => validation("Provided list of item keys contains duplicates");

interface Lookup {
  name: string;
  input: KeysInput;
  keys: Item[];
  paths: Path[] | undefined;
}

export function batchOperations(engine: Engine): Operations {
  return {
    BatchGetItem: {
      shape: { RequestItems: GET_REQUESTS, ReturnConsumedCapacity: CONSUMED },
      writes: false,
      run: (input, call) => {
        const lookups = readLookups(input.RequestItems as Record<string, KeysInput>);
        const found = lookups.map((lookup) => ({ ...lookup, table: engine.tables.need(lookup.name) }));
        for (const { table, keys, paths } of found) {
          for (const key of keys) checkKey(key, table);
          if (paths) checkScalarKeys(paths, table);
        }
        const wanted = found.flatMap((lookup) => lookup.keys.map((key, at) => ({ ...lookup, key, at })));
        const skipped = engine.faults.unprocessed?.("BatchGetItem", wanted.length) ?? 0;
        const refusals = refusalsOf(wanted.length);
        const responses: Record<string, Item[]> = Object.fromEntries(found.map(({ name }) => [name, []]));
        const unprocessed: Record<string, KeysInput> = {};
        let bytes = 0;
        for (const [position, { name, table, input: asked, key, at, paths }] of wanted.entries()) {
          const own = storedKey(key, table.keys);
          const stored = bytes > MAX_RESPONSE_BYTES ? undefined : engine.storage.read(table, own);
          bytes += stored?.size ?? 0;
          const units = readUnits(stored?.size ?? 0, asked.ConsistentRead === true);
          const isLeft = position >= wanted.length - skipped || bytes > MAX_RESPONSE_BYTES;
          if (isLeft || refusals.meets(() => admitRead(engine, call, { table, key: own }, units))) {
            unprocessed[name] ??= { ...asked, Keys: [] };
            unprocessed[name].Keys.push(asked.Keys[at]!);
            continue;
          }
          call.bill.spend(table, "read", units);
          if (stored) responses[name]!.push(shownItem(stored, paths));
        }
        return {
          Responses: responses,
          UnprocessedKeys: unprocessed,
          ...consumedByTable(call.bill, input.ReturnConsumedCapacity),
        };
      },
    },
    BatchWriteItem: {
      shape: { RequestItems: WRITE_REQUESTS, ReturnConsumedCapacity: CONSUMED },
      writes: true,
      run: (input, call) => {
        const writes = readWrites(engine, input.RequestItems as Record<string, WriteRequest[]>);
        const skipped = engine.faults.unprocessed?.("BatchWriteItem", writes.length) ?? 0;
        const unprocessed: Record<string, WriteRequest[]> = {};
        const refusals = refusalsOf(writes.length);
        for (const [position, { name, request, write }] of writes.entries()) {
          const put = () => {
            const before = engine.storage.read(write.table, write.key);
            commit(engine, call, write, before, write.after(before));
          };
          if (position >= writes.length - skipped || engine.flights.meets(write) || refusals.meets(put)) {
            unprocessed[name] ??= [];
            unprocessed[name].push(request);
          }
        }
        return {
          UnprocessedItems: unprocessed,
          ...consumedByTable(call.bill, input.ReturnConsumedCapacity),
        };
      },
    },
  };
}

/** Collects what the capacity model refuses of a batch, and throws if that is all of it. */
function refusalsOf(count: number) {
  let refused = 0;
  return {
    meets: (work: () => void): boolean => {
      try {
        work();
        return false;
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refused++;
        if (refused === count) throw error;
        return true;
      }
    },
  };
}

function readLookups(requests: Record<string, KeysInput>): Lookup[] {
  const lookups = Object.entries(requests).map(([name, input]): Lookup => {
    if (input.Keys.length === 0 || input.Keys.length > MAX_KEYS)
      throw validation(
        `1 validation error detected: Value at 'RequestItems.${name}.member.Keys' failed to satisfy constraint: Member must have length ${input.Keys.length === 0 ? "greater than or equal to 1" : `less than or equal to ${MAX_KEYS}`}`,
      );
    const expressions = readExpressions(input, ["ProjectionExpression"]);
    const paths = expressions.projection(input.ProjectionExpression);
    expressions.finish();
    const keys = input.Keys.map((key) => normalizeItem(key));
    if (new Set(keys.map(keyText)).size < keys.length) throw duplicates();
    return { name, input, keys, paths };
  });
  if (lookups.reduce((total, { keys }) => total + keys.length, 0) > MAX_KEYS)
    throw validation("Too many items requested for the BatchGetItem call");
  return lookups;
}

const keyText = (key: Item): string => JSON.stringify(Object.entries(key).sort(([a], [b]) => (a < b ? -1 : 1)));

interface NamedWrite {
  name: string;
  request: WriteRequest;
  write: Write;
}

function readWrites(engine: Engine, requests: Record<string, WriteRequest[]>): NamedWrite[] {
  const names = Object.keys(requests);
  if (names.length === 0) throw validation("The requestItems parameter is required for BatchWriteItem");
  const all = names.flatMap((name) => requests[name]!.map((request) => ({ name, request })));
  for (const name of names)
    if (requests[name]!.length === 0 || requests[name]!.length > MAX_WRITES) throw wrongLength(requests);
  if (all.length > MAX_WRITES) throw validation("Too many items requested for the BatchWriteItem call");
  const prepared = all.map(({ name, request }) => ({ name, request, prepared: prepareRequest(name, request) }));
  const writes = prepared.map(({ name, request, prepared: one }) => ({
    name,
    request,
    write: onTable(one, engine.tables.need(name)),
  }));
  const targets = writes.map(({ write: { table, key } }) => targetText(table, key));
  if (new Set(targets).size < targets.length) throw duplicates();
  return writes;
}

/** A batch's error for a missing or wrongly typed key has less detail than that of a put. */
function onTable(prepared: PreparedWrite, table: Table): Write {
  for (const { name, type } of keyParts(table.keys)) {
    const value = attributeOf(prepared.given, name);
    if (!value || typeOf(value) !== type) throw schemaMismatch();
  }
  return prepared.on(table);
}

function prepareRequest(name: string, request: WriteRequest) {
  const kinds = Object.keys(request);
  if (kinds.length !== 1 || !(request.PutRequest ?? request.DeleteRequest))
    throw validation(
      "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
    );
  const { PutRequest: put, DeleteRequest: remove } = request;
  return inOlderWords(() =>
    put ? preparePut({ TableName: name, Item: put.Item }) : prepareDelete({ TableName: name, Key: remove!.Key }),
  );
}

function wrongLength(requests: Record<string, WriteRequest[]>) {
  return validation(
    `1 validation error detected: Value '${shown(requests)}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: [Member must have length less than or equal to ${MAX_WRITES}, Member must have length greater than or equal to 1]`,
  );
}
