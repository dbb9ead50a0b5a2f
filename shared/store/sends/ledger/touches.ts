// The send ledger: one row per address of a recipient, under the subscriber by time. It is the touch of attribution.
import { MINUTE, SECOND, timestamp } from "../../../kernel/clock.ts";
import type { CountedCap } from "../../../rules/caps.ts";
import type { Verdict } from "../../../rules/progress.ts";
import type { Target } from "../../../rules/reach.ts";
import { absent, all, present } from "../../conditions.ts";
import type { StoreReader } from "../../context.ts";
import { changeItem, type ItemWrite, type KeyOf, putItem, type RowOf } from "../../item.ts";
import { toJson } from "../../json-text.ts";
import { type ClaimedWith, TouchItem, touchesFrom } from "./ledger-items.ts";

export type TouchRow = RowOf<typeof TouchItem>;

/** A chunk of a job, which an erasure visits to remove a recipient. */
export interface ChunkRef {
  job: string;
  range: string;
  n: number;
}

/** A chunk as the rows of its recipients name it. */
export const chunkRefText = ({ range, n }: Pick<ChunkRef, "range" | "n">): string => `${range}#${n}`;

export function chunkRefOf({ job, place }: { job: string; place: string }): ChunkRef {
  const cut = place.lastIndexOf("#");
  return { job, range: place.slice(0, cut), n: Number(place.slice(cut + 1)) };
}

interface Touch {
  subscriber: string;
  target: Target;
  verdict: Verdict;
  /** When it was tried, in milliseconds. */
  tries: readonly number[];
  arm?: "a" | "b" | undefined;
  providerId?: string | undefined;
  isShortened?: true | undefined;
  /** The cap that was reached, of one that was skipped. */
  seen?: CountedCap | undefined;
  claimedWith?: ClaimedWith | undefined;
}

/** The control group is in the ledger too: lift compares with it. So is who waits, from the same moment (AMB-110). */
type Assignment = "held_out" | "assigned";
const isAssignment = (state: TouchRow["state"]): state is Assignment => state === "held_out" || state === "assigned";

/** The times of a round, in milliseconds: when it began, and when its chunk was first claimed (AMB-109). */
export interface RoundTimes {
  at: number;
  assignedAt: number;
}

/** When the chunk was first claimed, where that was not with this round. */
export const earlierClaim = ({ at, assignedAt }: RoundTimes): number | undefined =>
  assignedAt === at ? undefined : assignedAt;

/** @param at the time of the round, so that every repeat of it writes the same row */
export const touchKey = (subscriber: string, at: number, job: string, target: Target): KeyOf<typeof TouchItem> => ({
  subscriber,
  at: timestamp(at),
  job,
  target: target.device ?? target.channel,
});

/** The write of the row of one address. */
export function touchWrite(times: RoundTimes, chunkRef: ChunkRef, touch: Touch): ItemWrite<"workspace"> {
  const { subscriber, target, verdict, tries, arm, providerId, isShortened, seen, claimedWith } = touch;
  return putItem(TouchItem, touchKey(subscriber, times.at, chunkRef.job, target), {
    job: chunkRef.job,
    place: chunkRefText(chunkRef),
    channel: target.channel,
    device: target.device,
    state: verdict.state,
    assigned_at: earlierClaim(times),
    reason: verdict.reason?.slice(0, MAX_REASON_CHARACTERS),
    mailbox: verdict.mailbox,
    provider_id: providerId,
    shortened: isShortened,
    arm,
    seen: seen && toJson(seen),
    tries: tries.map((time) => timestamp(time)),
    claimed_with: claimedWith && toJson(claimedWith),
  });
}

/** When the round of a row began, in milliseconds. */
export const timeOfTouch = ({ sk }: Pick<TouchRow, "sk">): number => Date.parse(sk.split("#")[1] ?? "");

/** A row fits one write unit. */
const MAX_REASON_CHARACTERS = 200;

/** The row of a subscriber without a message, for now or for ever. @param at when the chunk was first claimed */
export function assignmentWrite(
  at: number,
  chunkRef: ChunkRef,
  subscriber: string,
  state: Assignment,
): ItemWrite<"workspace"> {
  const { job } = chunkRef;
  const key = { subscriber, at: timestamp(at), job, target: state };
  return putItem(TouchItem, key, { job, place: chunkRefText(chunkRef), state });
}

/** The outcome for an address that was tried `tries` times before; undefined if the next attempt left no row. */
export function recorded(row: TouchRow | undefined, tries: number): Verdict | undefined {
  if (!row || isAssignment(row.state)) return undefined;
  const { state, reason, mailbox } = row;
  return state === "skipped" || (row.tries?.length ?? 0) > tries ? { state, reason, mailbox } : undefined;
}

/** The clock of the process that begins a round may be so far from that of the process that dispatched its job. */
export const CLOCK_TOLERANCE_MS = 5 * MINUTE;

/** The ledger of a subscriber from one time to another, oldest first; to now without `to`. */
export const touchesBetween = (
  store: StoreReader,
  subscriber: string,
  { from, to }: { from: number; to: number | undefined },
): Promise<TouchRow[]> => {
  const range = touchesFrom(timestamp(from));
  const bounds = to === undefined ? range : { ...range, to: `${touchesFrom(timestamp(to)).from}~` };
  return store.queryAll(TouchItem, { subscriber }, { ...bounds, eventual: true });
};

/** The ledger of a subscriber since a time, oldest first. */
export const touchesSince = (store: StoreReader, subscriber: string, since: number): Promise<TouchRow[]> =>
  store.queryAll(TouchItem, { subscriber }, touchesFrom(timestamp(since)));

/** The mail of a send that began in a second. */
export async function mailOfSecond(
  store: StoreReader,
  subscriber: string,
  { job, at }: { job: string; at: number },
): Promise<TouchRow | undefined> {
  const [{ from }, { from: last }] = [touchesFrom(timestamp(at)), touchesFrom(timestamp(at + SECOND - 1))];
  const rows = await store.queryAll(TouchItem, { subscriber }, { from, to: `${last}~` });
  return rows.find((row) => row.job === job && row.channel === "email");
}

/** Marks the mail by whose link its recipient opted out, once. */
export function optedOutWrite(subscriber: string, row: TouchRow): ItemWrite<"workspace"> {
  const key = touchKey(subscriber, timeOfTouch(row), row.job, { channel: "email" });
  return changeItem(TouchItem, key, { set: { opted_out: true } }, all(present("job"), absent("opted_out")));
}
