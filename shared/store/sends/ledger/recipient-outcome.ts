// The outcome of one recipient of a send, from the rows of the ledger and the inbox.
import { timestamp } from "../../../kernel/clock.ts";
import { isPseudonym, timeOfUuid } from "../../../kernel/ids.ts";
import { isTerminal } from "../../../rules/job-states.ts";
import { countedReason } from "../../../rules/reasons.ts";
import type { RecipientState } from "../../../rules/recipient-states.ts";
import type { StoreReader } from "../../context.ts";
import { fromJson } from "../../json-text.ts";
import type { Recipient } from "../chunks/recipients.ts";
import { type MessageRow, messageIdOf } from "../inbox/inbox.ts";
import { MESSAGE_KEPT_MS } from "../inbox/inbox-items.ts";
import type { JobRecord } from "../jobs/job-record.ts";
import type { Attempt, Decision } from "./attempts.ts";
import type { ClaimedWith } from "./ledger-items.ts";
import type { TouchRow } from "./touches.ts";

const states: Record<TouchRow["state"], RecipientState> = {
  sent: "delivered",
  failed: "failed",
  unknown: "uncertain",
  retryable: "pending",
  bounced: "bounced",
  skipped: "skipped",
  held_out: "held_out",
  assigned: "pending",
};

export const ledgerOutcome = ({ state, reason, channel }: TouchRow) => ({
  state: states[state],
  reason: reason ?? null,
  channel: channel ?? null,
});

/** Each round has rows of its own, and the newest of an address knows the tries of all. */
export const newestByAddress = (rows: readonly TouchRow[]): TouchRow[] => [
  ...new Map(rows.map((row) => [`${row.channel} ${row.device}`, row])).values(),
];

/** The attempt that a row of the ledger stands for; none if nothing was sent to the subscriber yet. */
function attemptsOf(row: TouchRow): Attempt[] {
  const { channel, device, state, reason, provider_id, shortened, tries, complained, seen, claimed_with } = row;
  if (channel === undefined) return [];

  return [
    {
      channel,
      device_id: device ?? null,
      state: states[state],
      reason: reason ?? null,
      provider_id: provider_id ?? null,
      shortened: shortened ?? false,
      attempted_at: tries ?? [],
      complained: complained ?? false,
      cap: reason === "capped" && seen !== undefined ? fromJson(seen) : null,
      claimed_with: claimed_with === undefined ? null : shownClaim(fromJson(claimed_with)),
    },
  ];
}

const shownClaim = ({ consent, suppression, topic }: ClaimedWith): Attempt["claimed_with"] => ({
  consent: consent ?? null,
  suppression: suppression ?? null,
  topic_choice: topic ?? null,
});

/** The inbox is its own ledger. */
const inboxAttempt: Attempt = {
  channel: "in_app",
  device_id: null,
  state: "delivered",
  reason: null,
  provider_id: null,
  shortened: false,
  attempted_at: [],
  complained: false,
  cap: null,
  claimed_with: null,
};

interface RecipientRows {
  /** The rows of the job and the subscriber, oldest first. */
  ledger: readonly TouchRow[];
  messages: readonly MessageRow[];
  /** Why the plan skipped the subscriber. */
  skip: string | undefined;
  isDeferred: boolean;
  /** Known to be no part of the audience. */
  isOutside?: boolean;
}

export interface RecipientOutcome {
  decision: Decision;
  state: RecipientState;
  reason: string | null;
  attempts: Attempt[];
  isHeld: boolean;
  arm: "a" | "b" | undefined;
  /** When the newest of its rows is of, RFC 3339. */
  at: string | undefined;
}

