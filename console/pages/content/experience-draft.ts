// An experience as it is edited: texts of inputs, and as the bodies of the API.
import type { Experience, ExperiencesCreateBody, Target } from "../../../sdk/src/types.gen.ts";
import { fromLocalInput, toLocalInput } from "../../app/time.ts";
import type { MessageButton } from "../../components/button-list.tsx";

/** The texts of an arm. */
export interface Arm {
  title: string;
  body: string;
  image_url: string;
}

export interface ExperienceDraft {
  name: string;
  format: Experience["format"];
  a: Arm;
  b: Arm;
  isTest: boolean;
  actions: readonly MessageButton[];
  trigger: "immediate" | "session_start" | "event";
  trigger_event: string;
  frequency: "once" | "once_per_session";
  priority: string;
  /** One a line. */
  screens: string;
  audience: Target;
  start: string;
  end: string;
  split: number;
  holdout: number;
}

export const TRIGGERS = { immediate: "Immediately", session_start: "When a session begins", event: "On an event" };
export const FREQUENCIES = { once: "Once", once_per_session: "Once per session" };

const armOf = ({ title = "", body = "", image_url = "" }: Partial<Arm> = {}): Arm => ({ title, body, image_url });
const local = (at: string | undefined): string => (at ? toLocalInput(Date.parse(at)) : "");

export const draftOf = (one?: Experience): ExperienceDraft => ({
  name: one?.name ?? "",
  format: one?.format ?? "banner",
  a: armOf(one?.content as Partial<Arm> | undefined),
  b: armOf(one?.variant_b as Partial<Arm> | undefined),
  isTest: one?.variant_b !== undefined,
  actions: one?.content.actions ?? [],
  trigger: one?.display?.trigger ?? "immediate",
  trigger_event: one?.display?.trigger_event ?? "",
  frequency: one?.display?.frequency ?? "once",
  priority: String(one?.display?.priority ?? ""),
  screens: (one?.display?.screens ?? []).join("\n"),
  audience: one?.audience ?? { type: "all" },
  start: local(one?.start_at),
  end: local(one?.end_at),
  split: one?.split_percentage ?? 50,
  holdout: one?.holdout_percentage ?? 0,
});

const textsOf = ({ title, body, image_url }: Arm) => ({ title, body, ...(image_url && { image_url }) });

function displayOf(draft: ExperienceDraft): NonNullable<ExperiencesCreateBody["display"]> {
  const screens = draft.screens.split(/\s+/).filter(Boolean);
  return {
    trigger: draft.trigger,
    ...(draft.trigger === "event" && { trigger_event: draft.trigger_event }),
    frequency: draft.frequency,
    ...(draft.priority && { priority: Number(draft.priority) }),
    ...(screens.length > 0 && { screens }),
  };
}

/** @param known as the service has it */
export const bodyOf = (draft: ExperienceDraft, known: Experience | undefined): ExperiencesCreateBody => ({
  name: draft.name,
  format: draft.format,
  content: { ...textsOf(draft.a), ...(draft.actions.length > 0 && { actions: [...draft.actions] }) },
  display: displayOf(draft),
  audience: draft.audience,
  start_at: draft.start && fromLocalInput(draft.start, known?.start_at),
  end_at: draft.end && fromLocalInput(draft.end, known?.end_at),
  ...(draft.isTest && { variant_b: textsOf(draft.b), split_percentage: draft.split }),
  holdout_percentage: draft.holdout,
});
