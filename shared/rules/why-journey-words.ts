// Explains in sentences what a journey did with one person.
import { MINUTE } from "../kernel/clock.ts";
import { conditionText } from "./clause-words.ts";
import type { Exit } from "./journey-graph.ts";
import type { JourneyStatus } from "./journey-states.ts";
import { reasonText, saidReason, settingWords } from "./reason-words.ts";
import { moment } from "./why-details.ts";
import { because } from "./why-words.ts";

/**
 * What starts the runs of a journey: an event, or a segment that is entered or left, with the unmet part of its rule.
 */
export type StartedBy =
  | { kind: "event"; name: string }
  | { kind: "segment"; name: string; entered: boolean; unmet: string | null }
  | { kind: "nothing" };

/** Why a step sent nothing: the details of its reason, such as ` (opted out)`, and whether it still applies. */
export interface KnownSkip {
  words: string;
  holdsStill: boolean;
}

/** Why a step failed, with its details, such as ` (the quota is used up)`. */
export interface KnownFailure {
  reason: string;
  words: string;
}

/** A journey in the explanation for one person. */
interface SaidOfJourney {
  triggers: readonly {
    at: string;
    occurred_at: string;
    run_id: string | null;
    event_name: string;
    segment?: { name: string | null; entered: boolean } | undefined;
    outcome: string;
  }[];
  runs: readonly {
    id: string;
    status: string;
    entered_at: string;
    ended_at: string | null;
    current_step: string;
    end_reason: string | null;
    waiting_until: string | null;
    steps: readonly { step: string; outcome: string }[];
    halted?: { reason: string } | undefined;
  }[];
  waiting: {
    event_name: string | null;
    next: readonly { by: string; to: string | null }[];
  } | null;
  /** Why steps of the newest run failed. */
  failures?: ReadonlyMap<string, KnownFailure> | undefined;
  /** Details of why its steps sent nothing. */
  skips?: ReadonlyMap<string, KnownSkip> | undefined;
  /** The conditions of the newest run's branches and waits: a rule, or the name of an event. */
  asked?: ReadonlyMap<string, string> | undefined;
  /** When a run goes on that waits for the canary of its step, RFC 3339. */
  othersAt: string | null;
  /** The name of a step of the newest run, by its id. */
  nameOf: (step: string) => string;
  /** The exits of the newest run's version. */
  exits: readonly Exit[];
  status: JourneyStatus;
  startedBy: StartedBy;
  now: {
    would_enter: boolean;
    reason: string | null;
    /** The unmet part of the entry rules, in words. */
    unmet: string | null;
  };
}

/** Explains what a journey did with one person: the newest run, else the results of the newest trigger. */
export function journeyInWords(said: SaidOfJourney): string {
  const { triggers, runs, waiting, startedBy, now } = said;
  const [run] = runs;
  const [trigger] = triggers;
  const isNewer = run && trigger && trigger.outcome !== "entered" && trigger.at > run.entered_at;
  const sentences = [
    ...(trigger && (isNewer || !run)
      ? [triggerSentence(trigger, hasChanged(trigger.outcome, said) || (!run && trigger.outcome === now.reason))]
      : []),
    ...(run ? runSentences(run, said) : []),
    ...beforeSentence(runs),
    ...(run?.status === "active" && now.reason === "paused"
      ? [`The journey is paused: the run goes on once it is resumed.${settingWords("paused")}`]
      : []),
    ...(run && waiting && waiting.next.length > 0 ? [nextSentence(waiting, said.nameOf)] : []),
    ...(run || trigger
      ? []
      : [`No run: in 90 days nothing happened that starts this journey${causeWords(startedBy)}.`]),
    ...(run ? [] : [nowSentence(said)]),
  ];
  return sentences.join(" ");
}

function causeWords(by: StartedBy): string {
  if (by.kind === "nothing") return "";
  if (by.kind === "event") return ` (the event ${by.name})`;
  const unmet = by.unmet === null ? "" : `, whose rule is not met now: ${by.unmet}`;
  return ` (${by.entered ? "entering" : "leaving"} the segment ${by.name}${unmet})`;
}

const OF_STATUS = /paused|not_active/;
/** Whether a state that refused an entry has ended, or is permanent. */
const hasChanged = (outcome: string, { status, now }: SaidOfJourney): boolean =>
  status === "archived" ||
  (outcome === "over_quota" ? now.would_enter : OF_STATUS.test(outcome) && outcome !== now.reason);

/** Explains a trigger. @param isSettled the cause of its refusal is over, or the explanation says how to change it */
function triggerSentence(
  { at, occurred_at, event_name, segment, outcome }: SaidOfJourney["triggers"][number],
  isSettled: boolean,
): string {
  const moved = segment && `${segment.entered ? "Entered" : "Left"} the segment ${segment.name ?? "(deleted)"}`;
  const came = `${moved ?? `${event_name} came`} on ${moment(at)}`;
  if (outcome === "entered") return `${came} and started a run.`;
  const occurred = outcome === "too_old" ? ` (it occurred on ${moment(occurred_at)})` : "";
  const why = outcome === "paused" ? "the journey was paused" : reasonText(outcome);
  return `${came} and started no run: ${why}${occurred}.${isSettled ? "" : settingWords(outcome)}`;
}

