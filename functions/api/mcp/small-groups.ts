// What an agent without `read:pii` may find out about people by asking for groups of them (AGT-4): conditions are over
// attributes that the workspace lists, and a group of fewer than twenty is not counted.
import { ApiError } from "../../../shared/kernel/errors.ts";
import { isJsonObject } from "../../../shared/kernel/objects.ts";
import { type Agent, type Arguments, holdsScope } from "./tools.ts";

const SMALLEST_GROUP = 20;
const FEWER = `fewer than ${SMALLEST_GROUP}`;
/** The fields of a body that hold conditions over a subscriber's attributes, at any depth. */
const PREDICATES: ReadonlySet<string> = new Set(["attribute", "subscriber_filters"]);
/** Those, and the ones over properties of events: small groups that meet them are not counted. */
const NARROWING: ReadonlySet<string> = new Set([...PREDICATES, "where"]);
/** The fields of a result that count people who meet conditions. */
const COUNTED: ReadonlySet<string> = new Set([
  ...["counts", "by_class", "skip_reasons", "estimated_count", "count", "sends", "recipients", "failed", "subscribers"],
]);
const SAMPLES: ReadonlySet<string> = new Set(["samples", "skipped_samples", "sample_subscriber_ids", "rendered_for"]);

/** @throws 403 for a condition over an attribute that the workspace does not list in `agent_attributes`, and for names of people. */
export function refusePersonalConditions(agent: Agent, given: Arguments): void {
  if (holdsScope(agent, "read:pii")) return;
  if (given.external_ids !== undefined)
    throw new ApiError("FORBIDDEN", "This key lacks the scope read:pii, so it may not name people by external_ids.");
  const allowed = new Set(agent.workspace.agentAttributes);
  const refused = conditionKeys(given).find((key) => !allowed.has(key) && !allowed.has(key.split(".", 1)[0] ?? key));
  if (refused !== undefined)
    throw new ApiError(
      "FORBIDDEN",
      `This key lacks the scope read:pii, so a condition may not be over ${refused}: the workspace's agent_attributes list the attributes that it may be over.`,
    );
}

function conditionKeys(value: unknown, fields = PREDICATES): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => conditionKeys(one, fields));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    fields.has(name) && isJsonObject(inner) ? Object.keys(inner) : conditionKeys(inner, fields),
  );
}

/**
 * A result as the agent sees it: where it gave conditions, now or in a segment, small counts are in words, and nobody is a sample.
 * @param given what the agent asked with
 */
export function withoutSmallGroups(agent: Agent, given: unknown, result: unknown): unknown {
  if (holdsScope(agent, "read:pii")) return result;
  const isNarrow = isOfSegment(given) || conditionKeys([given, rulesIn(result)], NARROWING).length > 0;
  return isNarrow ? coarse(result, false) : result;
}

/** A segment is a condition that was saved before. */
const isOfSegment = (given: unknown): boolean =>
  isJsonObject(given) && isJsonObject(given.target) && given.target.type === "segment";

/** The rules of a segment, or of a list of them. */
function rulesIn(result: unknown): unknown[] {
  if (!isJsonObject(result)) return [];
  const { rule, segments } = result;
  return [rule, ...(Array.isArray(segments) ? segments.flatMap(rulesIn) : [])];
}

function coarse(value: unknown, isCounted: boolean): unknown {
  if (typeof value === "number" && isCounted) return value < SMALLEST_GROUP ? FEWER : value;
  if (Array.isArray(value)) return value.map((one) => coarse(one, isCounted));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !SAMPLES.has(name))
      .map(([name, inner]) => [name, coarse(inner, isCounted || COUNTED.has(name))]),
  );
}
