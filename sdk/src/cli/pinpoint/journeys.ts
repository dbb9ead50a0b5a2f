// Journeys of Pinpoint as drafts: activities become steps. What has no counterpart is passed by, and reported.
import { isObject, objectIn, objectsIn, type Resource } from "../resource.ts";
import type { Channels, Medium } from "./channels.ts";
import { freeId, reachableFrom, type Steps, withTargets } from "./graph.ts";
import type { At, Report } from "./report.ts";
import { combineBy, eventOf, type RuleResult, rulesOfDimensions, unsaid } from "./rules.ts";
import { type Audiences, BOOKKEEPING, free } from "./segments.ts";
import { reportTemplateVersion, type Templates } from "./templates.ts";
import { durationOf } from "./texts.ts";

interface Context {
  report: Report;
  audiences: Audiences;
  templates: Templates;
  channels: Channels;
}

const KNOWN = ["Id", "Name", "State", "Activities", "StartActivity", "StartCondition", "Limits"];

const mediums = { EMAIL: "email", PUSH: "push", SMS: "sms" } as const satisfies Record<string, Medium>;
const messageTypes = ["EMAIL", "PUSH", "SMS"] as const;

export function convertJourneys(found: readonly Resource[], context: Context): Map<string, Resource> {
  const files = new Map<string, Resource>();
  for (const journey of found) {
    const at = { kind: "journeys", name: String(journey.Name ?? journey.Id) };
    context.report.rest(at, journey, [...KNOWN, ...BOOKKEEPING]);
    const name = free(at.name, files);
    const { trigger, eligibility } = startOf(journey.StartCondition, at, context);
    const entry_rules = { ...(eligibility && { eligibility }), ...reentryOf(journey.Limits, at, context) };
    const rules = Object.keys(entry_rules).length > 0 && { entry_rules };
    files.set(name, { name, trigger, ...rules, steps: graphOf(journey, at, context) });
    context.report.count("journeys written");
  }
  return files;
}

/** How often a subscriber may enter: once, unless Pinpoint says otherwise. */
function reentryOf(limits: unknown, at: At, { report }: Context): Resource {
  const { EndpointReentryCap: cap = 1, EndpointReentryInterval: interval, ...others } = objectIn(limits);
  report.rest(at, others, [], "Limits.");
  if (cap === 1) {
    report.rest(at, { EndpointReentryInterval: interval }, [], "Limits.");
    return {};
  }
  if (cap !== 0)
    report.unmapped(
      at,
      "Limits.EndpointReentryCap",
      `is ${String(cap)}: there is no limit to how often somebody enters`,
    );
  const reentry_window = durationOf(interval);
  if (interval && !reentry_window)
    report.unmapped(at, "Limits.EndpointReentryInterval", `is ${String(interval)}, which is no duration`);
  return { allow_reentry: true, ...(reentry_window && { reentry_window }) };
}

/** Trigger and eligibility. A draft may lack the segment of its trigger. */
function startOf(
  condition: unknown,
  at: At,
  { report, audiences }: Context,
): { trigger: Resource; eligibility?: Resource } {
  const { EventStartCondition: event, SegmentStartCondition: segment, ...others } = objectIn(condition);
  report.rest(at, others, [], "StartCondition.");
  if (isObject(event)) {
    const filter = objectIn(event.EventFilter);
    const start = eventOf(filter.Dimensions);
    if (start.kind === "unsaid") report.unmapped(at, `StartCondition.EventStartCondition.${start.field}`, start.reason);
    const { Attributes, Metrics } = objectIn(filter.Dimensions);
    const on = Object.keys(Object.assign({}, Attributes, Metrics)).join(", ");
    const field = "StartCondition.EventStartCondition.EventFilter";
    if (on !== "") report.unmapped(at, field, `has conditions on ${on}: a trigger has none`);
    const eligibility = typeof event.SegmentId === "string" ? audiences.ruleOf(event.SegmentId) : undefined;
    if (eligibility?.kind === "unsaid")
      report.unmapped(at, "StartCondition.EventStartCondition.SegmentId", eligibility.reason);
    return {
      trigger: { type: "event", ...(start.kind === "event" && { event_name: start.name }) },
      ...(eligibility?.kind === "rule" && { eligibility: eligibility.rule }),
    };
  }
  const id = isObject(segment) ? String(segment.SegmentId) : undefined;
  const target = id === undefined ? undefined : audiences.byId.get(id);
  const name = target?.type === "segment" ? target.segment : undefined;
  if (name === undefined)
    report.unmapped(at, "StartCondition", "has no dimensional segment: choose a trigger before you activate it");
  else report.unmapped(at, "StartCondition.SegmentStartCondition", "starts its members too: here only who enters it");
  return { trigger: { type: "segment_entered", ...(name !== undefined && { segment: name }) } };
}

