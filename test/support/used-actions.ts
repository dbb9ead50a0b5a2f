// What each function did with AWS during a run of tests, for test/support/actions-reporter.ts.
import { appendFileSync } from "node:fs";
import type { Hooks } from "../../local/aws/protocol.ts";
import { neededActions } from "../../local/rights.ts";

const file = process.env.USED_ACTIONS;
const seen = new Set<string>();

function note(line: string): void {
  if (!file || seen.has(line)) return;
  seen.add(line);
  appendFileSync(file, `${line}\n`);
}

/** The hooks of a function, noting what it asks AWS for. */
export function noting(name: string, hooks: Hooks = {}): Hooks {
  if (!file) return hooks;
  return {
    ...hooks,
    before: (service, operation, input) => {
      const actions = service === "dynamodb" ? neededActions(operation, input) : [operation];
      const where =
        service === "sqs"
          ? ` ${String(input.QueueUrl ?? "")
              .split("/")
              .at(-1)}`
          : "";
      for (const action of actions) note(`${name} ${service}:${action}${where}`);
      return hooks.before?.(service, operation, input);
    },
  };
}
