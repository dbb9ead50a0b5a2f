// Limits what an agent without `read:pii` can find out about people by asking for groups of them (AGT-4): conditions
// are over attributes that the workspace lists, and the size of a group below twenty is not told.
import { ApiError } from "../../../shared/kernel/errors.ts";
import { isJsonObject } from "../../../shared/kernel/objects.ts";
import type { StoreReader } from "../../../shared/store/context.ts";
import { ConditionalSend } from "../../../shared/store/sends/jobs/job-items.ts";
import type { SendContext } from "./sends.ts";
import { type Agent, type Arguments, holdsScope } from "./tools.ts";

const SMALLEST_GROUP = 20;
const FEWER = `fewer than ${SMALLEST_GROUP}`;
/** The fields of a body with conditions over attributes of a subscriber or properties of an event, at any depth. */
const PREDICATES: ReadonlySet<string> = new Set(["attribute", "subscriber_filters", "where"]);
/**
 * The same fields, and those with conditions over events and devices, including triggers: small groups that meet them
 * are not counted.
 */
const NARROWING: ReadonlySet<string> = new Set([...PREDICATES, "device_filters", "event", "nodes", "rule", "trigger"]);
/** The fields that name the audience of something. A segment is a saved condition. */
const AUDIENCES: ReadonlySet<string> = new Set(["target", "audience"]);
/** The fields of a result that say how large a group is. */
const SIZES: ReadonlySet<string> = new Set([
  "total",
  "sent",
  "sends",
  "size",
  "count",
  "estimated_count",
  "recipients",
  "subscriber_ids_count",
  "entered",
]);
/** The fields of a result that count people who meet conditions. */
const COUNTED: ReadonlySet<string> = new Set([
  ...SIZES,
  "counts",
  "subscribers",
  "delivered",
  "deferred",
  "skipped",
  "held_out",
  "failed",
  "uncertain",
  "bounced",
  "complained",
  "unsubscribed",
  "opened",
  "opened_human",
  "clicked",
  "clicked_human",
  "converted",
  "conversions",
  "converters",
  "impressions",
  "unique_reach",
  "clicks",
  "dismissals",
  "runs",
  "active",
  "completed",
  "refused",
]);
/** The fields that count people by a property. That a group has any members is told only from twenty members on. */
const COUNTED_BY: ReadonlySet<string> = new Set([
  "by_class",
  "skip_reasons",
  "missed_by_class",
  "fail_reasons",
  "delivered_by_channel",
  "outcomes",
  "unknown_variables",
]);
/** The fields from which the size of a group can be computed. They are left out if the size is told in words. */
const DERIVED: ReadonlySet<string> = new Set([
  "dollars",
  "service_dollars",
  "provider_dollars",
  "per_conversion",
  "unpriced",
  "write_units",
  "read_units",
  "queue_messages",
  "conversion_rate",
  "ctr",
  "dismiss_rate",
  "lift_percentage_points",
  "ci_low",
  "ci_high",
  "p_value",
  "min_detectable_points",
  "b_over_a",
]);
/** The revenue of a small group is left out if its conversions are told in words. */
const REVENUES: ReadonlySet<string> = new Set(["revenue_cents", "last_touch_revenue_cents"]);
const CONVERSIONS = ["conversions", "converters", "converted"] as const;
const SAMPLES: ReadonlySet<string> = new Set(["samples", "skipped_samples", "sample_subscriber_ids", "rendered_for"]);
/** The fields of a result that list things. Each of these is judged by itself. */
const LISTS: ReadonlySet<string> = new Set(["items", "segments", "journeys"]);

/**
 * Refuses conditions that could identify people. An audience of ids may have none either: where it is known of twenty
 * people whether they meet a condition, the count would tell it of one more.
 * @throws 403 for a condition over an attribute that the workspace does not list in `agent_attributes`, and for names
 * of people
 */
export function refusePersonalConditions(agent: Agent, args: Arguments): void {
  if (holdsScope(agent, "read:pii")) return;
  if (args.external_ids !== undefined)
    throw new ApiError("FORBIDDEN", "This key lacks the scope read:pii, so it may not name people by external_ids.");
  if (args.subscriberIds !== undefined && hasConditions(args))
    throw new ApiError(
      "FORBIDDEN",
      "This key lacks the scope read:pii, so conditions may not be over people it names.",
    );
  const allowed = new Set(agent.workspace.agentAttributes);
  const refused = conditionKeys(args).find((key) => !allowed.has(key) && !allowed.has(key.split(".", 1)[0] ?? key));
  if (refused !== undefined)
    throw new ApiError(
      "FORBIDDEN",
      `This key lacks the scope read:pii, so a condition may not be over ${refused}: the workspace's agent_attributes list the attributes that it may be over.`,
    );
}

