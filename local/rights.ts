// The rights that a request to the table needs.
import type { Wire } from "./aws/stand-in.ts";

const inTransaction = {
  Put: "PutItem",
  Update: "UpdateItem",
  Delete: "DeleteItem",
  ConditionCheck: "ConditionCheckItem",
};

/** The IAM actions that a request to DynamoDB needs, without the name of the service. */
export function neededActions(operation: string, input: Wire): string[] {
  if (operation !== "TransactWriteItems") return [operation];
  const kinds = (input.TransactItems as object[]).map((item) => Object.keys(item)[0] as keyof typeof inTransaction);
  return [...new Set(kinds)].map((kind) => inTransaction[kind]);
}
