// Random requests: every item operation, mostly sound, some with one thing wrong.
import type { Wire } from "../../local/aws/index.ts";
import type { Random } from "../simulator/random.ts";
import { expressions } from "./random-expressions.ts";
import { type Item, item, keyOf, keyValue, value, wrongValue } from "./random-values.ts";
import { type ParityTable, parityTables } from "./tables.ts";

export interface Request {
  operation: string;
  input: Wire;
}

const keyNames = ({ hash, range }: ParityTable): string[] => [hash[0], ...(range ? [range[0]] : [])];

export function requestsOf(random: Random) {
  const tables = () => random.pick(parityTables);
  const consumed = (): Wire =>
    random.chance(0.25) ? { ReturnConsumedCapacity: random.pick(["TOTAL", "INDEXES", "NONE"]) } : {};

  const put = (): Wire => {
    const table = tables();
    const made = expressions(random, keyNames(table));
    const guarded = random.chance(0.35) && { ConditionExpression: made.condition() };
    return { TableName: table.name, Item: item(random, table), ...guarded, ...made.members() };
  };
  const erase = (): Wire => {
    const table = tables();
    const made = expressions(random, keyNames(table));
    const guarded = random.chance(0.5) && { ConditionExpression: made.condition() };
    return { TableName: table.name, Key: keyOf(random, table), ...guarded, ...made.members() };
  };
  const update = (table = tables(), needed = false): Wire => {
    const made = expressions(random, keyNames(table));
    const changed = (needed || random.chance(0.97)) && { UpdateExpression: made.update() };
    const guarded = random.chance(0.25) && { ConditionExpression: made.condition() };
    // Where there is no item, DynamoDB Local makes one of an update that only takes away.
    const takesOnly = changed && !/\b(SET|ADD)\b/.test(changed.UpdateExpression);
    const present = takesOnly && { ConditionExpression: `attribute_exists(${table.hash[0]})` };
    const key = keyOf(random, table);
    return { TableName: table.name, Key: key, ...changed, ...guarded, ...present, ...made.members() };
  };
  const get = (table = tables()): Wire => {
    const made = expressions(random, keyNames(table));
    const projected = random.chance(0.4) && { ProjectionExpression: made.projection() };
    return { TableName: table.name, Key: keyOf(random, table), ...projected, ...made.members() };
  };
  const onFailure = (): Wire => (random.chance(0.3) ? { ReturnValuesOnConditionCheckFailure: "ALL_OLD" } : {});

  const read = (table: ParityTable, made: ReturnType<typeof expressions>): Wire => ({
    TableName: table.name,
    ...(random.chance(0.4) && { FilterExpression: made.condition() }),
    ...(random.chance(0.3) && { ProjectionExpression: made.projection() }),
    ...(random.chance(0.15) && {
      Select: random.pick(["COUNT", "ALL_ATTRIBUTES", "SPECIFIC_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"]),
    }),
    ...(random.chance(0.2) && { ConsistentRead: random.chance(0.5) }),
  });

  const query = (): Wire => {
    const table = tables();
    const index = random.chance(0.4) ? random.pick([undefined, ...table.indexes]) : undefined;
    const { hash, range } = index ?? table;
    const made = expressions(random, keyNames(table));
    const type = (part: [string, string]) => (random.chance(0.98) ? part[1] : random.pick(["S", "N", "B"]));
    const on = () => made.use(keyValue(random, type(range!)));
    const stretch =
      range &&
      random.chance(0.6) &&
      random.pick([
        () => `${range[0]} ${random.pick(["=", "<", "<=", ">", ">="])} ${on()}`,
        () => `${range[0]} BETWEEN ${on()} AND ${on()}`,
        () => `begins_with(${range[0]}, ${on()})`,
        () => `${on()} ${random.pick(["=", "<", "<=", ">", ">="])} ${range[0]}`,
        ...(random.chance(0.1)
          ? [
              () => `${range[0]} <> ${on()}`,
              () => `attribute_exists(${range[0]})`,
              () => `contains(${range[0]}, ${on()})`,
              () => `${range[0]} IN (${on()})`,
              () => made.condition(),
            ]
          : []),
      ])();
    const parts = [
      `${hash[0]} ${random.chance(0.98) ? "=" : random.pick(["<", ">", "<>"])} ${made.use(keyValue(random, type(hash)))}`,
    ];
    if (stretch) parts.push(stretch);
    const condition = (random.chance(0.9) ? parts : parts.reverse()).join(random.chance(0.99) ? " AND " : " OR ");
    return {
      ...read(table, made),
      ...(index && { IndexName: index.name }),
      KeyConditionExpression: random.chance(0.985) ? condition : made.condition(),
      ...(random.chance(0.4) && { ScanIndexForward: random.chance(0.4) }),
      ...(random.chance(0.4) && { Limit: random.between(1, 4) }),
      ...made.members(),
    };
  };
  const scan = (): Wire => {
    const table = tables();
    const made = expressions(random, keyNames(table));
    const index = random.chance(0.3) ? random.pick([undefined, ...table.indexes]) : undefined;
    return {
      ...read(table, made),
      ...(index && { IndexName: index.name }),
      ...(random.chance(0.3) && { Limit: random.between(1, 4) }),
      ...(random.chance(0.05) && { Segment: random.between(0, 3), TotalSegments: random.between(1, 3) }),
      ...made.members(),
    };
  };

  const batchWrite = (): Wire => {
    const requests: Record<string, Wire[]> = {};
    for (const table of random.some(parityTables, random.between(1, 2))) {
      const seen = new Map<string, Wire>();
      for (let count = random.between(1, 4); count > 0; count--) {
        const made = item(random, table);
        const key = Object.fromEntries(keyNames(table).map((name) => [name, made[name]!]));
        const text = random.chance(0.98) ? JSON.stringify(key) : String(count);
        seen.set(text, random.chance(0.7) ? { PutRequest: { Item: made } } : { DeleteRequest: { Key: key } });
      }
      requests[table.name] = [...seen.values()];
    }
    return { RequestItems: requests };
  };
  const batchGet = (): Wire => ({
    RequestItems: Object.fromEntries(
      random.some(parityTables, random.between(1, 2)).map((table) => {
        const { TableName: _name, Key: _key, ...more } = get(table);
        const keys = new Map<string, Item>();
        for (let count = random.between(1, 4); count > 0; count--) {
          const key = keyOf(random, table);
          keys.set(random.chance(0.98) ? JSON.stringify(key) : String(count), key);
        }
        return [table.name, { Keys: [...keys.values()], ...more, ...(random.chance(0.2) && { ConsistentRead: true }) }];
      }),
    ),
  });
  const transactWrite = (): Wire => ({
    TransactItems: Array.from({ length: random.between(1, 4) }, () => {
      const kind = random.pick(["Put", "Update", "Delete", "ConditionCheck"]);
      if (kind === "Put") return { Put: { ...put(), ...onFailure() } };
      if (kind === "Update") return { Update: { ...update(tables(), true), ...onFailure() } };
      if (kind === "Delete") return { Delete: { ...erase(), ...onFailure() } };
      const table = tables();
      const made = expressions(random, keyNames(table));
      const ConditionExpression = made.condition();
      return {
        ConditionCheck: {
          TableName: table.name,
          Key: keyOf(random, table),
          ConditionExpression,
          ...made.members(),
          ...onFailure(),
        },
      };
    }),
  });
  const transactGet = (): Wire => ({
    TransactItems: Array.from({ length: random.between(1, 4) }, () => ({ Get: get() })),
  });

  const answers = (choices: string[]): Wire => (random.chance(0.4) ? { ReturnValues: random.pick(choices) } : {});
  const makers: [weight: number, operation: string, make: () => Wire][] = [
    [22, "PutItem", () => ({ ...put(), ...answers(["NONE", "ALL_OLD", "ALL_OLD"]), ...onFailure(), ...consumed() })],
    [
      26,
      "UpdateItem",
      () => ({
        ...update(),
        ...answers(["NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"]),
        ...onFailure(),
        ...consumed(),
      }),
    ],
    [
      8,
      "DeleteItem",
      () => ({ ...erase(), ...answers(["NONE", "ALL_OLD", "ALL_OLD"]), ...onFailure(), ...consumed() }),
    ],
    [8, "GetItem", () => ({ ...get(), ...consumed(), ...(random.chance(0.3) && { ConsistentRead: true }) })],
    [16, "Query", () => ({ ...query(), ...consumed() })],
    [8, "Scan", () => ({ ...scan(), ...consumed() })],
    [4, "BatchWriteItem", () => ({ ...batchWrite(), ...consumed() })],
    [3, "BatchGetItem", () => ({ ...batchGet(), ...consumed() })],
    [5, "TransactWriteItems", () => ({ ...transactWrite(), ...consumed() })],
    [2, "TransactGetItems", () => ({ ...transactGet(), ...consumed() })],
  ];
  const total = makers.reduce((sum, [weight]) => sum + weight, 0);

  return (): Request => {
    let roll = random.next() * total;
    const [, operation, make] = makers.find(([weight]) => {
      roll -= weight;
      return roll < 0;
    })!;
    const input = make();
    return { operation, input: random.chance(0.06) ? spoiled(random, operation, input) : input };
  };
}

