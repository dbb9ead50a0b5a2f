// The providers of a simulated world: they answer on virtual time, refuse, hang, and lose replies.
import { SECOND } from "../../shared/kernel/clock.ts";
import type { Outcome, OutgoingMessage, Providers } from "../../shared/providers/provider.ts";
import { type ProvidedChannel, providedChannels } from "../../shared/rules/channel-types.ts";
import type { Faults } from "./faults.ts";
import type { Fleet, Process } from "./fleet.ts";
import type { Kernel } from "./kernel.ts";

/** What a provider was asked to send, and what became of it. */
export interface Call {
  channel: ProvidedChannel;
  message: OutgoingMessage;
  job: string;
  subscriber: string;
  target: string;
  at: number;
  /** The process that asked. */
  by: Process;
  /** It certainly did not send it: the service may ask again. */
  isRefusedForNow: boolean;
  /** It takes no more at present, and says when it will: no attempt. */
  isThrottled: boolean;
  /** It is in the outbox of a sandbox: no provider was asked. */
  isRecorded?: boolean;
  /** What the service was told. Absent until then, and if its process died. */
  told?: Outcome;
  toldAt?: number;
}

interface ProviderDeps {
  kernel: Kernel;
  fleet(): Fleet;
  faults: Faults;
  told(call: Call): void;
  /** The provider refuses every message of its workspace. */
  refuses(message: OutgoingMessage): boolean;
  /** The provider takes no more in this second. */
  isFull(message: OutgoingMessage): boolean;
}

const MAX_TRANSIT_MS = 200;
const HANG_MS = 10 * SECOND;
const SLOW_MS = 8 * SECOND;
export const THROTTLED = "throttled";

/** To the service all providers are alike. */
export function providersFor(
  process: Process,
  { kernel, fleet, faults, told, refuses, isFull }: ProviderDeps,
): Providers {
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
  const answer = (message: OutgoingMessage): Outcome => {
    if (refuses(message)) return { kind: "rejected", reason: "no such topic" };
    if (isFull(message)) return { kind: "retryable", reason: THROTTLED, isThrottled: true };
    if (hits(profile.providerTransient)) return { kind: "retryable", reason: "busy" };
    if (hits(profile.providerThrottle))
      return { kind: "retryable", reason: THROTTLED, isThrottled: true, retryAfterSeconds: random.between(1, 90) };
    if (hits(profile.providerPermanent)) return { kind: "rejected", reason: "no such topic" };
    if (hits(profile.providerPermanent)) return { kind: "rejected", reason: "unregistered", addressDead: true };
    return { kind: "accepted", providerId: `p${random.between(1, 1_000_000)}` };
  };
  const sendBy =
    (channel: ProvidedChannel) =>
    async (_: unknown, message: OutgoingMessage): Promise<Outcome> => {
      const { job, subscriber, target } = message;
      await way();
      if (hits(profile.crash)) return die("before a call of a provider");
      const outcome = answer(message);
      const isRefusedForNow = outcome.kind === "retryable";
      const call: Call = {
        ...{ channel, message, job, subscriber, target, by: process, isRefusedForNow },
        isThrottled: "reason" in outcome && outcome.reason === THROTTLED,
        at: kernel.now(),
      };
      told(call);
      kernel.note(`${process.label} ${channel} ${job} ${subscriber} ${target} ${outcome.kind}`);
      if (hits(profile.crash)) return die("after a call of a provider");
      const isLost = outcome.kind === "accepted" && hits(profile.providerSilent);
      if (isLost) await process.clock.sleep(HANG_MS);
      else if (hits(profile.providerSlow)) await process.clock.sleep(random.between(SECOND, SLOW_MS));
      else await way();
      call.told = isLost ? { kind: "unknown", reason: "no answer" } : outcome;
      call.toldAt = kernel.now();
      return call.told;
    };
  const verify = async () => ({ ok: true as const });
  const of = (channel: ProvidedChannel) => ({ send: sendBy(channel), verify });
  // One for each of them.
  return Object.fromEntries(providedChannels.map((channel) => [channel, of(channel)])) as unknown as Providers;
}

/** By workspace, when its providers took messages. */
export type TakenTimes = Map<string, number[]>;

/** Whether a provider that takes so many a second takes no other one now. */
export function isFull(
  taken: TakenTimes,
  perSecond: number | undefined,
  { tenant, now }: { tenant: string; now: number },
) {
  if (perSecond === undefined) return false;
  const recent = (taken.get(tenant) ?? []).filter((at) => at > now - SECOND);
  taken.set(tenant, recent.length < perSecond ? [...recent, now] : recent);
  return recent.length >= perSecond;
}
