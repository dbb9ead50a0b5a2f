// ExecuteStatement and BatchExecuteStatement: each statement becomes the write that it means.
import { type AwsFailure, awsFailure, isAwsFailure, type Wire } from "../stand-in.ts";
import { isRefusal } from "./admission.ts";
import { consumed, consumedByTable } from "./capacity.ts";
import type { Call, Engine, Operations } from "./engine.ts";
import { validation } from "./errors.ts";
import { perform } from "./items.ts";
import { CONSUMED, flag, list, listOf, needed, ON_FAILURE, type Rule, structure, text } from "./parameters.ts";
import { readStatement, type Statement, type Test } from "./partiql.ts";
import { keyParts, type Table } from "./tables.ts";
import type { AttributeValue, Item } from "./values.ts";
import { preparePut, prepareUpdate, type WriteInput } from "./writes.ts";

const MAX_STATEMENTS = 25;
const STATEMENT = {
  Statement: needed(text),
  Parameters: list,
  ConsistentRead: flag,
  ReturnValuesOnConditionCheckFailure: ON_FAILURE,
};
const STATEMENTS: Rule = {
  ...listOf(structure(STATEMENT, "BatchStatementRequest")),
  required: true,
  ahead: { min: 1, max: MAX_STATEMENTS },
};

interface StatementInput extends Wire {
  Statement: string;
  Parameters?: AttributeValue[];
  ReturnValuesOnConditionCheckFailure?: string;
}

/** The codes of single statements of a batch, by the name of the error that it would be alone. */
const CODES: Record<string, string> = {
  ConditionalCheckFailedException: "ConditionalCheckFailed",
  DuplicateItemException: "DuplicateItem",
  ResourceNotFoundException: "ResourceNotFound",
  ThrottlingException: "ThrottlingError",
  TransactionConflictException: "TransactionConflict",
  ValidationException: "ValidationError",
};

export function statementOperations(engine: Engine): Operations {
  return {
    ExecuteStatement: {
      shape: { ...STATEMENT, ReturnConsumedCapacity: CONSUMED },
      writes: true,
      run: (input, call) => {
        execute(engine, call, input as StatementInput);
        return { Items: [], ...consumed(call.bill, input.ReturnConsumedCapacity) };
      },
    },
    BatchExecuteStatement: {
      shape: { Statements: STATEMENTS, ReturnConsumedCapacity: CONSUMED },
      writes: true,
      run: (input, call) => ({
        Responses: (input.Statements as StatementInput[]).map((one) => answerOf(engine, call, one)),
        ...consumedByTable(call.bill, input.ReturnConsumedCapacity),
      }),
    },
  };
}

/** A statement of a batch fails alone. */
function answerOf(engine: Engine, call: Call, input: StatementInput): Wire {
  try {
    return { TableName: execute(engine, call, input) };
  } catch (error) {
    const code = isAwsFailure(error) ? CODES[error.name] : undefined;
    if (code === undefined) throw error;
    const { message, fields } = error as AwsFailure;
    return { Error: { Code: code, Message: message, ...(!isRefusal(error) && fields) } };
  }
}

/** Performs one statement. @returns the name of its table. */
function execute(engine: Engine, call: Call, input: StatementInput): string {
  const { Parameters = [] } = input;
  const { statement, parameters } = readStatement(input.Statement);
  if (parameters !== Parameters.length)
    throw validation(
      `Number of parameters in request and statement don't match: ${Parameters.length} and ${parameters}.`,
    );
  const table = engine.tables.need(statement.table);
  const write = statement.kind === "insert" ? putOf(statement, table, input) : updateOf(statement, table, input);
  const prepared = statement.kind === "insert" ? preparePut(write) : prepareUpdate(write);
  try {
    perform(engine, call, prepared.on(table));
  } catch (error) {
    if (statement.kind !== "insert" || !isAwsFailure(error) || error.name !== "ConditionalCheckFailedException")
      throw error;
    throw awsFailure("DuplicateItemException", "Duplicate primary key exists in table", { fields: error.fields });
  }
  return table.name;
}

const operandOf = (operand: NonNullable<Test["than"]>, { Parameters = [] }: StatementInput): AttributeValue =>
  "value" in operand ? operand.value : Parameters[operand.parameter]!;

type Insert = Extract<Statement, { kind: "insert" }>;
type Update = Extract<Statement, { kind: "update" }>;

const shared = (table: Table, { ReturnValuesOnConditionCheckFailure }: StatementInput) => ({
  TableName: table.name,
  ...(ReturnValuesOnConditionCheckFailure !== undefined && { ReturnValuesOnConditionCheckFailure }),
});

/** A put of an item that must not exist. */
function putOf({ item }: Insert, table: Table, input: StatementInput): WriteInput {
  return {
    ...shared(table, input),
    Item: Object.fromEntries(item.map(([name, operand]) => [name, operandOf(operand, input)])),
    ConditionExpression: "attribute_not_exists(#key)",
    ExpressionAttributeNames: { "#key": table.keys.hash.name },
  };
}

/** An update of an item that must exist, with the tests on attributes other than its key as conditions. */
function updateOf({ set, remove, where }: Update, table: Table, input: StatementInput): WriteInput {
  const names: Record<string, string> = {};
  const values: Item = {};
  const nameOf = (name: string) => {
    const reference = `#n${Object.keys(names).length}`;
    names[reference] = name;
    return reference;
  };
  const referTo = (operand: NonNullable<Test["than"]>) => {
    const reference = `:v${Object.keys(values).length}`;
    values[reference] = operandOf(operand, input);
    return reference;
  };
  const { key, others } = splitByKey(where, table, input);
  const conditions = others.map(({ name, is, than }) =>
    is === "missing" ? `attribute_not_exists(${nameOf(name)})` : `${nameOf(name)} ${is} ${referTo(than!)}`,
  );
  const sets = set.map(([name, operand]) => `${nameOf(name)} = ${referTo(operand)}`);
  const removes = remove.map(nameOf);
  return {
    ...shared(table, input),
    Key: key,
    UpdateExpression: [
      sets.length > 0 ? `SET ${sets.join(", ")}` : "",
      removes.length > 0 ? `REMOVE ${removes.join(", ")}` : "",
    ].join(" "),
    ConditionExpression: [`attribute_exists(${nameOf(table.keys.hash.name)})`, ...conditions].join(" AND "),
    ExpressionAttributeNames: names,
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  };
}

function splitByKey(where: readonly Test[], table: Table, input: StatementInput): { key: Item; others: Test[] } {
  const key: Item = {};
  const others: Test[] = [];
  const parts = new Set(keyParts(table.keys).map(({ name }) => name));
  for (const test of where)
    if (parts.has(test.name) && test.is === "=" && !(test.name in key)) key[test.name] = operandOf(test.than!, input);
    else others.push(test);
  if (Object.keys(key).length < parts.size)
    throw validation("Where clause does not contain a mandatory equality on all key attributes");
  return { key, others };
}
