// One-off sends (NTF, D-NTF, D-NTF-CANCEL) and what they answer.
import { created, type Operation, ok, read, write } from "./access.ts";
import { checkAlone } from "./approvals.ts";
import { checkFilters, checkTarget } from "./audience.ts";
import { limitOf, listing, optionalOneOf, optionalWhole } from "./checks.ts";
import { cancelJob } from "./closing.ts";
import { activity, explain, recipients } from "./explanations.ts";
import { channelsOf, needChannels } from "./gates.ts";
import {
  ABSENT,
  ANY,
  type Body,
  conflict,
  Exactly,
  HOUR,
  instant,
  invalid,
  iso,
  isoOrNull,
  isRecord,
  MINUTE,
  OneOf,
  OrderedBy,
  type Request,
  same,
  sorted,
  together,
  Unordered,
} from "./kit.ts";
import { needSmart } from "./plans.ts";
import type { Job, Recipient } from "./records/sends.ts";
import { createJob, plan, schedule, takeQuota } from "./sending.ts";
import { countsOf, reasonsOf, UNANSWERED } from "./tallies.ts";
import { needTemplate } from "./templates.ts";
import { needTopic } from "./topics.ts";
import { existing, found, type World } from "./world.ts";

/** D-NTF: exactly one audience, one content. */
function checkShape(body: Body): void {
  const audiences = [body.subscriberIds, body.external_ids, body.target].filter((value) => value !== undefined);
  if (audiences.length !== 1) invalid();
  for (const field of ["subscriberIds", "external_ids"])
    if (body[field] !== undefined && !(Array.isArray(body[field]) && body[field].length > 0)) invalid(field);
  checkContent(body);
  optionalOneOf(body, "category", ["marketing", "transactional"]);
  optionalOneOf(body, "channel_arbitration_mode", ["explicit", "smart"]);
  optionalWhole(body, "holdout_percentage", 0, 99);
  optionalWhole(body, "split_percentage", 1, 99);
}

/** AMB-93 for what it names. */
export function checkSend(world: World, body: Body): void {
  checkShape(body);
  checkFilters(body);
  if (body.scheduled_at !== undefined && instant(body.scheduled_at) === undefined) invalid("scheduled_at");
  if (body.channel_arbitration_mode === "smart") needSmart(world);

  if (body.scheduled_at !== undefined && instant(body.scheduled_at)! <= world.now) invalid("scheduled_at");
  together(
    () => body.target !== undefined && checkTarget(world, body.target),
    () => needTemplate(world, body.template_id),
    () => needTopic(world, body.topic),
    () => needChannels(world, body.channel_ids),
  );
}

function checkContent({ title, body, template_id, content }: Body): void {
  const hasText = title !== undefined || body !== undefined;
  const ways = [hasText, template_id !== undefined, content !== undefined].filter(Boolean);
  if (ways.length !== 1) invalid();
  if (hasText && (!title || !body)) invalid(title ? "body" : "title");
  if (content !== undefined && !isRecord(content)) invalid("content");
}

/** AMB-94: the same key and body within 24 hours is answered again with 200; another body is 409. */
function repeated(world: World, { body, headers }: Request): { key: string | undefined; answer?: Body } {
  const key = headers["idempotency-key"] ?? body.idempotency_key;
  if (key === undefined) return { key };
  const earlier = world.keys.findLast(({ request, at }) => request === key && world.now - at < 24 * HOUR);
  if (!earlier) return { key };
  if (!same(JSON.parse(earlier.fingerprint), body)) conflict();
  return { key, answer: earlier.answer };
}

/** NTF-1, AMB-35, AMB-38, AMB-125. */
function create(world: World, request: Request) {
  const { body } = request;
  checkShape(body);
  const { key, answer } = repeated(world, request);
  if (answer) return ok(answer);
  checkAlone(world, body);
  checkSend(world, body);
  const job = startSend(world, body, drawOf(world, body) ?? request.given?.id);
  const names = body.subscriberIds ?? body.external_ids;
  const unknown = names && { unknown: job.unknown.length, unknown_ids: new Unordered(job.unknown) };
  const result = { id: job.id, sent: job.sent, ...unknown };
  if (key !== undefined)
    world.keys.push({ request: key, answer: result, fingerprint: JSON.stringify(body), at: world.now });
  return created(result);
}

