// Compiles changes, conditions and key ranges to DynamoDB expressions.
import type { QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import type { Condition, Names } from "./conditions.ts";
import { tableDefinition } from "./definition.ts";
import type { Key, Value } from "./model.ts";

/** What an update does to an item; `undefined` members are left alone. */
export interface Change {
  set?: Record<string, Value | undefined>;
  /** Set only if the attribute is absent. */
  initial?: Record<string, Value>;
  add?: Record<string, number>;
  remove?: readonly string[];
}

export interface QueryRange {
  pk: string;
  index?: keyof typeof tableDefinition.indexes;
  /** The prefix of sort keys. */
  prefix?: string;
  /** Inclusive bounds of the sort key. */
  from?: string;
  to?: string;
  newestFirst?: boolean;
  /** Items evaluated before the page ends. */
  limit?: number;
  /** Items that do not match are read, and left out. */
  filter?: Condition;
  after?: Key | undefined;
  eventual?: boolean;
}

interface Placeholders {
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, Value>;
}

export function conditionOf<W extends Condition | undefined>(when: W) {
  const { names, placeholders } = collect();
  const expression = when && { ConditionExpression: when(names) };
  return { ...expression, ...placeholders() } as Placeholders &
    (W extends Condition ? { ConditionExpression: string } : { ConditionExpression?: string });
}

export function changeOf(change: Change, when: Condition | undefined) {
  const { names, placeholders } = collect();
  const UpdateExpression = updateExpression(change, names);
  const expression = when && { ConditionExpression: when(names) };
  return { UpdateExpression, ...expression, ...placeholders() };
}

function updateExpression({ set = {}, initial = {}, add = {}, remove = [] }: Change, n: Names): string {
  const sets = [
    ...Object.entries(set).flatMap(([name, value]) =>
      value === undefined ? [] : `${n.name(name)} = ${n.value(value)}`,
    ),
    ...Object.entries(initial).map(
      ([name, value]) => `${n.name(name)} = if_not_exists(${n.name(name)}, ${n.value(value)})`,
    ),
  ];
  const adds = Object.entries(add).map(([name, value]) => `${n.name(name)} ${n.value(value)}`);
  return [
    sets.length > 0 ? `SET ${sets.join(", ")}` : "",
    remove.length > 0 ? `REMOVE ${remove.map(n.name).join(", ")}` : "",
    adds.length > 0 ? `ADD ${adds.join(", ")}` : "",
  ]
    .filter(Boolean)
    .join(" ");
}

/** The range in the form of DynamoDB: its expressions, names and values. */
export function queryInput(range: QueryRange) {
  const { pk, index, prefix, from, to, newestFirst = false, limit, after, filter, eventual = false } = range;
  const { names, placeholders } = collect();
  const [pkName, skName] = index ? [`${index}pk`, `${index}sk`] : ["pk", "sk"];
  const sk = () => names.name(skName);
  const bounds = [`${names.name(pkName)} = ${names.value(pk)}`];
  if (prefix !== undefined) bounds.push(`begins_with(${sk()}, ${names.value(prefix)})`);
  else if (from !== undefined && to !== undefined)
    bounds.push(`${sk()} BETWEEN ${names.value(from)} AND ${names.value(to)}`);
  else if (from !== undefined) bounds.push(`${sk()} >= ${names.value(from)}`);
  else if (to !== undefined) bounds.push(`${sk()} <= ${names.value(to)}`);
  const filtered = filter && { FilterExpression: filter(names) };
  return {
    KeyConditionExpression: bounds.join(" AND "),
    ...filtered,
    ...placeholders(),
    ScanIndexForward: !newestFirst,
    ConsistentRead: !eventual && !index,
    ...(index && { IndexName: tableDefinition.indexes[index].name }),
    ...(limit !== undefined && { Limit: limit }),
    ...(after && { ExclusiveStartKey: after }),
  } satisfies Partial<QueryCommandInput>;
}

function collect() {
  const nameOf = new Map<string, string>();
  const values: Value[] = [];
  const names: Names = {
    name: (attribute) => {
      const cached = nameOf.get(attribute) ?? `#${nameOf.size}`;
      nameOf.set(attribute, cached);
      return cached;
    },
    value: (value) => `:${values.push(value) - 1}`,
  };
  const placeholders = () => {
    const ExpressionAttributeNames: Record<string, string> = {};
    for (const [attribute, name] of nameOf) ExpressionAttributeNames[name] = attribute;
    const ExpressionAttributeValues: Record<string, Value> = {};
    for (const [i, value] of values.entries()) ExpressionAttributeValues[`:${i}`] = value;

    return {
      ...(nameOf.size > 0 && { ExpressionAttributeNames }),
      ...(values.length > 0 && { ExpressionAttributeValues }),
    };
  };
  return { names, placeholders };
}
