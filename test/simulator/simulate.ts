// Runs one seed to its end: the same seed, the same story.
import { generateKeyPairSync } from "node:crypto";
import { HOUR } from "../../shared/clock.ts";
import type { Scenario, Violation, Watch } from "./invariant.ts";
import { invariants } from "./invariants/index.ts";
import { createKernel } from "./kernel.ts";
import { drawProfile, type ProfileName, profiles } from "./profiles.ts";
import { randomFrom } from "./random.ts";
import { storyOf } from "./story.ts";
import { createSimWorld, type Planted, type SimWorld } from "./world.ts";

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
  events: number;
  crashes: number;
  rescues: { sweep: number; watchdog: number };
}

export interface RunOptions {
  seed: number;
  scenario: Scenario;
  profile?: ProfileName | undefined;
  viaSdk?: boolean;
  planted?: Planted | undefined;
  /** Invariants that are not looked at. */
  ignore?: readonly string[] | undefined;
}

export async function simulate({ seed, scenario, viaSdk = false, planted, ...options }: RunOptions): Promise<Run> {
  const random = randomFrom(seed);
  const profile = planted?.profile ?? options.profile ?? drawProfile(random);
  const kernel = createKernel(START + random.between(0, HOUR), random);
  const world = await createSimWorld({ kernel, profile: profiles[profile], signingKey, viaSdk, planted });
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
      ...{ seed, scenario: scenario.name, profile, violation, rescues: world.rescues },
      story: violation ? storyOf(kernel, world.start, violation.entities, world.names) : "",
      hash: kernel.hash(),
      calls: world.calls(),
      events: kernel.trace.length,
      crashes: world.fleet.crashes(),
    };
  } finally {
    world.close();
  }
}

/** Nothing is pending, and nothing lies about that the sweep could still find. */
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
