// The dice of misfortune: every fault that could strike is thrown here, counted, and may be spared when a story shrinks.
import type { ServiceName } from "../../local/aws/index.ts";
import { MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import type { Kernel } from "./kernel.ts";
import { FAULTS_END_MS, type Profile } from "./profiles.ts";
import type { Random } from "./random.ts";

export interface Faults {
  profile: Profile;
  /** Whether it is still the time of faults. */
  on(): boolean;
  /** Whether a fault of this probability strikes now. */
  strikes(random: Random, probability: number): boolean;
  /** Whether a service is hardly there just now: nearly every call of it is throttled. */
  isOut(service: ServiceName): boolean;
  /** How often a service is out in this world. */
  outages: number;
  /** A call failed as often as a client tries. */
  giveUp(): void;
  givenUp(): number;
  /** How many have struck. */
  struck(): number;
  /** How many the dice brought, spared or not. */
  thrown(): number;
}

const SERVICES = ["dynamodb", "dynamodb", "sqs", "scheduler", "kms"] as const;

/** @param spared faults that do not strike though the dice say so, by their number. */
export function createFaults(kernel: Kernel, profile: Profile, spared: ReadonlySet<number>): Faults {
  const start = kernel.now();
  /** Setup before the run is free of faults. */
  const on = () => kernel.now() > start && kernel.now() < start + FAULTS_END_MS;
  const { random } = kernel;
  const outages = Array.from({ length: random.between(0, profile.outages) }, () => {
    const from = kernel.now() + random.between(0, FAULTS_END_MS - MINUTE);
    return { service: random.pick(SERVICES), from, to: from + random.between(5 * SECOND, 45 * SECOND) };
  });
  let thrown = 0;
  let struck = 0;
  let givenUp = 0;
  return {
    profile,
    on,
    outages: outages.length,
    isOut: (service) => {
      const now = kernel.now();
      return outages.some((outage) => outage.service === service && outage.from <= now && now < outage.to);
    },
    giveUp: () => {
      givenUp++;
    },
    givenUp: () => givenUp,
    struck: () => struck,
    thrown: () => thrown,
    strikes: (random, probability) => {
      if (!random.chance(probability) || !on()) return false;
      const isSpared = spared.has(thrown);
      thrown++;
      if (!isSpared) struck++;
      return !isSpared;
    },
  };
}
