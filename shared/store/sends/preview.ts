// What a send would come to if it were made now (F8): judged as it would be, and nothing is written.
import { timestamp } from "../../clock.ts";
import { scopeOf } from "../../providers/texts.ts";
import type { StoreReader } from "../../resources.ts";
import type { AudienceRules } from "../../rules/audience.ts";
import { type Foreseen, foresee } from "../../rules/foresight.ts";
import type { LateSkip } from "../../rules/progress.ts";
import { quietUntil } from "../../rules/quiet-hours.ts";
import { type ChannelClass, classOf, type Target } from "../../rules/reach.ts";
import { type CompiledTemplate, compileTemplate, isRenderError, type RenderScope } from "../../rules/render.ts";
import { keys } from "../keys.ts";
import { countTarget } from "../lists/targets.ts";
import { chunksOf } from "../table.ts";
import type { WorkspaceRecord } from "../workspaces/workspaces.ts";
import { keep, rangesOf } from "./audiences.ts";
import { candidatesById, candidatesOf, type Placed } from "./candidates.ts";
import { countsOf } from "./caps.ts";
import { zoneFor } from "./deferred.ts";
import type { JobSpec } from "./jobs.ts";
import { type DeliverySettings, deliverySettingsOf, planningRules, selectedChannels } from "./planning.ts";

/** Candidates that are looked at: of a larger audience they are a sample, for ids are spread evenly. */
const MAX_CANDIDATES = 10_000;
/** Where each of them is a request or two of its own. */
const MAX_EVALUATED_ONE_BY_ONE = 2_000;
/** Recipients whose texts are rendered. */
const MAX_RENDERED = 1_000;
const MAX_SAMPLES = 5;
const GIVEN_AT_ONCE = 500;
const NOBODY: { candidates: Placed[]; exact: boolean } = { candidates: [], exact: true };
const PUSH: ReadonlySet<string> = new Set(["ios", "android", "web_push"]);

export interface SendPreview {
  /** Everybody was looked at; else counts are estimates from a sample. */
  exact: boolean;
  counts: { total: number; sent: number; deferred: number; skipped: number; held_out: number };
  /** Recipients, by each class that reaches them now or later. */
  by_class: Partial<Record<ChannelClass, number>>;
  skip_reasons: Record<string, number>;
  samples: {
    subscriber_id: string;
    variant_id: string | null;
    channels: string[];
    deferred_until: string | null;
    title: string | null;
    body: string | null;
  }[];
  /** Some of those who would be skipped, by reason. */
  skipped_samples: Record<string, string[]>;
  rendered: { recipients: number; failed: number; unknown_variables: Record<string, number> };
}

type Kept = Awaited<ReturnType<typeof keep>>[number];
type Sent = Kept & { judgement: { verdict: "send"; arm?: "a" | "b"; targets: Target[] } };

/** @param texts what the send says: the template's where it names one */
export async function previewSend(
  store: StoreReader,
  spec: JobSpec,
  texts: Texts,
  { workspace, given }: { workspace: WorkspaceRecord | undefined; given: readonly string[] | undefined },
): Promise<SendPreview> {
  const at = spec.scheduled_at === null ? store.clock.now() : Date.parse(spec.scheduled_at);
  // A draw of its own: which part of an audience is held out is decided by the id of the send.
  const id = store.ids.uuidAt(store.clock.now());
  const via = (await selectedChannels(store, spec)).map(({ id: channel, type }) => ({ id: channel, type }));
  const deliverySettings = deliverySettingsOf(spec, via, workspace);
  const rules = await planningRules(store, id, spec, deliverySettings);
  const isAskedOneByOne = rules.tenant !== undefined || asksForDevices(spec, deliverySettings);
  const max = isAskedOneByOne ? MAX_EVALUATED_ONE_BY_ONE : MAX_CANDIDATES;
  const { candidates, exact } = via.length === 0 ? NOBODY : await lookAround(store, spec, rules, { given, max, id });
  const kept = await keep(store, candidates, rules);
  const sent = kept.filter((one): one is Sent => one.judgement.verdict === "send");
  const futures = await futuresOf(store, spec, deliverySettings, sent, at);

  const preview: SendPreview = {
    exact,
    counts: { total: 0, sent: 0, deferred: 0, skipped: 0, held_out: 0 },
    ...{ by_class: {}, skip_reasons: {}, samples: [], skipped_samples: {} },
    rendered: { recipients: 0, failed: 0, unknown_variables: {} },
  };
  const { counts, by_class, skip_reasons, skipped_samples } = preview;
  const skip = (subscriber: string, reason: string) => {
    counts.skipped++;
    skip_reasons[reason] = (skip_reasons[reason] ?? 0) + 1;
    skipped_samples[reason] ??= [];
    if (skipped_samples[reason].length < MAX_SAMPLES) skipped_samples[reason].push(subscriber);
  };
  counts.total = kept.length;
  const reached: Sent[] = [];
  for (const one of kept) {
    const { judgement } = one;
    if (judgement.verdict === "held_out") counts.held_out++;
    if (judgement.verdict === "skip") skip(one.id, judgement.reason);
    const future = futures.get(one.id);
    if (!future) continue;
    if (future.reason !== undefined) {
      skip(one.id, future.reason);
      continue;
    }
    reached.push(one as Sent);
    counts.sent++;
    if (future.later.length > 0) counts.deferred++;
    for (const name of new Set([...future.now, ...future.later].map(({ channel }) => classOf(channel))))
      by_class[name] = (by_class[name] ?? 0) + 1;
  }
  addTexts(preview, reached.slice(0, MAX_RENDERED), { spec, texts, futures, at });
  if (exact) return preview;
  const size = given?.length ?? (await countTarget(store, spec.target));
  return scaled(preview, Math.max(1, size / candidates.length));
}

