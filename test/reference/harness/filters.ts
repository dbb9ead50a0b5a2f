// Lists and reports narrowed by their parameters, read at the end of a program: each with values that something has.
import { randomFrom } from "../../simulator/random.ts";
import { iso } from "../model/kit.ts";
import type { Job } from "../model/records/sends.ts";
import { timelineKinds } from "../model/timeline.ts";
import type { World } from "../model/world.ts";
import { type ComparedRead, isListed } from "./looks.ts";

type Query = Record<string, string>;

/** Values of a parameter: of those that things have, and of those that it may be. */
type Values = Record<string, (string | null | undefined)[]>;

/** So many narrowed reads of each path. */
const READS = 3;

const STATES = ["pending", "deferred", "delivered", "failed", "bounced", "skipped", "held_out", "canceled"];
const SENDS = ["scheduled", "queued", "processing", "completed", "failed", "canceled"];
const SOURCES = ["api", "campaign", "schedule", "experience"];

/** Times in a storm are compared to two hours: what lies at an end of a period may lie beyond it. */
const WITHOUT_TIMES = ["from", "to", "start", "end", "updated_since"];

/**
 * Draws filters: most name one or two parameters, whose values come from different things, so that many a filter fits one
 * of its parts only. The draw follows from the world: a program that is replayed reads the same.
 */
export function filteredLooks(world: World): ComparedRead[] {
  const random = randomFrom(Math.floor(world.now / 1000) + world.jobs.length);
  const times = [...world.jobs, ...world.campaigns, ...world.subscribers].map(({ created_at }) => iso(created_at));
  const period = { start: times, end: times };

  const queryOf = (values: Values): Query => {
    const known = Object.entries(values).flatMap(([name, list]): [string, string][] => {
      const texts = list.filter((text) => typeof text === "string").filter((text) => text !== "");
      const isOpen = world.isStorm && WITHOUT_TIMES.includes(name);
      return texts.length === 0 || isOpen ? [] : [[name, random.pick(texts)]];
    });
    const { from, to, start, end, ...rest }: Query = Object.fromEntries(random.some(known, random.between(1, 3)));
    return { ...rest, ...ordered("from", from, "to", to), ...ordered("start", start, "end", end) };
  };
  const reads = (path: string, values: Values, fixed: Query = {}, as = "owner"): ComparedRead[] =>
    Array.from({ length: READS }, () => ({ path, query: { ...fixed, ...queryOf(values) }, as }));
  const some = <T>(things: T[]): T[] => random.some(things, 2);

  const { subscribers, addresses, jobs, campaigns, journeys, runs, lists, hooks } = world;
  const beginning = (text: unknown) => (typeof text === "string" ? text.slice(0, random.between(1, 6)) : undefined);
  const part = (text: string) => text.slice(random.between(0, 2)).toUpperCase();
  return [
    ...reads("/api/v1/suppressions", {
      address: addresses.map(({ address }) => address?.toUpperCase()),
      reason: ["bounce", "complaint", "imported", "manual"],
      source: addresses.map(({ source }) => source),
    }),
    ...reads("/api/v1/subscribers", {
      email: subscribers.map(({ email }) => email?.toUpperCase()),
      external_id: subscribers.map(({ external_id }) => external_id),
      updated_since: subscribers.map(({ updated_at }) => iso(updated_at)),
      q: subscribers.flatMap(({ email, external_id, attributes }) =>
        [email, external_id, attributes.last_name].map(beginning),
      ),
    }),
    ...SOURCES.slice(1).flatMap((left_out) =>
      reads(
        "/api/v1/notifications",
        { status: SENDS, source_type: SOURCES, source_id: jobs.map(({ source }) => source.id), from: times, to: times },
        { exclude_source_type: `journey,${left_out}` },
      ),
    ),
    ...some(jobs.filter((job) => isReadByState(world, job))).flatMap(({ id }) =>
      reads(`/api/v1/notifications/${id}/recipients`, { state: STATES }),
    ),
    ...reads("/api/v1/campaigns", {
      status: ["draft", "scheduled", "live", "completed", "paused", "archived"],
      ...{ awaiting_approval: ["true"], q: campaigns.map(({ name }) => part(name)), from: times, to: times },
    }),
    ...some(campaigns.filter(({ status }) => status !== "draft")).flatMap(({ id }) => [
      ...reads(`/api/v1/campaigns/${id}/report`, period),
      ...reads("/api/v1/insights/funnel", period, { source_type: "campaign", source_id: id }),
      ...reads("/api/v1/insights/series", period, { source_type: "campaign", source_id: id }),
    ]),
    ...some(journeys).flatMap(({ id }) => [
      ...reads(`/api/v1/journeys/${id}/runs`, {
        status: ["active", "completed", "exited", "canceled"],
        subscriber_id: runs.map(({ subscriber_id }) => subscriber_id),
        step: runs.map(({ step }) => step),
      }),
      ...versionsOf(world, id).map((version) => ({ path: `/api/v1/journeys/${id}/stats`, query: { version } })),
      ...reads("/api/v1/insights/funnel", period, { source_type: "journey", source_id: id }),
      ...reads("/api/v1/insights/series", period, { source_type: "journey", source_id: id }),
    ]),
    ...reads("/api/v1/schedules", { active: ["true", "false"] }),
    ...reads("/api/v1/in-app/experiences", { status: ["draft", "live", "paused", "ended", "archived"] }),
    ...reads("/api/v1/lists", { name: lists.map(({ name }) => part(name)) }, { page_size: "1" }),
    ...some(subscribers).flatMap(({ id }) => [
      ...reads("/v1/in-app/messages", { status: ["unread", "read", "dismissed"] }, { subscriber_id: id }),
      ...reads(`/api/v1/subscribers/${id}/timeline`, { kinds: timelineKinds }),
    ]),
    ...some(hooks).flatMap(({ id, events }) =>
      reads(`/api/v1/webhooks/${id}/deliveries`, {
        ...{ event_type: events, outcome: ["pending", "delivered", "failed"], missing: ["true"] },
      }),
    ),
    ...reads("/api/v1/insights/series", { ...period, interval: ["day", "hour"], group_by: [] }),
    ...reads("/api/v1/insights/series", { ...period, group_by: ["channel", "category"] }),
    ...reads("/api/v1/insights/summary", period, { group_by: random.pick(["campaign", "journey", "channel"]) }),
    ...reads("/api/v1/insights/deliverability", period),
    ...reads("/v1/events/export", { from: times, to: times }, {}, "server"),
  ];
}

const isReadByState = (world: World, job: Job): boolean =>
  job.source.type !== "journey" && !job.spec.confirms && isListed(world, job);

/** Versions that somebody ran. Runs of the erased are counted for the journey alone. */
function versionsOf({ runs, subscribers }: World, journey: string): Query["version"][] {
  const own = runs.filter(({ journey_id }) => journey_id === journey);
  const isErased = own.some(({ subscriber_id }) => !subscribers.some(({ id }) => id === subscriber_id));
  return isErased ? [] : [...new Set(own.map(({ version }) => String(version)))];
}

/** Both ends of a period, the earlier one first. */
function ordered(first: string, a: string | undefined, last: string, b: string | undefined): Query {
  const [start, end] = a !== undefined && b !== undefined && a > b ? [b, a] : [a, b];
  return { ...(start !== undefined && { [first]: start }), ...(end !== undefined && { [last]: end }) };
}
