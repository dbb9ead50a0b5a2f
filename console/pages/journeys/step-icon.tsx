// The icon of a kind of step.
import { Icon, type IconName } from "../../components/icon.tsx";
import type { StepType } from "../../components/step-words.ts";

export const icons: Record<StepType, IconName> = {
  send: "send",
  delay: "clock",
  branch: "journey",
  wait_for_event: "activity",
  exit: "leave",
};

export function StepIcon({ type, hasFault = false }: { type: StepType; hasFault?: boolean }) {
  return (
    <span class={`step-icon ${type}`}>
      <Icon name={hasFault ? "warning" : icons[type]} />
    </span>
  );
}
