// Shrinks a failing run: fewer kinds of faults, fewer actors, fewer faults, as long as the same invariant fails.
import { type Profile, profiles } from "./profiles.ts";
import { type Run, type RunOptions, simulate } from "./simulate.ts";

interface Shrunk {
  run: Run;
  /** How many runs it took. */
  tries: number;
  calm: string[];
}

/** Limits the runs; a story that does not shrink further is printed as it is. */
const MAX_ATTEMPTS = 150;

const RATES = [
  ...[
    "crash",
    "throttle",
    "conflict",
    "lostReply",
    "unprocessed",
    "shortPage",
    "outages",
    "duplicate",
    "reorder",
    "late",
  ],
  ...["scheduleTwice", "scheduleLost", "clockJump", "skewMs", "indexLagMs", "slow", "straggle", "inFlightMs"],
  ...["writeUnits", "poison", "splits", "providerTransient", "providerThrottle", "providerPermanent"],
  ...["providerSilent", "providerSlow"],
] as (keyof Profile)[];

/** The shortest story found that breaks the same invariant; always the same one for the same run. */
export async function shrink(options: RunOptions, failing: Run): Promise<Shrunk> {
  const invariant = failing.violation?.invariant;
  let best = failing;
  let tries = 0;
  let tuned: Partial<Profile> = {};
  const without = { actors: new Set<number>(), faults: new Set<number>() };

  const stillBreaks = async (changes: { tuned?: Partial<Profile>; actors?: Set<number>; faults?: Set<number> }) => {
    if (tries >= MAX_ATTEMPTS) return false;
    tries++;
    const run = await simulate({
      ...options,
      profile: failing.profile,
      tuned: changes.tuned ?? tuned,
      without: { ...without, ...changes },
    }).catch(() => undefined);
    if (run?.violation?.invariant !== invariant) return false;
    best = run!;
    return true;
  };

  const rates = RATES.filter((rate) => profiles[failing.profile][rate]);
  await leaveOut(rates.length, new Set(), async (calm) => {
    const calmer = Object.fromEntries([...calm].map((n) => [rates[n], 0]));
    const breaks = await stillBreaks({ tuned: calmer });
    if (breaks) tuned = calmer;
    return breaks;
  });
  await leaveOut(best.actors, without.actors, (actors) => stillBreaks({ actors }));
  await leaveOut(best.thrown, without.faults, (faults) => stillBreaks({ faults }));
  return { run: best, tries, calm: Object.keys(tuned) };
}

/** Leaves out ever smaller stretches of the numbers below `count`, whichever can be spared. */
async function leaveOut(count: number, left: Set<number>, stillBreaks: (left: Set<number>) => Promise<boolean>) {
  for (let size = Math.ceil(count / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < count; from += size) {
      const stretch = Array.from({ length: Math.min(size, count - from) }, (_, i) => from + i);
      if (stretch.every((n) => left.has(n))) continue;
      const fewer = new Set([...left, ...stretch]);
      if (await stillBreaks(fewer)) for (const n of stretch) left.add(n);
    }
}
