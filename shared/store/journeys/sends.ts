// The sends of journeys: one job for the runs that take a step together, in the transaction that moves them (JND-15).
import { createHash } from "node:crypto";
import type { JourneyNode } from "../../rules/journey-graph.ts";
import type { Outcome, Position } from "../../rules/journey-run.ts";
import type { Store, StoreReader } from "../context.ts";
import type { ItemWrite } from "../item.ts";
import { toJson } from "../json-text.ts";
import { planSmall } from "../sends/audience/audiences.ts";
import {
  channelSettings,
  deliverySettingsOf,
  planningRules,
  profileReads,
  selectedChannels,
} from "../sends/audience/planning.ts";
import { chunkWrites } from "../sends/chunks/chunks.ts";
import { PLANNED_RANGE } from "../sends/chunks/range-names.ts";
import { plannedRangeWrite } from "../sends/chunks/ranges.ts";
import { isInAppOnly, packRecipients, type Recipient } from "../sends/chunks/recipients.ts";
import { refersToEvent, storeContent } from "../sends/jobs/job-content.ts";
import { jobIdOf } from "../sends/jobs/job-ids.ts";
import { type JobSpec, PLAIN_SEND } from "../sends/jobs/job-spec.ts";
import { newJobWrite } from "../sends/jobs/jobs.ts";
import { contentOfTemplate, type TemplateContent, TemplateItem } from "../templates/items.ts";
import { topicOfSend } from "../topics/topics.ts";
import type { WorkspaceRecord } from "../workspaces/workspaces.ts";
import type { RunState } from "./runs.ts";

export type SendNode = JourneyNode & { type: "send" };

export interface SendIntent {
  node: SendNode;
  /** The event that its texts may refer to: that which ended the last wait, else that which started the run. */
  event: string | undefined;
  before: readonly Outcome[];
  reached: Position;
}

interface Sender {
  run: Pick<RunState, "id" | "journey_id" | "version" | "subscriber_id" | "seq">;
  send?: SendIntent | undefined;
}

/** A send that runs share: its recipients by run. */
interface GroupSend<S extends Sender> {
  step: string;
  spec: JobSpec;
  content: string | undefined;
  recipients: ReadonlyMap<S, Recipient>;
  /** The settings on the job's row if it is delivered without chunks. */
  deliverySettings: ReturnType<typeof deliverySettingsOf> | undefined;
}

interface PlannedSends<S extends Sender> {
  /** The outcome of the step, of each run that takes one. */
  outcomeOf: Map<S, string>;
  groups: GroupSend<S>[];
}

/** The content of a step; undefined if its template was deleted. */
async function textsOf(store: Store, { template_id, content }: SendIntent["node"]["send"]) {
  if (template_id === undefined) return content;
  const template = await store.get(TemplateItem, { id: template_id });
  return template && contentOfTemplate(template);
}

/** Plans the sends of runs: who gets them, and the outcome of a step that sends nothing to a subscriber. */
export async function planSends<S extends Sender>(
  store: Store,
  workspace: WorkspaceRecord | undefined,
  senders: readonly S[],
): Promise<PlannedSends<S>> {
  const planned: PlannedSends<S> = { outcomeOf: new Map(), groups: [] };
  if (!workspace) return planned;
  const sending = senders.filter(({ send }) => send);
  const steps = Map.groupBy(sending, ({ send }) => send?.node.id);
  for (const taking of steps.values()) {
    const { node } = taking[0]?.send ?? {};
    if (!node) continue;
    const texts = await textsOf(store, node.send);
    if (!texts) {
      for (const sender of taking) planned.outcomeOf.set(sender, "failed");
      continue;
    }
    // Texts that refer to an event are of one run: the others may have another one.
    const refers = refersToEvent({ ...texts, data: null });
    for (const group of refers ? taking.map((sender) => [sender]) : [taking]) {
      const event = refers ? group[0]?.send?.event : undefined;
      await planGroup(store, workspace, { node, texts, event, senders: group }, planned);
    }
  }
  return planned;
}

interface StepGroup<S> {
  node: SendNode;
  texts: TemplateContent;
  event: string | undefined;
  senders: readonly S[];
}