type SaidRun = SaidOfJourney["runs"][number];

/** Explains an event that was received after it occurred. */
function lateWords({ id, entered_at }: SaidRun, triggers: SaidOfJourney["triggers"]): string {
  const cause = triggers.find(({ run_id, outcome }) => run_id === id && outcome === "entered");
  if (!cause || Date.parse(entered_at) - Date.parse(cause.occurred_at) < MINUTE) return "";
  return `, by what occurred on ${moment(cause.occurred_at)}`;
}

const MAX_BEFORE = 3;

/** A person who entered several times got the messages of the journey as often. */
function beforeSentence([, ...before]: readonly SaidRun[]): string[] {
  const times = before.slice(0, MAX_BEFORE).map(({ entered_at, status }) => `${moment(entered_at)} (${status})`);
  return before.length > 0 ? [`Entered ${before.length + 1} times, before that on ${times.join(", ")}.`] : [];
}

function runSentences(run: SaidRun, said: SaidOfJourney): string[] {
  const { exits, failures, skips, asked, othersAt, triggers, nameOf } = said;
  const { status, entered_at, ended_at, current_step, end_reason, waiting_until, steps, halted } = run;
  const why = end_reason === null ? "" : exitWords(end_reason, exits);
  const ended = `${ended_at === null ? "" : ` on ${moment(ended_at)}`}${why === "" ? "" : ` (${why})`}`;
  const standing =
    status === "active"
      ? `it is at ${nameOf(current_step)}${waiting_until ? ` until ${moment(waiting_until)}` : ""}`
      : `it ${status === "completed" ? "was completed" : `ended as ${status}`}${ended}`;
  return [
    `Entered on ${moment(entered_at)}${lateWords(run, triggers)}; ${standing}.`,
    ...(halted ? [`Its send is halted: ${reasonText(halted.reason)}.`] : []),
    ...(othersAt ? [`A part of the people gets it first, the others on ${moment(othersAt)}.`] : []),
    ...steps.flatMap(({ step, outcome }) => {
      const known = { failure: failures?.get(step), skip: skips?.get(step), asked: asked?.get(step) };
      return outcomeSentence(atStart(nameOf(step)), outcome, known) ?? [];
    }),
  ];
}

/** The way of a branch or a wait, by its condition. */
function wayOf(outcome: string, asked: string | undefined): string | undefined {
  const [kind, way] = outcome.split(":");
  if (kind === "branch") return `the condition was ${way === "then" ? "" : "not "}met${asked ? ` (${asked})` : ""}`;
  return kind === "wait"
    ? `${asked ? "it" : "the event"} ${way === "event" ? "came" : "was not received in time"}`
    : undefined;
}

/** As the first word of a sentence. */
export const atStart = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What a step decided, or why it sent nothing. */
function outcomeSentence(
  step: string,
  outcome: string,
  {
    failure,
    skip,
    asked,
  }: { failure: KnownFailure | undefined; skip: KnownSkip | undefined; asked: string | undefined },
): string | undefined {
  const way = wayOf(outcome, asked);
  if (way !== undefined) return `${step}: ${way}.`;
  if (!/^(skipped|failed|bounced|canceled)/.test(outcome)) return undefined;
  const [what = "", reason = failure?.reason] = outcome.split(":");
  if (reason === undefined) return `${step}: ${what}.`;
  const setting = skip?.holdsStill === false ? "" : settingWords(reason);
  return `${step}: ${what}, ${saidReason(reason)}${failure?.words ?? ""}${skip?.words ?? ""}.${setting}`;
}

const EXIT_CONDITION = /^exit_condition:(\d+)$/;

/** Why a run ended, unless it reached its end; an exit condition by its subject. */
function exitWords(reason: string, exits: SaidOfJourney["exits"]): string {
  if (reason === "exit") return "";
  const index = EXIT_CONDITION.exec(reason)?.[1];
  if (index === undefined) return reason;
  const exit = exits[Number(index)];
  if (exit?.kind === "event") return `its exit condition: ${exit.event.name} came`;
  if (exit?.kind === "attribute") {
    const conditions = Object.entries(exit.predicate).map(([key, condition]) => `${key} ${conditionText(condition)}`);
    return `its exit condition: ${conditions.join(" and ")}`;
  }
  return `its exit condition ${Number(index) + 1}`;
}

/** `Next: the message “Thanks” if order_paid comes, else the message “Reminder”.` */
function nextSentence(
  { event_name, next }: NonNullable<SaidOfJourney["waiting"]>,
  nameOf: SaidOfJourney["nameOf"],
): string {
  const [first, ...others] = next.map(({ to }) => (to === null ? "the end" : nameOf(to)));
  const otherwise = others.map((to) => `, else ${to}`).join("");
  return `Next: ${first}${event_name === null ? "" : ` if ${event_name} comes`}${otherwise}.`;
}

function nowSentence({ status, now: { would_enter, reason, unmet } }: SaidOfJourney): string {
  if (would_enter) return "A trigger would start a run now.";
  const notMet = reason === "not_eligible" && unmet !== null ? ` (not met: ${unmet})` : "";
  const which = reason === "not_active" ? ` (${status})` : notMet;
  return `A trigger would start none now${because(reason)}${which}.${settingWords(status === "archived" ? null : reason)}`;
}
