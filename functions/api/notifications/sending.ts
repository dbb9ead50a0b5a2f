// Sending, reading and canceling: the same for the dashboard and for a backend with a server key.
import * as v from "valibot";
import { SendCost } from "../../../shared/contract/cost.ts";
import { grammar } from "../../../shared/contract/grammar.ts";
import { IdempotencyKey, NewNotification } from "../../../shared/contract/notification-input.ts";
import { personal } from "../../../shared/contract/personal.ts";
import { Halt, SafetyInput } from "../../../shared/contract/safety.ts";
import { said, Timestamp } from "../../../shared/contract/schemas.ts";
import { ShownContent } from "../../../shared/contract/shown-content.ts";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { type Call, existing, type Shape } from "../../../shared/http/endpoint.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import { conflict, invalid } from "../../../shared/kernel/errors.ts";
import { isTerminal } from "../../../shared/rules/job-states.ts";
import { secrets, timers } from "../../../shared/store/capabilities.ts";
import { chatAppInputOf } from "../../../shared/store/channels/chat-app-content.ts";
import { pacingOf } from "../../../shared/store/channels/pace.ts";
import { type Store, type StoreReader, storeWrite } from "../../../shared/store/context.ts";
import { type MailReading, mailKeeping } from "../../../shared/store/files/mails.ts";
import { soFar } from "../../../shared/store/sends/chunks/deferred.ts";
import {
  ArbitrationReport,
  arbitrationReport,
  tallyFields,
  uncertain,
  uncertainIn,
} from "../../../shared/store/sends/chunks/tallies.ts";
import { abridged } from "../../../shared/store/sends/content/apart.ts";
import { resumeHalted } from "../../../shared/store/sends/jobs/brake.ts";
import { withContent } from "../../../shared/store/sends/jobs/job-content.ts";
import { costOfJob } from "../../../shared/store/sends/jobs/job-cost.ts";
import type { Job, JobRecord } from "../../../shared/store/sends/jobs/job-record.ts";
import { jobFields } from "../../../shared/store/sends/jobs/job-spec.ts";
import { jobWidths } from "../../../shared/store/sends/jobs/job-width.ts";
import { cancelJob, getJob } from "../../../shared/store/sends/jobs/jobs.ts";
import { countsNow, failReasonsNow, reachedNow, shownCounts } from "../../../shared/store/sends/jobs/late.ts";
import { sendWatch } from "../../../shared/store/sends/jobs/send-watch.ts";
import { sendQuota } from "../../../shared/store/workspaces/sends-ahead.ts";
import { createNotification } from "./create.ts";

const {
  id,
  status,
  name,
  category,
  title,
  body,
  template_id,
  channel_ids,
  subscriber_ids_count,
  scheduled_at,
  channel_arbitration_mode,
  holdout_percentage,
  split_percentage,
  sent,
  created_at,
} = jobFields;

const JsonRecord = v.record(v.string(), v.any());

export const Notification = v.object({
  id,
  status,
  name,
  category,
  // The text of a send may be written for one subscriber.
  title: personal(title),
  body: personal(body),
  content: personal(said("All that it says; only of a send with content by channel", v.optional(ShownContent))),
  data: personal(v.nullable(JsonRecord)),
  template_id,
  chat_app_template_id: v.optional(v.string()),
  chat_app_parameters: personal(v.optional(v.array(v.string()))),
  channel_ids,
  target: v.nullable(v.pipe(v.looseObject({ type: v.string() }), grammar("Target"))),
  subscriber_ids_count,
  device_filters: v.nullable(v.pipe(JsonRecord, grammar("DevicePredicate"))),
  subscriber_filters: v.nullable(v.pipe(JsonRecord, grammar("AttributePredicate"))),
  scheduled_at,
  channel_arbitration_mode,
  holdout_percentage,
  split_percentage,
  topic: said("The key of its topic, where it names one", v.optional(v.string())),
  variant_b: personal(v.nullable(ShownContent)),
  source: v.object({ type: v.string(), id: v.nullable(v.string()) }),
  sent,
  ...tallyFields,
  counts: shownCounts,
  uncertain,
  /** F21. */
  safety: SafetyInput,
  halted: said("Why its brake stopped it, until it is resumed", v.optional(Halt)),
  /** Recipients who wait for the end of quiet hours (D-QUIET). */
  deferred: v.number(),
  /** The pace of a send in progress, for channels with a rate (AMB-111). */
  pacing: v.optional(
    v.array(
      v.object({
        channel_id: v.string(),
        rate_per_second: v.number(),
        until: said("When everything that was begun so far will have been sent", Timestamp),
      }),
    ),
  ),
  cost: said("What it cost so far, computed from its numbers at list prices", SendCost),
  error: v.nullable(v.string()),
  created_at,
  dispatched_at: v.nullable(Timestamp),
  completed_at: v.nullable(Timestamp),
  /** Sums only; absent for sends to named subscribers (SMA-9). */
  channel_arbitration: v.optional(ArbitrationReport),
});

const paced = async (store: StoreReader, { status, category, deliverySettings }: Job) => {
  const via = status === "processing" ? (deliverySettings?.via ?? []) : [];
  const provided = via.filter(({ type }) => type !== "in_app").map(({ id }) => id);
  return pacingOf(store, provided, category);
};

