// Simulates a journey: walks through its present steps on a simulated clock.
import * as v from "valibot";
import { JsonObject, said, Timestamp, TimestampInput, titled, Uuid } from "../../../shared/contract/schemas.ts";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { invalid, requireFound } from "../../../shared/kernel/errors.ts";
import { timers, workspaceRead } from "../../../shared/store/capabilities.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { mailReading } from "../../../shared/store/files/mails.ts";
import { getJourney } from "../../../shared/store/journeys/journeys.ts";
import { simulate } from "../../../shared/store/journeys/simulation.ts";
import { ClauseResult } from "../../../shared/store/segments/explain.ts";
import { JOURNEY_LIMITS, requireRunnable } from "./input.ts";
import { HistorySimulation, historyFields, simulateHistory } from "./simulations.ts";

const MAX_EVENTS = 100;

const Text = v.pipe(v.string(), v.nonEmpty(), v.maxLength(512));

const PERCENT = "must be a whole number from 1 to 100";
const Percent = v.pipe(v.number(), v.integer(PERCENT), v.minValue(1, PERCENT), v.maxValue(100, PERCENT));
const Sample = v.strictObject({
  external_id: v.optional(Text),
  email: v.optional(Text),
  attributes: v.optional(JsonObject, {}),
});

const SimulationInput = v.strictObject({
  subscriber_id: said("A subscriber, with what is known of it now", v.optional(Uuid)),
  sample: said(
    "Or a subscriber that there is not. On history: the share of subscribers that is looked at, in percent (default 100); " +
      "the counts are of these alone",
    v.optional(v.union([Percent, Sample], "must be a subscriber, or on history a number from 1 to 100")),
  ),
  events: said(
    "Events as if they happened. The first one of the trigger's name starts the run",
    v.optional(
      v.pipe(
        v.array(
          v.strictObject({
            event_name: Text,
            occurred_at: TimestampInput,
            properties: v.optional(JsonObject, {}),
          }),
          "must be an array of events",
        ),
        v.maxLength(MAX_EVENTS, `must have at most ${MAX_EVENTS} events`),
      ),
      [],
    ),
  ),
  start_at: said("When the run begins. Default: with the event that starts it, else now", v.optional(TimestampInput)),
  ...historyFields,
});
type SimulationInput = v.InferOutput<typeof SimulationInput>;

const Clause = v.pipe(ClauseResult, v.title("SimulatedClause"));

const Walk = titled("SimulatedWalk", {
  entry: said(
    "Whether the subscriber enters",
    v.object({
      at: said("When the run begins, or would have", Timestamp),
      reason: said(
        "Why no run begins; `null`: one does",
        v.nullable(v.picklist(["already_active", "reentry_window", "not_eligible"])),
      ),
      clauses: said("Of `not_eligible`: the rule of entry, clause by clause", v.array(Clause)),
    }),
  ),
  steps: said(
    "The steps in the order in which the run leaves them",
    v.array(
      titled("SimulatedStep", {
        step: said("The id of the step", v.string()),
        type: said("The type of the step", v.picklist(["send", "delay", "branch", "wait_for_event", "exit"])),
        at: said("When the run leaves the step", Timestamp),
        outcome: said(
          "`sent`, `failed`, `skipped:no_consent` …, `delayed`, `branch:then`, `branch:else`, `wait:event`, `wait:timeout` or `exit`",
          v.string(),
        ),
        channels: said("Of a send: the types of channels that it goes by", v.array(v.string())),
        deferred_until: said(
          "Of a send: the end of the quiet hours that it waits for on some channel",
          v.nullable(Timestamp),
        ),
        clauses: said("Of a branch: its condition, clause by clause", v.array(Clause)),
        rendering: said(
          "Of a send: its text; `null` if it cannot be rendered",
          v.nullable(
            v.object({
              title: said("The title as the recipient would read it", v.string()),
              body: said("The text as the recipient would read it", v.string()),
              unknown_variables: said("Variables without a value", v.array(v.string())),
              left_out: said("What the answer has no room for", v.optional(v.array(v.string()))),
            }),
          ),
        ),
      }),
    ),
  ),
  ended: said(
    "How the simulation ended",
    v.object({
      status: said(
        "`waiting`: nothing that was given moves the run on. `refused`: none begins",
        v.picklist(["completed", "exited", "waiting", "refused"]),
      ),
      step: said("The step on which it ended or waits", v.string()),
      at: said("When it ended, or the last moment that was looked at", Timestamp),
      reason: said("Why it ended; `null` while it waits", v.nullable(v.string())),
    }),
  ),
});

