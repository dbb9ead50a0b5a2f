// The entries of a subscriber's timeline, by kind (RDA-5).
import * as v from "valibot";
import { Named } from "../../contract/named.ts";
import { said, Timestamp } from "../../contract/schemas.ts";
import { breachReasons } from "../../rules/brake.ts";
import { refusalReasons } from "../../rules/entry-refusals.ts";
import { recipientStates } from "../../rules/recipient-states.ts";
import { runStatuses } from "../../rules/run-states.ts";
import { consentStatuses } from "../../rules/topics.ts";
import { eventSources } from "../events/items.ts";
import { RunSteps } from "../journeys/run-steps.ts";
import { NamedSource } from "../names.ts";

const text = v.nullable(v.string());

const halted = said(
  "Of a run that waits at a send step which its brake halted: the limit that was exceeded",
  v.optional(v.picklist(breachReasons)),
);

/** `ref` is the id of the entry's subject: a send, an event, a journey, a segment, … */
const common = {
  at: Timestamp,
  title: v.string(),
  ref: v.string(),
  subject: said("What the entry is about: `ref` with its name", v.optional(Named)),
};

export const TimelineEntry = v.variant("kind", [
  v.object({
    kind: v.literal("message"),
    ...common,
    state: v.picklist(recipientStates),
    data: v.object({
      channel: text,
      device_id: text,
      reason: said(
        "Why it failed, was skipped or waits: `quiet_hours`, `throttled`, `verifying`, `halted`, `paused`",
        text,
      ),
      variant_id: text,
      origin: said("What the send came from; `null` for one of the API", v.optional(v.nullable(NamedSource))),
      deferred_until: said("The end of the quiet hours that it waits for", v.nullable(Timestamp)),
    }),
  }),
  v.object({
    kind: v.literal("event"),
    ...common,
    state: v.null(),
    data: v.object({ properties: v.record(v.string(), v.any()), platform: text, source: v.picklist(eventSources) }),
  }),
  v.object({
    kind: v.literal("consent"),
    ...common,
    state: v.picklist(consentStatuses),
    data: v.object({ channel: v.string(), source: text, express: v.boolean(), consented_at: Timestamp }),
  }),
  v.object({
    kind: v.literal("journey"),
    ...common,
    state: said(
      "`refused`: something that starts runs of the journey started none",
      v.picklist(["entered", ...runStatuses, "refused"]),
    ),
    data: v.object({
      run_id: said("Empty where no run began or stood in the way", v.string()),
      version: v.number(),
      step: v.string(),
      end_reason: text,
      refusal: said("Why no run began", v.optional(v.picklist(refusalReasons))),
      halted,
      steps: RunSteps,
    }),
  }),
  v.object({ kind: v.literal("segment"), ...common, state: v.picklist(["entered", "exited"]) }),
  v.object({ kind: v.literal("list"), ...common, state: v.literal("entered") }),
  v.object({
    kind: v.literal("device"),
    ...common,
    state: v.string(),
    data: v.object({ platform: v.string(), model: text }),
  }),
]);
export type TimelineEntry = v.InferOutput<typeof TimelineEntry>;

export const timelineKinds = ["message", "event", "consent", "journey", "segment", "list", "device"] as const;
