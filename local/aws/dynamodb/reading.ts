// Shared by Query and Scan: table or index, start position, projection, and reading one page.
import type { Wire } from "../stand-in.ts";
import { admitRead } from "./admission.ts";
import { readUnits } from "./capacity.ts";
import type { Call, Engine } from "./engine.ts";
import { inOlderWords, invalidParameter, validation } from "./errors.ts";
import { type ExpressionInput, readExpressions } from "./expressions.ts";
import { inHashOrder } from "./hash-order.ts";
import { checkScalarKeys, type Sortable, type StoredKey, storedKey } from "./keys.ts";
import { CONSUMED, choice, count, flag, ITEM_TABLE, map, NAMES, type Shape, text } from "./parameters.ts";
import { branchesOf, type Path, pick } from "./paths.ts";
import type { Predicate } from "./predicates.ts";
import type { Reach } from "./rows.ts";
import { itemOf, type StoredItem } from "./stored.ts";
import { type Index, type KeyPart, type Keys, keyOf, keyParts, type Table } from "./tables.ts";
import { attributeOf, type Item, normalizeItem, typeOf } from "./values.ts";

export const READ_SHAPE = {
  ReturnConsumedCapacity: CONSUMED,
  TableName: ITEM_TABLE,
  IndexName: { type: "String", min: 3, max: 255, form: /^[a-zA-Z0-9_.-]+$/ },
  Select: choice("SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"),
  ConsistentRead: flag,
  Limit: count(1),
  ExclusiveStartKey: map,
  FilterExpression: text,
  ProjectionExpression: text,
  ExpressionAttributeNames: NAMES,
  ExpressionAttributeValues: map,
} satisfies Shape;

export interface ReadInput extends ExpressionInput, Wire {
  TableName: string;
  IndexName?: string;
  Select?: string;
  ConsistentRead?: boolean;
  Limit?: number;
  ExclusiveStartKey?: Item;
  FilterExpression?: string;
  ProjectionExpression?: string;
}

const PAGE_BYTES = 1024 * 1024;

export interface Source {
  table: Table;
  index: Index | undefined;
  keys: Keys;
  storage: string;
}

export function sourceOf(engine: Engine, input: ReadInput): Source {
  const table = engine.tables.need(input.TableName);
  if (input.IndexName === undefined) return { table, index: undefined, keys: table.keys, storage: table.storage };
  const index = table.indexes.find(({ name }) => name === input.IndexName);
  if (!index) throw validation(`The table does not have the specified index: ${input.IndexName}`);
  if (input.ConsistentRead) throw validation("Consistent reads are not supported on global secondary indexes");
  return { table, index, keys: index.keys, storage: index.storage };
}

/** The parts of a read that do not need the table. */
interface ReadRequest {
  keyCondition: ReturnType<ReturnType<typeof readExpressions>["keyCondition"]> | undefined;
  filter: { passes: Predicate; paths: Path[] } | undefined;
  projection: Path[] | undefined;
  startKey: Item | undefined;
}

/** Parses the parts of a read in the order in which the service checks them; `check` comes before the expressions. */
export function readAsked(
  input: ReadInput,
  kinds: readonly string[],
  { older = false, check }: { older?: boolean; check(): void },
): ReadRequest {
  let startKey: Item | undefined;
  const before = () => {
    startKey = input.ExclusiveStartKey && readStartKey(input.ExclusiveStartKey);
    check();
  };
  const expressions = readExpressions(input, kinds, { older, before: older ? () => inOlderWords(before) : before });
  const condition = input.KeyConditionExpression;
  const keyCondition = condition === undefined ? undefined : expressions.keyCondition(String(condition));
  const filter = expressions.filter(input.FilterExpression);
  const projection = expressions.projection(input.ProjectionExpression);
  expressions.finish();
  return { keyCondition, filter, projection, startKey };
}

function readStartKey(key: Item): Item {
  try {
    return normalizeItem(key);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "ValidationException") throw error;
    const bare = /contains duplicates|number set|numeric value|significant digits|number with magnitude/;
    if (bare.test(error.message)) throw error;
    throw validation(`The provided starting key is invalid: ${error.message}`);
  }
}

