// The preview of a send (F8): its audience is judged as the send would judge it, and nothing is written.
import * as v from "valibot";
import { SendCost } from "../../../contract/cost.ts";
import { personal } from "../../../contract/personal.ts";
import { said, Timestamp } from "../../../contract/schemas.ts";
import { timestamp } from "../../../kernel/clock.ts";
import { invalid } from "../../../kernel/errors.ts";
import { type AudienceRules, missedClasses } from "../../../rules/audience.ts";
import { classOf } from "../../../rules/channel-types.ts";
import { pricesOf } from "../../../rules/cost.ts";
import type { PlanName } from "../../../rules/plans.ts";
import { type RenderScope, seenWith } from "../../../rules/render.ts";
import type { StoreReader } from "../../context.ts";
import { countTarget } from "../../lists/targets.ts";
import type { LivingProfile } from "../../subscribers/subscribers.ts";
import type { TemplateContent } from "../../templates/items.ts";
import type { WorkspaceRecord } from "../../workspaces/workspaces.ts";
import { scopeOf } from "../content/arms.ts";
import { type ChatAppWords, chatAppWords, shownOn, wordsOf } from "../content/chat-app-words.ts";
import { mailFrameOf, Rendering, renderingsOf } from "../content/renderings.ts";
import { rendererOf } from "../content/texts.ts";
import { audienceKindOf, costOfAudience, countedPeriods, isBySmtp, lookedUpIn, type Rating } from "../jobs/job-cost.ts";
import type { JobSpec } from "../jobs/job-spec.ts";
import { keep } from "./audiences.ts";
import { type PlacedCandidate, readsDevices, readsDevicesOneByOne } from "./candidates.ts";
import { grownReads, readsOfExcluded, readsOfLong, sumOfReads } from "./extra-reads.ts";
import { channelSettings, deliverySettingsOf, planningRules, profileReads, selectedChannels } from "./planning.ts";
import { type Future, futuresOf, type KeptCandidate, type SentCandidate } from "./preview-futures.ts";
import { sampleOf } from "./preview-sample.ts";

/** Candidates that are judged: in a larger audience they are a sample, because ids are spread evenly. */
const MAX_CANDIDATES = 10_000;
/** The same if each of them takes a request or two of its own. */
const MAX_EVALUATED_ONE_BY_ONE = 2_000;
/** Recipients whose texts are rendered, and the characters of HTML that are rendered for all of them: a request ends in time. */
const MAX_RENDERED = 1_000;
const MAX_RENDERED_CHARACTERS = 8_388_608;
const MAX_SAMPLES = 5;
const UNRENDERABLE = "cannot be rendered for any recipient: a text would be too long, or a filter fails";
const NO_CANDIDATES: { candidates: PlacedCandidate[]; exact: boolean } = { candidates: [], exact: true };
const Numbers = v.record(v.string(), v.number());

export const SendPreview = v.object({
  /** Every candidate was judged; otherwise counts are estimates from a sample. */
  exact: v.boolean(),
  counts: v.object({
    total: v.number(),
    sent: v.number(),
    deferred: v.number(),
    skipped: v.number(),
    held_out: v.number(),
  }),
  /** Recipients by each class of channels that reaches them, now or later. */
  by_class: Numbers,
  skip_reasons: Numbers,
  /** Recipients whom another class reaches, by the class that does not and why; caps and texts are not looked at. */
  missed_by_class: v.record(v.string(), Numbers),
  samples: v.array(
    v.object({
      subscriber_id: v.string(),
      variant_id: v.nullable(v.string()),
      channels: v.array(v.string()),
      deferred_until: v.nullable(Timestamp),
      title: personal(v.nullable(v.string())),
      body: personal(v.nullable(v.string())),
      data: personal(v.optional(v.nullable(v.record(v.string(), v.any())))),
    }),
  ),
  /** Some of the skipped recipients, by reason. */
  skipped_samples: v.record(v.string(), v.array(v.string())),
  /** The expected cost in the deployment's own account, at list prices (F10). */
  cost: said("What it would cost at list prices, an estimate", SendCost),
  rendered: v.object({ recipients: v.number(), failed: v.number(), unknown_variables: Numbers }),
  /** The person of the renderings; `null` for a person without attributes. */
  rendered_for: v.nullable(v.string()),
  /** The message as that subscriber would see it, on each channel of the send. */
  renderings: v.array(Rendering),
});
export type SendPreview = v.InferOutput<typeof SendPreview>;

const isSent = (candidate: KeptCandidate): candidate is SentCandidate =>
  candidate.profile !== undefined && candidate.judgement.kind === "send";

