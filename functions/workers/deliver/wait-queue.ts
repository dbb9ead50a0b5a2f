// What waits: addresses that quiet hours put off (D-QUIET), and what must still be so when their time has come.
import { HOUR, MINUTE } from "../../../shared/clock.ts";
import {
  EXPIRED,
  type Progress,
  putOff,
  type SendOutcome,
  type Unit,
  unitsOf,
} from "../../../shared/rules/progress.ts";
import { disturbs, quietUntil } from "../../../shared/rules/quiet-hours.ts";
import { statusOf } from "../../../shared/store/journeys/journeys.ts";
import { zoneFor } from "../../../shared/store/sends/deferred.ts";
import type { JobItem } from "../../../shared/store/sends/jobs.ts";
import { isPseudonym } from "../../../shared/store/sends/recipients.ts";
import { getProfiles } from "../../../shared/store/subscribers/subscribers.ts";
import type { Work } from "./rounds.ts";

/** A suspended workspace's sends wait no longer than this (AMB-86). */
const TOO_LATE_MS = 24 * HOUR;
/** What is held is looked at again after an eighth of the time that it was, within these bounds; together with others. */
const LOOK_AGAIN_MS = { min: 5 * MINUTE, max: 6 * HOUR, share: 1 / 8 };

export interface WaitQueue {
  /** Takes out of the round whoever has quiet hours now. */
  putOff(progress: Progress): void;
  /** What becomes of an address that waited and is not sent to any more. */
  refusal(unit: Unit): SendOutcome | undefined;
}

const NOTHING_WAITS: WaitQueue = { putOff: () => undefined, refusal: () => undefined };

/** Only those wait who were put off, and their campaign is held: the chunk stays as it is until it is let go. */
export const isParked = ({ held }: JobItem, { work, to }: Progress): boolean =>
  held && to === 0 && (work ?? [{ quiet: undefined }]).every(({ quiet }) => quiet !== undefined);

export async function createWaitQueue(work: Work, progress: Progress): Promise<WaitQueue> {
  const { store, clock, addressees } = work;
  const { job, chunk } = work.found;
  const { quiet, timezone = "UTC" } = job.deliverySettings ?? {};
  if (!quiet) return NOTHING_WAITS;
  const units = unitsOf(progress, addressees).slice(progress.to);
  const ended = units.flatMap((unit) => unit.quiet ?? []);
  const gate = ended.length > 0 ? await gateOf(work, Math.min(...ended)) : {};
  const recipientOf = ({ recipient }: Unit) => chunk.recipients[recipient]!;
  const asked = quiet.timezone_mode === "subscriber" ? units.map((unit) => recipientOf(unit).subscriber) : [];
  const ids = [...new Set(asked)].filter((id) => !isPseudonym(id));
  const profiles = await getProfiles(store, ids);
  const zones = new Map(ids.map((id, i) => [id, zoneFor(quiet, timezone, profiles[i])]));
  const gone = new Set(ids.filter((_, i) => !profiles[i]));

  // They begin and end with a minute: what is known of a zone holds for the rest of it.
  let found = { minute: Number.NaN, ends: new Map<string, number | undefined>() };
  const endIn = (zone: string): number | undefined => {
    const now = clock.now();
    const minute = Math.floor(now / MINUTE);
    if (minute !== found.minute) found = { minute, ends: new Map() };
    if (!found.ends.has(zone)) found.ends.set(zone, quietUntil(quiet, zone, now));
    return found.ends.get(zone);
  };

  return {
    putOff: (round) => {
      putOff(round, addressees, (unit) => {
        const { subscriber, targets } = recipientOf(unit);
        // Nobody waits whom nothing can reach any more.
        if (isPseudonym(subscriber) || gone.has(subscriber) || !disturbs(targets[unit.target]!.channel))
          return undefined;
        if (unit.quiet !== undefined && gate.over) return undefined;
        if (unit.quiet !== undefined && gate.retryInMs !== undefined) return { due: gate.retryInMs };
        const until = endIn(zones.get(subscriber) ?? timezone);
        return until === undefined ? undefined : { due: until, quiet: until };
      });
    },
    refusal: ({ quiet: waited }) => (waited === undefined ? undefined : gate.over),
  };
}

interface Gate {
  /** Not yet: when to look again. */
  retryInMs?: number;
  /** Not any more. */
  over?: SendOutcome;
}

/** Whether what waited since `ended` may go out now: its workspace open, its campaign or journey not held. */
async function gateOf({ store, workspace, clock, found: { job } }: Work, ended: number): Promise<Gate> {
  const now = clock.now();
  const { min, max, share } = LOOK_AGAIN_MS;
  const wait = Math.min(max, Math.max(min, (now - ended) * share));
  const retryInMs = Math.ceil((now + wait) / min) * min;
  if ((await workspace())?.status !== "active")
    return now - ended > TOO_LATE_MS ? { over: { status: "rejected", reason: EXPIRED } } : { retryInMs };
  if (job.held) return { retryInMs };
  if (job.source.type !== "journey" || job.source.id === null) return {};
  const status = await statusOf(store, job.source.id);
  if (status === "active") return {};
  return status === "paused" ? { retryInMs } : { over: { status: "skipped", reason: "canceled" } };
}
