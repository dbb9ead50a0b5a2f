// The sends of journeys: one job for one subscriber, started in the transaction that moves the run (JND-15).
import { createHash } from "node:crypto";
import type { Store } from "../../resources.ts";
import type { JourneyNode } from "../../rules/journey-graph.ts";
import type { ItemWrite } from "../item.ts";
import { planSmall } from "../sends/audiences.ts";
import { jobIdOf } from "../sends/job-ids.ts";
import type { JobSpec } from "../sends/job-spec.ts";
import { planningRules, selectedChannels } from "../sends/planning.ts";
import { startSend } from "../sends/sends.ts";
import { TemplateItem } from "../sends/template-items.ts";
import type { Timers } from "../timers.ts";
import type { WorkspaceRecord } from "../workspaces/workspaces.ts";
import type { RunState } from "./runs.ts";

type SendNode = JourneyNode & { type: "send" };
type Sender = Pick<RunState, "id" | "journey_id" | "subscriber_id" | "seq">;

export interface Sending {
  id: string;
  spec: JobSpec;
}

/**
 * The send of a step, or the outcome of a step that sends nothing to this subscriber.
 * @param event the event that its texts may refer to: that which ended the last wait, else that which started the run
 */
export async function prepareSend(
  store: Store,
  { email_consent_mode }: WorkspaceRecord,
  run: Sender,
  { id: step, send }: SendNode,
  event: string | undefined,
): Promise<Sending | { outcome: string }> {
  if (send.template_id !== undefined && !(await store.get(TemplateItem, { id: send.template_id })))
    return { outcome: "failed" };
  const id = newJobId(store, run, step);
  const spec = specOf(run, send, event);
  const via = await selectedChannels(store, spec);
  if (via.length === 0) return { outcome: "failed" };
  const rules = await planningRules(store, id, spec, { via, emailConsent: email_consent_mode ?? "opt_out" });
  const planned = (await planSmall(store, spec, rules, [run.subscriber_id])) ?? [];
  if (planned.some(({ chunk }) => chunk.recipients.length > 0)) return { id, spec };
  const [reason = "unknown_subscriber"] = planned.flatMap(({ chunk }) => Object.keys(chunk.skipped));
  return { outcome: `skipped:${reason}` };
}

/** Starts a send together with the move of the run. @returns false if another worker moved the run */
export async function beginSend(
  store: Store,
  timers: Timers,
  { plan, monthly_send_cap: sendCap }: WorkspaceRecord,
  { subscriber_id }: Sender,
  { id, spec }: Sending,
  extraItems: readonly ItemWrite[],
): Promise<boolean> {
  const send = { id, spec, given: [subscriber_id], isRepeatable: true };
  return !("refused" in (await startSend(store, timers, { plan, sendCap }, send, extraItems)));
}

/** The move of the run, in the same transaction, decides which attempt at this visit of the step counts. */
function newJobId({ clock, tenant }: Store, { journey_id, id, seq }: Sender, step: string): string {
  const tail = createHash("sha256").update(`journey:${tenant}:${journey_id}:${id}:${seq}:${step}`).digest();
  return jobIdOf("journey", clock.now(), tail);
}

const specOf = (
  { journey_id }: Sender,
  { content, template_id, channel_ids, category = "marketing" }: SendNode["send"],
  event: string | undefined,
): JobSpec => ({
  name: null,
  category,
  title: template_id === undefined ? (content?.title ?? null) : null,
  body: template_id === undefined ? (content?.body ?? null) : null,
  data: null,
  template_id: template_id ?? null,
  channel_ids,
  target: null,
  subscriber_ids_count: 1,
  device_filters: null,
  subscriber_filters: null,
  scheduled_at: null,
  channel_arbitration_mode: "explicit",
  holdout_percentage: 0,
  split_percentage: null,
  variant_b: null,
  bypass_quiet_hours: false,
  source: { type: "journey", id: journey_id },
  ...(event !== undefined && { event_id: event }),
});