interface PreviewOptions {
  plan: PlanName;
  workspace: WorkspaceRecord | undefined;
  given: readonly string[] | undefined;
  /** The subscriber whose message is shown; else the first recipient. */
  renderFor: LivingProfile | undefined;
  /** The attributes that the texts may show to the caller. Absent: all. */
  sees?: ReadonlySet<string> | undefined;
  /** Decides the control group and the arms. */
  draw: string;
}

/** Previews a send. @param texts the texts of the send: those of its template if it names one */
export async function previewSend(
  store: StoreReader,
  spec: JobSpec,
  texts: TemplateContent,
  { plan, workspace, given, renderFor, sees, draw: id }: PreviewOptions,
): Promise<SendPreview> {
  const at = spec.scheduled_at === null ? store.clock.now() : Date.parse(spec.scheduled_at);
  const via = (await selectedChannels(store, spec, plan)).map(channelSettings);
  const deliverySettings = deliverySettingsOf(spec, via, workspace);
  const rules = await planningRules(store, id, spec, deliverySettings);
  const isOneByOne = rules.tenant !== undefined || readsDevicesOneByOne(spec, deliverySettings);
  const max = isOneByOne ? MAX_EVALUATED_ONE_BY_ONE : MAX_CANDIDATES;
  const { candidates, exact } =
    via.length === 0 ? NO_CANDIDATES : await sampleOf(store, spec, rules, { given, max, id });
  const kept = await keep(store, candidates, rules);
  const said = { ...spec, ...texts };
  const seenOf = (profile: LivingProfile): RenderScope => {
    const whole = scopeOf(profile, said, undefined);
    return sees ? seenWith(sees, whole) : whole;
  };
  const futures = await futuresOf(store, said, deliverySettings, { sent: kept.filter(isSent), at, seenOf });
  const audience = given === undefined ? audienceKindOf(spec.target) : "given";
  const ofExcluded = readsOfExcluded(candidates, kept, { readsDevices: readsDevices(rules) });
  const rating = {
    prices: pricesOf(via),
    audience,
    lookedUp: lookedUpIn(spec),
    isBySmtp: isBySmtp(via),
    mode: spec.channel_arbitration_mode,
    via,
    extra: sumOfReads(readsOfLong(kept), ofExcluded),
    caps: countedPeriods(deliverySettings),
    candidates: candidates.length,
    ...profileReads(said),
  };

  const { preview, reached, failed: unread } = countOutcomes(kept, futures, { exact, ...rating });
  preview.missed_by_class = missedOf(reached, rules);
  const chatApp = await chatAppWords(store, via, said);
  const unrenderable = addTexts(preview, reached.slice(0, mostRendered(said)), { said, futures, seenOf, at, chatApp });
  // If all of a sample fail, the text itself is at fault.
  if (unrenderable > 0 && unrenderable === preview.rendered.recipients) throw invalid({ content: UNRENDERABLE });

  const shown = renderFor ?? reached[0]?.profile;
  const arm = reached.find(({ id: subscriber }) => subscriber === shown?.id)?.judgement.arm;
  preview.rendered_for = shown?.id ?? null;
  preview.renderings = renderingsOf(
    said,
    via.map(({ type }) => type),
    { profile: shown, sees, arm, now: at, mail: mailFrameOf(workspace, spec), chatApp },
  );

  if (exact) return preview;
  const size = given?.length ?? (await countTarget(store, spec.target));
  return scaled(preview, Math.max(1, size / candidates.length), { ...rating, candidates: size, failed: unread });
}

function mostRendered({ by_channel, variant_b }: JobSpec): number {
  const lengths = [by_channel, variant_b?.by_channel].map((content) => content?.email?.html?.length ?? 0);
  return Math.min(MAX_RENDERED, Math.ceil(MAX_RENDERED_CHARACTERS / Math.max(1, ...lengths)));
}