/** Reads the fields of a simulation on history, and refuses those of a walk. @throws 422 */
function historyOf({ from, to, version, sample, subscriber_id, events, start_at }: SimulationInput) {
  if (from === undefined && to === undefined) {
    if (version !== undefined) throw invalid({ version: "must not be given without from and to" });
    if (typeof sample === "number") throw invalid({ sample: "must be a subscriber without from and to" });
    return undefined;
  }
  if (from === undefined) throw invalid({ from: "is required with to" });
  if (to === undefined) throw invalid({ to: "is required with from" });
  if (subscriber_id !== undefined) throw invalid({ subscriber_id: "must not be given with from and to" });
  if (events.length > 0) throw invalid({ events: "must not be given with from and to" });
  if (start_at !== undefined) throw invalid({ start_at: "must not be given with from and to" });
  if (typeof sample === "object") throw invalid({ sample: "must be a number from 1 to 100 with from and to" });
  return { from, to, percent: sample ?? 100, version };
}

const endpoint = endpoints({ credentials: ["dashboard"], uses: [storeWrite, timers, workspaceRead] });

export const simulateJourney = endpoint(
  "POST /api/v1/journeys/:id/simulate",
  { effect: "read", uses: [mailReading] },
  {
    summary: "Walk a subscriber through a journey, or run it on the events of the past",
    description:
      "The journey may be a draft, but its steps must be complete. Nothing is sent, and no subscriber changes.\n\n" +
      "- **A walk** (`subscriber_id` or `sample`, `events`): whether one run begins, and each step that it takes. Entry, addresses, " +
      "consent, suppression, topics, caps and quiet hours are judged as they are when it really happens; what a person has stays " +
      "as it is now.\n" +
      "- **On history** (`from` and `to`): the journey meets the stored events of the window on a clock of their own, and its " +
      "runs move as real ones do. Attributes, consent and devices are those of today, and an event counts when it occurred. " +
      "Caps count the sends of this simulation alone. Runs that began before the window are left out. Of a segment, the last " +
      "entry of its present members is known. The answer has an `id`: read the simulation until it is `completed`. It is kept " +
      "for 7 days.",
    body: SimulationInput,
    limits: JOURNEY_LIMITS,
    returns: v.union([Walk, HistorySimulation]),
    example: {
      body: {
        sample: { attributes: { plan: "pro" } },
        events: [{ event_name: "signed_up", occurred_at: "2027-03-01T09:00:00.000Z" }],
      },
    },
    errors: ["TEMPLATE_NOT_FOUND", "FEATURE_NOT_AVAILABLE", "QUOTA_EXCEEDED"],
  },
  async ({ caller, params, body, ...context }) => {
    const { store } = context;
    const { plan } = workspaceOf(caller);
    const journey = await getJourney(store, params.id);
    const history = historyOf(body);
    if (history) return simulateHistory(context, plan, journey, history);
    const { id, trigger, entry_rules } = journey;
    const definition = { trigger, entry_rules, graph: await requireRunnable(store, plan, journey) };
    const owner = requireFound(await context.workspace(), "workspace");
    const { sample, ...walk } = body;
    const subject = typeof sample === "object" ? { ...walk, sample } : walk;
    return simulate({ store, workspace: owner, mails: context.mails }, { id, definition }, subject);
  },
);
