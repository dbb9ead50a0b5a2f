// Works through a chunk in rounds of groups: rendered, claimed, sent at once after the claim, then recorded.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { errorFields } from "../../../shared/kernel/log.ts";
import type { SendOutcome, Unit } from "../../../shared/rules/progress.ts";
import { endRound, groupEnd, nextRound, unitsOf } from "../../../shared/rules/progress-rounds.ts";
import { progressText } from "../../../shared/rules/progress-text.ts";
import { noteAnswer } from "../../../shared/store/channels/health.ts";
import { type AdvanceResult, advance } from "../../../shared/store/sends/chunks/claims.ts";
import type { SendState } from "../../../shared/store/sends/jobs/send-state.ts";
import { createChunkWatch, keepCanaryFirst, notePassed } from "./brake.ts";
import { claimCapped } from "./caps.ts";
import { reachedBefore } from "./inboxes.ts";
import { createLedger, type Ledger, releaseChunk } from "./ledger.ts";
import { holdBack, keepRate, nextGroup, slowThrottled, takeSlots } from "./pacing.ts";
import { createMessageBuilder, type MessageBuilder } from "./prepare.ts";
import { settleEarlierMails } from "./reached-later.ts";
import { type Assignments, beginRound } from "./round-start.ts";
import { askGate, confirmGate } from "./send-gates.ts";
import { takeChunk } from "./take.ts";
import { talliedBy } from "./tally.ts";
import { createWaitQueue } from "./wait-queue.ts";
import {
  channelIdOf,
  closeWith,
  type End,
  isHeld,
  isThrottle,
  type LeasedChunk,
  type PreparedMessage,
  type SentMessage,
  targetOf,
  timesOf,
  type WaitQueue,
  type Work,
} from "./work.ts";

/** The shortest wait of a chunk whose send was stopped. */
const STOPPED_MS = SECOND;

/** The chunk is not done: another message continues it, or the end of the send's stop does. */
type InterruptedEnd = Extract<End, { kind: "wait" | "stop" | "handed over" }>;

/** Delivers a chunk by providers, round by round, until every address has its outcome or a round must wait. */
export async function deliverByProviders(work: Work): Promise<End> {
  const { clock, chunk } = work;
  const taken = await takeChunk(work);
  if (taken.kind === "wait") return taken;
  const { leased } = taken;
  for (;;) {
    const worked = await workRound(work, leased);
    if (worked.kind !== "worked") return worked;
    notePassed(work, leased.progress);
    await settleEarlierMails(work, leased.progress);
    const begins = nextRound(leased.progress, clock.now());
    if (begins === undefined)
      return closeWith(work, { kind: "lease", lease: leased.lease }, talliedBy(chunk, leased.progress));
    if (begins > clock.now()) return releaseChunk(work, leased, begins - clock.now());
  }
}

/** Works through a round. If a request fails, the known outcomes are written first. */
async function workRound(work: Work, leased: LeasedChunk): Promise<{ kind: "worked" } | InterruptedEnd> {
  const ledger = createLedger(work, leased);
  try {
    return await workGroups(work, leased, ledger);
  } catch (error) {
    const unwritten = ledger.isHandedOver() ? undefined : await errorOf(ledger.write());
    if (ledger.isHandedOver()) return { kind: "handed over" };
    throw unwritten ?? error;
  }
}

const errorOf = (work: Promise<void>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error) => error,
  );

interface Round {
  work: Work;
  leased: LeasedChunk;
  ledger: Ledger;
  waiting: WaitQueue;
  assignments: Assignments;
  builder: MessageBuilder;
  watch: ReturnType<typeof createChunkWatch>;
}