/** @param unit under which holdout and variants are drawn, where it is not the id of the job */
export function startSend(world: World, body: Body, unit: string | undefined): Job {
  const time = body.scheduled_at === undefined ? null : instant(body.scheduled_at)!;
  const spec = structuredClone(body);
  spec.channel_ids ??= channelsOf(world, spec).map(({ id }) => id);
  const job = createJob(world, spec, { type: "api", id: null });
  job.unit = unit ?? job.id;
  const planned = time === null ? takeQuota(world, job, unit !== undefined) : plan(world, job, false);
  job.unknown = planned.filter(({ reasons }) => reasons.includes("unknown_subscriber")).map((r) => r.subscriber_id);
  schedule(world, job, time);
  return job;
}

/** What a send was asked for, as it shows it. */
function asAsked({ spec }: Job): Body {
  if (spec.confirms) return {};
  const named = spec.subscriberIds ?? spec.external_ids;
  const nothing = new OneOf([null, ABSENT]);
  return {
    ...{ channel_ids: spec.channel_ids, topic: spec.topic ?? nothing },
    ...(spec.title !== undefined && { title: spec.title, body: spec.body }),
    split_percentage: spec.variant_b ? (spec.split_percentage ?? 50) : null,
    subscriber_ids_count: named ? new Set(named).size : null,
    ...{ subscriber_filters: spec.subscriber_filters ?? nothing, device_filters: spec.device_filters ?? nothing },
    data: spec.data ?? new OneOf([null, ABSENT, {}]),
  };
}

/** Recipients that a type of channel reached, by its name: 0 where all of it came back. */
function deliveredBy({ recipients }: Job): Record<string, number> {
  const all = recipients.flatMap(({ deliveries }) => deliveries);
  const reached = all.filter(
    ({ delivered_at, state, reason }) => delivered_at !== null || (state === "bounced" && reason !== UNANSWERED),
  );
  const byType = Map.groupBy(reached, ({ channel }) => channel.type);
  const isReached = (type: string) => (recipient: Recipient) =>
    recipient.deliveries.some(({ channel, delivered_at }) => channel.type === type && delivered_at !== null);
  return Object.fromEntries([...byType.keys()].map((type) => [type, recipients.filter(isReached(type)).length]));
}

/** D-NTF. Numbers of a send that is under way are not promised before it is over. */
function jobRecord(world: World, job: Job): Body {
  const { spec } = job;
  const isOver = ["completed", "failed", "canceled", "scheduled"].includes(job.status);
  return {
    ...{
      // Confirmations of one instant are alike.
      id: spec.confirms ? ANY : job.id,
      status: job.status,
      name: job.source.type === "api" ? (spec.name ?? null) : ANY,
      category: spec.category ?? "marketing",
    },
    ...{ template_id: spec.template_id ?? null, target: spec.target ?? null },
    ...{ holdout_percentage: spec.holdout_percentage ?? 0, source: job.source },
    ...{ scheduled_at: isoOrNull(job.scheduled_at), created_at: iso(job.created_at) },
    // A job that failed for a cause of its own may never have been dispatched.
    ...{
      dispatched_at: job.error ? ANY : isoOrNull(job.dispatched_at),
      completed_at: isOver ? isoOrNull(job.completed_at) : null,
    },
    ...asAsked(job),
    sent: isOver ? job.sent : ANY,
    // Also of one that its campaign ended: deleted, or skipped by a resume.
    error: ["failed", "canceled"].includes(job.status) ? ANY : null,
    counts: isOver ? { ...countsOf(job), sent: job.sent } : ANY,
    delivered_by_channel: isOver ? new Exactly(deliveredBy(job)) : ANY,
    fail_reasons:
      isOver && job.recipients.every(({ state }) => state !== "failed") && !job.error ? new Exactly({}) : ANY,
    skip_reasons: isOver ? reasonsOf(job) : ANY,
    channel_arbitration: readout(world, job),
  };
}

