// Delivers a chunk of inboxes. Their messages are their own ledger, so one claim is enough for the whole chunk; on the
// row of a job a round takes the place of the claim (docs/decisions/0027).
import { MINUTE } from "../../../shared/kernel/clock.ts";
import { isPseudonym } from "../../../shared/kernel/ids.ts";
import { findWritten, type InAppMessages, prepareInApp } from "../../../shared/providers/in-app.ts";
import { byArm, tallyOfChunk } from "../../../shared/store/sends/chunks/chunks.ts";
import { beginRound, claimChunk } from "../../../shared/store/sends/chunks/claims.ts";
import type { Hold } from "../../../shared/store/sends/chunks/closing.ts";
import type { Tally } from "../../../shared/store/sends/chunks/tallies.ts";
import { PROMPT_MS } from "../../../shared/store/sends/inbox/inbox.ts";
import type { RoundTimes } from "../../../shared/store/sends/ledger/touches.ts";
import { forgetInChunk } from "../../../shared/store/subscribers/ledger-erasure.ts";
import { isCounted } from "./brake.ts";
import { recordHeldOut } from "./round-start.ts";
import { confirmGate } from "./send-gates.ts";
import { closeWith, type End, isSingle, type Work } from "./work.ts";

/**
 * How long workers may join a round on the row of a job. A later worker begins a new round, once no worker of the
 * former one can still run and none of them wrote a message: two rounds would write the same message twice.
 */
const ROUND_MS = 8 * MINUTE;
export const ROUND_OVER_MS = 10 * MINUTE;

/** Delivers a chunk whose recipients are reached only in their inboxes. */
export async function deliverInbox(work: Work): Promise<End> {
  const { store, job, chunkRef, chunk } = work;
  const taken = isSingle(work) ? await takeRound(work) : await takeClaim(work);
  if (taken.kind !== "taken") return taken;

  const { hold, times } = taken;
  await recordHeldOut(work, times.at);
  const messages = await prepareInApp(store, job, chunkRef, times, chunk);

  const sendState = await confirmGate(work);
  // The claim stays: a worker that continues after it ends writes the same messages.
  if (sendState !== "open") return { kind: "stop", sendState };
  await messages.write();
  for (const subscriber of messages.gone) await forgetInChunk(store, chunkRef, subscriber);

  return closeWith(work, hold, tallyOf(work, messages));
}

type TakenChunk =
  | { kind: "taken"; hold: Hold; times: RoundTimes & { repeats: boolean } }
  | Extract<End, { kind: "wait" | "closed" }>;

async function takeClaim({ store, ids, clock, chunkRef }: Work): Promise<TakenChunk> {
  const claiming = await claimChunk(store, chunkRef, ids.uuid());
  if (claiming.kind === "busy") return { kind: "wait", ms: claiming.until - clock.now() };
  if (claiming.kind === "closed") return claiming;
  const { lease, repeats } = claiming;
  return { kind: "taken", hold: { kind: "lease", lease }, times: { at: lease.at, assignedAt: lease.at, repeats } };
}

async function takeRound(work: Work): Promise<TakenChunk> {
  const { clock, chunk } = work;
  const round = await roundOf(work);
  if (round.kind !== "begun") return round;
  const { at } = round;
  // An earlier attempt may have written the message before it became too late.
  const times = { at, assignedAt: chunk.plannedAt, repeats: clock.now() - at > PROMPT_MS };
  return { kind: "taken", hold: { kind: "round", at }, times };
}

/** The round in which the messages are written, or a wait until the former round is known to be over. */
async function roundOf(work: Work): Promise<Awaited<ReturnType<typeof beginRound>> | { kind: "wait"; ms: number }> {
  const { store, clock, job } = work;
  const { round: at = 0 } = job.direct ?? {};
  const age = clock.now() - at;
  if (age <= ROUND_MS) return { kind: "begun", at };
  if (age < ROUND_OVER_MS) return { kind: "wait", ms: ROUND_OVER_MS - age };
  const written = await writtenIn(work, at);
  return written.size > 0 ? { kind: "begun", at } : beginRound(store, job.id, at);
}

/** The subscribers whose inbox has the message of a round. */
export function writtenIn({ store, job, chunk }: Work, at: number): Promise<Set<string>> {
  const living = chunk.recipients.map(({ subscriber }) => subscriber).filter((id) => !isPseudonym(id));
  return findWritten(store, job.id, at, living);
}

function tallyOf({ job, chunk }: Work, { delivered, erased }: InAppMessages): Tally {
  const plain = tallyOfChunk(chunk);
  const total = chunk.recipients.length;
  const failed = total - delivered.size;
  return {
    ...plain,
    counts: { ...plain.counts, delivered: delivered.size, failed },
    delivered_by_channel: { in_app: delivered.size },
    failed_by_channel: { in_app: failed },
    delivered_by_arm: byArm(chunk, ({ subscriber }) => delivered.has(subscriber)),
    fail_reasons: { erased, template_error: failed - erased },
    ...(isCounted(job) && {
      attempts: { tried: { in_app: total - erased }, errors: { in_app: failed - erased }, passed: 1 },
    }),
  };
}
