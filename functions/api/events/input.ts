// Validation of events, by the tier of the sender. Each problem is reported under the name of its event (AMB-22).
import * as v from "valibot";
import { JsonObject, maxCharacters, TimestampInput, Uuid } from "../../../shared/contract/schemas.ts";
import { fieldsOf } from "../../../shared/http/input.ts";
import { invalid } from "../../../shared/kernel/errors.ts";
import {
  MAX_NAME_CHARACTERS,
  propertiesProblem,
  type Tier,
  tiers,
  timeProblem,
} from "../../../shared/rules/event-limits.ts";

const MAX_ID_CHARACTERS = 256;
const MAX_EXTERNAL_ID_CHARACTERS = 512;
const MAX_FIELDS = 20;

const text = (maxLength: number) =>
  v.pipe(v.string("must be a string"), v.nonEmpty("must not be empty"), maxCharacters(maxLength));

/** Part of a sort key, which is limited to 1,024 bytes: characters are counted as UTF-16 units here. */
export const AnonymousId = v.pipe(
  v.string("must be a string"),
  v.nonEmpty("must not be empty"),
  v.maxLength(MAX_ID_CHARACTERS, `must have at most ${MAX_ID_CHARACTERS} characters`),
);

/** AMB-115: other fields are ignored, as an SDK of a later version may send. */
const Event = v.object({
  event_name: v.pipe(
    text(MAX_NAME_CHARACTERS),
    v.check((name) => !name.startsWith("$"), "must not begin with $: such names are the service's own"),
  ),
  subscriber_id: v.optional(Uuid),
  anonymous_id: v.optional(AnonymousId),
  external_id: v.pipe(
    v.optional(text(MAX_EXTERNAL_ID_CHARACTERS)),
    v.description("Your own id of the subscriber, with a server key only. One that names nobody is a 422"),
  ),
  platform: v.optional(v.pipe(v.string("must be a string"), v.maxLength(128, "must have at most 128 characters"))),
  properties: v.optional(
    v.pipe(
      JsonObject,
      v.rawCheck(({ dataset, addIssue }) => {
        const problem = dataset.typed ? propertiesProblem(dataset.value) : undefined;
        if (problem) addIssue({ message: problem });
      }),
      v.description("At most 50 keys; keys and texts of at most 256 characters"),
    ),
  ),
  occurred_at: v.pipe(
    v.optional(TimestampInput),
    v.description(
      "Default: when it is received. At most 48 hours ago with an SDK key and 90 days with a server key, at most 5 minutes ahead; else 422",
    ),
  ),
  idempotency_key: v.optional(text(255)),
  id: v.pipe(v.optional(v.any()), v.description("Ignored, as are `source` and `received_at`: the service sets them")),
  source: v.optional(v.any()),
  received_at: v.optional(v.any()),
});

export type EventInput = v.InferOutput<typeof Event>;

const Events = v.union([
  v.pipe(v.strictObject({ events: v.array(Event) }), v.title("EventBatch")),
  v.pipe(Event, v.title("Event")),
]);

/** For the reference only: the limits depend on the sender, so `readEvents` validates. */
export const EventsBody: v.GenericSchema<v.InferInput<typeof Events>, Record<string, unknown>> = {
  ...(Events as unknown as v.GenericSchema<v.InferInput<typeof Events>, Record<string, unknown>>),
  "~run": (dataset) => ({ ...dataset, typed: true }) as v.OutputDataset<Record<string, unknown>, never>,
};

interface Read {
  events: EventInput[];
  name(n: number, field: string): string;
}

/** @throws 422 naming `events[i].field`, or the field of a single event, for each problem. */
export function readEvents(body: Record<string, unknown>, tier: Tier, receivedAt: number): Read {
  const isBatch = Object.hasOwn(body, "events");
  const given = isBatch ? body.events : [body];
  if (!Array.isArray(given)) throw invalid({ events: "must be an array of events" });
  const unknown = isBatch ? Object.keys(body).find((key) => key !== "events") : undefined;
  if (unknown !== undefined) throw invalid({ [unknown]: "is unknown beside events" });
  const { eventsPerRequest } = tiers[tier];
  if (given.length === 0) throw invalid({ events: "must hold at least one event" });
  if (given.length > eventsPerRequest) throw invalid({ events: `must hold at most ${eventsPerRequest} events` });

  const name = (n: number, field: string) => {
    if (!isBatch) return field || "body";
    return field ? `events[${n}].${field}` : `events[${n}]`;
  };
  const problems = new Map<string, string>();
  const events = given.flatMap((one, n) => {
    if (problems.size >= MAX_FIELDS) return [];
    const parsed = v.safeParse(Event, one, { abortPipeEarly: true });
    if (!parsed.success) {
      const isObject = typeof one === "object" && one !== null && !Array.isArray(one);
      const fields = isObject ? fieldsOf(parsed.issues) : { "": "must be an object" };
      for (const [field, reason] of Object.entries(fields)) problems.set(name(n, field), reason);
      return [];
    }
    for (const [field, reason] of wholeProblems(parsed.output, one, tier, receivedAt))
      problems.set(name(n, field), reason);
    return [parsed.output];
  });
  if (problems.size > 0) throw invalid(Object.fromEntries([...problems].slice(0, MAX_FIELDS)));
  return { events, name };
}

/** Problems that follow from the event as a whole, its tier and the time. */
function wholeProblems(
  event: EventInput,
  raw: unknown,
  tier: Tier,
  receivedAt: number,
): [field: string, reason: string][] {
  const problems: [string, string][] = [];
  const { subscriber_id, anonymous_id, external_id, occurred_at } = event;
  const actors = [subscriber_id, anonymous_id, external_id].filter((id) => id !== undefined);
  if (external_id !== undefined && tier === "client")
    problems.push(["external_id", "is understood from server keys only"]);
  else if (actors.length !== 1)
    problems.push(["subscriber_id", "exactly one of subscriber_id, anonymous_id and external_id is required"]);
  const late = occurred_at === undefined ? undefined : timeProblem(Date.parse(occurred_at), receivedAt, tier);
  if (late) problems.push(["occurred_at", late]);
  const { eventBytes } = tiers[tier];
  if (Buffer.byteLength(JSON.stringify(raw)) > eventBytes)
    problems.push(["", `must have at most ${eventBytes} bytes as JSON`]);
  return problems;
}
