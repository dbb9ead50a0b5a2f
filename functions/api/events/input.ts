// Validation of events, by the tier of the sender. Each problem is reported under the name of its event (AMB-22).
import * as v from "valibot";
import {
  JsonObject,
  maxCharacters,
  SomeTextUpTo,
  said,
  sentByClients,
  TimestampInput,
  titled,
  Uuid,
} from "../../../shared/contract/schemas.ts";
import { fieldsOf } from "../../../shared/http/input.ts";
import { timestamp } from "../../../shared/kernel/clock.ts";
import { invalid } from "../../../shared/kernel/errors.ts";
import { isJsonObject } from "../../../shared/kernel/objects.ts";
import {
  correctedTime,
  MAX_EVENT_NAME_CHARACTERS,
  propertiesProblem,
  type Tier,
  tiers,
  timeProblem,
} from "../../../shared/rules/event-limits.ts";

const MAX_ID_CHARACTERS = 256;
const MAX_EXTERNAL_ID_CHARACTERS = 512;
const MAX_FIELDS = 20;

const text = (maxLength: number) => v.pipe(v.string(), v.nonEmpty(), maxCharacters(maxLength));

/** A part of a sort key, which has at most 1,024 bytes; characters are counted as UTF-16 units. */
export const AnonymousId = SomeTextUpTo(MAX_ID_CHARACTERS);

/** Other fields are ignored, because a later version of the SDK may send them (AMB-115). */
const Event = v.object({
  event_name: v.pipe(text(MAX_EVENT_NAME_CHARACTERS), sentByClients()),
  subscriber_id: v.optional(Uuid),
  anonymous_id: v.optional(AnonymousId),
  external_id: said(
    "Your own id of the subscriber, with a server key only. One that names nobody is a 422",
    v.optional(text(MAX_EXTERNAL_ID_CHARACTERS)),
  ),
  platform: v.optional(v.pipe(v.string(), v.maxLength(128))),
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
  occurred_at: said(
    "Default: when it is received. At most 48 hours ago with an SDK key and 90 days with a server key; else 422. With a " +
      "server key one more than 5 minutes ahead is a 422, with an SDK key one ahead is taken as when it is received",
    v.optional(TimestampInput),
  ),
  idempotency_key: v.optional(text(255)),
  id: said("Ignored, as are `source` and `received_at`: the service sets them", v.optional(v.any())),
  source: v.optional(v.any()),
  received_at: v.optional(v.any()),
});

type EventInput = v.InferOutput<typeof Event>;

const requestFields = {
  sent_at: said(
    "With an SDK key only: when the request is sent, by the clock of the device. If that is wrong by more than a " +
      "minute, the times of the events are corrected by the difference",
    v.optional(TimestampInput),
  ),
  historical: said(
    "With a server key only: events of the past, which count everywhere and start no journey, also not through a " +
      "segment that they change",
    v.optional(v.boolean()),
  ),
};
const RequestSettings = v.object(requestFields);
type RequestSettings = v.InferOutput<typeof RequestSettings>;

/** The tiers that may send each field. */
const fieldTiers: Record<keyof RequestSettings, Tier> = { sent_at: "client", historical: "server" };
const keyOf: Record<Tier, string> = { client: "an SDK key", server: "a server key" };

const Events = v.union([
  v.pipe(v.strictObject({ events: v.array(Event), ...requestFields }), v.title("EventBatch")),
  titled("Event", { ...Event.entries, ...requestFields }),
]);

/** For the reference only: the limits depend on the sender, so `readEvents` validates. */
export const EventsBody: v.GenericSchema<v.InferInput<typeof Events>, Record<string, unknown>> = {
  ...(Events as unknown as v.GenericSchema<v.InferInput<typeof Events>, Record<string, unknown>>),
  "~run": (dataset) => ({ ...dataset, typed: true }) as v.OutputDataset<Record<string, unknown>, never>,
};

interface ParsedEvents {
  events: EventInput[];
  /** Problems with the times of events, by position. They do not count for a repeated event. */
  late: ReadonlyMap<number, string>;
  isHistorical: boolean;
  name(n: number, field: string): string;
}

/**
 * Reads and validates the events of a request.
 * @throws 422 naming `events[i].field`, or the field of a single event, for each problem
 */