async function planGroup<S extends Sender>(
  store: Store,
  workspace: WorkspaceRecord,
  { node, texts, event, senders }: StepGroup<S>,
  { outcomeOf, groups }: PlannedSends<S>,
): Promise<void> {
  const plan = await planOfStep(store, workspace, senders, { node, event });
  if (!plan) {
    for (const sender of senders) outcomeOf.set(sender, "failed");
    return;
  }

  const { spec, via, rules } = plan;
  const ids = senders.map(({ run }) => run.subscriber_id);
  const chunks = (await planSmall(store, spec, rules, ids)) ?? [];
  const reached = new Map(
    chunks.flatMap(({ chunk }) => chunk.recipients.map((recipient) => [recipient.subscriber, recipient] as const)),
  );
  const skipped = new Map(
    chunks.flatMap(({ skippedIds }) =>
      Object.entries(skippedIds).flatMap(([reason, ids]) => ids.map((id) => [id, reason] as const)),
    ),
  );

  const recipients = new Map<S, Recipient>();
  for (const sender of senders) {
    const { subscriber_id } = sender.run;
    const recipient = reached.get(subscriber_id);
    if (recipient) recipients.set(sender, recipient);
    outcomeOf.set(sender, recipient ? "sent" : `skipped:${skipped.get(subscriber_id) ?? "unknown_subscriber"}`);
  }
  if (recipients.size === 0) return;

  const isDirect =
    [...recipients.values()].every(({ targets }) => isInAppOnly(targets)) &&
    !workspace.frequency_caps?.length &&
    spec.topic === undefined &&
    !spec.step?.hasBrake;
  const whole = isDirect ? { ...spec, ...texts } : spec;
  const content = await storeContent(store, whole);
  const settings = isDirect && deliverySettingsOf(spec, via.map(channelSettings), undefined);
  const deliverySettings = settings ? { ...settings, ...profileReads(whole) } : undefined;
  groups.push({ step: node.id, spec: whole, content, recipients, deliverySettings });
}

/** The content of a step's send, its channels and its subscribers; undefined if none of its channels can be used. */
export async function planOfStep(
  store: StoreReader,
  workspace: WorkspaceRecord,
  senders: readonly Sender[],
  { node, event }: Pick<StepGroup<unknown>, "node" | "event">,
) {
  const spec = { ...specOf(senders, node, event), topic: await topicOfSend(store, node.send.topic) };
  const via = await selectedChannels(store, spec, workspace.plan);
  if (via.length === 0) return undefined;
  const emailConsent = workspace.email_consent_mode ?? "opt_out";
  return { spec, via, rules: await planningRules(store, "", spec, { via, emailConsent }) };
}

/** The job of those recipients whose runs move now; undefined if there are none. */
export function jobOfGroup<S extends Sender>(
  store: Store,
  { step, spec, content, recipients, deliverySettings }: GroupSend<S>,
  moving: readonly S[],
  { isReserved, isWide }: { isReserved: boolean; isWide: boolean },
): { id: string; step: string; n: number; senders: readonly S[]; writes: ItemWrite<"workspace">[] } | undefined {
  const senders = moving.filter((sender) => recipients.has(sender));
  const outcomes = senders.flatMap((sender) => recipients.get(sender) ?? []);
  const n = outcomes.length;
  if (n === 0) return undefined;
  const id = newJobId(store, senders, { step, isWide });
  const whole = { ...spec, subscriber_ids_count: n };
  const reserved = isReserved ? n : undefined;
  if (deliverySettings && isReserved) {
    const direct = { recipients: packRecipients(outcomes), settings: toJson(deliverySettings) };
    return { id, step, n, senders, writes: [newJobWrite(store, id, whole, { sent: n, reserved, content, direct })] };
  }
  const chunk = { recipients: outcomes, heldOut: [], skipped: {}, next: undefined, plannedAt: store.clock.now() };
  const job = newJobWrite(store, id, whole, { sent: isReserved ? n : 0, reserved, content, ranges: [PLANNED_RANGE] });
  const chunkRef = { job: id, range: PLANNED_RANGE, n: 0 };
  return {
    id,
    step,
    n,
    senders,
    writes: [job, ...chunkWrites(chunkRef, { chunk, skippedIds: {} }), plannedRangeWrite(id, PLANNED_RANGE, [chunk])],
  };
}

/** The moves of the runs, in the same transaction, decide which attempt at this visit of the step counts. */
function newJobId(
  { clock, tenant }: Store,
  senders: readonly Sender[],
  { step, isWide }: { step: string; isWide: boolean },
): string {
  const hash = createHash("sha256").update(`journey:${tenant}:${step}`);
  for (const { run } of senders) hash.update(`:${run.journey_id}:${run.id}:${run.seq}`);
  return jobIdOf("journey", clock.now(), hash.digest(), isWide);
}

const specOf = (
  senders: readonly Sender[],
  { id, send: { content, template_id, channel_ids, category = "marketing", safety } }: SendNode,
  event: string | undefined,
): JobSpec => ({
  ...PLAIN_SEND,
  category,
  title: template_id === undefined ? (content?.title ?? null) : null,
  body: template_id === undefined ? (content?.body ?? null) : null,
  ...(template_id === undefined && content?.by_channel && { by_channel: content.by_channel }),
  template_id: template_id ?? null,
  channel_ids,
  subscriber_ids_count: senders.length,
  source: { type: "journey", id: senders[0]?.run.journey_id ?? null },
  ...(event !== undefined && { event_id: event }),
  step: { version: senders[0]?.run.version ?? 0, id, ...(safety && { hasBrake: true }) },
});
