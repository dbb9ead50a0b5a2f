// Reports: campaign report, funnel, lift, heatmap, conversion definitions (CRP, ISG, CNV, F9).
import { type Operation, ok, read, write } from "./access.ts";
import { conversionsAfter, converted, engagement, type Touch, touchesOf, windowDays, windowOf } from "./attribution.ts";
import { jobsOf } from "./campaign-moves.ts";
import { requiredText } from "./checks.ts";
import { deliverability } from "./deliverability.ts";
import { contentOf } from "./delivering.ts";
import { channelOf } from "./interactions.ts";
import {
  About,
  ANY,
  type Body,
  DAY,
  invalid,
  isOwnName,
  isUuid,
  notFound,
  OneOf,
  type Request,
  Unordered,
} from "./kit.ts";
import type { Job, Recipient } from "./records/sends.ts";
import { heatmap, series, summary } from "./series.ts";
import { countsOf, isUnderWay, later, lossesBy, lostOf } from "./tallies.ts";
import { existing, found, type World } from "./world.ts";

/** @param all with those that failed whole, whose recipients are not counted one by one */
const totals = (world: World, jobs: Job[], touches: Touch[], all: Job[]): Body => ({
  sent: jobs.reduce((sum, job) => sum + job.sent, 0),
  failed: all.some(({ error }) => error)
    ? ANY
    : jobs.flatMap(({ recipients }) => recipients).filter(({ state }) => state === "failed").length,
  ...{ delivered: touches.length, ...later(jobs.flatMap(({ recipients }) => recipients)) },
  ...engagement(world, jobs),
  ...converted(world, touches),
});

/** Sends that were dispatched in the window, with all that came of them. One that failed as a whole never was. */
const within = (jobs: Job[], start: number, end: number) =>
  jobs.filter(({ dispatched_at: time, error }) => !error && time !== null && time >= start && time <= end);

/** CRP-2 to CRP-5, AMB-68: by message only where there are several. */
export function report(world: World, query: Record<string, string>, id: string | undefined): Body {
  const campaign = existing(world.campaigns, id);
  const [start, end] = windowOf(world, query);
  const jobs = within(jobsOf(world, campaign), start, end);
  if (isUnderWay(jobs)) return {};
  const touches = touchesOf(jobs);
  const reached = touches.flatMap(({ recipient }) =>
    recipient.deliveries.filter((d) => d.delivered_at !== null).map((d) => d.channel.type),
  );
  const answered = world.interactions
    .filter(({ job_id }) => jobs.some(({ id }) => id === job_id))
    .flatMap((row) => channelOf(row) ?? []);
  const people = jobs.flatMap(({ recipients }) => recipients);
  const bounced = people.filter(({ deliveries }) => deliveries.some(({ state }) => state === "bounced"));
  const lost = people.flatMap(lostOf).map(([type]) => type);
  const types = [...new Set([...reached, ...answered, ...bounced.map(() => "email"), ...lost])];
  const by_message = campaign.messages.map((message, position) => {
    const own = touches.filter(({ job }) => job.id === message.job_id);
    const whole = jobs.filter(({ id }) => id === message.job_id);
    // A template may have been changed since: its title then or now. A send that failed whole has kept none.
    const then = found(world.jobs, message.job_id)?.title;
    const label = new OneOf([then, contentOf(world, message)?.title ?? `Message ${position + 1}`]);
    const { failed, uncertain } = countsOf({ recipients: whole.flatMap(({ recipients }) => recipients) });
    return {
      position,
      label,
      delivered: own.length,
      ...(whole.some(({ error }) => error) ? {} : { failed, uncertain }),
      ...later(jobs.filter(({ id }) => id === message.job_id).flatMap(({ recipients }) => recipients)),
      ...engagement(
        world,
        jobs.filter(({ id }) => id === message.job_id),
      ),
    };
  });
  const by_channel = types.map((channel) => ({
    channel,
    delivered: touches.filter(({ recipient }) =>
      recipient.deliveries.some((d) => d.delivered_at !== null && d.channel.type === channel),
    ).length,
    ...later(channel === "email" ? people : []),
    bounced: channel === "email" ? bounced.length : 0,
    ...lossesBy(channel, people),
  }));
  const messages = campaign.messages.length > 1 ? { by_message } : { by_message: [] };
  return {
    ...totals(world, jobs, touches, jobsOf(world, campaign)),
    by_channel: new Unordered(by_channel),
    ...messages,
  };
}

/** F9. */
function sendReport(world: World, id: string | undefined): Body {
  const job = existing(world.jobs, id);
  if (isUnderWay([job])) return {};
  const { length: delivered } = touchesOf([job]);
  const ofArm = (variant_id: string) => ({
    variant_id,
    delivered: touchesOf([job]).filter(({ recipient }) => recipient.variant === variant_id).length,
  });
  const by_variant = job.spec.variant_b ? new Unordered(["a", "b"].map(ofArm)) : new Unordered([]);
  const { failed, uncertain } = countsOf(job);
  const losses = job.error ? {} : { failed, uncertain };
  return { sent: job.sent, delivered, ...losses, ...later(job.recipients), ...engagement(world, [job]), by_variant };
}

