// The rounds of a chunk: what a round tries, in groups, and what it defers to a later one.
import { classesOf } from "./arbitration.ts";
import { elementAt } from "./element-at.ts";
import type { Addressee, Progress, Unit } from "./progress.ts";

/** Recipients of a group: a crash may leave this many unconfirmed. */
const GROUP_SIZE = 10;

export const unitsOf = ({ work }: Progress, addressees: readonly Addressee[]): Unit[] =>
  work ??
  addressees.flatMap(({ targets, isSmart }, recipient) => {
    const [first = []] = isSmart ? classesOf(targets) : [targets];
    return first.map((target) => ({ recipient, target: targets.indexOf(target), tries: [], due: 0 }));
  });

/** The end of the group that begins at `from`: at most ten recipients. */
export function groupEnd(units: readonly Unit[], from: number): number {
  const recipients = new Set<number>();
  for (let i = from; i < units.length; i++) {
    recipients.add(elementAt(units, i).recipient);
    if (recipients.size > GROUP_SIZE) return i;
  }
  return units.length;
}

/** Defers unclaimed units to a later round, if `until` names a time. */
export function putOff(
  progress: Progress,
  addressees: readonly Addressee[],
  until: (unit: Unit) => Pick<Unit, "due" | "quiet" | "throttledSince" | "isHeld"> | undefined,
): void {
  const units = unitsOf(progress, addressees);
  const waits = units.map((unit, i) => (i < progress.to ? undefined : until(unit)));
  if (!waits.some(Boolean)) return;
  progress.work = units.filter((_, i) => !waits[i]);
  for (const [i, unit] of units.entries()) if (waits[i]) progress.next.push({ ...unit, ...waits[i] });
}

/** Ends a round early: unclaimed units are left to the next one, which may begin at once. */
export function endRound(progress: Progress, addressees: readonly Addressee[], now: number): void {
  putOff(progress, addressees, ({ due, quiet }) => ({ due: Math.max(due, now), quiet }));
}

/** The end of the quiet hours that it waits for. A provider that throttles it afterwards delays it from then on. */
export const quietEnd = ({ quiet, throttledSince, due }: Unit): number | undefined =>
  quiet !== undefined && throttledSince !== undefined && due > quiet ? undefined : quiet;

/** The recipients that wait for the end of quiet hours. */
export const waitingFor = ({ work = [], to, next }: Progress): Set<number> =>
  new Set([...work.slice(to), ...next].flatMap((unit) => (quietEnd(unit) === undefined ? [] : [unit.recipient])));

/** Begins the next round with the due units. @returns when it may begin; undefined if nothing is left */
export function nextRound(progress: Progress, now: number): number | undefined {
  if (progress.next.length === 0) return undefined;
  const begins = Math.min(...progress.next.map(({ due }) => due));
  const until = Math.max(now, begins);
  progress.work = progress.next.filter(({ due }) => due <= until).sort(byPlace);
  progress.next = progress.next.filter(({ due }) => due > until);
  const slots = Object.fromEntries(Object.entries(progress.slots).filter(([, { isUsed }]) => !isUsed));
  Object.assign(progress, { at: undefined, from: 0, to: 0, noted: 0, pending: [], slots });
  return begins;
}

export const byPlace = (a: Unit, b: Unit): number => a.recipient - b.recipient || a.target - b.target;
