// Addresses that quiet hours defer (D-QUIET), and the conditions under which they may still be sent to afterwards.
import { HOUR, MINUTE } from "../../../shared/kernel/clock.ts";
import { isPseudonym } from "../../../shared/kernel/ids.ts";
import { type Progress, putOff, type SendOutcome, type Unit, unitsOf } from "../../../shared/rules/progress.ts";
import { disturbs, quietUntil } from "../../../shared/rules/quiet-hours.ts";
import { EXPIRED } from "../../../shared/rules/reasons.ts";
import { statusOf } from "../../../shared/store/journeys/journeys.ts";
import { zoneFor } from "../../../shared/store/sends/chunks/deferred.ts";
import { getProfiles } from "../../../shared/store/subscribers/subscribers.ts";
import { recipientOf, targetOf } from "./addresses.ts";
import type { Work } from "./rounds.ts";

/** Sends of a suspended workspace wait no longer than this (AMB-86). */
const TOO_LATE_MS = 24 * HOUR;
/** What is held is checked again after an eighth of the time that it has been held, within these bounds. */
const CHECK_AGAIN_MS = { min: 5 * MINUTE, max: 6 * HOUR, share: 1 / 8 };

export interface WaitQueue {
  /** Takes recipients that have quiet hours now out of the round. */
  putOff(progress: Progress): void;
  /** The outcome for an address that waited and must not be sent to any more. */
  refusal(unit: Unit): SendOutcome | undefined;
  /** Known to be erased, from the profile that was read for its time zone. Such a recipient does not wait. */
  isGone(subscriber: string): boolean;
}

const NOTHING_WAITS: WaitQueue = { putOff: () => undefined, refusal: () => undefined, isGone: () => false };

export async function createWaitQueue(work: Work, progress: Progress): Promise<WaitQueue> {
  const { store, clock, addressees } = work;
  const { job, chunk } = work.found;
  const { quiet, timezone = "UTC" } = job.deliverySettings ?? {};
  if (!quiet) return NOTHING_WAITS;
  const units = unitsOf(progress, addressees).slice(progress.to);
  const ended = units.flatMap((unit) => unit.quiet ?? []);
  const gate = ended.length > 0 ? await gateOf(work, Math.min(...ended)) : {};
  const zoned = quiet.timezone_mode === "subscriber" ? units.map((unit) => recipientOf(chunk, unit).subscriber) : [];
  const ids = [...new Set(zoned)].filter((id) => !isPseudonym(id));
  const profiles = await getProfiles(store, ids);
  const zones = new Map(ids.map((id, i) => [id, zoneFor(quiet, timezone, profiles[i])]));
  const gone = new Set(ids.filter((_, i) => !profiles[i]));

  // Quiet hours begin and end with a minute, so the end that was computed for a zone is valid for the rest of it.
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
        if (unit.quiet !== undefined && gate.over) return undefined;
        if (unit.quiet !== undefined && gate.checkAt !== undefined) return { due: gate.checkAt };
        const until = endIn(zones.get(subscriber) ?? timezone);
        return until === undefined ? undefined : { due: until, quiet: until };
      });
    },
    refusal: ({ quiet: waited }) => (waited === undefined ? undefined : gate.over),
    isGone: (subscriber) => gone.has(subscriber),
  };
}

interface Gate {
  /** Not yet: check again at this time, in milliseconds. */
  checkAt?: number;
  /** Not any more, with this outcome. */
  over?: SendOutcome;
}

/** Whether messages that waited since `ended` may be sent now: the workspace is active, the journey not paused. */
async function gateOf({ store, workspace, clock, found: { job } }: Work, ended: number): Promise<Gate> {
  const now = clock.now();
  const { min, max, share } = CHECK_AGAIN_MS;
  const wait = Math.min(max, Math.max(min, (now - ended) * share));
  const checkAt = Math.ceil((now + wait) / min) * min;
  if ((await workspace())?.status !== "active")
    return now - ended > TOO_LATE_MS ? { over: { status: "rejected", reason: EXPIRED } } : { checkAt };
  if (job.source.type !== "journey" || job.source.id === null) return {};
  const status = await statusOf(store, job.source.id);
  if (status === "active") return {};
  return status === "paused" ? { checkAt } : { over: { status: "skipped", reason: "canceled" } };
}
