// The rights of a function on the table, as its role has them in a deployment: every test that calls it is denied the rest.
import { awsFailure, type Hooks, type Wire } from "../../local/aws/index.ts";

const inTransaction = {
  Put: "PutItem",
  Update: "UpdateItem",
  Delete: "DeleteItem",
  ConditionCheck: "ConditionCheckItem",
};

/** The IAM actions that a request to DynamoDB needs, without the name of the service; one of them again and again. */
function neededActions(operation: string, input: Wire): string[] {
  if (operation !== "TransactWriteItems") return [operation];
  return (input.TransactItems as object[]).map((item) => {
    const [kind] = Object.keys(item) as (keyof typeof inTransaction)[];
    return inTransaction[kind!];
  });
}

/** The hooks of a function, which may do these actions on the table only; undefined: all. */
export const limitedTo = (name: string, allowed: readonly string[] | undefined, hooks: Hooks = {}): Hooks => {
  const actions = allowed && new Set(allowed.map((action) => action.replace(/^dynamodb:/, "")));
  return {
    ...hooks,
    before: (service, operation, input) => {
      if (actions && service === "dynamodb")
        for (const action of neededActions(operation, input))
          if (!actions.has(action))
            throw awsFailure(
              "AccessDeniedException",
              `${name} may not do dynamodb:${action}: see its uses, and functions/table-actions.ts.`,
            );
      return hooks.before?.(service, operation, input);
    },
  };
};
