// What a journey would do: its present steps, walked through on a clock of their own.
import * as v from "valibot";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { grammar } from "../../../shared/http/grammar.ts";
import { JsonObject, Timestamp, TimestampInput, Uuid } from "../../../shared/http/schemas.ts";
import { storeRead } from "../../../shared/resources.ts";
import { getJourney } from "../../../shared/store/journeys/journeys.ts";
import { simulate } from "../../../shared/store/journeys/simulation.ts";
import { JOURNEY_LIMITS, requireRunnable } from "./input.ts";

const MAX_EVENTS = 100;

const Text = v.pipe(v.string("must be a string"), v.nonEmpty("must not be empty"), v.maxLength(512));

const SimulationInput = v.strictObject({
  subscriber_id: v.pipe(v.optional(Uuid), v.description("A subscriber, with what is known of it now")),
  sample: v.pipe(
    v.optional(
      v.strictObject({
        external_id: v.optional(Text),
        email: v.optional(Text),
        attributes: v.optional(JsonObject, {}),
      }),
    ),
    v.description("Or a subscriber that there is not"),
  ),
  events: v.pipe(
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
    v.description("Events as if they happened. The first one of the trigger's name starts the run"),
  ),
  start_at: v.pipe(
    v.optional(TimestampInput),
    v.description("When the run begins. Default: with the event that starts it, else now"),
  ),
});

const Clause = v.pipe(
  v.object({
    path: v.string(),
    matched: v.boolean(),
    expected: v.pipe(v.record(v.string(), v.any()), grammar("Expectation")),
    actual: v.optional(v.any()),
  }),
  v.title("SimulatedClause"),
);

const SimulationOutput = v.object({
  steps: v.pipe(
    v.array(
      v.pipe(
        v.object({
          step: v.pipe(v.string(), v.description("The id of the step")),
          type: v.pipe(
            v.picklist(["send", "delay", "branch", "wait_for_event", "exit"]),
            v.description("The type of the step"),
          ),
          at: v.pipe(Timestamp, v.description("When the run leaves the step")),
          outcome: v.pipe(
            v.string(),
            v.description("`sent`, `delayed`, `branch:then`, `branch:else`, `wait:event`, `wait:timeout` or `exit`"),
          ),
          clauses: v.pipe(v.array(Clause), v.description("Of a branch: its condition, clause by clause")),
          rendering: v.pipe(
            v.nullable(
              v.object({
                title: v.pipe(v.string(), v.description("The title as the recipient would read it")),
                body: v.pipe(v.string(), v.description("The text as the recipient would read it")),
                unknown_variables: v.pipe(v.array(v.string()), v.description("Variables without a value")),
              }),
            ),
            v.description("Of a send: its text; `null` if it cannot be rendered"),
          ),
        }),
        v.title("SimulatedStep"),
      ),
    ),
    v.description("The steps in the order in which the run leaves them"),
  ),
  ended: v.pipe(
    v.object({
      status: v.pipe(
        v.picklist(["completed", "exited", "waiting"]),
        v.description("`waiting`: nothing that was given moves the run on"),
      ),
      step: v.pipe(v.string(), v.description("The step on which it ended or waits")),
      at: v.pipe(Timestamp, v.description("When it ended, or the last moment that was looked at")),
      reason: v.pipe(v.nullable(v.string()), v.description("Why it ended; `null` while it waits")),
    }),
    v.description("How the simulation ended"),
  ),
});

const endpoint = endpoints({ credentials: ["dashboard"], uses: [storeRead] });

export const simulateJourney = endpoint(
  "POST /api/v1/journeys/:id/simulate",
  { effect: "read" },
  {
    summary: "Walk a subscriber or a sample through the steps of a journey",
    description:
      "The journey may be a draft, but its steps must be complete. Attributes stay as they are; quiet hours, caps and " +
      "consent are not applied. Nothing is written or sent.",
    body: SimulationInput,
    limits: JOURNEY_LIMITS,
    returns: SimulationOutput,
    status: 200,
    example: {
      body: {
        sample: { attributes: { plan: "pro" } },
        events: [{ event_name: "signed_up", occurred_at: "2027-03-01T09:00:00.000Z" }],
      },
    },
    errors: ["NOT_FOUND", "TEMPLATE_NOT_FOUND", "FEATURE_NOT_AVAILABLE"],
  },
  async ({ store, caller, params, body }) => {
    const journey = await getJourney(store, params.id);
    const graph = await requireRunnable(store, workspaceOf(caller).plan, journey);
    const { type, event_name } = journey.trigger;
    return simulate(store, { graph, trigger: type === "event" ? event_name : undefined }, body);
  },
);
