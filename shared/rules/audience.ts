// Who gets a send and why not: one judgement per candidate, the same wherever an audience is planned.
import { armOf, isHeldOut } from "./split.ts";

export const skipReasons = ["unknown_subscriber", "template_error"] as const;
export type SkipReason = (typeof skipReasons)[number];

export interface AudienceRules {
  job: string;
  holdoutPercentage: number;
  /** Present for an A/B send: the share of arm A. */
  splitPercentage: number | undefined;
  /** Compiled from `subscriber_filters`. */
  matchesSubscriber: (attributes: Record<string, unknown>) => boolean;
  /** Compiled from `device_filters`; absent when there are none. */
  matchesDevice: ((device: Record<string, unknown>) => boolean) | undefined;
}

export interface Candidate {
  id: string;
  /** Absent when an id that was given belongs to nobody (AMB-57). */
  subscriber?: { attributes: Record<string, unknown>; devices: readonly Record<string, unknown>[] } | undefined;
}

export type Judgement =
  | { verdict: "send"; arm?: "a" | "b" }
  | { verdict: "held_out" }
  | { verdict: "skip"; reason: SkipReason }
  /** The filters leave it out: it is no part of the audience. */
  | { verdict: "excluded" };

/** Filters decide who is in the audience; holdout is drawn from the audience; the rest is sent to (ABH-1, ABH-2). */
export function judge({ id, subscriber }: Candidate, rules: AudienceRules): Judgement {
  if (!subscriber) return { verdict: "skip", reason: "unknown_subscriber" };
  if (!rules.matchesSubscriber(subscriber.attributes)) return { verdict: "excluded" };
  if (rules.matchesDevice && !subscriber.devices.some(rules.matchesDevice)) return { verdict: "excluded" };
  if (isHeldOut(rules.job, id, rules.holdoutPercentage)) return { verdict: "held_out" };
  if (rules.splitPercentage === undefined) return { verdict: "send" };
  return { verdict: "send", arm: armOf(rules.job, id, rules.splitPercentage) };
}