export function readEvents(body: Record<string, unknown>, tier: Tier, receivedAt: number): ParsedEvents {
  const isBatch = Object.hasOwn(body, "events");
  const input = isBatch ? body.events : [body];
  if (!Array.isArray(input)) throw invalid({ events: "must be an array of events" });
  const known = ["events", ...Object.keys(requestFields)];
  const unknown = isBatch ? Object.keys(body).find((key) => !known.includes(key)) : undefined;
  if (unknown !== undefined) throw invalid({ [unknown]: "is unknown beside events" });
  const { sent_at, historical = false } = readSettings(body, tier);
  const sentAt = sent_at === undefined ? undefined : Date.parse(sent_at);
  const { eventsPerRequest } = tiers[tier];
  if (input.length === 0) throw invalid({ events: "must hold at least one event" });
  if (input.length > eventsPerRequest) throw invalid({ events: `must hold at most ${eventsPerRequest} events` });

  const name = (n: number, field: string) => {
    if (!isBatch) return field || "body";
    return field ? `events[${n}].${field}` : `events[${n}]`;
  };
  const problems = new Map<string, string>();
  const late = new Map<number, string>();
  const events = input.flatMap((entry, n) => {
    if (problems.size >= MAX_FIELDS) return [];
    const parsed = v.safeParse(Event, entry, { abortPipeEarly: true });
    if (!parsed.success) {
      const fields = isJsonObject(entry) ? fieldsOf(parsed.issues) : { "": "must be an object" };
      for (const [field, reason] of Object.entries(fields)) problems.set(name(n, field), reason);
      return [];
    }
    const event = tier === "client" ? corrected(parsed.output, sentAt, receivedAt) : parsed.output;
    if (isBatch && isJsonObject(entry) && entry.historical === true)
      problems.set(name(n, "historical"), "is said once for all events of a request, beside events");
    for (const [field, reason] of wholeProblems(event, entry, tier)) problems.set(name(n, field), reason);
    const { occurred_at, idempotency_key } = event;
    const time = occurred_at === undefined ? undefined : timeProblem(Date.parse(occurred_at), receivedAt, tier);
    // A device may send its queue again long after the events were stored (AMB-114).
    if (time && idempotency_key !== undefined) late.set(n, time);
    else if (time) problems.set(name(n, "occurred_at"), time);
    return [event];
  });
  if (problems.size > 0) throw invalid(Object.fromEntries([...problems].slice(0, MAX_FIELDS)));
  return { events, late, isHistorical: historical, name };
}

/** Reads the settings of the request. @throws 422 for a field that is malformed, or that the tier may not send */
function readSettings(body: Record<string, unknown>, tier: Tier): RequestSettings {
  const parsed = v.safeParse(RequestSettings, body);
  if (!parsed.success) throw invalid(fieldsOf(parsed.issues));
  for (const [field, only] of Object.entries(fieldTiers))
    if (only !== tier && Object.hasOwn(body, field))
      throw invalid({ [field]: `is understood with ${keyOf[only]} only` });
  return parsed.output;
}

/** The event with its time, corrected by the clock of the service (AMB-135). */
function corrected(event: EventInput, sentAt: number | undefined, receivedAt: number): EventInput {
  const { occurred_at } = event;
  if (occurred_at === undefined) return event;
  return { ...event, occurred_at: timestamp(correctedTime(Date.parse(occurred_at), sentAt, receivedAt)) };
}

/** The problems of an event as a whole, for its tier. */
function wholeProblems(event: EventInput, raw: unknown, tier: Tier): [field: string, reason: string][] {
  const problems: [string, string][] = [];
  const { subscriber_id, anonymous_id, external_id } = event;
  const actors = [subscriber_id, anonymous_id, external_id].filter((id) => id !== undefined);
  if (external_id !== undefined && tier === "client")
    problems.push(["external_id", "is understood from server keys only"]);
  else if (actors.length !== 1)
    problems.push(["subscriber_id", "exactly one of subscriber_id, anonymous_id and external_id is required"]);
  const { eventBytes } = tiers[tier];
  if (Buffer.byteLength(JSON.stringify(raw)) > eventBytes)
    problems.push(["", `must have at most ${eventBytes} bytes as JSON`]);
  return problems;
}