/** Sends one group after the other, until the round or the worker's time is over. `leased` has the newest lease. */
async function workGroups(
  work: Work,
  leased: LeasedChunk,
  ledger: Ledger,
): Promise<{ kind: "worked" } | InterruptedEnd> {
  const { clock } = work;
  const { progress } = leased;
  const waiting = await createWaitQueue(work, progress);
  await keepCanaryFirst(work, progress);
  const watch = createChunkWatch(work);
  const slots = await takeSlots(work, progress, waiting);
  if (slots.kind === "wait") return releaseChunk(work, leased, slots.until - clock.now());
  const begun = await beginRound(work, leased, waiting);
  if (begun.kind === "lost") return { kind: "wait", ms: SECOND };
  const builder = createMessageBuilder(work, timesOf(leased));
  const round: Round = { work, leased, ledger, waiting, assignments: begun.assignments, builder, watch };
  for (;;) {
    const step = await nextStep(round);
    const done = step.kind === "group" ? await sendGroup(round, step) : step;
    switch (done.kind) {
      case "sent":
        continue;
      case "lost":
        return { kind: "wait", ms: SECOND };
      case "over":
        await ledger.write();
        return { kind: "worked" };
      case "wait":
        await ledger.write();
        return releaseChunk(work, leased, done.ms);
      case "stop":
        return stopRound(round, done.sendState);
      case "late":
        return giveBack(round, done.sendState);
    }
  }
}

interface Group {
  units: readonly Unit[];
  group: readonly Unit[];
}

/** The next step of the round: a group, unless the round is over or has to wait. */
async function nextStep({
  work,
  leased: { progress },
  waiting,
  assignments,
}: Round): Promise<({ kind: "group" } & Group) | { kind: "over" } | { kind: "wait"; ms: number }> {
  const { addressees, clock, until } = work;
  waiting.putOff(progress);
  await assignments.record();
  const units = unitsOf(progress, addressees);
  if (progress.to >= units.length) return { kind: "over" };
  if (clock.now() >= until) return { kind: "wait", ms: 0 };
  const group = nextGroup(work, progress, units);
  const ms = await keepRate(work, progress, group);
  return ms > 0 ? { kind: "wait", ms } : { kind: "group", units, group };
}

type GroupEnd =
  | { kind: "sent" }
  /** Another worker has the chunk. */
  | { kind: "lost" }
  /** Its send was stopped before the group was claimed. */
  | { kind: "stop"; sendState: SendState }
  /** The claim took so long that the send was checked again, and it was stopped or could not be read. */
  | { kind: "late"; sendState: SendState | "unread" };

async function sendGroup({ work, leased, ...round }: Round, { units, group }: Group): Promise<GroupEnd> {
  const { ledger, waiting, builder, watch } = round;
  const { progress } = leased;
  // A group that is refused anyway goes to no provider.
  const isRefused = group.every(waiting.refusal);
  const asked = isRefused ? "open" : await askGate(work);
  if (asked !== "open") return { kind: "stop", sendState: asked };
  const { prepared, write } = await builder.prepare(units, group, waiting);
  const confirmed = isRefused ? "open" : await confirmGate(work);
  if (confirmed !== "open") return { kind: "stop", sendState: confirmed };
  await write();

  const claimed = await claimGroup(work, leased, prepared);
  if (claimed.kind === "lost") return claimed;
  // Providers are called right after the claim, unless the claim itself took long.
  const late = isRefused ? "open" : await confirmClaimed(work);
  if (late !== "open") return { kind: "late", sendState: late };

  const sent = await Promise.all(prepared.map(async (message) => ({ message, outcome: await message.send() })));
  for (const { message, outcome } of sent) {
    ledger.note({ message, outcome });
    watch.note(message, outcome);
    if (outcome.kind === "rejected" && outcome.addressDead) work.dead.push(message);
  }
  progress.capped = [];
  holdBack(work, progress, sent);
  await ledger.writeFullBatches();
  await slowThrottled(work, sent);
  await noteAnswers(work, sent);
  await watch.haltIfBad();
  return { kind: "sent" };
}

/** Claims the next unclaimed units, as many as there are messages. `leased` has the newest lease. */
async function claimGroup(
  work: Work,
  leased: LeasedChunk,
  prepared: PreparedMessage[],
): Promise<{ kind: "claimed" } | { kind: "lost" }> {
  const { progress } = leased;
  const { from, to } = progress;
  Object.assign(progress, { from: to, to: to + prepared.length });
  const claiming: Promise<AdvanceResult> = work.job.deliverySettings?.caps
    ? claimCapped(work, leased, prepared)
    : advance(work.store, { chunkRef: work.chunkRef, lease: leased.lease, progress: progressText(progress) });
  const claimed = await claiming.catch((error) => {
    // No message of the group was sent.
    Object.assign(progress, { from, to, capped: [] });
    throw error;
  });
  if (claimed.kind !== "claimed") return { kind: "lost" };
  leased.lease = claimed.lease;
  return { kind: "claimed" };
}

