// The life of an experience after its draft (INX-30 to INX-37). Each transition is one transaction with its effects, so
// that no experience is live without its send.
import { timestamp } from "../../kernel/clock.ts";
import { badRequest, malformed } from "../../kernel/errors.ts";
import { isUsable, listChannels } from "../channels/channels.ts";
import type { Store, StoreReader } from "../context.ts";
import { annotationWrite } from "../insights/annotations.ts";
import type { ChangeOf, ItemWrite } from "../item.ts";
import { transacted } from "../refusals.ts";
import { jobIdOf } from "../sends/jobs/job-ids.ts";
import { type JobSpec, PLAIN_SEND } from "../sends/jobs/job-spec.ts";
import { startSend } from "../sends/jobs/sends.ts";
import type { Timers } from "../timers.ts";
import { endUseWrites, useWrites } from "../uses.ts";
import type { Allowance } from "../workspaces/usage.ts";
import { DEFAULT_DISPLAY } from "./blocks.ts";
import { type ExperienceRecord, missingAudience } from "./experiences.ts";
import type { ExperienceItem } from "./items.ts";
import { attempt, cancelWrites, moveWrites } from "./moves.ts";

/** Publishes a draft (INX-31, INX-32). @throws 400 naming the missing fields or the current status, 402, 404 */
export const publishExperience = (store: Store, timers: Timers, allowance: Allowance, id: string) =>
  attempt(store, id, "publish", async (experience) => {
    await requireReady(store, experience);
    const { name, audience = { type: "all" }, end_at } = experience;
    // The timer is set before the experience is live: if publishing fails, it finds a draft and does nothing.
    if (end_at) await timers.set([{ kind: "experience-end", id, at: Date.parse(end_at) }]);
    const text = `The experience ${name} was published.`;
    const extraItems = [
      annotationWrite(store, { kind: "experience_published", text, ref_id: id }),
      ...useWrites(audience, { kind: "experience", id, until: end_at }),
    ];
    return send(store, timers, allowance, { experience, action: "publish", extraItems });
  });

/**
 * Resumes an experience (INX-34, AMB-6): a send that the pause canceled starts again, and so does one that reached no
 * subscriber. @throws 400 naming the current status, also after its end_at (AMB-5); 402, 404
 */
export const resumeExperience = (store: Store, timers: Timers, allowance: Allowance, id: string) =>
  attempt(store, id, "resume", async (experience) => {
    const { end_at, status, last_error, canceled_send } = experience;
    if (end_at && Date.parse(end_at) <= store.clock.now())
      throw badRequest(`The experience is ${status} and its end_at has passed.`);
    if (!canceled_send && !last_error) return transacted(store, moveWrites(store, experience, "resume"));
    await requireReady(store, experience);
    return send(store, timers, allowance, { experience, action: "resume", extraItems: [] });
  });

/**
 * Ends an experience permanently (INX-35): a scheduled send is canceled, and one in progress is stopped. @param at when it
 * ended, in milliseconds, if its end_at has come @throws 400 naming the current status, 404
 */
export const endExperience = (store: Store, id: string, at?: number) =>
  attempt(store, id, "end", async (experience) => {
    const text = `The experience "${experience.name}" ended.`;
    return transacted(store, [
      ...moveWrites(store, experience, "end"),
      annotationWrite(store, { kind: "experience_ended", text, ref_id: id, at }),
      ...(await cancelWrites(store, experience, "abandon")),
      ...endUseWrites(experience.audience ?? null, { kind: "experience", id }),
    ]);
  });

/** Archives an experience (INX-36). @throws 400 naming the current status, 404 */
export const archiveExperience = (store: Store, id: string) =>
  attempt(store, id, "archive", (experience) => {
    const archived_at = timestamp(store.clock.now());
    return transacted(store, moveWrites(store, experience, "archive", { set: { archived_at } }));
  });

interface ExperienceStart {
  experience: ExperienceRecord;
  action: "publish" | "resume";
  extraItems: readonly ItemWrite<"workspace">[];
}

/** Starts the send in the transaction of the transition. */
async function send(
  store: Store,
  timers: Timers,
  allowance: Allowance,
  { experience, action, extraItems }: ExperienceStart,
): Promise<boolean> {
  const notification_id = jobIdOf("experience", store.clock.now(), store.ids.bytes(10));
  const change: ChangeOf<typeof ExperienceItem> = { set: { notification_id }, remove: ["canceled_send", "last_error"] };
  const spec = await specOf(store, experience);
  const started = await startSend(store, timers, allowance, {
    id: notification_id,
    spec,
    extraItems: [...moveWrites(store, experience, action, change), ...extraItems],
  });
  return started.kind === "started";
}

/** Requires everything that publishing needs (AMB-4). @throws 400 naming what is missing */
async function requireReady(store: StoreReader, experience: ExperienceRecord): Promise<void> {
  const { content, variant_b, audience, end_at } = experience;
  const fields = {
    ...(!content.body && { "content.body": "is required to publish" }),
    ...(variant_b && !variant_b.body && { "variant_b.body": "is required to publish" }),
    ...(!audience && { audience: "is required to publish" }),
    ...(end_at && Date.parse(end_at) <= store.clock.now() && { end_at: "has passed" }),
    ...(await missingAudience(store, audience)),
  };
  if (Object.keys(fields).length > 0) throw malformed(fields);
}

/** The job of an experience: in-app only, to its whole audience, with its own format and display. */
async function specOf(store: StoreReader, experience: ExperienceRecord): Promise<JobSpec> {
  const { id, name, format, content, display, variant_b, start_at, audience = { type: "all" } } = experience;
  const channel = (await listChannels(store)).find((candidate) => candidate.type === "in_app" && isUsable(candidate));
  if (!channel) throw badRequest("The workspace has no active in_app channel.");
  const { title, body = "", image_url, actions } = content;
  return {
    ...PLAIN_SEND,
    name,
    title,
    body,
    category: "marketing",
    in_app: { format, image_url, actions, display: display ?? DEFAULT_DISPLAY },
    channel_ids: [channel.id],
    target: audience,
    scheduled_at: start_at && Date.parse(start_at) > store.clock.now() ? start_at : null,
    holdout_percentage: experience.holdout_percentage,
    split_percentage: variant_b ? (experience.split_percentage ?? null) : null,
    variant_b: variant_b ? { ...variant_b, body: variant_b.body ?? "" } : null,
    // The message is stored until the app is opened, so it disturbs nobody at night.
    bypass_quiet_hours: true,
    source: { type: "experience", id },
  };
}
