// Runs one seed to its end; the same seed gives the same run.
import { generateKeyPairSync } from "node:crypto";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { isDueBy } from "./entities.ts";
import type { Scenario, Violation, Watch } from "./invariant.ts";
import { invariants } from "./invariants/index.ts";
import { createKernel, HORIZON_MS } from "./kernel.ts";
import { drawProfile, type Profile, type ProfileName, profiles } from "./profiles.ts";
import { type Random, randomFrom } from "./random.ts";
import { watchReached } from "./reached.ts";
import { storyOf } from "./story.ts";
import { createSimWorld, type Omission, type SimWorld } from "./world.ts";

const USUAL_START = Date.parse("2026-11-20T12:00:00.000Z");
/** Shortly before a month, a year, a leap day or an hour of a time zone ends; each within the time of faults. */
const TURNS = [
  "2026-12-31T23:30:00.000Z",
  "2027-01-31T23:20:00.000Z",
  "2027-02-28T23:40:00.000Z",
  "2028-02-28T23:30:00.000Z",
  "2028-02-29T23:30:00.000Z",
  "2026-03-08T06:40:00.000Z",
  "2026-11-01T05:40:00.000Z",
  "2026-03-29T00:40:00.000Z",
  "2026-10-25T00:40:00.000Z",
].map((at) => Date.parse(at));
const TURN = 0.3;

const ENDLESS = "The seed does not end: it goes on after 400,000 events.";

const signingKey = String(
  generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey.export({ format: "pem", type: "pkcs8" }),
);

export interface Run {
  seed: number;
  scenario: string;
  profile: ProfileName;
  violation: Violation | undefined;
  story: string;
  hash: string;
  calls: number;
  crashes: number;
  /** Faults that struck, and that the dice brought. */
  faults: number;
  thrown: number;
  /** Actors in all, and those that took part. */
  actors: number;
  taking: number;
  /** What came by: see `reached.ts`. */
  reached: ReadonlySet<string>;
  rescues: { sweep: number; watchdog: number };
}

export interface RunOptions {
  seed: number;
  scenario: Scenario;
  profile?: ProfileName | undefined;
  viaSdk?: boolean;
  /** Other rates than those of the profile, and actors and faults left out: a shrunk story. */
  tuned?: Partial<Profile>;
  without?: Omission;
  /** Invariants that are not looked at. */
  ignore?: readonly string[] | undefined;
}

export async function simulate({ seed, scenario, viaSdk = false, ...options }: RunOptions): Promise<Run> {
  const random = randomFrom(seed);
  // Drawn in any case, so that a seed is the same run whether its profile is named or drawn.
  const drawn = drawProfile(random);
  const profile = options.profile ?? drawn;
  const kernel = createKernel(startOf(random), random);
  const world = await createSimWorld({
    kernel,
    signingKey,
    viaSdk,
    without: options.without,
    profile: { ...profiles[profile], ...options.tuned },
  });
  const reached = watchReached(world);
  try {
    let broken: Violation | undefined;
    const watches = watch(world, (found) => {
      if (!options.ignore?.includes(found.invariant)) broken ??= found;
    });
    await scenario.start(world);
    world.mirror.sync("setup");
    const violation = await violationIn(world, watches, () => broken);
    return {
      seed,
      scenario: scenario.name,
      profile,
      violation,
      rescues: world.rescues,
      story: violation ? storyOf(kernel.trace, world.start, violation.entities, world.names) : "",
      hash: kernel.hash(),
      calls: world.calls(),
      crashes: world.fleet.crashes(),
      faults: world.faults.struck(),
      thrown: world.faults.thrown(),
      actors: world.actors(),
      taking: world.taking(),
      reached,
    };
  } finally {
    world.close();
  }
}

/** Runs a world to its end. @param broken the first promise that a watch found broken */
async function violationIn(
  world: SimWorld,
  watches: readonly Watch[],
  broken: () => Violation | undefined,
): Promise<Violation | undefined> {
  const { kernel } = world;
  const ended = await kernel.run(() => reasonToEnd(world, broken()));
  switch (ended.kind) {
    case "broken":
      return ended.violation;
    case "failed":
      return ofScenario(ended.error, kernel.now());
    case "endless":
      return endlessAt(kernel.now());
    case "idle":
    case "at rest":
  }
  for (const { end } of watches) await end?.();
  // What they asked took events, too.
  const asked = await kernel.run(() => AT_REST);
  return asked.kind === "endless" ? endlessAt(kernel.now()) : broken();
}

const AT_REST = { kind: "at rest" } as const;

function reasonToEnd(world: SimWorld, violation: Violation | undefined) {
  if (violation) return { kind: "broken" as const, violation };
  if (world.errors.length > 0) return { kind: "failed" as const, error: world.errors[0] };
  return isAtRest(world) ? AT_REST : undefined;
}

const startOf = (random: Random): number =>
  random.chance(TURN) ? random.pick(TURNS) + random.between(0, 25 * MINUTE) : USUAL_START + random.between(0, HOUR);

const endlessAt = (at: number): Violation => ({ invariant: "a seed ends", text: ENDLESS, entities: [], at });

/** What a client of the scenario did not expect. */
const ofScenario = (error: unknown, at: number): Violation => ({
  invariant: "the scenario goes on",
  text: String((error as Error).stack ?? error),
  entities: [],
  at,
});

/** No work is pending, and none is left that the sweep could find. */
function isAtRest({ kernel, start, profile, mirror }: SimWorld): boolean {
  if (kernel.now() > start + HORIZON_MS) return true;
  if (kernel.pending() > 0) return false;
  if (!profile.sweep) return true;
  const horizon = start + HORIZON_MS;
  for (const pk of mirror.partitions()) if (isDueBy(pk, horizon) && mirror.under(pk).size > 0) return false;
  return true;
}

function watch(world: SimWorld, found: (violation: Violation) => void): Watch[] {
  const watches = invariants.map(({ name, watch: open }) =>
    open(world, (text, ...entities) => found({ invariant: name, text, entities, at: world.kernel.now() })),
  );
  world.onCommit((commit) => {
    for (const one of watches) one.commit?.(commit);
  });
  return watches;
}
