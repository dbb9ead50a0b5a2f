// The push provider of a simulated world: it answers on virtual time, refuses, hangs, and loses replies.
import type { Outcome, Providers } from "../../shared/providers/provider.ts";
import type { Faults } from "./faults.ts";
import type { Fleet, Process } from "./fleet.ts";
import type { Kernel } from "./kernel.ts";

/** What a provider was asked to send, and whether it may have sent it. */
export interface Call {
  job: string;
  subscriber: string;
  target: string;
  /** It certainly did not: the service may ask again. */
  isRefusedForNow: boolean;
}

interface ProviderDeps {
  kernel: Kernel;
  fleet(): Fleet;
  faults: Faults;
  told(call: Call): void;
}

const MAX_TRANSIT_MS = 200;
const HANG_MS = 10_000;

/** Only push is simulated: to the service all providers are alike. */
export function providersFor(process: Process, { kernel, fleet, faults, told }: ProviderDeps): Providers {
  const { random } = process;
  const way = () =>
    new Promise<void>((resolve) => {
      kernel.after(random.between(1, MAX_TRANSIT_MS), () => process.alive && resolve());
    });
  const { profile } = faults;
  const hits = (probability: number) => faults.strikes(random, probability);
  const die = (why: string) => {
    fleet().crash(process, why);
    return new Promise<never>(() => undefined);
  };
  /** In calm weather providers take everything. */
  const fault = profile.crash > 0 ? 0.05 : 0;
  const answer = (): Outcome => {
    if (hits(fault)) return { status: "retryable", reason: "busy" };
    if (hits(fault)) return { status: "rejected", reason: "no such topic" };
    if (hits(fault)) return { status: "rejected", reason: "unregistered", addressDead: true };
    return { status: "accepted", providerId: `p${random.between(1, 1_000_000)}` };
  };
  const send: Providers["ios"]["send"] = async (_, { job, subscriber, target }) => {
    await way();
    if (hits(profile.crash)) return die("before a push");
    const outcome = answer();
    told({ job, subscriber, target, isRefusedForNow: outcome.status === "retryable" });
    kernel.note(`${process.label} push ${job} ${subscriber} ${target} ${outcome.status}`);
    if (hits(profile.crash)) return die("after a push");
    if (outcome.status === "accepted" && hits(fault)) {
      await process.clock.sleep(HANG_MS);
      return { status: "unknown", reason: "no answer" };
    }
    await way();
    return outcome;
  };
  const push = { send, verify: async () => ({ ok: true as const }) };
  return { ios: push } as unknown as Providers;
}