/** The same request with one thing wrong with it. */
function spoiled(random: Random, operation: string, input: Wire): Wire {
  const item = (input.Item ?? input.Key) as Item | undefined;
  const names = Object.keys(item ?? {});
  const replaced = (change: (from: Item) => Item): Wire => ({ ...input, [input.Item ? "Item" : "Key"]: change(item!) });
  const without = (name: string): Wire => Object.fromEntries(Object.entries(input).filter(([key]) => key !== name));
  const plus = (member: string, more: object): Wire => ({
    ...input,
    [member]: { ...(input[member] as object), ...more },
  });
  const isRead = operation === "Query" || operation === "Scan";
  const isSingle = item !== undefined;
  const choices: (() => Wire)[] = [
    () => without(random.pick(Object.keys(input))),
    () => ({ ...input, ReturnConsumedCapacity: "SOME" }),
    ...(isSingle
      ? [
          () => replaced((from) => ({ ...from, [random.pick(names)]: wrongValue(random) })),
          () => replaced((from) => ({ ...from, a: wrongValue(random) })),
          () => replaced((from) => ({ ...from, [random.pick(names)]: value(random) })),
          () => replaced((from) => Object.fromEntries(Object.entries(from).slice(1))),
          () => replaced((from) => ({ ...from, [names[0]!]: { [Object.keys(from[names[0]!]!)[0]!]: "" } })),
        ]
      : []),
    ...(isSingle || isRead
      ? [
          () => plus("ExpressionAttributeNames", { "#unused": "a" }),
          () => plus("ExpressionAttributeNames", { "#unused": "a", "#spare": "b" }),
          () => ({ ...input, ExpressionAttributeNames: {} }),
          () => ({ ...input, ExpressionAttributeNames: { n: "a" } }),
          () => ({ ...input, TableName: random.pick(["nowhere", "", "ab", "a b"]) }),
        ]
      : []),
    ...(isRead || (isSingle && operation !== "GetItem")
      ? [
          () => plus("ExpressionAttributeValues", { ":unused": { N: "1" } }),
          () => plus("ExpressionAttributeValues", { ":v0": wrongValue(random) }),
          () => ({ ...input, ExpressionAttributeValues: {} }),
          () => ({ ...input, ExpressionAttributeValues: { v: { N: "1" } } }),
        ]
      : []),
    ...(isSingle && operation !== "GetItem"
      ? [() => ({ ...input, ReturnValues: random.pick(["ALL_NEW", "UPDATED_NEW", "SOME"]) })]
      : []),
    ...(isRead
      ? [
          () => ({ ...input, IndexName: "nowhere" }),
          () => ({ ...input, Limit: 0 }),
          () => ({ ...input, Select: "SOME" }),
        ]
      : []),
  ];
  return random.pick(choices)();
}
