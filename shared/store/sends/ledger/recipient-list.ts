// The recipients of a send, chunk by chunk, with their outcomes (docs/decisions/0034). The totals of ranges and chunks
// show which of them can match a filter: the others are not read.
import * as v from "valibot";
import { pageRoom } from "../../../contract/paging.ts";
import { said, Timestamp } from "../../../contract/schemas.ts";
import { timestamp } from "../../../kernel/clock.ts";
import { isPseudonym } from "../../../kernel/ids.ts";
import { channelTypes } from "../../../rules/channel-types.ts";
import type { Unit } from "../../../rules/progress.ts";
import { recipientStates } from "../../../rules/recipient-states.ts";
import type { StoreReader } from "../../context.ts";
import { idKeys, type RowOf, ref } from "../../item.ts";
import { fromJson } from "../../json-text.ts";
import { Profile } from "../../subscribers/items.ts";
import { living, nameOf, PersonName } from "../../subscribers/subscribers.ts";
import { ChunkItem, type ClaimItem, RangeItem, SkippedIds } from "../audience/audience-items.ts";
import { claimsIn } from "../chunks/chunk-rows.ts";
import { chunkOf } from "../chunks/chunks.ts";
import { deferredUntil, isDeferred, waitsIn } from "../chunks/deferred.ts";
import { SINGLE_RANGE } from "../chunks/range-names.ts";
import type { Recipient } from "../chunks/recipients.ts";
import { tallyOf } from "../chunks/tallies.ts";
import { messagesBetween } from "../inbox/inbox.ts";
import type { JobRecord } from "../jobs/job-record.ts";
import { type Stop, stopAfterQuiet } from "../jobs/send-state.ts";
import { isStopped } from "../jobs/stopped.ts";
import { ChannelOutcome, channelOutcomes, lostInbox } from "./channel-outcomes.ts";
import { matches, mayHold, type RecipientFilter } from "./recipient-filter.ts";
import { lostReason, recipientOutcome, wasInInbox } from "./recipient-outcome.ts";
import { CLOCK_TOLERANCE_MS, touchesBetween } from "./touches.ts";

export const ListedRecipient = v.object({
  /** Null for an erased subscriber. */
  subscriber_id: v.nullable(v.string()),
  external_id: v.nullable(v.string()),
  name: PersonName,
  state: v.picklist(recipientStates),
  reason: v.nullable(v.string()),
  channel: v.nullable(v.picklist(channelTypes)),
  variant_id: v.nullable(v.string()),
  /** When its last message was tried, or when the send was planned. */
  at: v.nullable(Timestamp),
  /** The end of the quiet hours that its messages wait for. */
  deferred_until: v.nullable(Timestamp),
  channels: said(
    "What became of the message on each channel; empty for one who is sent nothing",
    v.array(ChannelOutcome),
  ),
});
type ListedRecipient = v.InferOutput<typeof ListedRecipient>;

/** Where a page begins: a chunk of a range, and a place in it. */
export const RecipientPosition = v.object({ range: v.string(), n: v.number(), i: v.number() });
type Position = v.InferOutput<typeof RecipientPosition>;

/** Recipients whose rows are read for one page, and chunks whose totals are read. */
const MAX_EXAMINED = 300;
const MAX_CHUNKS = 2_000;
/** Chunks whose totals are read at once. */
const WINDOW = 250;
/** Recipients whose rows are read at once. */
const MAX_CONCURRENT = 25;

interface ChunkRecipient {
  subscriber: string;
  /** Where it is delivered to; undefined for one who gets nothing. */
  recipient?: Recipient;
  heldOut?: "yes" | "stopped";
  skip?: string;
  /** The remaining work for the recipient. */
  waits?: readonly Unit[] | undefined;
  plannedAt: number;
}

interface Page {
  items: ListedRecipient[];
  next?: Position | undefined;
}
interface PageOf {
  from: Position | undefined;
  limit: number;
}

/**
 * A page may be short, or empty with a position, if a filter leaves most out. A send that failed before its dispatch
 * has no recipients, as its counts say (AMB-139).
 */
export async function listRecipients(
  store: StoreReader,
  job: JobRecord,
  filter: RecipientFilter,
  page: PageOf,
): Promise<Page> {
  const hasFailedWhole = job.status === "failed" && job.dispatched_at === null;
  return hasFailedWhole ? { items: [] } : listPlanned(store, job, filter, page);
}

