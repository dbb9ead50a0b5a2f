// Works through a chunk in rounds of groups: rendered first, claimed, called with nothing in between, then noted.
import { type Clock, type Ids, SECOND } from "../../../shared/clock.ts";
import type { mailLinks } from "../../../shared/mail-links.ts";
import type { Context } from "../../../shared/parts.ts";
import type { providers } from "../../../shared/providers/providers.ts";
import type { deliverQueue, storeWrite } from "../../../shared/resources.ts";
import {
  type Addressee,
  groupEnd,
  newProgress,
  nextRound,
  note,
  type Progress,
  progressOf,
  progressText,
  RETRY_AFTER_MS,
  resultOf,
  type SendOutcome,
  type Unit,
  unitsOf,
  type Verdict,
} from "../../../shared/rules/progress.ts";
import { keys } from "../../../shared/store/keys.ts";
import type { Item } from "../../../shared/store/model.ts";
import { type Chunk, tallyOfChunk } from "../../../shared/store/sends/chunks.ts";
import { advance, type Tenure, takeOver } from "../../../shared/store/sends/claims.ts";
import { messageId } from "../../../shared/store/sends/inbox.ts";
import type { JobItem } from "../../../shared/store/sends/jobs.ts";
import type { Tally } from "../../../shared/store/sends/tallies.ts";
import { type Place, recorded, touchItem, touchKey } from "../../../shared/store/sends/touches.ts";
import { namesNow } from "../../../shared/store/subscribers/ledger-erasure.ts";
import type { vaultOpening } from "../../../shared/vault.ts";
import { type openedCredentials, openPreparing, type Prepared } from "./prepare.ts";

type Uses = readonly [
  typeof storeWrite,
  typeof deliverQueue,
  typeof providers,
  typeof vaultOpening,
  typeof mailLinks,
  typeof openedCredentials,
];
export type Bound = Context<Uses> & { clock: Clock; ids: Ids };

export interface Found {
  job: JobItem;
  chunk: Chunk;
  /** The claim's row, if somebody was here before. */
  claim: Item | undefined;
}

/** No group begins after this much of a worker's minute. */
const WORKING_MS = 35 * SECOND;
/** Ledger rows of one request. */
const BATCH = 25;

interface Held {
  tenure: Tenure;
  progress: Progress;
}

/** @returns what the chunk came to, or in how many milliseconds to come again. */
export async function workThrough(
  context: Bound,
  place: Place,
  found: Found,
): Promise<{ again: number } | { tally: { at: number; owner: string; tally: Tally } }> {
  const { clock } = context;
  const addressees = found.chunk.recipients.map(
    ({ targets, source }): Addressee => ({ targets, isSmart: source !== undefined }),
  );
  const taken = await take(context, place, found, addressees);
  if ("again" in taken) return taken;
  let held: Held = taken;
  const work: Work = { ...context, place, found, addressees, until: clock.now() + WORKING_MS };
  for (;;) {
    const worked = await workRound(work, held);
    if ("again" in worked) return worked;
    held = worked;
    const begins = nextRound(held.progress, clock.now());
    if (begins === undefined)
      return { tally: { at: held.tenure.at, owner: held.tenure.owner, tally: talliedBy(found, held) } };
    if (begins > clock.now()) return letGo(work, held, begins - clock.now());
  }
}

interface Work extends Bound {
  place: Place;
  found: Found;
  addressees: readonly Addressee[];
  until: number;
}

/** A chunk that nobody has, or that was left by whoever had it. */
async function take(
  context: Bound,
  place: Place,
  { chunk, claim }: Found,
  addressees: readonly Addressee[],
): Promise<Held | { again: number }> {
  const { store, clock, ids } = context;
  const owner = ids.uuid();
  if (!claim?.owner) return begin(context, place, chunk, { owner, step: 0, at: clock.now() });
  const now = clock.now();
  if (Number(claim.lease) >= now) return { again: Number(claim.lease) + 1 - now };
  const waiting = progressOf(String(claim.progress));
  const due = waiting.to === 0 && waiting.work ? Math.min(...waiting.work.map((unit) => unit.due)) : 0;
  if (due > now) return { again: due - now };
  const item = await takeOver(store, place, owner);
  if (!item) return { again: SECOND };
  const tenure = { owner, step: Number(item.step), at: Number(item.at) };
  const progress = progressOf(String(item.progress));
  await recover(context, place, chunk, { tenure, progress }, addressees);
  return { tenure, progress };
}

/** Nobody was here before. Inbox rows are made of the time of the first claim: with them it is taken at once. */
async function begin(
  { store }: Bound,
  place: Place,
  { recipients }: Chunk,
  tenure: Tenure,
): Promise<Held | { again: number }> {
  const progress = newProgress();
  const writesInbox = recipients.some(({ targets }) => targets.some(({ channel }) => channel === "in_app"));
  if (!writesInbox) return { tenure, progress };
  const claimed = await advance(store, place, tenure, progressText(progress));
  return claimed ? { tenure: claimed, progress } : { again: SECOND };
}