/** Counts the expected result of each candidate. `reached`: the recipients of a message. */
function countOutcomes(
  kept: readonly KeptCandidate[],
  futures: ReadonlyMap<string, Future>,
  { exact, ...rating }: Rating & { exact: boolean },
) {
  const counts = { total: kept.length, sent: 0, deferred: 0, skipped: 0, held_out: 0 };
  const by_class: Record<string, number> = {};
  const skip_reasons: Record<string, number> = {};
  const skipped_samples: Record<string, string[]> = {};
  const skip = (subscriber: string, reason: string) => {
    counts.skipped++;
    skip_reasons[reason] = (skip_reasons[reason] ?? 0) + 1;
    skipped_samples[reason] ??= [];
    if (skipped_samples[reason].length < MAX_SAMPLES) skipped_samples[reason].push(subscriber);
  };
  const reached: SentCandidate[] = [];
  let failed = 0;
  for (const candidate of kept) {
    if (candidate.judgement.kind === "held_out") counts.held_out++;
    if (candidate.judgement.kind === "skip") skip(candidate.id, candidate.judgement.reason);
    const future = futures.get(candidate.id);
    if (!future || !isSent(candidate)) continue;
    if (future.reason !== undefined) {
      skip(candidate.id, future.reason);
      continue;
    }
    reached.push(candidate);
    counts.sent++;
    if (future.later.length > 0) counts.deferred++;
    if (future.now.length + future.later.length === 0) failed++;
    for (const name of new Set([...future.now, ...future.later].map(({ channel }) => classOf(channel))))
      by_class[name] = (by_class[name] ?? 0) + 1;
  }
  const rendered = { recipients: 0, failed: 0, unknown_variables: {} };
  const texts = { samples: [], rendered, rendered_for: null, renderings: [] };
  const cost = costOfAudience(by_class, counts, skip_reasons, { ...rating, failed });
  const preview: SendPreview = {
    exact,
    counts,
    by_class,
    skip_reasons,
    missed_by_class: {},
    skipped_samples,
    cost,
    ...texts,
  };
  return { preview, reached, failed };
}

function missedOf(reached: readonly SentCandidate[], rules: AudienceRules): SendPreview["missed_by_class"] {
  const missed: SendPreview["missed_by_class"] = {};
  for (const [name, reason] of reached.flatMap(({ subscriber }) =>
    subscriber ? missedClasses(subscriber, rules) : [],
  )) {
    missed[name] ??= {};
    missed[name][reason] = (missed[name][reason] ?? 0) + 1;
  }
  return missed;
}

/**
 * Adds the texts of the first recipients, and which of their variables have no value on one of their channels.
 * @returns for how many a text cannot be made at all
 */
function addTexts(
  { rendered, samples }: SendPreview,
  subscribers: readonly SentCandidate[],
  {
    said,
    futures,
    seenOf,
    at,
    chatApp,
  }: {
    said: JobSpec;
    futures: ReadonlyMap<string, Future>;
    seenOf(profile: LivingProfile): RenderScope;
    at: number;
    chatApp: ChatAppWords;
  },
): number {
  const renderer = rendererOf(said, at, undefined);
  let unrenderable = 0;
  for (const { id: subscriber_id, profile, judgement } of subscribers) {
    const { arm, targets } = judgement;
    const future = futures.get(subscriber_id);
    const used = targets.filter((target) => future?.now.includes(target) || future?.later.includes(target));
    const channels = [...new Set(used.map(({ channel }) => channel))];
    const seen = { arm, scope: seenOf(profile), now: at };
    const all = channels.map((channel) => shownOn(channel, { renderer, chatApp }, seen));
    const [words] = all.map(wordsOf);
    rendered.recipients++;
    const isUnrenderable = all.some(({ kind }) => kind === "failed");
    if (isUnrenderable) unrenderable++;
    if (isUnrenderable || (future?.textless.length ?? 0) > 0) rendered.failed++;
    for (const name of new Set(all.flatMap((candidate) => wordsOf(candidate).unknown)))
      rendered.unknown_variables[name] = (rendered.unknown_variables[name] ?? 0) + 1;
    if (!future || samples.length >= MAX_SAMPLES) continue;
    const { until, later } = future;
    samples.push({
      subscriber_id,
      variant_id: arm ?? null,
      channels,
      deferred_until: later.length > 0 && until !== undefined ? timestamp(until) : null,
      title: words?.title ?? null,
      body: words?.body ?? null,
      ...(said.data && { data: words?.data ?? null }),
    });
  }
  return unrenderable;
}

/** Extends the counts of a sample to the whole audience. */
function scaled(preview: SendPreview, factor: number, rating: Rating): SendPreview {
  const grow = (n: number) => Math.round(n * factor);
  const grown = (numbers: Record<string, number>) =>
    Object.fromEntries(Object.entries(numbers).map(([name, n]) => [name, grow(n)]));
  const { total, sent, deferred, skipped, held_out } = preview.counts;
  const counts = {
    total: grow(total),
    sent: grow(sent),
    deferred: grow(deferred),
    skipped: grow(skipped),
    held_out: grow(held_out),
  };
  const [by_class, skip_reasons] = [grown(preview.by_class), grown(preview.skip_reasons)];
  return {
    ...preview,
    counts,
    by_class,
    cost: costOfAudience(by_class, counts, skip_reasons, {
      ...rating,
      failed: grow(rating.failed ?? 0),
      extra: rating.extra && grownReads(rating.extra, grow),
    }),
    skip_reasons,
    missed_by_class: Object.fromEntries(
      Object.entries(preview.missed_by_class).map(([name, reasons]) => [name, grown(reasons)]),
    ),
  };
}
