// The work of one message: a chunk with all that is needed to deliver it, and how its delivery may end.
import type { Message } from "../../../shared/contract/messages.ts";
import { type Clock, SECOND } from "../../../shared/kernel/clock.ts";
import type { Context, Deps } from "../../../shared/kernel/deps.ts";
import type { Ids } from "../../../shared/kernel/ids.ts";
import { providers } from "../../../shared/providers/providers.ts";
import { sesAccount } from "../../../shared/providers/ses.ts";
import type { AddressKind } from "../../../shared/rules/addresses.ts";
import type { ChannelType } from "../../../shared/rules/channel-types.ts";
import { elementAt } from "../../../shared/rules/element-at.ts";
import type { Addressee, Progress, SendOutcome, Unit } from "../../../shared/rules/progress.ts";
import type { Target } from "../../../shared/rules/reach.ts";
import { deliverQueue } from "../../../shared/runtime/resources.ts";
import { timers, workspaceRead } from "../../../shared/store/capabilities.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { mailReading } from "../../../shared/store/files/mails.ts";
import { mailLinks } from "../../../shared/store/mail-links.ts";
import type { Chunk } from "../../../shared/store/sends/chunks/chunks.ts";
import type { ClosingChunk, Hold } from "../../../shared/store/sends/chunks/closing.ts";
import type { ClaimState, Lease } from "../../../shared/store/sends/chunks/leases.ts";
import { isOnJob } from "../../../shared/store/sends/chunks/range-names.ts";
import type { Recipient } from "../../../shared/store/sends/chunks/recipients.ts";
import type { Tally } from "../../../shared/store/sends/chunks/tallies.ts";
import type { Job } from "../../../shared/store/sends/jobs/job-record.ts";
import type { SendState } from "../../../shared/store/sends/jobs/send-state.ts";
import { areInboxes } from "../../../shared/store/sends/jobs/single.ts";
import type { ClaimedWith } from "../../../shared/store/sends/ledger/ledger-items.ts";
import type { ChunkRef, RoundTimes } from "../../../shared/store/sends/ledger/touches.ts";
import type { DeviceRow } from "../../../shared/store/subscribers/device-items.ts";
import { vaultOpening } from "../../../shared/store/vault.ts";
import type { WorkspaceRecord } from "../../../shared/store/workspaces/workspaces.ts";
import { foundRates, jointReads, notedAnswers, openedCredentials, sendFigures, sendGates } from "./memory.ts";

export const uses = [
  storeWrite,
  deliverQueue,
  timers,
  workspaceRead,
  providers,
  sesAccount,
  vaultOpening,
  mailLinks,
  mailReading,
  openedCredentials,
  sendGates,
  sendFigures,
  foundRates,
  notedAnswers,
  jointReads,
] as const;
export type WorkerContext = Context<typeof uses> & { clock: Clock; ids: Ids; log: Deps["log"] };

/** No group begins after this much of a worker's minute. */
const WORKING_MS = 35 * SECOND;

interface ChunkState {
  message: Message<"deliver">;
  job: Job;
  chunk: Chunk;
  /** The claim of the worker before, if there was one. */
  claim: ClaimState | undefined;
  /** The rows read together with the row of a job that has its recipients. */
  known?: KnownRows;
}

export interface KnownRows {
  /** When the read began, in milliseconds. */
  at: number;
  owner: WorkspaceRecord | undefined;
  /** By `deviceName`. */
  devices: ReadonlyMap<string, DeviceRow | undefined>;
}

export const deviceName = ({ subscriber, device }: { subscriber: string; device: string }) => `${subscriber}:${device}`;

export interface Work extends WorkerContext, ChunkState {
  chunkRef: ChunkRef;
  addressees: readonly Addressee[];
  /** No group begins later, in milliseconds. */
  until: number;
  /** Messages whose address their provider reported dead. */
  dead: PreparedMessage[];
}

/** What the steps of a delivery work on: the message, its job and its chunk. */
export function workOf(context: WorkerContext, state: ChunkState): Work {
  const { job, range, chunk: n } = state.message;
  return {
    ...context,
    ...state,
    chunkRef: { job, range, n },
    addressees: state.chunk.recipients.map(({ targets, source }) => ({ targets, isSmart: source !== undefined })),
    until: context.clock.now() + WORKING_MS,
    dead: [],
  };
}