/** The limits that apply; before the dispatch, the requested ones. */
function brakeOf({ safety, deliverySettings }: Job) {
  if (deliverySettings) return deliverySettings.brake ?? null;
  return safety === undefined || safety === "off" ? null : safety;
}

/**
 * The send as the API shows it. Until the job runs, `sent` is the size of the audience at creation; then it is the
 * number accepted into delivery.
 */
export const shown = async (store: StoreReader, job: Job): Promise<v.InferInput<typeof Notification>> => {
  const totals = await soFar(store, job);
  const { counts, skip_reasons, fail_reasons, delivered_by_channel, arbitration, deferred } = totals;
  const pacing = await paced(store, job);
  return {
    ...job,
    ...chatAppInputOf(job.chat_app),
    topic: job.topic?.key,
    content: job.by_channel && abridged({ title: job.title ?? "", body: job.body ?? "", by_channel: job.by_channel }),
    variant_b: job.variant_b && abridged(job.variant_b),
    counts: countsNow(job, { counts, fail_reasons }),
    skip_reasons,
    fail_reasons: failReasonsNow(job, { fail_reasons }),
    uncertain: uncertainIn(failReasonsNow(job, { fail_reasons })),
    delivered_by_channel: reachedNow(job, { delivered_by_channel }),
    deferred,
    safety: brakeOf(job),
    cost: costOfJob(job, totals),
    halted: isTerminal(job.status) && job.status !== "canceled" ? undefined : job.halted,
    ...(pacing.length > 0 && { pacing }),
    sent: isTerminal(job.status) ? counts.sent : Math.max(job.sent, counts.sent),
    ...(job.channel_arbitration_mode === "smart" && { channel_arbitration: arbitrationReport(arbitration) }),
  };
};

export const creating = {
  summary: "Send a notification now or at a future time",
  description:
    "An `Idempotency-Key` header (or `idempotency_key`) makes the call safe to repeat for 24 hours: the same body " +
    "gets the first answer again with `Idempotent-Replayed: true`, another body 409. With `approval_required` of the workspace, one to an audience or to more than 100 people is a campaign.",
  body: NewNotification,
  returns: v.object({
    id: v.string(),
    sent: v.number(),
    unknown: v.optional(said("How many of the given ids are of no subscriber", v.number())),
    unknown_ids: v.optional(said("The first 100 of them", v.array(v.string()))),
  }),
  status: 201,
  idempotent: true,
  errors: [
    "CONFLICT",
    "TEMPLATE_NOT_FOUND",
    "FEATURE_NOT_AVAILABLE",
    "PAYMENT_REQUIRED",
    "SEND_CAP_REACHED",
    "APPROVAL_REQUIRED",
  ],
} as const satisfies Shape;

export const createUses = [storeWrite, timers, jobWidths, sendWatch, sendQuota, secrets, mailKeeping] as const;

type Creation = Context<typeof createUses> & Pick<Call<typeof creating>, "caller" | "body" | "headers">;

export async function create(call: Creation) {
  const { caller, body } = call;
  const workspace = workspaceOf(caller);
  const { plan, sendCap, sending } = workspace;
  const header = call.headers["idempotency-key"];
  if (header !== undefined && !v.is(IdempotencyKey, header))
    throw invalid({ "Idempotency-Key": "must have 1 to 255 characters" });
  const { replayed, ...answer } = await createNotification(call, { plan, sendCap, sending }, body, {
    key: header ?? body.idempotency_key,
    sentBy: caller.kind === "server" ? caller.key : undefined,
    workspace,
  });
  return replayed ? existing(answer, { "idempotent-replayed": "true" }) : answer;
}

export const reading = {
  summary: "Get a notification",
  returns: Notification,
} as const satisfies Shape;

interface Named {
  mails: MailReading;
  params: { id: string };
}

/** The send with the mails that are stored apart. */
async function shownWhole(store: StoreReader, read: MailReading["whole"], record: JobRecord) {
  const job = await withContent(store, record);
  const [whole = job] = await read([job]);
  return shown(store, whole);
}

export const read = async ({ store, mails, params }: Named & { store: StoreReader }) =>
  shownWhole(store, mails.whole, await getJob(store, params.id));

export const canceling = {
  summary: "Cancel a scheduled notification, or one that its brake halted: it reaches no recipient after this",
  returns: Notification,
  errors: ["CONFLICT"],
} as const satisfies Shape;

export const cancel = async ({ store, mails, params }: Named & { store: Store }) =>
  shownWhole(store, mails.asRead, await cancelJob(store, params.id));

export const resuming = {
  summary: "Resume a notification that its brake halted",
  description:
    "The recipients that are left get it, each once. What was known until now does not count against it any more. " +
    "`safety` changes its limits for the rest, `null` switches the brake off.",
  body: v.strictObject({ safety: v.optional(SafetyInput) }),
  example: { body: { safety: { max_error_rate: 0.3 } } },
  returns: Notification,
  errors: ["CONFLICT"],
} as const satisfies Shape;

export async function resume({ store, mails, params, body }: Named & { store: Store; body: ResumeBody }) {
  const job = await getJob(store, params.id);
  const safety = body.safety === null ? "off" : body.safety;
  const isResumed = await resumeHalted(store, job, safety);
  if (!isResumed) throw conflict(`The notification is ${job.status} and not halted.`);
  return shownWhole(store, mails.asRead, await getJob(store, params.id));
}

type ResumeBody = v.InferOutput<typeof resuming.body>;
