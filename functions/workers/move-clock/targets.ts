// Where the timers of a sandbox lead to.
import { type QueueName, queueNames } from "../../../shared/contract/messages.ts";
import { targets } from "../../../shared/runtime/resources.ts";

/** Queues whose messages concern no workspace's own time. */
const OUTSIDE_SANDBOXES: readonly QueueName[] = ["due", "mail-account", "purge"];

/** The right to send to every queue whose messages a sandbox may put off. */
export const sandboxTargets = targets(
  "sandboxTargets",
  queueNames.filter((queue) => !OUTSIDE_SANDBOXES.includes(queue)),
);
