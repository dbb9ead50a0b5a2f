// The graph of a journey: what is malformed, what is unfinished (JND-1 to JND-8, JNY-15, AMB-8, AMB-61, AMB-62).
import { type Body, duration, isOwnName, isRecord } from "./kit.ts";
import { isPredicate } from "./predicates.ts";
import { treeOf } from "./rules.ts";

const TYPES = ["send", "delay", "branch", "wait_for_event", "exit"];

/** Refused at once, on a draft too: unknown types, config under a wrong key, bad exit conditions. */
export function isMalformed(steps: Body): boolean {
  if (!isRecord(steps)) return true;
  const nodes: Body[] = Object.values(steps.steps ?? {});
  const isWrong = (node: Body) => {
    const configs = TYPES.filter((type) => type in node);
    const isOwn = isOwnName(node.wait_for_event?.event_name);
    return !TYPES.includes(node.type) || configs.some((type) => type !== node.type) || isOwn;
  };
  const conditions: Body[] = steps.exit_conditions ?? [];
  return nodes.some(isWrong) || !conditions.every(isExitCondition);
}

/** JND-8: exactly one of attribute, event, rule. */
function isExitCondition(condition: Body): boolean {
  if (!isRecord(condition) || Object.keys(condition).length !== 1) return false;
  const { attribute, event, rule } = condition;
  if (attribute !== undefined) return isPredicate(attribute);
  if (event !== undefined)
    return (
      typeof event.name === "string" &&
      !isOwnName(event.name) &&
      (event.where === undefined || isPredicate(event.where))
    );
  return treeOf(rule) !== undefined;
}

/** Where a step may lead; an empty text completes the run. */
function targetsOf(node: Body): string[] {
  const config = node[node.type] ?? {};
  const targets = {
    send: [config.next],
    delay: [config.next],
    branch: [config.then, config.else],
    wait_for_event: [config.on_event, config.on_timeout],
  }[node.type as string];
  return (targets ?? []).filter((target) => typeof target === "string" && target !== "");
}

function hasBadDuration(steps: Body): boolean {
  const isBad = (text: Body) => text !== undefined && duration(text) === undefined;
  const nodes: Body[] = Object.values(steps.steps ?? {});
  return nodes.some(({ delay, wait_for_event }) => isBad(delay?.duration) || isBad(wait_for_event?.within));
}

/** Bad durations, and targets that name no step: refused by PUT and activate. */
export function hasFault(steps: Body): boolean {
  const nodes: Record<string, Body> = steps.steps ?? {};
  const isDangling = (node: Body) => targetsOf(node).some((target) => !(target in nodes));
  return hasBadDuration(steps) || Object.values(nodes).some(isDangling);
}

const isComplete = (node: Body): boolean => {
  const config = node[node.type];
  if (node.type === "exit") return true;
  if (!isRecord(config)) return false;
  const hasContent = config.template_id !== undefined || config.content !== undefined;
  if (node.type === "send") return hasContent && Array.isArray(config.channel_ids) && config.channel_ids.length > 0;
  if (node.type === "delay") return duration(config.duration) !== undefined && Boolean(config.next);
  if (node.type === "branch") return treeOf(config.condition) !== undefined && Boolean(config.then);
  return Boolean(config.event_name) && Boolean(config.on_event);
};

/** A run can end here: an exit, an empty next (AMB-62), or an arm that is left out (AMB-11). */
const canEnd = ({ type, ...node }: Body): boolean => {
  if (type === "exit") return true;
  if (type === "send") return !node.send.next;
  if (type === "branch") return !node.branch.else;
  return type === "wait_for_event" && !node.wait_for_event.on_timeout && node.wait_for_event.within !== undefined;
};

/** JNY-15: everything is there and an exit can be reached; no circle without a delay or wait (D-JNY-RUN). */
export function isActivatable(steps: Body): boolean {
  const nodes: Record<string, Body> = steps.steps ?? {};
  if (isMalformed(steps) || !steps.start || !(steps.start in nodes) || hasFault(steps)) return false;
  if (!Object.values(nodes).every(isComplete)) return false;
  const reached = reachFrom(nodes, steps.start, () => true);
  if (!reached.some((id) => canEnd(nodes[id]))) return false;
  const isPrompt = (id: string) => nodes[id].type === "send" || nodes[id].type === "branch";
  return !reached.some(
    (id) => isPrompt(id) && targetsOf(nodes[id]).some((next) => reachFrom(nodes, next, isPrompt).includes(id)),
  );
}

/** All steps on ways from one, that pass through such steps only. */
function reachFrom(nodes: Record<string, Body>, start: string, passes: (id: string) => boolean): string[] {
  const reached = [start];
  for (const id of reached) {
    if (!passes(id)) continue;
    for (const next of targetsOf(nodes[id])) if (!reached.includes(next)) reached.push(next);
  }
  return reached;
}
