// The rights of a function on the table, as its role has them in a deployment: every test that calls it is denied the rest.
import { awsFailure, type Hooks, type Wire } from "../../local/aws/index.ts";

const inTransaction = {
  Put: "PutItem",
  Update: "UpdateItem",
  Delete: "DeleteItem",
  ConditionCheck: "ConditionCheckItem",
};

/** The IAM actions that a request to DynamoDB needs, without the name of the service. */
function neededActions(operation: string, input: Wire): string[] {
  if (operation !== "TransactWriteItems") return [operation];
  const kinds = (input.TransactItems as object[]).map((item) => Object.keys(item)[0] as keyof typeof inTransaction);
  return [...new Set(kinds)].map((kind) => inTransaction[kind]);
}

/** The hooks of a function, which may do these actions on the table only; undefined: all. */
export const limitedTo = (name: string, allowed: readonly string[] | undefined, hooks: Hooks = {}): Hooks => ({
  ...hooks,
  before: (service, operation, input) => {
    if (allowed && service === "dynamodb")
      for (const action of neededActions(operation, input))
        if (!allowed.includes(`dynamodb:${action}`))
          throw awsFailure(
            "AccessDeniedException",
            `${name} may not do dynamodb:${action}: see its uses, and functions/table-actions.ts.`,
          );
    return hooks.before?.(service, operation, input);
  },
});
