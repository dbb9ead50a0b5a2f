// The stored form of sandbox workspaces: their timers, their open work, their outbox, and the move of their clock.
import * as v from "valibot";
import type { DueKind } from "../../contract/due-kinds.ts";
import type { QueueName } from "../../contract/messages.ts";
import { Timestamp } from "../../contract/schemas.ts";
import { providedChannels } from "../../rules/channel-types.ts";
import { item, platformItem } from "../item.ts";
import { json } from "../json-text.ts";
import { WorkspaceId } from "../workspaces/items.ts";

const AT_DIGITS = 15;

/** The work of a timer: that of a due row, or a message that was to be delayed in its queue. */
export type TimerWork =
  | { kind: "due"; due: DueKind; id: string }
  | { kind: "message"; queue: QueueName; message: unknown };

export const SandboxTimer = item({
  about: "Something that happens later in a sandbox, by the time of the sandbox.",
  pk: () => "SANDBOX",
  sk: ({ at, timer }: { at: number; timer: string }) => `${String(at).padStart(AT_DIGITS, "0")}#${timer}`,
  row: { at: v.number(), since: v.number(), work: json<TimerWork>() },
  writers: ["every function that sets timers or delays messages", "move-clock"],
  lifetime: "until it is forwarded",
});

export const SandboxWork = item({
  about: "The messages and changes that are being worked on in a sandbox, by the real time at which each began.",
  pk: () => "SANDBOX-WORK",
  row: {
    /** `on:<id of the message>#<attempt>`; `on:<id of the message>` if an attempt failed, until it is delivered again. */
    "on:*": v.number(),
    worked_at: v.optional(v.number()),
  },
  writers: ["every worker"],
});

const outboxChannels = [...providedChannels, "webhook" as const];

/** An outgoing message of a sandbox; the content is cut at 100,000 characters. */
export const sentFields = {
  id: v.string(),
  channel: v.picklist(outboxChannels),
  at: Timestamp,
  to: v.string(),
  subscriber_id: v.nullable(v.string()),
  job_id: v.nullable(v.string()),
  title: v.nullable(v.string()),
  body: v.string(),
};

export const OutboxItem = item({
  about: "A message or a webhook that a sandbox would have sent.",
  pk: () => "OUTBOX",
  sk: ({ id }: { id: string }) => id,
  row: { ...sentFields, headers: v.optional(json<Record<string, string>>()), expires: v.number() },
  writers: ["deliver", "post-webhook", "api-tests"],
  personal: "removed",
  lifetime: "30 days",
});

export const ClockMove = platformItem({
  about: "The latest move of a sandbox's clock.",
  pk: ({ tenant }: { tenant: string }) => `CLOCK#${tenant}`,
  row: {
    react: v.literal("clock-move"),
    tenant: WorkspaceId,
    id: v.string(),
    from: v.number(),
    to: v.number(),
    status: v.picklist(["running", "completed", "stopped"]),
    /** How many moments with work it has come to, and how many messages those had. */
    moments: v.number(),
    messages: v.number(),
    /** The moment whose messages were counted last. */
    counted: v.optional(v.number()),
    started_at: Timestamp,
    ended_at: v.optional(Timestamp),
    /** In real time. */
    progress_at: v.number(),
    owner: v.optional(v.string()),
    lease_until: v.optional(v.number()),
  },
  writers: ["api-tests", "move-clock"],
  purge: "by-tenant-attribute",
});