interface Looking {
  given: readonly string[] | undefined;
  max: number;
  /** The id of a send that is never made. */
  id: string;
}

async function lookAround(
  store: StoreReader,
  spec: JobSpec,
  rules: AudienceRules,
  { given, max, id }: Looking,
): Promise<{ candidates: Placed[]; exact: boolean }> {
  const candidates: Placed[] = [];
  if (given) {
    for (const ids of chunksOf(given.slice(0, max), GIVEN_AT_ONCE))
      candidates.push(...(await candidatesById(store, ids, rules)));
    return { candidates, exact: given.length <= max };
  }
  for (const range of rangesOf(spec)) {
    let cursor: string | undefined;
    do {
      if (candidates.length >= max) return { candidates, exact: false };
      const page = await candidatesOf(store, id, range, cursor, rules);
      candidates.push(...page.candidates);
      cursor = page.next;
    } while (cursor !== undefined);
  }
  return { candidates, exact: true };
}

interface Texts {
  title: string;
  body: string;
}

/** Texts of the first recipients, and which of their variables have no value. */
function addTexts(
  { rendered, samples }: SendPreview,
  subscribers: readonly Sent[],
  { spec, texts, futures, at }: { spec: JobSpec; texts: Texts; futures: ReadonlyMap<string, Future>; at: number },
): void {
  const compiled = ({ title, body }: Texts) => ({ title: compileTemplate(title), body: compileTemplate(body) });
  const arms = { a: compiled(texts), b: spec.variant_b ? compiled(spec.variant_b) : undefined };
  for (const { id: subscriber_id, profile, judgement } of subscribers) {
    const { arm, targets } = judgement;
    const words = renderOne((arm === "b" && arms.b) || arms.a, scopeOf(profile!, spec, undefined), at);
    rendered.recipients++;
    if (!words) rendered.failed++;
    for (const name of new Set(words?.unknown))
      rendered.unknown_variables[name] = (rendered.unknown_variables[name] ?? 0) + 1;
    if (samples.length >= MAX_SAMPLES) continue;
    const { until, now, later } = futures.get(subscriber_id)!;
    const used = targets.filter((target) => now.includes(target) || later.includes(target));
    samples.push({
      subscriber_id,
      variant_id: arm ?? null,
      channels: [...new Set(used.map(({ channel }) => channel))],
      deferred_until: later.length > 0 && until !== undefined ? timestamp(until) : null,
      title: words?.title ?? null,
      body: words?.body ?? null,
    });
  }
}

function renderOne(
  { title, body }: { title: CompiledTemplate; body: CompiledTemplate },
  scope: RenderScope,
  now: number,
) {
  try {
    const [first, second] = [title, body].map((text) => text.render(scope, { now, escape: "none" }));
    return { title: first!.text, body: second!.text, unknown: [...first!.unknown, ...second!.unknown] };
  } catch (error) {
    if (isRenderError(error)) return undefined;
    throw error;
  }
}

const asksForDevices = ({ target, device_filters }: JobSpec, { via }: DeliverySettings): boolean =>
  target?.type !== "all" && (device_filters !== null || via.some(({ type }) => PUSH.has(type)));

type Future = Foreseen & { until: number | undefined };

/** What becomes of each recipient's messages by quiet hours, caps and the verdict on a chat-app template. */
async function futuresOf(
  store: StoreReader,
  spec: JobSpec,
  { via, quiet, caps = [], timezone = "UTC" }: DeliverySettings,
  sent: readonly Sent[],
  at: number,
): Promise<Map<string, Future>> {
  const ids = sent.map(({ id }) => id);
  const counted = await countsOf(store, { timezone, now: at }, ids, caps);
  const chatApp = via.find(({ type }) => type === "chat_app");
  const template =
    chatApp &&
    spec.chat_app &&
    (await store.get(keys.chatAppTemplate(store.tenant, chatApp.id, spec.chat_app.template_id)));
  const mayChat = !spec.chat_app || template?.status === "approved";
  const ends = new Map<string, number | undefined>();
  const endIn = (zone: string): number | undefined => {
    if (quiet && !ends.has(zone)) ends.set(zone, quietUntil(quiet, zone, at));
    return ends.get(zone);
  };
  return new Map(
    sent.map(({ id, profile, judgement }, i): [string, Future] => {
      const full = (counted[i] ?? []).filter(({ count, max }) => count >= max);
      const refusal = ({ channel }: Target): LateSkip | undefined => {
        if (channel === "chat_app" && !mayChat) return "template_not_approved";
        const isFull = full.some((cap) => cap.channel_class === undefined || cap.channel_class === classOf(channel));
        return isFull ? "capped" : undefined;
      };
      const until = quiet ? endIn(zoneFor(quiet, timezone, profile)) : undefined;
      const isSmart = spec.channel_arbitration_mode === "smart";
      return [id, { ...foresee(judgement.targets, { isSmart, quietUntil: until, refusal }), until }];
    }),
  );
}

/** Of a sample: what it would be of the whole. */
function scaled(preview: SendPreview, factor: number): SendPreview {
  const grown = <T extends Record<string, number>>(numbers: T): T =>
    Object.fromEntries(Object.entries(numbers).map(([name, n]) => [name, Math.round(n * factor)])) as T;
  const { counts, by_class, skip_reasons } = preview;
  return {
    ...preview,
    counts: grown(counts),
    by_class: grown(by_class as Record<string, number>),
    skip_reasons: grown(skip_reasons),
  };
}