function graphOf({ Activities, StartActivity }: Resource, at: At, context: Context): Resource {
  const activities = objectIn(Activities);
  const steps: Steps = new Map();
  const end = freeId("end", activities);
  const next = (id: unknown) => {
    if (typeof id !== "string" || id === "") return end;
    if (Object.hasOwn(activities, id)) return id;
    context.report.unmapped(at, "Activities", `has no ${id}, to which a step leads: the journey ends there`);
    return end;
  };

  for (const [id, activity] of Object.entries(activities))
    if (isObject(activity)) stepsOf(id, activity, next, { at, context, steps, activities });
  steps.set(end, { id: end, type: "exit" });

  const passed = new Map([...steps].flatMap(([id, { pass }]) => (typeof pass === "string" ? [[id, pass]] : [])));
  const beyond = (id: string, seen: readonly string[] = []): string => {
    const to = passed.get(id);
    if (to === undefined) return id;
    return seen.includes(id) ? end : beyond(to, [...seen, id]);
  };

  const start = beyond(next(StartActivity));
  const kept = [...steps]
    .filter(([id]) => !passed.has(id))
    .map(([id, step]) => [id, withTargets(step, beyond)] as const);
  const reached = reachableFrom(start, new Map(kept));
  for (const [id] of kept)
    if (id !== end && !Object.hasOwn(reached, id))
      context.report.unmapped(at, `Activities.${id}`, "is not reached any more: it was left out");
  return { start, steps: reached };
}

interface ActivityContext {
  at: At;
  context: Context;
  steps: Steps;
  /** Activities by id. */
  activities: Resource;
}

type Next = (id: unknown) => string;

/** Adds the steps of an activity; `{ pass }` stands for one without a counterpart. */
function stepsOf(id: string, activity: Resource, next: Next, around: ActivityContext): void {
  const { at, context, steps } = around;
  const { report } = context;
  const { Description, ...types } = activity;
  const [[type = "", given = {}] = []] = Object.entries(types);
  const config = objectIn(given);
  report.rest(at, { Description }, [], `Activities.${id}.`);
  const field = `Activities.${id}.${type}`;
  const pass = (to: unknown, reason: string) => {
    report.unmapped(at, field, reason);
    steps.set(id, { pass: next(to) });
  };
  const messageType = messageTypes.find((candidate) => candidate === type);
  if (messageType) sendStep(id, config, { type: messageType, field, next }, around);
  else if (type === "ConditionalSplit") splitStep(id, config, next, around);
  else if (type === "MultiCondition") branchSteps(id, config, next, around);
  else if (type === "Wait") {
    const duration = durationOf(isObject(config.WaitTime) ? config.WaitTime.WaitFor : undefined);
    if (duration) steps.set(id, { id, type: "delay", delay: { duration, next: next(config.NextActivity) } });
    else pass(config.NextActivity, `waits for ${waitedFor(config.WaitTime)}: the wait is passed by`);
    report.rest(at, config, ["NextActivity", "WaitTime"], `${field}.`);
  } else if (type === "RandomSplit") {
    const branches = objectsIn(config.Branches);
    const [largest] = [...branches].sort((a, b) => Number(b.Percentage) - Number(a.Percentage));
    pass(largest?.NextActivity, "splits at random: all take its largest branch");
  } else if (type === "Holdout") pass(config.NextActivity, `holds out ${String(config.Percentage)}%: all go on`);
  else pass(config.NextActivity, "has no counterpart: it is passed by");
}

/** Describes what a wait without a duration waits for, for the report. */
function waitedFor(time: unknown): string {
  const { WaitFor, WaitUntil } = objectIn(time);
  return WaitUntil === undefined ? `${String(WaitFor)}, which is no duration` : `the date ${String(WaitUntil)}`;
}

function sendStep(
  id: string,
  config: Resource,
  { type, field, next }: { type: (typeof messageTypes)[number]; field: string; next: Next },
  { at, context: { report, templates, channels }, steps }: ActivityContext,
): void {
  const template = templates.nameOf(type, config.TemplateName);
  if (template === undefined)
    report.unmapped(at, `${field}.TemplateName`, `is ${String(config.TemplateName)}, which is not in the folder`);
  reportTemplateVersion(report, at, `${field}.TemplateVersion`, config.TemplateVersion);
  report.rest(at, config, ["NextActivity", "TemplateName", "TemplateVersion", "MessageConfig"], `${field}.`);
  const messageConfig = objectIn(config.MessageConfig);
  report.rest(at, messageConfig, ["MessageType"], `${field}.MessageConfig.`);
  const isTransactional = messageConfig.MessageType === "TRANSACTIONAL";
  const send = {
    channels: channels.of(mediums[type]),
    ...(template === undefined ? { content: { title: id, body: id } } : { template }),
    ...(isTransactional && { category: "transactional" }),
    next: next(config.NextActivity),
  };
  steps.set(id, { id, type: "send", send });
}