/** What the ledger says of units whose outcome the claim does not know; where it says nothing, nobody knows. */
async function recover(
  { store, clock }: Bound,
  place: Place,
  { recipients, plannedAt }: Chunk,
  { tenure, progress }: Held,
  addressees: readonly Addressee[],
): Promise<void> {
  const units = unitsOf(progress, addressees).slice(progress.noted, progress.to);
  const { tenant } = store;
  const rows = await store.getAll(
    units.map(({ recipient, target }) => {
      const { subscriber, targets } = recipients[recipient]!;
      const { channel } = targets[target]!;
      if (channel === "in_app") return keys.message(tenant, subscriber, messageId(tenure.at, place.job, subscriber));
      return touchKey(tenant, subscriber, tenure.at, place.job, targets[target]!);
    }),
  );
  const ids = units.map(({ recipient }) => recipients[recipient]!.subscriber);
  const names = await namesNow(store, place, plannedAt, [...new Set(ids)]);
  const missing: Item[] = [];
  for (const [i, unit] of units.entries()) {
    const { subscriber, targets, arm } = recipients[unit.recipient]!;
    const target = targets[unit.target]!;
    const isInbox = target.channel === "in_app";
    const known: Verdict | undefined = isInbox
      ? { state: rows[i] ? "sent" : "failed", reason: "template_error" }
      : recorded(rows[i], unit.tries.length);
    const touch = { subscriber: names.get(subscriber)!, target, arm };
    if (progress.noted + i < progress.from) {
      const verdict = progress.pending[i]!;
      if (!known)
        missing.push(touchItem(tenant, tenure.at, place, { ...touch, verdict, tries: [...unit.tries, tenure.at] }));
      continue;
    }
    const outcome = known ? outcomeOf(known, unit) : NEVER_KNOWN;
    const isFallback = addressees[unit.recipient]!.isSmart && unit.due > 0 && unit.tries.length === 0;
    if (outcome.status === "unknown" && isFallback) progress.fallbackConflicts++;
    const { tries, ...verdict } = note(progress, unit, addressees[unit.recipient]!, outcome, clock.now());
    if (!known) missing.push(touchItem(tenant, tenure.at, place, { ...touch, verdict, tries }));
  }
  await store.writeAll(missing.map((put) => ({ put })));
  Object.assign(progress, { from: progress.to, noted: progress.to, pending: [] });
}

/** Written by nobody, so perhaps sent: it is never sent again. */
const NEVER_KNOWN: SendOutcome = { status: "unknown", reason: "the worker stopped" };

function outcomeOf({ state, reason = "" }: { state: string; reason?: string | undefined }, unit: Unit): SendOutcome {
  if (state === "sent") return { status: "accepted" };
  if (state === "unknown") return { status: "unknown", reason };
  const isLastTry = unit.tries.length >= RETRY_AFTER_MS.length;
  return state === "retryable" || isLastTry ? { status: "retryable", reason } : { status: "rejected", reason };
}

/** One group after the other, until the round or the worker's time is over. */
async function workRound(work: Work, { tenure: begun, progress }: Held): Promise<Held | { again: number }> {
  const { store, place, found, addressees, clock } = work;
  const units = unitsOf(progress, addressees);
  const preparing = openPreparing(work, found.job, place, found.chunk, begun.at);
  let tenure = begun;
  let rows: (Item | undefined)[] = [];
  const write = async (count: number) => {
    await store.writeAll(rows.slice(0, count).flatMap((put) => (put ? [{ put }] : [])));
    rows = rows.slice(count);
    progress.noted += count;
    progress.pending.splice(0, count);
  };
  while (progress.to < units.length) {
    if (clock.now() >= work.until) {
      await write(rows.length);
      return letGo(work, { tenure, progress }, 0);
    }
    const from = progress.to;
    const group = units.slice(from, groupEnd(units, from));
    const prepared = await preparing.prepare(units, group);
    Object.assign(progress, { from, to: from + group.length });
    const claimed = await advance(store, place, tenure, progressText(progress));
    if (!claimed) return { again: SECOND };
    // Nothing may come between the claim and the calls.
    const outcomes = await Promise.all(prepared.map(({ send }) => send()));
    tenure = claimed;
    for (const [i, one] of prepared.entries()) rows.push(rowOf(work, tenure, progress, one, outcomes[i]!));
    await preparing.heed(prepared, outcomes);
    if (rows.length >= BATCH) await write(rows.length - (rows.length % BATCH));
  }
  await write(rows.length);
  return { tenure, progress };
}

function rowOf(
  { store, place, found, addressees, clock }: Work,
  { at }: Tenure,
  progress: Progress,
  { unit, subscriber }: Prepared,
  outcome: SendOutcome,
): Item | undefined {
  const { targets, arm } = found.chunk.recipients[unit.recipient]!;
  const target = targets[unit.target]!;
  const { tries, ...verdict } = note(progress, unit, addressees[unit.recipient]!, outcome, clock.now());
  progress.pending.push(verdict);
  const providerId = outcome.status === "accepted" ? outcome.providerId : undefined;
  // The inbox is its own ledger.
  if (target.channel === "in_app" && verdict.state === "sent") return undefined;
  return touchItem(store.tenant, at, place, { subscriber, target, arm, verdict, tries, providerId });
}

/** Leaves the chunk to whoever comes next, with all that is known. */
async function letGo({ store, place }: Work, { tenure, progress }: Held, ms: number): Promise<{ again: number }> {
  progress.from = progress.to;
  await advance(store, place, tenure, progressText(progress), { release: true });
  return { again: ms };
}

function talliedBy({ chunk }: Found, { progress }: Held): Tally {
  const plain = tallyOfChunk(chunk);
  const { delivered, failed, ...reasons } = resultOf(progress, chunk.recipients.length);
  return {
    ...plain,
    ...reasons,
    counts: { ...plain.counts, delivered, failed },
    arbitration: {
      ...plain.arbitration,
      fallback_steps: progress.fallbackSteps,
      fallback_dedup_errors: progress.fallbackConflicts,
    },
  };
}
