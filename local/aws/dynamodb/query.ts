// Query and Scan.
import type { Wire } from "../stand-in.ts";
import { consumed } from "./capacity.ts";
import type { Engine, Operations } from "./engine.ts";
import { enveloped, validation } from "./errors.ts";
import { type KeyTest, keyRange, keyTests, stretchOf } from "./key-conditions.ts";
import { sortable } from "./keys.ts";
import { count, flag, text } from "./parameters.ts";
import type { Path } from "./paths.ts";
import {
  checkAllSelected,
  checkAsked,
  checkFiltered,
  checkSelect,
  checkStartKey,
  checkStartOfTable,
  checkStartPart,
  PARTITIONS,
  type Page,
  positionOf,
  READ_SHAPE,
  type ReadInput,
  readAsked,
  readPage,
  type Source,
  sourceOf,
} from "./reading.ts";
import { itemOf } from "./stored.ts";
import { type AttributeValue, equalValues, type Item } from "./values.ts";

const QUERY_KINDS = ["ProjectionExpression", "FilterExpression", "KeyConditionExpression"];
const SCAN_KINDS = ["ProjectionExpression", "FilterExpression"];
const MAX_SEGMENTS = 1_000_000;

export function queryOperations(engine: Engine): Operations {
  return {
    Query: {
      shape: {
        ...READ_SHAPE,
        Limit: { type: "Integer", ahead: { min: 1 } },
        KeyConditionExpression: text,
        ScanIndexForward: flag,
      },
      writes: false,
      run: (wire, call) => {
        const input = wire as ReadInput;
        const asked = readAsked(input, QUERY_KINDS, { check: () => checkConditioned(wire) });
        const { tree, binding } = asked.keyCondition!;
        const tests = keyTests(tree, binding);
        // The newer validation layer, which a query has and a scan does not.
        enveloped(() => checkSelect(input));
        const source = sourceOf(engine, input);
        if (asked.startKey) checkStartKey(asked.startKey, source, { isScan: false });
        const { startKey } = asked;
        const { hash, range } = keyRange(tests, source.keys, (part) => startKey && checkStartPart(startKey, part));
        if (asked.startKey) {
          checkStartOfTable(asked.startKey, source);
          refuseStartOfOne(asked.startKey, source);
          checkWithin(asked.startKey, source, hash, range);
        }
        refuseFilterOnKeys(asked.filter?.paths, source);
        checkAllSelected(source, input);
        checkFiltered(source, asked);
        checkAsked(source, asked);
        const page = queryPage(source, hash, range, asked.startKey, wire.ScanIndexForward !== false);
        return {
          ...readPage(engine, call, source, page, asked, input),
          ...consumed(call.bill, input.ReturnConsumedCapacity),
        };
      },
    },
    Scan: {
      shape: { ...READ_SHAPE, Segment: count(0), TotalSegments: count(1, MAX_SEGMENTS) },
      writes: false,
      run: (wire, call) => {
        const input = wire as ReadInput;
        const asked = readAsked(input, SCAN_KINDS, { older: true, check: () => checkSegments(wire) });
        checkSelect(input);
        const source = sourceOf(engine, input);
        if (asked.startKey) checkStartKey(asked.startKey, source, { isScan: true });
        checkAllSelected(source, input);
        if (asked.startKey) {
          checkStartOfTable(asked.startKey, source);
          checkSegmentOf(asked.startKey, source, wire);
        }
        checkAsked(source, asked);
        const page = scanPage(source, asked.startKey, wire);
        return {
          ...readPage(engine, call, source, page, asked, input),
          ...consumed(call.bill, input.ReturnConsumedCapacity),
        };
      },
    },
  };
}

function checkConditioned({ KeyConditionExpression }: Wire): void {
  if (KeyConditionExpression === undefined)
    throw validation("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.");
}

function refuseFilterOnKeys(paths: readonly Path[] | undefined, { keys }: Source): void {
  for (const part of [keys.hash, keys.range])
    if (part && paths?.some(([name]) => name === part.name))
      throw validation(
        `Filter Expression can only contain non-primary key attributes: Primary key attribute: ${part.name}`,
      );
}

/** A partition with one item has no next page. */
function refuseStartOfOne(start: Item, { index, keys }: Source): void {
  if (index || keys.range) return;
  const [type, held] = Object.entries(start[keys.hash.name]!)[0]!;
  throw validation(
    `The provided exclusive start key is invalid: ExclusiveStartKey: {${keys.hash.name}=AttributeValue: {${type}:${held}}}`,
  );
}

function checkWithin(start: Item, { keys }: Source, hash: AttributeValue, range: KeyTest | undefined): void {
  const sameHash = equalValues(start[keys.hash.name]!, hash);
  if (range && keys.range && !stretchOf(range).includes(start[keys.range.name]!))
    throw validation("The provided starting key does not match the range key predicate");
  if (!sameHash)
    throw validation(
      range
        ? "The query can return at most one row and cannot be restarted"
        : "The provided starting key is outside query boundaries based on provided conditions",
    );
}

function queryPage(
  source: Source,
  hash: AttributeValue,
  range: KeyTest | undefined,
  start: Item | undefined,
  forward: boolean,
): Page {
  return {
    pk: sortable(hash),
    ...(range && { bounds: stretchOf(range).bounds }),
    ...(start && { beyond: positionOf(start, source).slice(1) }),
    forward,
  };
}

function checkSegments({ Segment, TotalSegments }: Wire): void {
  if (Segment !== undefined && TotalSegments === undefined)
    throw validation(
      "The TotalSegments parameter is required but was not present in the request when Segment parameter is present",
    );
  if (TotalSegments === undefined) return;
  if (Segment === undefined)
    throw validation(
      "The Segment parameter is required but was not present in the request when parameter TotalSegments is present",
    );
  if (Number(Segment) >= Number(TotalSegments))
    throw validation(
      `The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: ${Segment} is not less than TotalSegments: ${TotalSegments}`,
    );
}

function checkSegmentOf(start: Item, { keys }: Source, { Segment, TotalSegments }: Wire): void {
  if (TotalSegments === undefined) return;
  if (segmentOf(start[keys.hash.name]!, Number(TotalSegments)) !== Number(Segment))
    throw validation(
      `The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: ${TotalSegments} Segment: ${Segment}`,
    );
}

function scanPage(source: Source, start: Item | undefined, { Segment, TotalSegments }: Wire): Page {
  const page: Page = { forward: true, ...(start && { beyond: positionOf(start, source) }) };
  const { name } = source.keys.hash;
  const isWhole = TotalSegments === undefined && !start;
  if (isWhole) return { ...page, partitionOf: (row) => segmentOf(itemOf(row)[name]!, PARTITIONS) };
  if (TotalSegments === undefined) return page;
  return { ...page, mine: (row) => segmentOf(itemOf(row)[name]!, Number(TotalSegments)) === Number(Segment) };
}

/** Distributes partition keys over segments, always the same way. */
function segmentOf(hash: AttributeValue, segments: number): number {
  let mixed = 0x811c9dc5;
  for (const unit of (hash.S ?? hash.N ?? hash.B)!) mixed = Math.imul(mixed ^ unit.codePointAt(0)!, 0x01000193);
  return (mixed >>> 0) % segments;
}
