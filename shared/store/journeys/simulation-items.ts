// The stored form of simulations on history that take longer than a request (F3), for a week.
import * as v from "valibot";
import type { Definition } from "../../rules/journey-replay.ts";
import type { ReplayTally } from "../../rules/journey-tally.ts";
import { simulationStatuses } from "../../rules/simulation-states.ts";
import { entity, item } from "../item.ts";
import { json } from "../json-text.ts";
import type { ReplayPosition } from "./replays.ts";

export const SimulationItem = entity("simulation", {
  about: "A simulation of a journey on stored events: its window, how far it has got, and what it adds up to so far.",
  row: {
    react: v.literal("simulation"),
    id: v.string(),
    journey: v.string(),
    version: v.number(),
    /** Milliseconds. */
    from: v.number(),
    to: v.number(),
    percent: v.number(),
    status: v.picklist(simulationStatuses),
    /** Until when a worker has it, in milliseconds. */
    lease: v.optional(v.number()),
    position: v.optional(json<ReplayPosition>()),
    tally: json<ReplayTally>(),
    error: v.optional(v.string()),
    created_at: v.string(),
    completed_at: v.optional(v.string()),
    expires: v.number(),
  },
  writers: ["api-journeys", "import-rows"],
  lifetime: "7 days",
});

export const SimulatedVersion = item({
  about: "The definition of the journey that a simulation runs, as it was when the simulation was asked for.",
  pk: ({ simulation }: { simulation: string }) => `simulation#${simulation}`,
  row: { definition: json<Definition>(), expires: v.number() },
  writers: ["api-journeys"],
  lifetime: "7 days",
});
