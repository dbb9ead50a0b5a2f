// Addresses that quiet hours defer (D-QUIET), and the conditions under which they may still be sent to afterwards.
import { HOUR, MINUTE } from "../../../shared/kernel/clock.ts";
import { isPseudonym } from "../../../shared/kernel/ids.ts";
import type { Progress, SendOutcome } from "../../../shared/rules/progress.ts";
import { putOff, unitsOf } from "../../../shared/rules/progress-rounds.ts";
import { disturbs, quietUntil } from "../../../shared/rules/quiet-hours.ts";
import { EXPIRED } from "../../../shared/rules/reasons.ts";
import { statusOf } from "../../../shared/store/journeys/journeys.ts";
import { runsAt } from "../../../shared/store/journeys/run-rows.ts";
import { zoneFor } from "../../../shared/store/sends/chunks/deferred.ts";
import { getProfiles } from "../../../shared/store/subscribers/subscribers.ts";
import { recipientOf, targetOf, type WaitQueue, type Work } from "./work.ts";

/** Sends of a suspended workspace wait no longer than this (AMB-86). */
const TOO_LATE_MS = 24 * HOUR;
/** A held message is checked again after an eighth of the time that it has been held, within these bounds. */
const CHECK_AGAIN_MS = { min: 5 * MINUTE, max: 6 * HOUR, share: 1 / 8 };

const CANCELED: SendOutcome = { kind: "skipped", reason: "canceled" };
const NOTHING_WAITS: WaitQueue = { putOff: () => undefined, refusal: () => undefined, isGone: () => false };

/** Puts off the addresses in quiet hours, and refuses those whose send may not go on afterwards. */
export async function createWaitQueue(work: Work, progress: Progress): Promise<WaitQueue> {
  const { store, clock, addressees, job, chunk } = work;
  const { quiet, timezone = "UTC" } = job.deliverySettings ?? {};
  if (!quiet) return NOTHING_WAITS;
  const units = unitsOf(progress, addressees).slice(progress.to);
  const waited = units.filter((unit) => unit.quiet !== undefined).map((unit) => recipientOf(chunk, unit).subscriber);
  const gateAt: GateAt = waited.length > 0 ? await readGate(work) : () => OPEN;
  const left = await leftJourney(work, waited);
  const zoned = quiet.timezone_mode === "subscriber" ? units.map((unit) => recipientOf(chunk, unit).subscriber) : [];
  const ids = [...new Set(zoned)].filter((id) => !isPseudonym(id));
  const profiles = await getProfiles(store, ids);
  const zones = new Map(ids.map((id, i) => [id, zoneFor(quiet, timezone, profiles[i])]));
  const gone = new Set(ids.filter((_, i) => !profiles[i]));

  // Quiet hours begin and end with a minute, so the computed end for a zone is valid for the rest of the minute.
  let cached = { minute: Number.NaN, ends: new Map<string, number | undefined>() };
  const endIn = (zone: string): number | undefined => {
    const now = clock.now();
    const minute = Math.floor(now / MINUTE);
    if (minute !== cached.minute) cached = { minute, ends: new Map() };
    if (!cached.ends.has(zone)) cached.ends.set(zone, quietUntil(quiet, zone, now));
    return cached.ends.get(zone);
  };

  return {
    putOff: (round) => {
      putOff(round, addressees, (unit) => {
        const { subscriber } = recipientOf(chunk, unit);
        if (isPseudonym(subscriber) || gone.has(subscriber) || !disturbs(targetOf(chunk, unit).channel))
          return undefined;
        const gate = unit.quiet === undefined ? OPEN : gateAt(unit.quiet);
        if (gate.kind === "over") return undefined;
        if (gate.kind === "wait") return { due: gate.until };
        const until = endIn(zones.get(subscriber) ?? timezone);
        return until === undefined ? undefined : { due: until, quiet: until };
      });
    },
    refusal: (unit) => {
      if (unit.quiet === undefined) return undefined;
      const gate = gateAt(unit.quiet);
      if (gate.kind === "over") return gate.outcome;
      return left.has(recipientOf(chunk, unit).subscriber) ? CANCELED : undefined;
    },
    isGone: (subscriber) => gone.has(subscriber),
  };
}

/** Whether a message that waited may be sent now: the workspace is active, and the journey not paused. */
type Gate =
  | { kind: "open" }
  /** Not yet: check again at this time, in milliseconds. */
  | { kind: "wait"; until: number }
  /** Not any more. */
  | { kind: "over"; outcome: SendOutcome };
const OPEN: Gate = { kind: "open" };

/** The gate by the end of the quiet hours that a message waited for: messages of a chunk wait for different times. */
type GateAt = (ended: number) => Gate;

async function readGate({ store, workspace, clock, job }: Work): Promise<GateAt> {
  const now = clock.now();
  const { min, max, share } = CHECK_AGAIN_MS;
  const later: GateAt = (ended) => {
    const wait = Math.min(max, Math.max(min, (now - ended) * share));
    return { kind: "wait", until: Math.ceil((now + wait) / min) * min };
  };
  if ((await workspace())?.status !== "active")
    return (ended) =>
      now - ended > TOO_LATE_MS ? { kind: "over", outcome: { kind: "rejected", reason: EXPIRED } } : later(ended);
  if (job.source.type !== "journey" || job.source.id === null) return () => OPEN;
  const status = await statusOf(store, job.source.id);
  if (status === "active") return () => OPEN;
  return status === "paused" ? later : () => ({ kind: "over", outcome: CANCELED });
}

/** Recipients whose run exited or was canceled while the message of its step waited: they no longer get it (JND-9). */
async function leftJourney({ store, job }: Work, subscribers: readonly string[]): Promise<ReadonlySet<string>> {
  const { type, id: journey } = job.source;
  if (type !== "journey" || journey === null) return new Set();
  const living = [...new Set(subscribers)].filter((subscriber) => !isPseudonym(subscriber));
  const visits = living.map((subscriber) => ({ subscriber, journey }));
  const runs = (await runsAt(store, visits, job.created_at)).filter((run) => run !== undefined);
  const over = runs.filter(({ status }) => status === "exited" || status === "canceled");
  return new Set(over.map((run) => run.subscriber_id));
}