/** The same, and of a send that failed whole those who were planned. */
export async function listPlanned(
  store: StoreReader,
  job: JobRecord,
  filter: RecipientFilter,
  { from, limit }: PageOf,
): Promise<Page> {
  const items: ListedRecipient[] = [];
  const takes = pageRoom();
  let examined = 0;
  let chunks = 0;
  for await (const chunk of chunksFrom(store, job, filter, from)) {
    const isPageFull = chunks >= MAX_CHUNKS || examined >= MAX_EXAMINED;
    if (isPageFull) return { items, next: { ...chunk.place, i: chunk.first } };

    chunks++;
    const listed = chunk.mayMatch ? await chunk.read() : [];
    for (let i = chunk.first; i < listed.length; i += MAX_CONCURRENT) {
      if (examined >= MAX_EXAMINED) return { items, next: { ...chunk.place, i } };
      const batch = listed.slice(i, i + MAX_CONCURRENT);
      examined += batch.length;
      const found = await describe(store, job, batch);
      for (const [k, outcome] of found.entries()) {
        if (!matches(outcome, filter)) continue;
        if (items.length === limit || !takes(outcome)) return { items, next: { ...chunk.place, i: i + k } };
        items.push(outcome);
      }
    }
  }
  return { items };
}

interface OpenChunk {
  place: Pick<Position, "range" | "n">;
  /** The first place in it that the page looks at. */
  first: number;
  mayMatch: boolean;
  read(): Promise<ChunkRecipient[]>;
}

async function* chunksFrom(
  store: StoreReader,
  job: JobRecord,
  filter: RecipientFilter,
  from: Position | undefined,
): AsyncGenerator<OpenChunk> {
  if (job.direct) {
    const { recipients, round } = job.direct;
    const waits = waitsIn(job.claim);
    const listed = recipients.map((recipient, i) => ({
      subscriber: recipient.subscriber,
      recipient,
      waits: waits.get(i),
      plannedAt: round,
    }));
    yield { place: { range: SINGLE_RANGE, n: 0 }, first: from?.i ?? 0, mayMatch: true, read: async () => listed };
    return;
  }
  const names = job.ranges ?? [];
  const open = names.slice(from ? names.indexOf(from.range) : 0);
  const keys = open.map((range) => ({ job: job.id, range }));
  const ranges = await store.getAll(RangeItem, keys);
  for (const [r, range] of open.entries()) {
    const start = from?.range === range ? from.n : 0;
    const { chunks = 0 } = ranges[r] ?? {};
    if (!mayHold(ranges[r], filter)) continue;
    for (let window = start; window < chunks; window += WINDOW) {
      const to = Math.min(chunks, window + WINDOW);
      const claims = await claimsIn(store, { job: job.id, range }, { from: window, to, eventual: true });
      for (let n = window; n < to; n++) {
        const claim = claims.get(n);
        yield {
          place: { range, n },
          first: from?.range === range && from.n === n ? from.i : 0,
          mayMatch: mayHold(claim, filter),
          read: () => readChunk(store, { job: job.id, range, n }, job, claim),
        };
      }
    }
  }
}

async function readChunk(
  store: StoreReader,
  key: { job: string; range: string; n: number },
  job: JobRecord,
  claim: RowOf<typeof ClaimItem> | undefined,
): Promise<ChunkRecipient[]> {
  const [row, skipped] = await store.getEach([ref(ChunkItem, key), ref(SkippedIds, key)]);
  if (!row) return [];
  const { recipients, heldOut, plannedAt } = chunkOf(row);
  const waits = isStopped(job) ? undefined : waitsIn(claim);
  // A chunk that was stopped before it began has no control group.
  const isBegun = !isStopped(job) || (claim !== undefined && (!claim.closed || tallyOf(claim).counts.held_out > 0));
  return [
    ...recipients.map((recipient, i) => ({
      subscriber: recipient.subscriber,
      recipient,
      waits: waits?.get(i),
      plannedAt,
    })),
    ...heldOut.map((subscriber) => ({
      subscriber,
      heldOut: isBegun ? ("yes" as const) : ("stopped" as const),
      plannedAt,
    })),
    ...Object.entries(skipped ? fromJson(skipped.ids) : {}).flatMap(([skip, ids]) =>
      ids.map((subscriber) => ({ subscriber, skip, plannedAt })),
    ),
  ];
}

