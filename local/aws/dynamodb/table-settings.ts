// Settings of a table: time to live, tags, recovery, limits and endpoints.
import { HOUR, MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { awsFailure, type Wire } from "../stand-in.ts";
import type { Engine, Operations } from "./engine.ts";
import { invalidParameter, validation } from "./errors.ts";
import { flag, listOf, map, needed, structure, text } from "./parameters.ts";
import { findTable, onTable } from "./table-lookup.ts";
import { REGION, type Table, tableArn } from "./tables.ts";

/** How long the time to live cannot be changed again; the documentation says an hour. */
const TIME_TO_LIVE_REST = 30 * MINUTE;
const MAX_TAGS = 50;
export const TAGS = listOf(structure({ Key: text, Value: text }, "Tag"));

export function settingsOperations(engine: Engine): Operations {
  return { ...timeToLive(engine), ...tagging(engine), ...recovery(engine), ...environment() };
}

function timeToLive(engine: Engine): Operations {
  const { tables, storage, clock } = engine;
  const specification = structure({
    Enabled: needed(flag),
    AttributeName: needed({ type: "String", min: 1, max: 255 }),
  });
  return {
    DescribeTimeToLive: onTable({}, false, ({ TableName }) => {
      const attribute = findTable(engine, TableName).record.timeToLive?.attribute;
      return {
        TimeToLiveDescription: attribute
          ? { TimeToLiveStatus: "ENABLED", AttributeName: attribute }
          : { TimeToLiveStatus: "DISABLED" },
      };
    }),
    UpdateTimeToLive: onTable({ TimeToLiveSpecification: needed(specification) }, true, (input) => {
      const wanted = input.TimeToLiveSpecification as { Enabled: boolean; AttributeName: string };
      const table = findTable(engine, input.TableName);
      const { timeToLive: current, ...record } = table.record;
      if (wanted.Enabled && current)
        throw validation(
          current.attribute === wanted.AttributeName
            ? "TimeToLive is already enabled"
            : `TimeToLive is active on a different AttributeName: current AttributeName is ${current.attribute}`,
        );
      if (!wanted.Enabled && !current) throw validation("TimeToLive is already disabled");
      if (!wanted.Enabled && current!.attribute !== wanted.AttributeName)
        throw validation(
          `TimeToLive is active on a different AttributeName: current AttributeName is ${current!.attribute}`,
        );
      const now = clock.now();
      if (record.timeToLiveAt !== undefined && now < record.timeToLiveAt + TIME_TO_LIVE_REST)
        throw validation("Time to live has been modified multiple times within a fixed interval");
      const timeToLive = wanted.Enabled ? { timeToLive: { attribute: wanted.AttributeName } } : {};
      storage.remarkExpiry(tables.save({ ...table, record: { ...record, ...timeToLive, timeToLiveAt: now } }));
      return { TimeToLiveSpecification: wanted };
    }),
  };
}

interface Tag {
  Key: string;
  Value: string;
}

export function checkedTags(tags: Tag[] = [], present: Record<string, string> = {}): Record<string, string> {
  const all = { ...present };
  for (const { Key, Value } of tags) {
    checkTag(Key, Value);
    if (Key.startsWith("aws:")) throw invalidParameter("Tag keys starting with 'aws:' are reserved");
    all[Key] = Value;
  }
  if (new Set(tags.map(({ Key }) => Key)).size < tags.length)
    throw invalidParameter("Duplicate tag keys are not allowed");
  if (Object.keys(all).length > MAX_TAGS) throw invalidParameter(`Number of tags exceeds the limit of ${MAX_TAGS}`);
  return all;
}

const TAG_CHARACTERS = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;
const MAX_TAG = { key: 128, value: 256 };

/** Lengths are in characters, not in bytes. */
function checkTag(key: unknown, value: unknown): void {
  const refuse = (member: string, constraint: string) =>
    validation(
      `1 validation error detected: Value at 'tags.1.member.${member}' failed to satisfy constraint: ${constraint}`,
    );
  for (const [member, held] of [
    ["key", key],
    ["value", value],
  ] as const) {
    if (held === undefined || held === null) throw notNull(`tags.1.member.${member}`);
    const [length, max] = [[...String(held)].length, MAX_TAG[member]];
    if (member === "key" && length === 0) throw refuse(member, "Member must have length greater than or equal to 1");
    if (length > max) throw refuse(member, `Member must have length less than or equal to ${max}`);
    if (!TAG_CHARACTERS.test(String(held)))
      throw refuse(member, `Member must satisfy regular expression pattern: ${TAG_CHARACTERS.source.slice(1, -1)}`);
  }
}

function tagging(engine: Engine): Operations {
  const { tables } = engine;
  const save = (table: Table, tags: Record<string, string>) => {
    tables.save({ ...table, record: { ...table.record, tags } });
    return {};
  };
  return {
    TagResource: {
      shape: { ResourceArn: text, Tags: TAGS },
      writes: true,
      run: ({ ResourceArn, Tags }) => {
        if (ResourceArn !== undefined && Tags === undefined) throw notNull("tags");
        checkArn(ResourceArn);
        if ((Tags as Tag[]).length === 0) throw validation("Atleast one Tag needs to be provided as Input.");
        const table = taggedTable(engine, ResourceArn);
        return save(table, checkedTags(Tags as Tag[], table.record.tags));
      },
    },
    UntagResource: {
      shape: { ResourceArn: text, TagKeys: listOf(text) },
      writes: true,
      run: ({ ResourceArn, TagKeys }) => {
        if (ResourceArn !== undefined && TagKeys === undefined) throw notNull("tagKeys");
        checkArn(ResourceArn);
        const gone = TagKeys as string[];
        if (gone.length === 0) throw validation("Atleast one Tag Key needs to be provided as Input.");
        const table = taggedTable(engine, ResourceArn);
        return save(
          table,
          Object.fromEntries(Object.entries(table.record.tags).filter(([key]) => !gone.includes(key))),
        );
      },
    },
    ListTagsOfResource: {
      shape: { ResourceArn: text, NextToken: text },
      writes: false,
      run: ({ ResourceArn }) => {
        const { tags } = taggedTable(engine, ResourceArn).record;
        return { Tags: Object.entries(tags).map(([Key, Value]): Tag => ({ Key, Value })) };
      },
    },
  };
}

const notNull = (member: string) =>
  validation(
    `1 validation error detected: Value null at '${member}' failed to satisfy constraint: Member must not be null`,
  );

/** The name in the ARN of a table. */
function checkArn(arn: unknown): string {
  if (arn === undefined || arn === null) throw validation("Invalid TableArn");
  if (!String(arn).startsWith("arn:")) throw invalidParameter(`ARNs must start with 'arn:': ${arn}`);
  const match = /^arn:aws:dynamodb:[^:]+:\d+:table\/([^/]{3,})$/.exec(String(arn));
  if (!match) throw validation(`Invalid TableArn: Invalid ResourceArn provided as input ${arn}`);
  return match[1]!;
}

function taggedTable({ tables }: Engine, arn: unknown): Table {
  const table = tables.find(checkArn(arn));
  if (table && tableArn(table.name) === arn) return table;
  throw awsFailure("ResourceNotFoundException", `Requested resource not found: ResourcArn: ${arn} not found`);
}

function recovery(engine: Engine): Operations {
  const { tables, clock } = engine;
  const description = ({ record }: Table): Wire => ({
    ContinuousBackupsDescription: {
      ContinuousBackupsStatus: "ENABLED",
      PointInTimeRecoveryDescription: record.pointInTimeRecovery
        ? {
            PointInTimeRecoveryStatus: "ENABLED",
            EarliestRestorableDateTime: record.CreationDateTime,
            LatestRestorableDateTime: clock.now() / SECOND,
          }
        : { PointInTimeRecoveryStatus: "DISABLED" },
    },
  });
  return {
    DescribeContinuousBackups: onTable({}, false, ({ TableName }) => description(backedUp(engine, TableName))),
    UpdateContinuousBackups: onTable({ PointInTimeRecoverySpecification: needed(map) }, true, (input) => {
      const table = backedUp(engine, input.TableName);
      const { PointInTimeRecoveryEnabled } = input.PointInTimeRecoverySpecification as Wire;
      const pointInTimeRecovery = PointInTimeRecoveryEnabled === true;
      return description(tables.save({ ...table, record: { ...table.record, pointInTimeRecovery } }));
    }),
  };
}

function backedUp({ tables }: Engine, name: unknown): Table {
  const table = tables.find(String(name));
  if (!table) throw awsFailure("TableNotFoundException", `Table not found: ${name}`);
  return table;
}

const environment = (): Operations => ({
  DescribeLimits: {
    shape: {},
    writes: false,
    run: () => ({
      AccountMaxReadCapacityUnits: 80_000,
      AccountMaxWriteCapacityUnits: 80_000,
      TableMaxReadCapacityUnits: 40_000,
      TableMaxWriteCapacityUnits: 40_000,
    }),
  },
  DescribeEndpoints: {
    shape: {},
    writes: false,
    run: () => ({
      Endpoints: [{ Address: `dynamodb.${REGION}.amazonaws.com`, CachePeriodInMinutes: (24 * HOUR) / 60_000 }],
    }),
  },
});