/** The outcome of one recipient: its state and its reason from all of its rows, and every attempt. */
export function recipientOutcome(
  job: Pick<JobRecord, "status">,
  { ledger, messages, skip, isDeferred, isOutside = false }: RecipientRows,
): RecipientOutcome {
  const isStopped = job.status === "canceled";
  const attempts = [...newestByAddress(ledger).flatMap(attemptsOf), ...messages.map(() => inboxAttempt)].map(
    (attempt): Attempt => (isStopped && attempt.state === "pending" ? { ...attempt, state: "canceled" } : attempt),
  );
  const isHeld = ledger.some(({ state }) => state === "held_out");
  const isSent = attempts.some(({ state }) => state !== "skipped" && state !== "canceled");
  const late = isSent ? undefined : reasonOf(attempts.filter(({ state }) => state === "skipped"));
  const decision = decisionOf(job, { isHeld, skip: skip ?? late, isSent, isDeferred, isOutside });
  const state = stateOf(decision, attempts);
  const times = [
    ...ledger.flatMap(({ sk, tries = [] }) => tries.at(-1) ?? sk.split("#")[1] ?? []),
    ...messages.map((row) => timestamp(timeOfUuid(messageIdOf(row)))),
  ];
  return {
    decision,
    state,
    reason: skip ?? late ?? (state === "delivered" ? null : (reasonOf(failuresOf(attempts, state)) ?? null)),
    attempts,
    isHeld,
    arm: ledger.find((row) => row.arm)?.arm,
    at: times.sort().at(-1),
  };
}

/**
 * Why an inbox got no message, if the send has ended and no row tells: a message that cannot be rendered for its
 * recipient leaves none, and the totals count it (AMB-139). Undefined if the totals have no such recipient.
 */
export function lostReason(
  { status, fail_reasons: { erased = 0, template_error: unrendered = 0 } }: Pick<JobRecord, "status" | "fail_reasons">,
  subscriber: string,
): "erased" | "template_error" | undefined {
  if (!isTerminal(status) || status === "canceled") return undefined;
  if (isPseudonym(subscriber)) return erased > 0 ? "erased" : undefined;
  return unrendered > 0 ? "template_error" : undefined;
}

/**
 * Whether the inbox had a message that is deleted now: it was its own ledger. In a smart send that tried another
 * channel, the inbox may never have been tried.
 */
export function wasInInbox(
  { clock }: StoreReader,
  { dispatched_at, channel_arbitration_mode: mode }: JobRecord,
  { targets }: Recipient,
  { outcome: { decision, state }, ledger }: { outcome: RecipientOutcome; ledger: readonly TouchRow[] },
): boolean {
  const isOpen = decision === "not_in_audience" || (decision === "sent" && state !== "delivered" && mode !== "smart");
  const isInInbox = targets.some(({ channel }) => channel === "in_app");
  const isTold = ledger.some(({ channel }) => channel === "in_app");
  const isGone = dispatched_at !== null && Date.parse(dispatched_at) + MESSAGE_KEPT_MS <= clock.now();
  return isOpen && isInInbox && !isTold && isGone;
}

/** The reason that the totals of the send count the recipient with. */
const reasonOf = (attempts: readonly Attempt[]): string | undefined =>
  countedReason(attempts.flatMap(({ reason }) => reason ?? []));

/** If a mail bounced, only that counts: the other addresses do not make the recipient fail. */
const failuresOf = (attempts: readonly Attempt[], state: RecipientState): Attempt[] =>
  attempts.filter(
    (attempt) =>
      attempt.state === "bounced" || (["failed", "uncertain"].includes(attempt.state) && state !== "bounced"),
  );

function decisionOf(
  job: Pick<JobRecord, "status">,
  facts: { isHeld: boolean; skip: string | undefined; isSent: boolean; isDeferred: boolean; isOutside: boolean },
): Decision {
  const { isHeld, skip, isSent, isDeferred, isOutside } = facts;
  if (isDeferred) return "deferred";
  if (isSent) return "sent";
  if (isHeld) return "held_out";
  if (skip !== undefined) return "skipped";
  if (isOutside) return "not_in_audience";
  if (job.status === "canceled") return "canceled";
  return isTerminal(job.status) ? "not_in_audience" : "pending";
}

/**
 * A recipient whose mail bounced is `bounced`, as in the counts and in the step of its journey, until another channel
 * reaches them.
 */
function stateOf(decision: Decision, attempts: readonly Attempt[]): RecipientState {
  if (decision === "not_in_audience") return "skipped";
  if (decision !== "sent") return decision;
  const found = (["delivered", "bounced", "pending", "uncertain"] as const).find((state) =>
    attempts.some((attempt) => attempt.state === state),
  );
  return found ?? "failed";
}
