// The stored form of the brake of a journey's step (F21, docs/decisions/0077): its state, the messages begun by lane,
// and later results. Rows belong to a version and a step: the next version begins without figures.
import * as v from "valibot";
import type { Halt, Safety } from "../../rules/brake.ts";
import type { StepWindow } from "../../rules/step-brake.ts";
import { item } from "../item.ts";
import { json } from "../json-text.ts";

export interface StepRef {
  journey: string;
  version: number;
  step: string;
}

interface StepKey {
  version: number;
  step: string;
}

const sortKey = ({ version, step }: StepKey) => `B#${String(version).padStart(7, "0")}#${step}`;

/** Mails that were tried, and what came back of them. */
export interface LateFigures {
  mails: number;
  bounced: number;
  complained: number;
  opted_out: number;
}

export const StepState = item({
  about: "A step of a journey with a brake: when it began, whether it halted, and what was known when it was resumed.",
  pk: ({ journey }: { journey: string }) => `journey#${journey}`,
  sk: sortKey,
  prefix: "B#",
  row: {
    react: v.literal("journey-step"),
    journey: v.string(),
    version: v.number(),
    step: v.string(),
    /** When its first send began, in milliseconds; of a step with a canary. */
    began: v.optional(v.number()),
    halted: v.optional(json<Halt>()),
    /** It was canceled after a halt: runs that arrive at it are canceled. */
    canceled: v.optional(v.boolean()),
    /** When it was resumed last, in milliseconds. Earlier sends do not count any more. */
    resumed: v.optional(v.number()),
    resumed_with: v.optional(json<LateFigures>()),
    /** The limits since then. */
    safety: v.optional(json<Safety | "off">()),
  },
  writers: ["step-journey", "api-brakes"],
});

export const StepLane = item({
  about:
    "Sends of a step with a brake that one of its 8 lanes began and that are under way, and the figures of the last ones.",
  pk: ({ journey, lane }: { journey: string; lane: number }) => `journey#${journey}#n${lane}`,
  sk: sortKey,
  prefix: "B#",
  row: {
    /** Guards each change. */
    rev: v.number(),
    /** Sends and their recipients. */
    open: json<(readonly [job: string, n: number])[]>(),
    window: json<StepWindow>(),
    /** The `resumed` of the step that the window began with. */
    since: v.optional(v.number()),
    /** Mails that were tried, from the beginning. */
    mails: v.number(),
  },
  writers: ["step-journey"],
});

export const StepSignal = item({
  about: "Bounces, complaints and opt-outs of a step with a brake, each counted in the transaction that records it.",
  pk: ({ journey, lane }: { journey: string; lane: number }) => `journey#${journey}#n${lane}`,
  sk: (key: StepKey) => `C${sortKey(key)}`,
  prefix: "CB#",
  row: {
    bounced: v.optional(v.number()),
    complained: v.optional(v.number()),
    opted_out: v.optional(v.number()),
  },
  writers: ["mail-event", "api-mail"],
});