/** One condition of a split as a rule. @param within how long the split waited: an event counts in that time */
function ruleOfCondition(condition: Resource, { audiences }: Context, within: string | undefined): RuleResult {
  if (isObject(condition.SegmentCondition)) return audiences.ruleOf(String(condition.SegmentCondition.SegmentId));
  // The API writes the field in lower case, the SDKs with a capital letter.
  const dimensions = condition.SegmentDimensions ?? condition.segmentDimensions;
  if (isObject(dimensions)) return rulesOfDimensions(dimensions);
  if (!isObject(condition.EventCondition)) return unsaid("Condition", "is unknown");
  if (condition.EventCondition.MessageActivity !== undefined)
    return unsaid("EventCondition.MessageActivity", "depends on what became of a message");
  const event = eventOf(condition.EventCondition.Dimensions);
  if (event.kind === "unsaid") return event;
  const { kind: _, ...found } = event;
  return { kind: "rule", rule: { event: { ...found, ...(within && { within }) } } };
}

/** How long a split waits before it is evaluated. */
function waitBefore(
  time: unknown,
  field: string,
  { at, context }: Pick<ActivityContext, "at" | "context">,
): string | undefined {
  const { WaitFor, WaitUntil } = objectIn(time);
  const wait = durationOf(WaitFor);
  if (!wait && (WaitFor ?? WaitUntil))
    context.report.unmapped(at, `${field}.EvaluationWaitTime`, `is ${String(WaitFor ?? WaitUntil)}: there is no wait`);
  return wait;
}

/** A yes/no split: on an event with a time, it waits for the event; else it is a branch, after the time if there is one. */
function splitStep(id: string, config: Resource, next: Next, around: ActivityContext): void {
  const { at, context, steps } = around;
  const field = `Activities.${id}.ConditionalSplit`;
  const { Condition, EvaluationWaitTime, TrueActivity, FalseActivity } = config;
  const conditions = objectsIn(objectIn(Condition).Conditions);
  const wait = waitBefore(EvaluationWaitTime, field, around);
  const [only] = conditions;
  if (wait && conditions.length === 1 && isObject(only?.EventCondition) && !only.EventCondition.MessageActivity) {
    const event = eventOf(only.EventCondition.Dimensions);
    if (event.kind === "event") {
      const { name: event_name, where } = event;
      const targets = { on_event: next(TrueActivity), on_timeout: next(FalseActivity) };
      const wait_for_event = { event_name, within: wait, ...(where && { where }), ...targets };
      steps.set(id, { id, type: "wait_for_event", wait_for_event });
      return;
    }
  }
  const operator = objectIn(Condition).Operator;
  const ruled = combineBy(
    operator === "ANY" ? "ANY" : "ALL",
    conditions.map((condition) => ruleOfCondition(condition, context, wait)),
  );
  if (ruled.kind === "unsaid") {
    context.report.unmapped(at, `${field}.${ruled.field}`, `${ruled.reason}: all take the path of no`);
  }
  const branches = ruled.kind === "unsaid" ? [] : [{ rule: ruled.rule, to: next(TrueActivity) }];
  addBranches(id, branches, next(FalseActivity), { wait, around });
}

/** One branch step for each condition, in their order. */
function branchSteps(id: string, config: Resource, next: Next, around: ActivityContext): void {
  const { at, context } = around;
  const { Branches, DefaultActivity, EvaluationWaitTime } = config;
  const wait = waitBefore(EvaluationWaitTime, `Activities.${id}.MultiCondition`, around);
  const branches = objectsIn(Branches).flatMap((branch) => {
    const ruled = isObject(branch.Condition)
      ? ruleOfCondition(branch.Condition, context, wait)
      : unsaid("Condition", "is missing");
    if (ruled.kind === "rule") return [{ rule: ruled.rule, to: next(branch.NextActivity) }];
    context.report.unmapped(
      at,
      `Activities.${id}.MultiCondition.${ruled.field}`,
      `${ruled.reason}: the branch is left out`,
    );
    return [];
  });
  addBranches(id, branches, next(DefaultActivity), { wait, around });
}

/** Without a rule, only the time of the split stays. @param otherwise the target of users for whom no rule holds */
function addBranches(
  id: string,
  branches: readonly { rule: Resource; to: string }[],
  otherwise: string,
  { wait, around: { steps, activities } }: { wait: string | undefined; around: ActivityContext },
): void {
  const nameOf = (i: number) => (i === 0 && !wait ? id : freeId(`${id}-${i + 1}`, activities));
  const first = branches.length > 0 ? nameOf(0) : otherwise;
  if (wait) steps.set(id, { id, type: "delay", delay: { duration: wait, next: first } });
  else if (branches.length === 0) steps.set(id, { pass: otherwise });
  for (const [i, { rule, to }] of branches.entries()) {
    const name = nameOf(i);
    const branch: Resource = { condition: rule, else: i + 1 < branches.length ? nameOf(i + 1) : otherwise };
    // biome-ignore lint/suspicious/noThenProperty: the API calls it so
    branch.then = to;
    steps.set(name, { id: name, type: "branch", branch });
  }
}
