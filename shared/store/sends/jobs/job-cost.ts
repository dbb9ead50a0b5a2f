// The cost of a send so far, computed from its totals, and the expected cost of a new one (F10, docs/decisions/0053).
import { addressKindOf } from "../../../rules/addresses.ts";
import { type ChannelType, hasConsent } from "../../../rules/channel-types.ts";
import {
  type Audience,
  costOf,
  costOfSend,
  type Prices,
  type ProfileReads,
  type ProviderCost,
  pricesOf,
  providerCost,
  type Rate,
  type SendCost,
  takenBy,
  WIDE_FROM,
} from "../../../rules/cost.ts";
import type { ExtraReads } from "../audience/extra-reads.ts";
import type { Tally } from "../chunks/tallies.ts";
import type { JobRecord } from "./job-record.ts";
import type { DeliverySettings, JobSpec } from "./job-spec.ts";

type CostedJob = Pick<
  JobRecord,
  "direct" | "ranges" | "target" | "source" | "deliverySettings" | "channel_arbitration_mode"
> &
  LookedUp;

type LookedUp = Pick<JobSpec, "looked_up" | "subscriber_ids_count">;

/** Ids that were read when the send was made. */
export const lookedUpIn = ({ looked_up, subscriber_ids_count }: LookedUp): number =>
  looked_up ? (subscriber_ids_count ?? 0) : 0;

type Totals = Pick<Tally, "delivered_by_channel" | "counts" | "skip_reasons"> & Partial<Pick<Tally, "extra">>;

/** Recipients skipped for one of these reasons have no address that is read. */
const WITHOUT_ADDRESS = new Set(["no_address", "no_device", "no_channel", "invalid_phone", "unknown_subscriber"]);

/** How many of the skipped have an address, of a send by channels that ask for what holds for it. */
const skippedWithAddress = (
  reasons: Readonly<Record<string, number>>,
  via: readonly { type: ChannelType }[],
): number =>
  via.some(({ type }) => hasConsent(type))
    ? Object.entries(reasons).reduce((sum, [reason, n]) => sum + (WITHOUT_ADDRESS.has(reason) ? 0 : n), 0)
    : 0;

const smartOf = (mode: JobSpec["channel_arbitration_mode"], via: readonly { type: ChannelType }[]) =>
  mode === "smart" ? { addressKinds: new Set(via.flatMap(({ type }) => addressKindOf(type) ?? [])).size } : undefined;

/** @param totals of the send until now */
export function costOfJob(job: CostedJob, totals: Totals): SendCost {
  const { taken, provider } = expensesOf(job, totals);
  return costOf(taken, provider);
}

/** The consumed units of a send, and the charges of its providers. @param totals of the send until now */
export function expensesOf(
  { direct, ranges = [], target, source, deliverySettings, channel_arbitration_mode: mode, ...ids }: CostedJob,
  { delivered_by_channel, counts, skip_reasons, extra }: Totals,
): { taken: Rate; provider: ProviderCost } {
  const via = deliverySettings?.via ?? [];
  // The channel of a failed message is not counted: it costs the service as much as an accepted one.
  const failedBy = via.length === 1 && via[0] ? via[0].type : "other";
  const reached = {
    ...delivered_by_channel,
    [failedBy]: (delivered_by_channel[failedBy] ?? 0) + counts.failed,
  };
  const taken = takenBy({
    reached,
    people: counts.sent,
    isWide: ranges.length > 1,
    audience: audienceKindOf(target),
    lookedUp: lookedUpIn(ids),
    heldOut: counts.held_out,
    skipped: counts.skipped,
    skippedWithAddress: skippedWithAddress(skip_reasons, via),
    smart: smartOf(mode, via),
    profiles: deliverySettings?.profiles,
    caps: countedPeriods(deliverySettings),
    direct: direct && (source.type === "journey" ? "step" : "one"),
    isBySmtp: isBySmtp(via),
    extra,
  });
  return { taken, provider: providerCost(delivered_by_channel, pricesOf(via)) };
}

/** How recipients are found: by the target of the send, else by their ids. */
export const audienceKindOf = (target: { type: string } | null | undefined): Audience =>
  target?.type === "all" || target?.type === "list" || target?.type === "segment" ? target.type : "given";

/** Whether mails go by a mail server, which reports nothing. */
export const isBySmtp = (via: readonly { isSmtp?: boolean | undefined }[]): boolean =>
  via.some(({ isSmtp }) => isSmtp === true);

/** Periods that the frequency caps of a send count. */
export const countedPeriods = (settings: Pick<DeliverySettings, "caps"> | undefined): number =>
  new Set(settings?.caps?.map(({ per }) => per)).size;

/** The facts, beside the number of recipients, that determine the cost of a new send. */
export interface Rating {
  prices: Prices;
  audience: Audience;
  lookedUp: number;
  isBySmtp: boolean;
  mode: JobSpec["channel_arbitration_mode"];
  via: readonly { type: ChannelType }[];
  profiles?: ProfileReads | undefined;
  caps: number;
  /** Recipients whose messages have no text: they cost the service as much, and no provider gets them. */
  failed?: number;
  extra?: ExtraReads | undefined;
  /** How many are judged, with those that the filters leave out. */
  candidates: number;
}

/** @param byClass recipients by the class of channels that would reach them */
export const costOfAudience = (
  byClass: Readonly<Record<string, number>>,
  { total, sent, held_out: heldOut, skipped }: Pick<Tally["counts"], "total" | "sent" | "held_out" | "skipped">,
  skip_reasons: Tally["skip_reasons"],
  { prices, extra, via, mode, candidates, failed = 0, ...rating }: Rating,
): SendCost => {
  // The row of a send to one does not say how long its profile is.
  const isOne = total === 1 && sent === 1;
  const reached = failed > 0 ? { ...byClass, other: failed } : byClass;
  const looked = { skippedWithAddress: skippedWithAddress(skip_reasons, via), smart: smartOf(mode, via), ...rating };
  const sentTo = { reached, people: sent, isWide: candidates >= WIDE_FROM, heldOut, skipped, ...looked };
  const further = isOne ? { direct: "one" as const } : { direct: undefined, extra };
  return costOfSend({ ...sentTo, ...further }, providerCost(byClass, prices));
};
