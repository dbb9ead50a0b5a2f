// Behavioral events: ingested from clients and servers, linked to subscribers, exported.
import * as v from "valibot";
import { cursor, cursorPage } from "../../../shared/contract/paging.ts";
import { TimestampInput, Uuid } from "../../../shared/contract/schemas.ts";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { invalid } from "../../../shared/kernel/errors.ts";
import { SERVER_BODY_BYTES, tiers } from "../../../shared/rules/event-limits.ts";
import { secrets } from "../../../shared/store/capabilities.ts";
import { storeRead, storeWrite } from "../../../shared/store/context.ts";
import { anonymousActor } from "../../../shared/store/events/actors.ts";
import { ExportedEvent } from "../../../shared/store/events/events.ts";
import { exportEvents } from "../../../shared/store/events/export.ts";
import { countEvents } from "../../../shared/store/events/history.ts";
import { eventIntake, ingest } from "../../../shared/store/events/intake.ts";
import { linkAlias, MAX_ALIASES } from "../../../shared/store/subscribers/aliases.ts";
import { AnonymousId, EventsBody, readEvents } from "./input.ts";
import { tracking } from "./tracking/index.ts";

export const MAX_EXPORTED = 1_000;

/** EXP-5: a value out of range is refused, not clamped. */
const ExportLimit = v.optional(
  v.pipe(
    v.string(),
    v.regex(/^[0-9]{1,9}$/, "must be a whole number"),
    v.description(`At most ${MAX_EXPORTED}: a larger one is a 422`),
    v.metadata({ maximum: MAX_EXPORTED }),
    v.transform(Number),
    v.minValue(1),
    v.maxValue(MAX_EXPORTED),
  ),
  String(MAX_EXPORTED),
);

/** A batch of 1,000 has more keys, entries and text than other bodies; each event has limits of its own. */
const BATCH_LIMITS = { keys: 200_000, elements: 200_000, characters: 4 * 1_048_576 };
/** Room for as many of the largest events as the client tier accepts. */
const CLIENT_BODY_BYTES = tiers.client.eventsPerRequest * tiers.client.eventBytes;

const endpoint = endpoints({ credentials: ["sdk", "server"], unaudited: ["server"], uses: [] });

export const events = group("events", "What subscribers do: ingestion, identity, export.", [
  endpoint(
    "POST /v1/events",
    { scope: "events:write", cachesCredentials: true, uses: [storeWrite, secrets, eventIntake] },
    {
      summary: "Ingest one event, or many as `{events: []}`",
      description:
        `With an SDK key at most ${tiers.client.eventsPerRequest} events; with a server key ` +
        `${tiers.server.eventsPerRequest}, 500 KB, 32 KB each. All are stored before the response, or none is. ` +
        "A repeat of an `idempotency_key` counts in `accepted` and stores nothing. After a 503, events that have one " +
        "can be retried safely.",
      body: EventsBody,
      maxBytes: { sdk: CLIENT_BODY_BYTES, server: SERVER_BODY_BYTES },
      limits: BATCH_LIMITS,
      returns: v.object({ accepted: v.number() }),
      status: 202,
      errors: ["PAYMENT_REQUIRED"],
      example: {
        body: { events: [{ event_name: "signed_up", anonymous_id: "device-7", properties: { plan: "pro" } }] },
        returns: { accepted: 1 },
      },
    },
    async ({ store, secrets, intake, caller, body, clock }) => {
      const receivedAt = clock.now();
      const source = caller.kind === "server" ? "server" : "client";
      const { events, late, isHistorical, name } = readEvents(body, source, receivedAt);
      const allowance = workspaceOf(caller);
      await ingest(store, await secrets.root(), intake, {
        events,
        late,
        source,
        isHistorical,
        receivedAt,
        allowance,
        name,
      });
      return { accepted: events.length };
    },
  ),

  endpoint(
    "POST /v1/events/identify",
    { scope: "events:write", uses: [storeWrite, eventIntake] },
    {
      summary: "Link an anonymous id, with its past and future events, to a subscriber",
      description: `The first link wins: \`linked\` is false if the id belongs to another subscriber already, or if this one has ${MAX_ALIASES} anonymous ids.`,
      body: v.strictObject({ anonymous_id: AnonymousId, subscriber_id: Uuid }),
      returns: v.object({ linked: v.boolean(), backfilled: v.number() }),
      example: { body: { anonymous_id: "device-7", subscriber_id: "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60" } },
    },
    async ({ store, body }) => {
      const { anonymous_id: anonymous, subscriber_id } = body;
      const link = await linkAlias(store, anonymous, subscriber_id);
      if (!link) throw invalid({ subscriber_id: "names no subscriber" });
      const { linked, isNew } = link;
      return { linked, backfilled: isNew ? await countEvents(store, anonymousActor(anonymous)) : 0 };
    },
  ),

  endpoint(
    "GET /v1/events/export",
    { credentials: ["server"], forbidden: ["sdk"], scope: "events:read", uses: [storeRead, secrets] },
    {
      summary: "Export events in the order of (occurred_at, id)",
      description:
        "`from` is included, `to` is not. An empty `next_cursor` marks the last page. An event that arrives late, with a " +
        "time before the cursor, is not in this pass, and a new event may take a moment to appear. For a complete set, " +
        "export again from 90 days before the end of the last window, and drop the ids that you have already.",
      query: v.object({
        from: v.optional(TimestampInput),
        to: v.optional(TimestampInput),
        cursor,
        limit: ExportLimit,
      }),
      returns: cursorPage(ExportedEvent),
    },
    async ({ store, secrets, query }) => exportEvents(store, await secrets.root(), query),
  ),

  ...tracking,
]);
