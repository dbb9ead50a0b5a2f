// Dimensions of Pinpoint's segments, events and conditions as rules. What a rule cannot say makes the whole unmapped: an
// audience that is only nearly right is worse than none.
import { isObject, objectIn, type Resource } from "../resource.ts";
import { keyOf, localeOf } from "./texts.ts";

interface Rule {
  kind: "rule";
  rule: Resource;
}

/** A field that no rule can say, and why. */
interface Unsaid {
  kind: "unsaid";
  field: string;
  reason: string;
}

export type RuleResult = Rule | Unsaid;

const ruled = (rule: Resource): Rule => ({ kind: "rule", rule });
const attribute = (key: string, operators: Resource): Rule => ruled({ attribute: { [key]: operators } });
export const unsaid = (field: string, reason: string): Unsaid => ({ kind: "unsaid", field, reason });

const comparisons: Record<string, string> = {
  EQUAL: "$eq",
  GREATER_THAN: "$gt",
  GREATER_THAN_OR_EQUAL: "$gte",
  LESS_THAN: "$lt",
  LESS_THAN_OR_EQUAL: "$lte",
};

const DAY_MS = 86_400_000;

/** The conditions of an attribute or of a set of values. */
function operatorsOf(dimension: unknown): Resource | undefined {
  if (!isObject(dimension) || !Array.isArray(dimension.Values)) return undefined;
  const { AttributeType, DimensionType, Values } = dimension;
  const [first, second] = Values.map(String);
  const type = AttributeType ?? DimensionType ?? "INCLUSIVE";
  if (type === "INCLUSIVE") return { $in: Values };
  if (type === "EXCLUSIVE") return { $nin: Values };
  if (type === "BEFORE") return { $lt: first };
  if (type === "AFTER") return { $gt: first };
  if (type === "BETWEEN" && second !== undefined) return { $gte: first, $lte: second };
  const day = type === "ON" ? Date.parse(String(first).slice(0, 10)) : Number.NaN;
  if (Number.isNaN(day)) return undefined;
  return { $gte: new Date(day).toISOString(), $lt: new Date(day + DAY_MS).toISOString() };
}

/** The event by which Pinpoint knows who was active. */
export const SESSION = "_session.start";

function recencyOf(recency: Resource): RuleResult {
  const within = { HR_24: "24h", DAY_7: "7d", DAY_14: "14d", DAY_30: "30d" }[String(recency.Duration)];
  if (!within) return unsaid("Behavior.Recency", `has the unknown duration ${String(recency.Duration)}`);
  const isActive = recency.RecencyType === "ACTIVE";
  return ruled({ event: { name: SESSION, within, ...(!isActive && { frequency: { max: 0 } }) } });
}

/** Places that become attributes of a subscriber. */
const places: Record<string, string> = { Country: "country" };

function demographicOf([name, dimension]: [string, unknown]): RuleResult {
  if (name === "Locale" && isObject(dimension) && Array.isArray(dimension.Values)) {
    // The value as it is written for subscribers.
    const Values = dimension.Values.map((value) => localeOf(String(value)) ?? value);
    const operators = operatorsOf({ ...dimension, Values });
    if (operators) return attribute("locale", operators);
  }
  return unsaid(`Demographic.${name}`, "belongs to devices, which rules of segments do not see");
}

/** All dimensions of a set, which must hold together. @param keyed the key of an attribute or property by its name there */
function partsOf(dimensions: Resource, keyed: (name: string) => string): RuleResult[] {
  return Object.entries(dimensions).flatMap(([field, value]): RuleResult[] => {
    if (!isObject(value)) return [];
    if (field === "Attributes" || field === "UserAttributes")
      return Object.entries(value).map(([key, dimension]) => {
        const operators = operatorsOf(dimension);
        const type = objectIn(dimension).AttributeType;
        return operators
          ? attribute(keyed(key), operators)
          : unsaid(`${field}.${key}`, `is compared by ${String(type)}`);
      });
    if (field === "Metrics")
      return Object.entries(value).map(([key, metric]) => {
        const operator = isObject(metric) ? comparisons[String(metric.ComparisonOperator)] : undefined;
        return operator
          ? attribute(keyed(key), { [operator]: (metric as Resource).Value })
          : unsaid(`Metrics.${key}`, "is unknown");
      });
    if (field === "Behavior") return isObject(value.Recency) ? [recencyOf(value.Recency)] : [];
    if (field === "Demographic") return Object.entries(value).map(demographicOf);
    if (field === "Location")
      return Object.entries(value).map(([name, dimension]) => {
        const operators = operatorsOf(dimension);
        const key = places[name];
        return operators && key ? attribute(key, operators) : unsaid(`Location.${name}`, "is a distance");
      });
    return [unsaid(field, "is an unknown dimension")];
  });
}

/** Rules that must all hold, or of which one must. The first that cannot be said makes the whole unsaid. */
function combine(op: "and" | "or", parts: readonly RuleResult[]): RuleResult {
  const missing = parts.find((part) => part.kind === "unsaid");
  if (missing) return missing;
  const nodes = parts.flatMap((part) => (part.kind === "rule" ? [part.rule] : []));
  if (nodes.length === 0) return unsaid("", "has no dimension");
  return ruled(nodes.length === 1 ? nodes[0]! : { group: { op, nodes } });
}

export const rulesOfDimensions = (dimensions: Resource): RuleResult => combine("and", partsOf(dimensions, keyOf));

const opposites: Record<string, string> = { $in: "$nin", $nin: "$in", $eq: "$ne", $ne: "$eq" };

/** The negation of a rule, since the grammar has none of its own. */
function negated(rule: Resource): RuleResult {
  if (isObject(rule.group)) {
    const { op, nodes } = rule.group as { op: "and" | "or"; nodes: Resource[] };
    return combine(op === "and" ? "or" : "and", nodes.map(negated));
  }
  const [[key = "", operators] = []] = Object.entries(objectIn(rule.attribute));
  const [[name = "", value] = [], ...more] = Object.entries(objectIn(operators));
  const opposite = opposites[name];
  if (!opposite || more.length > 0) return unsaid(key, "cannot be turned round");
  return attribute(key, { [opposite]: value });
}

export function combineBy(type: unknown, parts: readonly RuleResult[]): RuleResult {
  if (type === "NONE") {
    const any = combine("or", parts);
    return any.kind === "rule" ? negated(any.rule) : any;
  }
  return combine(type === "ANY" ? "or" : "and", parts);
}

interface EventFound {
  kind: "event";
  name: string;
  where?: Resource;
}

export function eventOf(dimensions: unknown): EventFound | Unsaid {
  const { EventType, Attributes = {}, Metrics = {} } = objectIn(dimensions);
  const values = isObject(EventType) && Array.isArray(EventType.Values) ? EventType.Values.map(String) : [];
  const [name, ...others] = values;
  if (name === undefined) return unsaid("EventType", "is missing");
  if (others.length > 0 || (isObject(EventType) && EventType.DimensionType === "EXCLUSIVE"))
    return unsaid("EventType", "must be one event");
  const parts = partsOf({ Attributes, Metrics }, (name) => name);
  if (parts.length === 0) return { kind: "event", name };

  const all = combine("and", parts);
  if (all.kind === "unsaid") return all;
  const { rule } = all;
  const conditions = isObject(rule.group) ? (rule.group.nodes as Resource[]) : [rule];
  return {
    kind: "event",
    name,
    where: Object.assign({}, ...conditions.map(({ attribute: where }) => where)) as Resource,
  };
}
