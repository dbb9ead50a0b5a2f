// Segment rules (RUL): the tree, the flat form, and who matches.
import { type Body, duration, isOwnName, isRecord } from "./kit.ts";
import { limits } from "./plans.ts";
import { isPredicate, matches } from "./predicates.ts";
import type { Event, Subscriber } from "./records/people.ts";
import { eventsOf, momentOf } from "./stitching.ts";
import type { World } from "./world.ts";

const FLAT_OPERATORS = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "exists"];

/** AMB-51: flat if it has `attribute.key` as a text, or an event with one of the flat fields. */
function isFlat(rule: Body): boolean {
  const { attribute, event } = rule;
  const isFlatAttribute = isRecord(attribute) && typeof attribute.key === "string";
  const isFlatEvent = isRecord(event) && ["operator", "count", "within_days"].some((field) => field in event);
  return isFlatAttribute || isFlatEvent || (attribute !== undefined && event !== undefined);
}

/** RUL-10, RUL-11, AMB-69: the tree that a flat form stands for; undefined when it is malformed. */
function unfold({ attribute, event, ...rest }: Body): Body | undefined {
  if (Object.keys(rest).length > 0) return undefined;
  const nodes: Body[] = [];
  if (attribute) {
    const { key, operator = "eq", value } = attribute;
    if (typeof key !== "string" || !FLAT_OPERATORS.includes(operator)) return undefined;
    if (value === undefined && operator !== "exists") return undefined;
    nodes.push({ attribute: { [key]: { [`$${operator}`]: value ?? true } } });
  }
  if (event) {
    const { name, operator = "gte", count = 1, within_days } = event;
    if (!["gte", "lte", "eq"].includes(operator) || !Number.isInteger(count)) return undefined;
    const frequency = { ...(operator !== "lte" && { min: count }), ...(operator !== "gte" && { max: count }) };
    nodes.push({ event: { name, frequency, ...(within_days !== undefined && { within: `${within_days}d` }) } });
  }
  return { group: { op: "and", nodes } };
}

/** The tree of a rule, or undefined if it is malformed. */
export function treeOf(rule: Body): Body | undefined {
  if (!isRecord(rule)) return undefined;
  const tree = isFlat(rule) ? unfold(rule) : rule;
  return tree && isTree(tree) ? tree : undefined;
}

/** RUL-1, RUL-2: exactly one of attribute, event, group; a group has an op and at least one node. */
function isTree(node: Body): boolean {
  if (!isRecord(node) || Object.keys(node).length !== 1) return false;
  const { attribute, event, group } = node;
  if (attribute !== undefined)
    return isRecord(attribute) && Object.keys(attribute).length > 0 && isPredicate(attribute);
  if (event !== undefined) return isEventNode(event);
  if (!isRecord(group) || !["and", "or"].includes(group.op) || !Array.isArray(group.nodes)) return false;
  return group.nodes.length > 0 && group.nodes.every(isTree);
}

function isEventNode(event: Body): boolean {
  if (!isRecord(event) || typeof event.name !== "string" || event.name === "" || isOwnName(event.name)) return false;
  const { within, frequency, where } = event;
  if (within !== undefined && duration(within) === undefined) return false;
  if (where !== undefined && !isPredicate(where)) return false;
  if (frequency === undefined) return true;
  const { min, max } = frequency;
  const areWhole = [min, max].every((bound) => bound === undefined || (Number.isInteger(bound) && bound >= 0));
  return areWhole && (min !== undefined || max !== undefined) && (min ?? 0) <= (max ?? Number.POSITIVE_INFINITY);
}

export function eventNodes(tree: Body): Body[] {
  if (tree.event) return [tree.event];
  return tree.group ? tree.group.nodes.flatMap(eventNodes) : [];
}

export function attributeKeys(tree: Body): string[] {
  if (tree.attribute) return Object.keys(tree.attribute);
  return tree.group ? tree.group.nodes.flatMap(attributeKeys) : [];
}

/** SEG-13, RUL-6: the caps of the plan. */
export function isWithinPlan(world: World, tree: Body): boolean {
  const events = eventNodes(tree);
  const { lookback_days, event_conditions_per_rule } = limits(world.plan);
  if (events.length > event_conditions_per_rule) return false;
  const isTooLong = ({ within }: Body) => within === undefined || duration(within)! > lookback_days * 86_400_000;
  return lookback_days === null || !events.some(isTooLong);
}

/** RUL-5 to RUL-8, RUL-13. The moment that is a whole window ago is out of it. */
function eventHolds(world: World, node: Body, events: Event[], at: number): boolean {
  const { name, within, frequency = { min: 1 }, where = {} } = node;
  const from = within === undefined ? Number.NEGATIVE_INFINITY : at - duration(within)!;
  const counted = events.filter(
    (event) => event.event_name === name && event.occurred_at > from && matches(world, where, event.properties),
  );
  return counted.length >= (frequency.min ?? 0) && counted.length <= (frequency.max ?? Number.POSITIVE_INFINITY);
}

/** Now, or as of a time before: what happened after it does not count then (AMB-136). */
export function holdsFor(world: World, tree: Body, subscriber: Subscriber, asOf?: number): boolean {
  if (tree.attribute) return matches(world, tree.attribute, subscriber.attributes);
  if (tree.event) {
    const known = eventsOf(world, subscriber.id).filter((event) => asOf === undefined || momentOf(event) <= asOf);
    return eventHolds(world, tree.event, known, asOf ?? world.now);
  }
  const { op, nodes } = tree.group;
  const test = (node: Body) => holdsFor(world, node, subscriber, asOf);
  return op === "and" ? nodes.every(test) : nodes.some(test);
}