const wholeDays = ([start, end]: [number, number]): [number, number] => [
  Math.floor(start / DAY) * DAY,
  Math.floor(end / DAY) * DAY + DAY - 1,
];

/** ISG-1, ISG-2, AMB-97: an unknown source has zeros. Sends of a journey count by whole days. */
function funnel(world: World, { query }: Request) {
  const { source_type, source_id } = query;
  if (source_type !== "campaign" && source_type !== "journey") invalid();
  if (!isUuid(source_id)) invalid();
  const window = windowOf(world, query);
  const [start, end] = source_type === "journey" ? wholeDays(window) : window;
  const all = world.jobs.filter(({ source }) => source.type === source_type && source.id === source_id);
  const jobs = within(all, start, end);
  return ok(isUnderWay(jobs) ? ANY : totals(world, jobs, touchesOf(jobs), all));
}

/**
 * AMB-110: the window begins at the dispatch for everybody. Where nobody is held out, who waits is known from its first
 * round on (docs/decisions/0013-the-send-ledger.md).
 */
function arm(world: World, { spec, dispatched_at }: Job, people: Recipient[]): Body {
  const events = people.map((recipient) => {
    const known = spec.holdout_percentage ? 0 : firstRoundOf(recipient);
    const own = conversionsAfter(world, recipient.subscriber_id, dispatched_at ?? world.now);
    return own.filter(({ event }) => event.occurred_at >= known);
  });
  const converters = events.filter((own) => own.length > 0).length;
  const revenue_cents = events.flat().reduce((sum, { revenue }) => sum + revenue, 0);
  return {
    size: people.length,
    converters,
    conversion_rate: people.length === 0 ? 0 : converters / people.length,
    revenue_cents,
  };
}

/** Who is skipped as the message would go out was not tried before. */
function firstRoundOf({ deliveries, state, at }: Recipient): number {
  const rounds = deliveries.flatMap(({ attempts }) => attempts);
  if (rounds.length > 0) return Math.min(...rounds);
  return ["pending", "deferred"].includes(state) ? Number.POSITIVE_INFINITY : at;
}

/** ISG-6 to ISG-9, D-ATTRIB, AMB-110: everyone assigned at dispatch, intent to treat; nobody who was skipped is. */
function lift(world: World, { query }: Request) {
  if (query.job_id === undefined) invalid("job_id");
  const job = existing(world.jobs, query.job_id);
  const assigned = (isHeldOut: boolean) =>
    job.recipients.filter(({ state, isAssigned }) => (state === "held_out") === isHeldOut && isAssigned);
  const [treated, holdout] = [arm(world, job, assigned(false)), arm(world, job, assigned(true))];
  const points = (treated.conversion_rate - holdout.conversion_rate) * 100;
  const round = ({ conversion_rate, ...rest }: Body) => ({ ...rest, conversion_rate: new About(conversion_rate) });
  const body = {
    ...{ job_id: job.id, treated: round(treated), holdout: round(holdout), window_days: windowDays(world) },
    ...{ lift_percentage_points: new About(points), conversion_configured: world.definitions.length > 0 },
  };
  return ok(body);
}

/** CNV-4: upsert by event_name; a week by default. */
function define(world: World, { body }: Request) {
  requiredText(body, "event_name", 128);
  if (isOwnName(body.event_name)) invalid("event_name");
  const { event_name, value_property = null, window_seconds = 604_800 } = body;
  world.definitions = world.definitions.filter((other) => other.event_name !== event_name);
  world.definitions.push({ event_name, value_property, window_seconds });
  return { status: 204 };
}

function forget(world: World, { query }: Request) {
  const definition = world.definitions.find(({ event_name }) => event_name === query.event_name);
  if (query.event_name === undefined) invalid("event_name");
  if (!definition) notFound();
  world.definitions = world.definitions.filter((other) => other !== definition);
  return { status: 204 };
}

export const insightOperations: Operation[] = [
  read("GET /api/v1/campaigns/:id/report", (world, { query }, { id }) => ok(report(world, query, id))),
  read("GET /api/v1/notifications/:id/report", (world, _, { id }) => ok(sendReport(world, id))),
  read("GET /api/v1/insights/funnel", funnel),
  read("GET /api/v1/insights/heatmap", heatmap),
  read("GET /api/v1/insights/series", series),
  read("GET /api/v1/insights/deliverability", deliverability),
  read("GET /api/v1/insights/summary", summary),
  read("GET /api/v1/insights/lift", lift),
  read("GET /api/v1/insights/config", (world) =>
    ok({ definitions: new Unordered(world.definitions.map((definition) => ({ ...definition }))) }),
  ),
  write("POST /api/v1/insights/config", "insights:write", define),
  write("DELETE /api/v1/insights/config", "insights:write", forget),
];
