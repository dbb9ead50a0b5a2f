// Runs one seed to its end; the same seed gives the same run.
import { generateKeyPairSync } from "node:crypto";
import { HOUR } from "../../shared/clock.ts";
import type { Scenario, Violation, Watch } from "./invariant.ts";
import { invariants } from "./invariants/index.ts";
import { createKernel } from "./kernel.ts";
import { drawProfile, type Profile, type ProfileName, profiles } from "./profiles.ts";
import { randomFrom } from "./random.ts";
import { watchReached } from "./reached.ts";
import { storyOf } from "./story.ts";
import { createSimWorld, type Omission, type SimWorld } from "./world.ts";

const START = Date.parse("2026-11-20T12:00:00.000Z");
/** Whatever is under way when faults end must have come to rest by then. */
const LIMIT_MS = 5 * HOUR;

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
  const profile = options.profile ?? drawProfile(random);
  const kernel = createKernel(START + random.between(0, HOUR), random);
  const world = await createSimWorld({
    kernel,
    signingKey,
    viaSdk,
    without: options.without,
    profile: { ...profiles[profile], ...options.tuned },
  });
  const reached = watchReached(world);
  try {
    let violation: Violation | undefined;
    const watches = watch(world, (found) => {
      if (!options.ignore?.includes(found.invariant)) violation ??= found;
    });
    await scenario.start(world);
    world.mirror.sync("setup");
    await kernel.run(() => violation !== undefined || world.errors.length > 0 || isAtRest(world));
    if (world.errors.length > 0) throw world.errors[0];
    if (!violation) for (const { end } of watches) await end?.();
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

/** No work is pending, and none is left that the sweep could find. */
function isAtRest({ kernel, start, profile, mirror }: SimWorld): boolean {
  if (kernel.now() > start + LIMIT_MS) return true;
  if (kernel.pending() > 0) return false;
  if (!profile.sweep) return true;
  for (const pk of mirror.partitions()) if (pk.startsWith("DUE#") && mirror.under(pk).size > 0) return false;
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
