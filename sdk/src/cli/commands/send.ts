// Sends a message to one subscriber, and reports its outcome.
import { ServiceError } from "../../errors.ts";
import type { RecipientsNotification } from "../../types.gen.ts";
import { type Call, command, EXIT, usageError } from "../command.ts";
import { type Connection, withConnection } from "../connection.ts";
import { idOf, subscriberId } from "../names.ts";

const POLL_MS = 1_000;
const MAX_WAIT_MS = 60_000;
const UNSENT = ["failed", "uncertain", "bounced", "skipped", "held_out", "canceled"];

const options = {
  to: { type: "string", value: "<external id>", about: "Who gets it: your own id of the user" },
  title: { type: "string", value: "<text>", about: "The title; may hold {{ subscriber.first_name }}" },
  body: { type: "string", value: "<text>", about: "The text" },
  template: { type: "string", value: "<name>", about: "A template instead of title and body" },
  channel: { type: "string", value: "<names>", about: "Channels by name, separated by commas" },
  "no-wait": { type: "boolean", about: "Do not wait for the outcome" },
} as const;

async function bodyOf({ options }: Call, { call, hasServerKeyOnly }: Connection): Promise<Record<string, unknown>> {
  const { title, body, template, channel } = options as Record<string, string | undefined>;
  if (template === undefined && (title === undefined || body === undefined))
    throw usageError("--title and --body, or --template, are required.");
  if (hasServerKeyOnly && (template !== undefined || channel !== undefined))
    throw usageError("With a server key, only --title and --body can be sent.");
  return {
    ...(title !== undefined && { title }),
    ...(body !== undefined && { body }),
    ...(template !== undefined && { template_id: await idOf({ call }, "templates", template) }),
    ...(channel !== undefined && {
      channel_ids: await Promise.all(channel.split(",").map((name) => idOf({ call }, "channels", name.trim()))),
    }),
  };
}

/** Waits until the service knows the outcome of the message. @returns undefined if it does not know it in time */
async function outcomeOf({ io }: Call, { client }: Connection, job: string, subscriber: string) {
  const until = io.now() + MAX_WAIT_MS;
  try {
    while (!io.signal.aborted) {
      const { items } = await client.recipients.list(job);
      const found = items.find((item) => item.subscriber_id === subscriber);
      if (found && found.state !== "pending") return found;
      if (io.now() >= until) return found;
      await io.pause(POLL_MS);
    }
  } catch (error) {
    // The command succeeds without an outcome, because after a failure a script would send the message again.
    if (!(error instanceof ServiceError)) throw error;
    io.note(`It was accepted, and what became of it could not be read: ${error.message}`);
  }
  return undefined;
}

/** For a deferred message, `channel` is one that did not wait for the end of the quiet hours, if there is one. */
function textOf({ state, reason, channel, deferred_until }: RecipientsNotification): string {
  if (deferred_until) return `${state} to the end of the quiet hours at ${deferred_until}`;
  return `${state}${reason ? `: ${reason}` : ""} by ${channel ?? "no channel"}`;
}

export const send = command({
  name: "send",
  args: "",
  summary: "Send a message to one subscriber and show what became of it",
  options,
  run: async (call) => {
    const { io, options } = call;
    const { to } = options;
    if (to === undefined) throw usageError("--to is required: the external id of a subscriber.");
    return withConnection(io, { ...options, takesServerKey: true }, async (connection) => {
      const { hasServerKeyOnly } = connection;
      const message = await bodyOf(call as Call, connection);
      if (hasServerKeyOnly) {
        const job = await connection.call("notifications.create", { ...message, external_ids: [to] });
        io.out(options.json ? JSON.stringify(job) : `Accepted as ${String(job.id)}.`);
        return Array.isArray(job.unknown_ids) && job.unknown_ids.length > 0 ? EXIT.failed : EXIT.ok;
      }
      const subscriber = await subscriberId(connection, to);
      const job = await connection.call("notifications.create", { ...message, subscriberIds: [subscriber] });
      const outcome = options["no-wait"]
        ? undefined
        : await outcomeOf(call as Call, connection, String(job.id), subscriber);
      if (options.json) io.out(JSON.stringify({ notification_id: job.id, ...outcome }));
      else if (!outcome) io.out(`Accepted as ${String(job.id)}.`);
      else io.out(`${textOf(outcome)} (${String(job.id)})`);
      return outcome && UNSENT.includes(outcome.state) ? EXIT.failed : EXIT.ok;
    });
  },
});