/** Rejects a `Select` that does not go with the rest of the request. */
export function checkSelect({ Select, ProjectionExpression, IndexName }: ReadInput): void {
  const isProjected = ProjectionExpression !== undefined;
  if (isProjected && Select !== undefined && Select !== "SPECIFIC_ATTRIBUTES")
    throw validation(
      Select === "COUNT"
        ? "Cannot specify the ProjectionExpression when choosing to get only the Count"
        : `Cannot specify the ProjectionExpression when choosing to get ${Select}`,
    );
  if (Select === "SPECIFIC_ATTRIBUTES" && !isProjected)
    throw validation(
      "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES",
    );
  if (Select === "ALL_PROJECTED_ATTRIBUTES" && IndexName === undefined)
    throw validation("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
}

/** A query's filter sees only what its index holds (a scan's may name anything). */
export function checkFiltered({ index }: Source, { filter }: ReadRequest): void {
  const beyond = index ? unprojected(filter?.paths, index).sort() : [];
  if (beyond.length > 0)
    throw invalidParameter(
      `Secondary index ${index!.name} does not project one or more filter attributes: [${beyond.join(", ")}]`,
    );
}

/** A global index that does not hold all attributes cannot return them. */
export function checkAllSelected({ index }: Source, { Select }: ReadInput): void {
  if (index?.projected && Select === "ALL_ATTRIBUTES")
    throw invalidParameter(
      `Select type ALL_ATTRIBUTES is not supported for global secondary index ${index.name} because its projection type is not ALL`,
    );
}

/** Checks the request against the table and index. */
export function checkAsked({ table, index }: Source, asked: ReadRequest): void {
  if (asked.projection) checkScalarKeys(asked.projection, table);
  const beyond = index ? unprojected(asked.projection, index) : [];
  if (beyond.length > 0)
    throw invalidParameter(
      `Global secondary index ${index!.name} does not project [${inHashOrder(beyond).join(", ")}]`,
    );
  if (asked.filter) checkScalarKeys(asked.filter.paths, table);
}

/** The attributes of these paths that an index does not hold. */
const unprojected = (paths: readonly Path[] | undefined, { projected }: Index): string[] => [
  ...new Set(paths?.map(([name]) => String(name)).filter((name) => projected && !projected.has(name))),
];

const INVALID_START = "The provided starting key is invalid";
const MISFIT = "The provided key element does not match the schema";

const MISFIT_START = `${INVALID_START}: ${MISFIT}`;

/** A start key has the attributes of the table's key and those of its index, and no others. */
export function checkStartKey(key: Item, { table, index, keys }: Source, { isScan }: { isScan: boolean }): void {
  const own = index || !isScan ? keyParts(keys) : [];
  const names = new Set([...keyParts(table.keys), ...own].map(({ name }) => name));
  if (Object.keys(key).length !== names.size) throw validation(isScan && !index ? MISFIT_START : INVALID_START);
  if (isScan) for (const part of own) checkStartPart(key, part);
}

/** One attribute of the key of the read. */
export function checkStartPart(key: Item, { name, type }: KeyPart): void {
  const value = attributeOf(key, name);
  if (!value) throw validation(INVALID_START);
  if (typeOf(value) !== type) throw validation(MISFIT);
}

/** Checks the part of a start key that is of the table's own key. */
export function checkStartOfTable(key: Item, { table }: Source): void {
  for (const { name, type } of keyParts(table.keys)) {
    const value = attributeOf(key, name);
    if (!value || typeOf(value) !== type) throw validation(MISFIT_START);
  }
}

/** The position of a start key in the order of the storage: the columns after `pk` or with it. */
export function positionOf(key: Item, { table, index, keys }: Source): Sortable[] {
  const { pk, sk } = storedKey(key, keys);
  if (!index) return [pk, sk];
  const base = storedKey(key, table.keys);
  return [pk, sk, base.pk, base.sk];
}

export interface Page extends Reach {
  /** Leaves rows of other scan segments out. */
  mine?(row: StoredItem): boolean;
  /** The partition of a row, if a whole scan is billed by partition. */
  partitionOf?(row: StoredItem): number;
}

/** Partitions of an on-demand table, or of an index of it, until it grows. */
export const PARTITIONS = 4;

/** Reads one page, at most 1 MB before the filter, and returns it in the form of Query and Scan. */
export function readPage(
  engine: Engine,
  call: Call,
  source: Source,
  page: Page,
  asked: ReadRequest,
  input: ReadInput,
): Wire {
  const { table, index } = source;
  const { bill } = call;
  const lag = index ? (engine.faults.indexLag?.() ?? 0) : 0;
  const read = () => collect(engine, source, page, asked, input);
  const result = lag > 0 ? engine.storage.indexing.asOf(engine.clock.now() - lag, read) : read();
  const consistent = input.ConsistentRead === true;
  const units =
    page.partitionOf && !result.last
      ? result.partitions.reduce((sum, bytes) => sum + readUnits(bytes, consistent), 0)
      : readUnits(result.bytes, consistent);
  admitRead(engine, call, { table, key: startOf(page) }, units, index?.name);
  bill.spend(table, "read", index ? 0 : units);
  if (index) bill.spendOnIndexes(table, "read", [{ index: index.name, units }]);
  return {
    ...(input.Select !== "COUNT" && { Items: result.items }),
    Count: result.count,
    ScannedCount: result.scanned,
    ...(result.last && { LastEvaluatedKey: lastKey(itemOf(result.last), source) }),
  };
}

/** Where a page begins: all of it is charged to that partition. */
const startOf = ({ pk, bounds = {}, beyond = [] }: Page): StoredKey =>
  pk === undefined
    ? { pk: beyond[0] ?? "", sk: beyond[1] ?? "" }
    : { pk, sk: beyond[0] ?? bounds.min ?? bounds.above ?? "" };

function collect(engine: Engine, source: Source, page: Page, asked: ReadRequest, input: ReadInput) {
  const limit = input.Limit ?? Number.POSITIVE_INFINITY;
  const { projection, filter } = asked;
  const branches = projection && branchesOf(projection);
  const items: Item[] = [];
  const partitions = Array.from({ length: PARTITIONS }, () => 0);
  let bytes = 0;
  let scanned = 0;
  let kept = 0;
  let last: StoredItem | undefined;
  const reach = page.mine ? page : { ...page, atMost: limit };
  for (const stored of engine.storage.stretch(source.storage, reach)) {
    if (page.mine && !page.mine(stored)) continue;
    bytes += stored.size;
    if (page.partitionOf) partitions[page.partitionOf(stored)]! += stored.size;
    scanned++;
    if (!filter || filter.passes(itemOf(stored))) {
      kept++;
      if (input.Select !== "COUNT") items.push(branches ? pick(itemOf(stored), branches) : itemOf(stored));
    }
    if (scanned >= limit || bytes > PAGE_BYTES) {
      last = stored;
      break;
    }
  }
  return { items, bytes, partitions, scanned, count: kept, last };
}

const lastKey = (item: Item, { table, index }: Source): Item => ({
  ...keyOf(item, table.keys),
  ...(index && keyOf(item, index.keys)),
});