/** The chunk reaches only inboxes, which are their own ledger: one claim is enough for the whole chunk. */
export const isInbox = ({ job, chunk: { recipients } }: ChunkState): boolean =>
  recipients.length === 0 || areInboxes(job, recipients);

/** The decision about a chunk. */
export type Verdict = { kind: "deliver" } | { kind: "wind up" } | End;

/** How this worker's part of a chunk ends. */
export type End =
  /** The outcomes of all its recipients are known. */
  | { kind: "close"; closing: ClosingChunk }
  /** It was closed before; its range may be open. */
  | { kind: "closed" }
  /** Another message continues it after this time; beyond a queue's longest delay a timer does. */
  | { kind: "wait"; ms: number }
  /** Its send may not go on now; the end of the stop continues it. */
  | { kind: "stop"; sendState: SendState }
  /** Another message carries the outcomes, and continues the chunk. */
  | { kind: "handed over" }
  | { kind: "drop" };

export const closeWith = (
  { job, chunkRef, chunk }: Work,
  hold: Hold,
  tally: Tally,
  { isStopped = false } = {},
): End => ({
  kind: "close",
  closing: { job, chunkRef, hold, tally, isFinal: chunk.next === undefined, isStopped },
});

/** A chunk that this worker has claimed. Each claim replaces the lease, and each step changes the progress. */
export interface LeasedChunk {
  lease: Lease;
  progress: Progress;
}

/** The times of the round; before the first one begins, that of the claim. */
export const timesOf = ({ lease, progress }: LeasedChunk): RoundTimes => ({
  at: progress.at ?? lease.at,
  assignedAt: lease.at,
});

/** The message to one address, ready to be sent as soon as its group is claimed. */
export interface PreparedMessage {
  unit: Unit;
  /** The subscriber of its ledger row; the pseudonym of an erased one. */
  subscriber: string;
  channel: ChannelType;
  device?: DeviceRow | undefined;
  /** The address, unless it goes to a device or an inbox. */
  address?: { kind: AddressKind; address: string } | undefined;
  /** It is known before the claim that the message cannot be sent. */
  isRefused?: true;
  /** A frequency cap is reached. */
  isCapped?: true;
  /** The conditions of its address; undefined if the subscriber was not read. */
  claimedWith?: ClaimedWith | undefined;
  send(): Promise<SendOutcome>;
}

export interface SentMessage {
  message: PreparedMessage;
  outcome: SendOutcome;
}

/** The messages that wait for the end of quiet hours (D-QUIET). */
export interface WaitQueue {
  /** Takes recipients who have quiet hours now out of the round. */
  putOff(progress: Progress): void;
  /** The outcome for an address that waited and must not be sent to any more. */
  refusal(unit: Unit): SendOutcome | undefined;
  /** The profile, read for its time zone, shows that the subscriber is erased. Such a recipient does not wait. */
  isGone(subscriber: string): boolean;
}

export const isThrottle = (outcome: SendOutcome): boolean =>
  outcome.kind === "retryable" && outcome.isThrottled === true;

/** The provider was not called. */
export const isHeld = (outcome: SendOutcome): boolean => outcome.kind === "retryable" && outcome.isHeld === true;

type Recipients = Pick<Chunk, "recipients">;

export const recipientOf = ({ recipients }: Recipients, { recipient }: Pick<Unit, "recipient">): Recipient =>
  elementAt(recipients, recipient);

export const targetOf = (chunk: Recipients, unit: Pick<Unit, "recipient" | "target">): Target =>
  elementAt(recipientOf(chunk, unit).targets, unit.target);

export const channelIdOf = ({ job }: Pick<Work, "job">, channel: ChannelType): string | undefined =>
  job.deliverySettings?.via.find(({ type }) => type === channel)?.id;

export const isSingle = ({ chunkRef }: Pick<Work, "chunkRef">): boolean => isOnJob(chunkRef);