/** Checks the send again after a claim that took long. */
async function confirmClaimed(work: Work): Promise<SendState | "unread"> {
  return confirmGate(work).catch((error) => {
    work.log({ level: "warn", message: "a claimed group is given back", ...work.chunkRef, ...errorFields(error) });
    return "unread" as const;
  });
}

/**
 * Continues the round later as it is: inbox messages of the group that was claimed last may have been written in it.
 */
async function giveBack({ work, leased, ledger }: Round, sendState: SendState | "unread"): Promise<InterruptedEnd> {
  const { progress } = leased;
  Object.assign(progress, { to: progress.from, capped: [] });
  await ledger.write();
  const released = await releaseChunk(work, leased, STOPPED_MS);
  return sendState === "unread" ? released : { kind: "stop", sendState };
}

/** Leaves unclaimed recipients to the next round, which begins when the send goes on. */
async function stopRound({ work, leased, ledger, assignments }: Round, sendState: SendState): Promise<InterruptedEnd> {
  const { addressees, clock, chunk } = work;
  await ledger.write();
  const { progress } = leased;
  const units = unitsOf(progress, addressees);
  const group = units.slice(progress.to, groupEnd(units, progress.to));
  const inbox = group.filter((unit) => targetOf(chunk, unit).channel === "in_app");
  const reached = await reachedBefore(work, timesOf(leased), inbox);
  // If a stopped worker has written messages of the group, another round would write them a second time.
  if (reached.size === 0) {
    endRound(progress, addressees, clock.now());
    await assignments.record();
    nextRound(progress, clock.now());
  }
  await releaseChunk(work, leased, STOPPED_MS);
  return { kind: "stop", sendState };
}

/** How long an environment does not note again that a channel works, or fails with an error. */
const SUCCESS_EVERY_MS = 5 * MINUTE;
const ERROR_EVERY_MS = MINUTE;

/**
 * Notes the answers of providers. An answer about one address, or an outcome decided before the call, tells nothing
 * about a channel.
 */
async function noteAnswers(work: Work, sent: readonly SentMessage[]): Promise<void> {
  const asked = sent.filter(({ message }) => !message.isRefused && !message.isCapped && message.channel !== "in_app");
  for (const [channel, answers] of Map.groupBy(asked, ({ message }) => message.channel)) {
    const id = channelIdOf(work, channel);
    if (id === undefined) continue;
    const errors = new Set(answers.flatMap(({ outcome }) => errorIn(outcome) ?? []));
    if (answers.some(({ outcome }) => outcome.kind === "accepted")) await noteOne(work, id, undefined);
    for (const error of errors) await noteOne(work, id, error);
  }
}

function errorIn(outcome: SendOutcome): string | undefined {
  if (outcome.kind === "accepted" || outcome.kind === "skipped") return undefined;
  if (isThrottle(outcome) || isHeld(outcome)) return undefined;
  return outcome.kind === "rejected" && outcome.addressDead ? undefined : outcome.reason;
}

/** The messages are sent by now, so a note that fails is left out. */
async function noteOne({ store, clock, noted, log }: Work, channel: string, error: string | undefined): Promise<void> {
  const name = `${store.tenant} ${channel} ${error ?? ""}`;
  const every = error === undefined ? SUCCESS_EVERY_MS : ERROR_EVERY_MS;
  if (clock.now() - (noted.get(name) ?? Number.NEGATIVE_INFINITY) < every) return;
  noted.set(name, clock.now());
  await noteAnswer(store, channel, error).catch((failure) => {
    noted.delete(name);
    log({ level: "warn", message: "an answer of a provider was not noted", channel, ...errorFields(failure) });
  });
}
