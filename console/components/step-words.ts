// Steps of journeys as people call them: by what they do.
import type { JourneyStep, SegmentRule } from "../../sdk/src/types.gen.ts";
import { durationText } from "../app/duration.ts";
import { inPlain } from "../app/placeholders.ts";
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
