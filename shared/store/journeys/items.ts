// The stored form of journeys (JNY). Their runs: run-items.ts.
import * as v from "valibot";
import { Timestamp } from "../../contract/schemas.ts";
import type { EntryRules, Graph, Trigger } from "../../rules/journey-graph.ts";
import type { RunDependencies } from "../../rules/journey-paths.ts";
import { journeyStatuses } from "../../rules/journey-states.ts";
import { entity, item } from "../item.ts";
import { json } from "../json-text.ts";
import type { Pauses } from "./pauses.ts";

/** The fields of a journey that are stored as the API returns them. */
export const journeyFields = {
  id: v.string(),
  name: v.string(),
  status: v.picklist(journeyStatuses),
  version: v.number(),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const JourneyItem = entity("journey", {
  about: "A journey with its newest version.",
  row: {
    ...journeyFields,
    react: v.literal("journey"),
    trigger: json<Trigger>(),
    entry_rules: json<EntryRules | null>(),
    /** The graph of a draft may be incomplete. */
    steps: json<Record<string, unknown>>(),
    /** What the runs of all activated versions react to. */
    heard: v.optional(json<RunDependencies>()),
  },
  writers: ["api-journeys", "api-segments", "api-channels", "api-templates"],
});

export const JourneyVersion = item({
  about: "A version of a journey that was activated; it never changes, as runs stay on the version that they entered.",
  pk: ({ journey }: { journey: string }) => `journey#${journey}`,
  sk: ({ version }: { version: number }) => `V#${String(version).padStart(7, "0")}`,
  prefix: "V#",
  row: { trigger: json<Trigger>(), entry_rules: json<EntryRules | null>(), steps: json<Graph>() },
  writers: ["api-journeys", "step-journey"],
});

export const DeletedJourney = item({
  about: "A deleted journey whose runs are still to be removed.",
  pk: ({ journey }: { journey: string }) => `journey#${journey}`,
  sk: () => "GONE",
  prefix: "GONE",
  row: { react: v.literal("journey-gone"), id: v.string(), at: v.number() },
  writers: ["api-journeys", "step-journey"],
});

export const ActiveJourney = item({
  about: "An active or paused journey: its trigger, and the events and attributes that its runs react to.",
  pk: () => "ACTIVE",
  sk: ({ journey }: { journey: string }) => journey,
  row: {
    trigger: json<Trigger>(),
    entry_rules: json<EntryRules | null>(),
    version: v.number(),
    heard: json<RunDependencies>(),
    /** Since when no subscriber enters it and its runs stand still, in milliseconds; entries are only counted. */
    paused: v.optional(v.number()),
    /** The pauses that are over. */
    pauses: v.optional(json<Pauses>()),
  },
  writers: ["api-journeys", "api-segments", "api-channels", "api-templates"],
});