/** SMA-7 to SMA-9: aggregates of first choices. */
function readout(world: World, job: Job): Body {
  if (job.spec.channel_arbitration_mode !== "smart") return ABSENT;
  if (job.dispatched_at === null) return ANY;
  const names = new Set(job.arbitration.map((choice) => `${choice.class} ${choice.source}`));
  const chosen = [...names].map((name) => {
    const [class_, source] = name.split(" ");
    const subscribers = job.arbitration.filter((c) => c.class === class_ && c.source === source).length;
    return { class: class_, source, subscribers };
  });
  const { suppressed_devices, fallback_steps } = job;
  return {
    chosen: new Unordered(chosen),
    suppressed_devices,
    // In a storm a cap is met at the plan of a send or at the claim of its next channel.
    fallback_steps: world.isStorm && world.settings.frequency_caps.length > 0 ? ANY : fallback_steps,
    rank_errors: 0,
    fallback_dedup_errors: 0,
  };
}

const SOURCES = ["api", "campaign", "journey", "schedule", "experience"];

/** AMB-127: newest first by creation, whatever made them. */
function list(world: World, request: Request) {
  optionalOneOf(request.query, "source_type", SOURCES);
  for (const name of request.query.exclude_source_type?.split(",") ?? [])
    if (!SOURCES.includes(name)) invalid("exclude_source_type");
  const { status, source_type, source_id, exclude_source_type, from, to } = request.query;
  const [earliest, latest] = [instant(from) ?? 0, instant(to) ?? Number.POSITIVE_INFINITY];
  const size = limitOf(request, 20, 100);
  const matching = world.jobs.filter(
    (job) =>
      [undefined, job.status].includes(status) &&
      [undefined, job.source.type].includes(source_type) &&
      [undefined, job.source.id].includes(source_id) &&
      !exclude_source_type?.split(",").includes(job.source.type) &&
      job.created_at >= earliest &&
      job.created_at <= latest,
  );
  const newestFirst = matching.toReversed().toSorted((a, b) => b.created_at - a.created_at);
  const items = newestFirst.map((job) => jobRecord(world, job));
  return listing("items", new OrderedBy(items, ({ created_at }) => created_at), size);
}

/** D-NTF-CANCEL. */
function cancel(world: World, _: Request, { id }: Record<string, string>) {
  const job = existing(world.jobs, id);
  if (job.status !== "canceled") {
    if (job.status !== "scheduled") conflict();
    cancelJob(world, job);
  }
  return ok(jobRecord(world, job));
}

const get: Operation["run"] = (world, _, { id }) => ok(jobRecord(world, existing(world.jobs, id)));

/** Of the same body, and of the last ten minutes. */
function drawOf(world: World, { preview_id, ...body }: Body): string | undefined {
  if (preview_id === undefined) return undefined;
  const known = found(world.previews, preview_id);
  const isGood = known && world.now - known.at <= 10 * MINUTE && known.said === JSON.stringify(sorted(body));
  return isGood ? known.id : invalid("preview_id");
}

/** F21: what a brake halted goes on. None of programs does, which have few people. */
function resume(world: World, _: Request, { id }: Record<string, string>) {
  existing(world.jobs, id);
  return conflict();
}

export const notificationOperations: Operation[] = [
  write("POST /api/v1/notifications", "send", create),
  { route: "POST /v1/notifications", who: ["server"], scope: "messages:send", run: create },
  read("GET /api/v1/notifications", list),
  read("GET /api/v1/notifications/:id", get),
  { route: "GET /v1/notifications/:id", who: ["server"], scope: "messages:read", run: get },
  write("POST /api/v1/notifications/:id/cancel", "send", cancel),
  { route: "POST /v1/notifications/:id/cancel", who: ["server"], scope: "messages:send", run: cancel },
  write("POST /api/v1/notifications/:id/resume", "send", resume),
  { route: "POST /v1/notifications/:id/resume", who: ["server"], scope: "messages:send", run: resume },
  read("GET /api/v1/activity", activity),
  read("GET /api/v1/notifications/:id/recipients", (world, request, { id }) =>
    recipients(world, request, existing(world.jobs, id)),
  ),
  read("GET /api/v1/notifications/:id/recipients/:subscriberId", (world, _, { id, subscriberId }) =>
    ok(explain(world, existing(world.jobs, id), subscriberId!)),
  ),
];