function conditionKeys(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(conditionKeys);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (!PREDICATES.has(name) || !isJsonObject(inner)) return conditionKeys(inner);
    // The flat form of a rule names its attribute.
    return typeof inner.key === "string" ? [inner.key] : Object.keys(inner);
  });
}

interface ToolCall {
  agent: Agent;
  store: StoreReader;
  run: SendContext["run"];
  route: string;
  args: Arguments;
}

/**
 * The result as the agent sees it. If it is about people who meet conditions, small counts are told in words and
 * samples are left out. The conditions are in the arguments, or belong to the subject of the result.
 */
export async function withoutSmallGroups(call: ToolCall, result: unknown): Promise<unknown> {
  const { agent, store, args } = call;
  if (holdsScope(agent, "read:pii")) return result;
  const subject = await subjectOf(call);
  const planned = await conditionalSends(store, [result, subject]);
  const isNarrow = (value: unknown) =>
    hasConditions(value) || (isJsonObject(value) && typeof value.id === "string" && planned.has(value.id));
  if (hasConditions(args) || isNarrow(subject)) return inWords(result);
  const list = isJsonObject(result) ? Object.keys(result).find((name) => LISTS.has(name)) : undefined;
  if (list === undefined || !isJsonObject(result)) return isNarrow(result) ? inWords(result) : result;
  return { ...result, [list]: listed(result).map((row) => (isNarrow(row) ? inWords(row) : row)) };
}

const listed = (result: unknown): unknown[] =>
  isJsonObject(result) ? [...LISTS].flatMap((name) => (Array.isArray(result[name]) ? result[name] : [])) : [];

/** The subject of a report; undefined for a result that names it itself. */
async function subjectOf({ run, route, args }: ToolCall): Promise<unknown> {
  const { id, job_id, source_type, source_id, group_by } = args;
  const found = (path: string, named: unknown) => run(`GET /api/v1/${path}/:id`, { id: named });
  if (source_type === "journey" || group_by === "campaign" || group_by === "journey")
    return { trigger: { type: "any" } };
  if (source_type === "campaign") return found("campaigns", source_id);
  if (job_id !== undefined) return found("notifications", job_id);
  const whole = /^GET \/api\/v1\/(.+)\/:id\/(?:report|stats)$/.exec(route)?.[1];
  return whole === undefined ? undefined : found(whole, id);
}

/** Of these sends, the ones that an agent planned for people who meet conditions: they name the people by id. */
async function conditionalSends(store: StoreReader, results: readonly unknown[]): Promise<ReadonlySet<string>> {
  const things = results.flatMap((result) => [result, ...listed(result)]);
  const jobs = things.flatMap((item) => (isJsonObject(item) && typeof item.id === "string" ? [item.id] : []));
  const keys = jobs.map((job) => ({ job }));
  const rows = await store.getAll(ConditionalSend, keys);
  return new Set(jobs.filter((_, i) => rows[i] !== undefined));
}

/** Whether a value contains a condition on people. The sends of a journey go to those who entered it. */
export function hasConditions(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasConditions);
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([name, inner]) => {
    if (!isJsonObject(inner)) return hasConditions(inner);
    if (AUDIENCES.has(name) && inner.type === "segment") return true;
    if (name === "source" && inner.type === "journey") return true;
    return NARROWING.has(name) ? Object.keys(inner).length > 0 : hasConditions(inner);
  });
}

function inWords(result: unknown): unknown {
  const said = coarse(result, false);
  return isOfFew(said) ? without(DERIVED, said) : said;
}

function coarse(value: unknown, isCounted: boolean): unknown {
  if (typeof value === "number" && isCounted) return value < SMALLEST_GROUP ? FEWER : value;
  if (Array.isArray(value)) return value.map((item) => coarse(item, isCounted));
  if (!isJsonObject(value)) return value;
  const ofFew = CONVERSIONS.some((name) => typeof value[name] === "number" && value[name] < SMALLEST_GROUP);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !SAMPLES.has(name) && !(ofFew && REVENUES.has(name)))
      .map(([name, inner]) => [
        name,
        COUNTED_BY.has(name) && isJsonObject(inner) ? largeOf(inner) : coarse(inner, isCounted || COUNTED.has(name)),
      ]),
  );
}

/** The large counts, also below a first name. A name with none is left out: it would tell that there is a small one. */
function largeOf(counts: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const large = Object.entries(counts).map(([name, n]) => [name, isJsonObject(n) ? largeOf(n) : n] as const);
  return Object.fromEntries(
    large.filter(([, n]) => (isJsonObject(n) ? Object.keys(n).length > 0 : Number(n) >= SMALLEST_GROUP)),
  );
}

/** Whether the size of a group is told in words. */
const isOfFew = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(isOfFew)
    : isJsonObject(value) &&
      Object.entries(value).some(([name, inner]) => (SIZES.has(name) && inner === FEWER) || isOfFew(inner));

function without(names: ReadonlySet<string>, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((member) => without(names, member));
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => !names.has(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, without(names, inner)]));
}
