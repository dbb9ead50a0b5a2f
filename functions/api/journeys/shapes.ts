// What a journey and a run look like to a client.
import * as v from "valibot";
import { Timestamp } from "../../../shared/http/schemas.ts";
import { triggerTypes } from "../../../shared/rules/journey-graph.ts";
import { journeyStatuses } from "../../../shared/rules/journey-states.ts";
import { runStatuses } from "../../../shared/rules/run-states.ts";
import type { Journey } from "../../../shared/store/journeys/journeys.ts";
import type { RunItem } from "../../../shared/store/journeys/runs.ts";

const Anything = v.record(v.string(), v.any());

export const JourneyShape = v.object({
  id: v.string(),
  name: v.string(),
  trigger: v.object({
    type: v.picklist(triggerTypes),
    segment_id: v.optional(v.string()),
    event_name: v.optional(v.string()),
  }),
  entry_rules: v.nullable(
    v.object({
      eligibility: v.optional(v.nullable(Anything)),
      allow_reentry: v.optional(v.boolean()),
      reentry_window: v.optional(v.nullable(v.string())),
    }),
  ),
  steps: Anything,
  status: v.picklist(journeyStatuses),
  version: v.number(),
  entered: v.number(),
  completed: v.number(),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const RunShape = v.object({
  id: v.string(),
  journey_id: v.string(),
  version: v.number(),
  subscriber_id: v.string(),
  status: v.picklist(runStatuses),
  current_step: v.string(),
  entered_at: Timestamp,
  ended_at: v.nullable(Timestamp),
  end_reason: v.nullable(v.string()),
  context: v.object({
    event_id: v.optional(v.string()),
    event_name: v.optional(v.string()),
    segment_id: v.optional(v.string()),
  }),
});

export const example = {
  name: "Welcome",
  trigger: { type: "event", event_name: "signed_up" },
  steps: {
    start: "welcome",
    steps: {
      welcome: {
        id: "welcome",
        type: "send",
        send: {
          channel_ids: ["5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60"],
          content: { title: "Welcome", body: "Hello {{ subscriber.first_name }}" },
          next: "pause",
        },
      },
      pause: { id: "pause", type: "delay", delay: { duration: "3d", next: "end" } },
      end: { id: "end", type: "exit" },
    },
  },
};

/** JNY-6: only the list says how many. */
export const shown = (journey: Journey, { entered, completed } = { entered: 0, completed: 0 }) => ({
  ...journey,
  entered,
  completed,
});

export const shownRun = ({ seq, position, ...run }: RunItem) => run;
