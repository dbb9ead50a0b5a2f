// Steps of journeys as people call them: by what they do.
import type { JourneyStep, SegmentRule } from "../../sdk/src/types.gen.ts";
import { inPlain } from "../../shared/rules/placeholders.ts";
import { durationText } from "../app/duration.ts";
import { reasonText } from "../app/sentences.ts";
import { ruleText } from "./rule-model.ts";

export type StepType = "send" | "delay" | "branch" | "wait_for_event" | "exit";

export const stepNames: Record<StepType, string> = {
  send: "Send a message",
  delay: "Wait",
  branch: "Branch",
  wait_for_event: "Wait for an event",
  exit: "End",
};

export type Settings = Record<string, unknown>;

export const typeOf = (step: JourneyStep): StepType | undefined => step.type;

/** The settings of a step stand under the name of its type. */
export const settingsOf = (step: JourneyStep): Settings => {
  const type = typeOf(step);
  return type ? (((step as unknown as Record<string, unknown>)[type] as Settings | undefined) ?? {}) : {};
};

/** What a step does, in one line. */
export function stepText(step: JourneyStep): string {
  const settings = settingsOf(step);
  switch (typeOf(step)) {
    case "send":
      return inPlain((settings.content as { title?: string } | undefined)?.title ?? "a template");
    case "delay":
      return durationText(String(settings.duration ?? ""));
    case "branch":
      return `if ${ruleText(settings.condition as SegmentRule | undefined)}`;
    case "wait_for_event":
      return `${settings.event_name ?? "…"}${settings.within ? `, at most ${durationText(String(settings.within))}` : ""}`;
    default:
      return "";
  }
}

export const nameOf = (step: JourneyStep): string => `${stepNames[typeOf(step) ?? "exit"]} ${stepText(step)}`.trim();

/** A way out of a step: the field that names the next one, and its outcome in the statistics. */
export interface StepExit {
  field: string;
  label: string;
  /** The label in the chart. */
  short: string;
  outcome: string;
  /** What became of the person, where the outcome does not say it. */
  word?: string;
}

export const ways: Record<StepType, readonly StepExit[]> = {
  send: [{ field: "next", label: "", short: "", outcome: "sent" }],
  delay: [{ field: "next", label: "", short: "", outcome: "delayed", word: "waited" }],
  branch: [
    { field: "then", label: "If so", short: "yes", outcome: "branch:then" },
    { field: "else", label: "If not", short: "no", outcome: "branch:else" },
  ],
  wait_for_event: [
    { field: "on_event", label: "When the event happens", short: "event", outcome: "wait:event" },
    { field: "on_timeout", label: "On timeout", short: "timeout", outcome: "wait:timeout" },
  ],
  exit: [],
};

/** The results of a step: `branch:else` as the way that was taken, `skipped:no_consent` with its reason. An end says it by its name. */
export function outcomeText(outcome: string): string {
  if (outcome === "exit") return "";
  const way = Object.values(ways)
    .flat()
    .find((one) => one.outcome === outcome);
  const [what = "", reason] = outcome.split(":");
  return way?.word || way?.label || (reason ? `${what}: ${reasonText(reason)}` : what);
}