/** The outcomes of recipients, the same as in their explanations. */
async function describe(
  store: StoreReader,
  job: JobRecord,
  listed: readonly ChunkRecipient[],
): Promise<ListedRecipient[]> {
  const ids = listed.map(({ subscriber }) => subscriber);
  const stop = await stopAfterQuiet(store, job);
  const [rows, outcomes] = await Promise.all([
    store.getAll(Profile, idKeys(ids), { eventual: true }),
    Promise.all(listed.map((recipient) => outcomeOf(store, { job, stop }, recipient))),
  ]);
  return listed.map(({ subscriber, recipient, plannedAt, waits = [] }, i) => {
    const { state, reason, channel, at, channels } = outcomes[i]!;
    // An erasure visits the sent messages of a person. A recipient without one stays in the plan of the send.
    const isErased = isPseudonym(subscriber) || rows[i]?.erased_at !== undefined;
    const profile = living(rows[i]);
    return {
      subscriber_id: isErased ? null : subscriber,
      external_id: profile?.external_id ?? null,
      name: profile ? nameOf(profile) : null,
      state,
      reason,
      channel,
      variant_id: recipient?.arm ?? null,
      at: at ?? timestamp(plannedAt),
      deferred_until: deferredUntil(store, waits),
      channels,
    };
  });
}

type Outcome = Pick<ListedRecipient, "state" | "reason" | "channel" | "channels"> & { at?: string | undefined };

async function outcomeOf(
  store: StoreReader,
  { job, stop }: { job: JobRecord; stop: Stop },
  { subscriber, recipient, heldOut, skip, waits = [] }: ChunkRecipient,
): Promise<Outcome> {
  if (heldOut) return { state: heldOut === "yes" ? "held_out" : "canceled", reason: null, channel: null, channels: [] };
  if (skip !== undefined || !recipient) return { state: "skipped", reason: skip ?? null, channel: null, channels: [] };

  const window = windowOf(job);
  const isInbox = recipient.targets.some(({ channel }) => channel === "in_app");
  const isElsewhere = recipient.targets.some(({ channel }) => channel !== "in_app");
  // An erasure moves messages to the ledger.
  const isInLedger = isElsewhere || !isInbox || isPseudonym(subscriber);
  const readLedger = async () =>
    window ? (await touchesBetween(store, subscriber, window)).filter((row) => row.job === job.id) : [];
  const readInbox = async () =>
    window ? (await messagesBetween(store, subscriber, window)).filter((row) => row.job === job.id) : [];
  const [known, messages] = await Promise.all([isInLedger ? readLedger() : [], isInbox ? readInbox() : []]);
  // Why an inbox got no message is in the ledger.
  const ledger = isInLedger || messages.length > 0 ? known : await readLedger();
  const ofJob = { ledger, messages };

  const outcome = recipientOutcome(job, { ...ofJob, skip: undefined, isDeferred: isDeferred(waits) });
  const { decision, state, reason, attempts, at } = outcome;
  const { targets } = recipient;
  const channels = channelOutcomes(job, { ...ofJob, targets, waits, stop, now: store.clock.now() });
  if (wasInInbox(store, job, recipient, { outcome, ledger }))
    return { state: "delivered", reason: null, channel: "in_app", channels, at };
  const lost = decision === "not_in_audience" && isInbox ? lostReason(job, subscriber) : undefined;
  if (lost) return { state: "failed", reason: lost, channel: "in_app", channels: lostInbox(targets, lost) };

  const shown = channels.find((candidate) => candidate.state === state) ?? channels[0];
  const tried = attempts.find((attempt) => attempt.state === state) ?? attempts[0];
  const channel = shown?.channel ?? channelTypes.find((channelType) => channelType === tried?.channel) ?? null;
  return { state, reason: reason ?? shown?.reason ?? null, channel, channels, at };
}

/** When the rounds of a job began; undefined before it is dispatched. */
function windowOf({ dispatched_at, completed_at }: JobRecord) {
  if (dispatched_at === null) return undefined;
  const to = completed_at === null ? undefined : Date.parse(completed_at) + CLOCK_TOLERANCE_MS;
  return { from: Date.parse(dispatched_at) - CLOCK_TOLERANCE_MS, to };
}
