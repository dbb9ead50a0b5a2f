// Whether a candidate gets a send, and why not: one judgement for every planning of an audience.
import { byRank, type Engagements, type RankSource, rankClasses } from "./arbitration.ts";
import { classOf } from "./channel-types.ts";
import { elementAt } from "./element-at.ts";
import {
  type Contact,
  type ReachRules,
  reachOf,
  type Target,
  type UnreachableReason,
  unreachableReasons,
} from "./reach.ts";
import { armOf, isHeldOut } from "./split.ts";

export const skipReasons = ["unknown_subscriber", ...unreachableReasons] as const;
type SkipReason = (typeof skipReasons)[number];

export interface AudienceRules {
  job: string;
  holdoutPercentage: number;
  /** Present for an A/B send: the share of arm A. */
  splitPercentage: number | undefined;
  /** Compiled from `subscriber_filters`. */
  matchesSubscriber: (attributes: Record<string, unknown>) => boolean;
  /** Compiled from `device_filters`; absent when there are none. */
  matchesDevice: ((device: Record<string, unknown>) => boolean) | undefined;
  reach: ReachRules;
  /** In a smart send: the workspace's engagement by class of channels. */
  tenant?: Engagements | undefined;
}

export interface Candidate {
  id: string;
  /** Absent if no subscriber has the given id (AMB-57). */
  subscriber?: CandidateSubscriber | undefined;
}

interface CandidateSubscriber {
  /** The fields that `subscriber_filters` can use. */
  attributes: Record<string, unknown>;
  /** The fields that `device_filters` can use, with the ids in `contact`. */
  devices: readonly Record<string, unknown>[];
  contact: Contact;
  /** In a smart send; undefined if it could not be read. */
  engagement?: Engagements | undefined;
}

export type Judgement =
  | {
      kind: "send";
      arm?: "a" | "b";
      targets: Target[];
      /** In a smart send: the source of its first class. */
      source?: RankSource;
      /** The history could not be read, so the default order decided. */
      rankFailed?: true;
    }
  | { kind: "held_out" }
  | { kind: "skip"; reason: SkipReason }
  /** The filters exclude the candidate from the audience. */
  | { kind: "excluded" };

/**
 * Filters decide who is in the audience. A candidate that no selected channel reaches is skipped. The control group is
 * drawn from those who can be reached, because lift compares it with those who were (ABH-1, ABH-2).
 */
export function judge({ id, subscriber }: Candidate, rules: AudienceRules): Judgement {
  if (!subscriber) return { kind: "skip", reason: "unknown_subscriber" };
  const { attributes, contact, engagement } = subscriber;
  if (!rules.matchesSubscriber(attributes)) return { kind: "excluded" };
  const allowed = allowedDevices(subscriber, rules);
  if (allowed?.size === 0) return { kind: "excluded" };

  const reach = reachOf(contact, rules.reach, (device) => allowed?.has(device.id) ?? true);
  if (reach.kind === "unreachable") return { kind: "skip", reason: reach.reason };
  if (isHeldOut(rules.job, id, rules.holdoutPercentage)) return { kind: "held_out" };

  const arm = rules.splitPercentage === undefined ? {} : { arm: armOf(rules.job, id, rules.splitPercentage) };
  if (!rules.tenant) return { kind: "send", ...arm, targets: reach.targets };
  return { kind: "send", ...arm, ...rankedTargets(reach.targets, engagement, rules.tenant) };
}

const allowedDevices = ({ devices }: CandidateSubscriber, { matchesDevice }: AudienceRules) =>
  matchesDevice && new Set<unknown>(devices.filter(matchesDevice).map(({ id }) => id));

/** The classes of a send's channels that do not reach somebody whom another one reaches, each with the most specific reason. */
export function missedClasses(subscriber: CandidateSubscriber, rules: AudienceRules): [string, UnreachableReason][] {
  const allowed = allowedDevices(subscriber, rules);
  return [...Map.groupBy(rules.reach.channels, classOf)].flatMap(([name, channels]) => {
    const reach = reachOf(subscriber.contact, { ...rules.reach, channels }, ({ id }) => allowed?.has(id) ?? true);
    return reach.kind === "unreachable" ? [[name, reach.reason]] : [];
  });
}

/** A smart send: the targets by what their classes of channels were answered to. */
function rankedTargets(targets: Target[], personal: Engagements | undefined, tenant: Engagements) {
  const classes = targets.map(({ channel }) => classOf(channel));
  const ranked = rankClasses(classes, personal ? { personal, tenant } : { personal: {}, tenant: {} });
  const { source } = elementAt(ranked, 0);
  return { targets: byRank(targets, ranked), source, ...(!personal && { rankFailed: true as const }) };
}
