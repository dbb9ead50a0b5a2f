// Insights: results of sends, the lift they caused, and the definitions of conversions.
import * as v from "valibot";
import { SendCost } from "../../../shared/contract/cost.ts";
import { liftEntries } from "../../../shared/contract/lift.ts";
import { Named } from "../../../shared/contract/named.ts";
import { personal } from "../../../shared/contract/personal.ts";
import {
  Id,
  maxCharacters,
  OneOf,
  said,
  sentByClients,
  Timestamp,
  Uuid,
  WholeNumber,
} from "../../../shared/contract/schemas.ts";
import { windowFields, windowOf } from "../../../shared/contract/window.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { MAX_EVENT_NAME_CHARACTERS, MAX_PROPERTY_CHARACTERS } from "../../../shared/rules/event-limits.ts";
import { storeRead, storeWrite } from "../../../shared/store/context.ts";
import {
  ConversionDefinition,
  conversionDefinitions,
  DEFAULT_WINDOW_SECONDS,
  defineConversion,
  MAX_WINDOW_SECONDS,
  removeDefinition,
} from "../../../shared/store/insights/conversions.ts";
import { funnelOf, heatmapOf, liftOfJob, summaryOf } from "../../../shared/store/insights/insights.ts";
import { conversionGroups } from "../../../shared/store/insights/items.ts";
import { seriesOf } from "../../../shared/store/insights/series.ts";
import { deliverability } from "./deliverability.ts";

const MAX_DAYS = 365;

const nameUpTo = (max: number) => v.pipe(v.string(), v.nonEmpty(), maxCharacters(max));
const EventName = nameUpTo(MAX_EVENT_NAME_CHARACTERS);
/** The longest key of an event's properties (EVT-6). */
const PropertyName = nameUpTo(MAX_PROPERTY_CHARACTERS);
const Count = v.number();

/** One description for each name, in the funnel, the sums of sources and the series. */
const converted =
  "Subscribers who converted within the window of the conversion after any message of the source, each once";
const revenue =
  "Revenue of all conversions after any message of the source, in cents: a conversion may count for several sources";
const conversions = "Conversions whose last touch it was: each counts once in the workspace";
const lastTouchRevenue = "Revenue of these conversions by last touch, in cents";
const AFTER_DISPATCH = "within the window of the conversion after the dispatch, whatever else they got";
const Arm = v.object({
  size: Count,
  converters: said(`Subscribers of the group who converted ${AFTER_DISPATCH}, each once`, Count),
  conversion_rate: v.number(),
  revenue_cents: said(`Revenue of all their conversions ${AFTER_DISPATCH}, in cents`, Count),
});

const COUNTED_LATE =
  "Where more than 100 sends to one subscriber each were made in the last hour, these are counted 15 to 30 minutes after " +
  "the quarter-hour they were made in.";
const SERIES = `Buckets in which nothing happened are left out. The days or hours in which the period begins and ends count
whole, also one that the period only touches. At most 366 days, or 31 days of hours. What is \`null\` is not counted in that series.

- **By day**: \`sent\` is what was delivered or failed, on the day of the outcome. Opens and clicks count on their own day,
  conversions on the day of the send that they count for. Whom a step of a journey cannot reach is in no send, so \`skipped\`
  leaves them out: they are outcomes of the step, in the numbers of the journey.
- **\`group_by=channel\`**: \`sent\` and \`skipped\` are \`null\`: a recipient may have several channels. \`failed\` is whom the channel
  did not reach, mails that came back apart, whatever another one did.
- **\`interval=hour\`**: \`delivered\` and \`opened\`.
- **Of a source** (\`source_type\` and \`source_id\`): what was sent counts on the day of its dispatch, and so do the opens
  and clicks of journeys, and conversions: they are those of its funnel.

${COUNTED_LATE}`;

const Figure = v.nullable(Count);
const SeriesBucket = v.object({
  at: said("When the bucket begins", Timestamp),
  group: said("The type of channel or the category; `null` without `group_by`", v.nullable(v.string())),
  sent: Figure,
  delivered: Figure,
  failed: Figure,
  uncertain: said("Those of `failed` that may have got it; `null` without a source", Figure),
  skipped: Figure,
  bounced: Figure,
  complained: Figure,
  unsubscribed: Figure,
  opened: Figure,
  opened_human: Figure,
  clicked: Figure,
  clicked_human: Figure,
  converted: said(`${converted}; \`null\` without a source`, Figure),
  revenue_cents: said(`${revenue}; \`null\` without a source`, Figure),
  conversions: said(conversions, Figure),
  last_touch_revenue_cents: said(lastTouchRevenue, Figure),
});

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

export const insights = group("insights", "Results of sends, and the lift they caused.", [
  endpoint(
    "GET /api/v1/insights/funnel",
    { agents: "read", uses: [storeRead] },
    {
      summary: "Get the funnel of a campaign or journey",
      description:
        "Sends dispatched within the window and what came of them, also after its end. Conversions count by whole days in UTC, " +
        "on the day of the dispatch of the send that they count for. Sends of a journey count so too: the days in which the window " +
        "begins and ends count whole, also one that it only touches.",
      query: v.object({
        source_type: v.picklist(["campaign", "journey"], "must be campaign or journey"),
        source_id: Uuid,
        ...windowFields,
      }),
      returns: v.object({
        sent: Count,
        delivered: Count,
        bounced: Count,
        complained: Count,
        unsubscribed: Count,
        failed: Count,
        uncertain: Count,
        opened: Count,
        opened_human: Count,
        clicked: Count,
        clicked_human: Count,
        converted: said(converted, Count),
        revenue_cents: said(revenue, Count),
        conversions: said(conversions, Count),
        last_touch_revenue_cents: said(lastTouchRevenue, Count),
        cost: said(
          "What its sends cost, computed from their numbers at list prices. Of a journey: those that ended, without the moves of its runs",
          SendCost,
        ),
      }),
    },
    ({ store, clock, query: { source_type: type, source_id: id, ...window } }) =>
      funnelOf(store, { type, id }, windowOf(window, clock.now())),
  ),

  endpoint(
    "GET /api/v1/insights/summary",
    { agents: "read", uses: [storeRead] },
    {
      summary: "Get conversions and revenue by campaign, journey or channel",
      description:
        "Each conversion counts for the last message delivered before it, on the day in UTC of the dispatch of that send. The days " +
        "in which the window begins and ends count whole, also one that it only touches.",
      query: v.object({
        group_by: OneOf(conversionGroups),
        ...windowFields,
      }),
      returns: v.object({
        rows: v.array(
          v.object({
            source_id: v.string(),
            source: said("The campaign, journey or channel with its name", Named),
            conversions: said(conversions, Count),
            revenue_cents: said("As `last_touch_revenue_cents`", Count),
            last_touch_revenue_cents: said(lastTouchRevenue, Count),
          }),
        ),
      }),
    },
    async ({ store, clock, query: { group_by, ...window } }) => ({
      rows: await summaryOf(store, group_by, windowOf(window, clock.now())),
    }),
  ),

  endpoint(
    "GET /api/v1/insights/heatmap",
    { agents: "read", uses: [storeRead] },
    {
      summary: "Get when messages arrive and when they are opened, by weekday and hour in UTC",
      description: COUNTED_LATE,
      query: v.object({
        days: v.optional(
          v.pipe(
            v.string(),
            v.regex(/^[0-9]{1,9}$/, "must be a whole number"),
            v.transform(Number),
            v.minValue(1),
            v.transform((days) => Math.min(days, MAX_DAYS)),
          ),
          "90",
        ),
      }),
      returns: v.object({
        window_days: Count,
        cells: v.array(v.object({ weekday: Count, hour: Count, delivered: Count, opened: Count })),
      }),
    },
    ({ store, query: { days } }) => heatmapOf(store, days),
  ),

  endpoint(
    "GET /api/v1/insights/series",
    { agents: "read", uses: [storeRead] },
    {
      summary: "Get figures over time: of the workspace, a channel, a category, a campaign or a journey",
      description: SERIES,
      query: v.object({
        interval: said(
          "The length of a bucket, in UTC. Hours have deliveries and opens only, without groups",
          v.optional(v.picklist(["day", "hour"], "must be day or hour"), "day"),
        ),
        group_by: said(
          "One bucket for each type of channel, or each category. Default: all in one",
          v.optional(v.picklist(["channel", "category"], "must be channel or category")),
        ),
        source_type: v.optional(v.picklist(["campaign", "journey"], "must be campaign or journey")),
        source_id: v.optional(Uuid),
        ...windowFields,
      }),
      returns: v.object({ buckets: v.array(SeriesBucket) }),
    },
    async ({ store, clock, query: { start, end, ...query } }) => {
      const window = windowOf({ start, end }, clock.now());
      return { buckets: await seriesOf(store, query, window) };
    },
  ),

  deliverability(COUNTED_LATE),

  endpoint(
    "GET /api/v1/insights/lift",
    { agents: "read", uses: [storeRead] },
    {
      summary: "Get the lift of a send against its control group",
      description:
        "With the 95% interval of the difference (Newcombe-Wilson) and the smallest detectable lift. Of a send to inboxes, " +
        "what is known within 90 days counts, on both sides.",
      query: v.object({ job_id: Id }),
      returns: v.object({
        job_id: v.string(),
        // The title of a send may be written for one subscriber.
        job: said(
          "The send with its name, or its title",
          v.object({ id: v.string(), name: personal(v.nullable(v.string())) }),
        ),
        treated: Arm,
        holdout: Arm,
        ...liftEntries("The conversion rate of `treated` minus that of `holdout`"),
        window_days: Count,
        conversion_configured: v.boolean(),
      }),
      errors: ["NOT_FOUND"],
    },
    ({ store, query: { job_id } }) => liftOfJob(store, job_id),
  ),

  endpoint(
    "GET /api/v1/insights/config",
    { uses: [storeRead] },
    {
      summary: "List conversion definitions",
      returns: v.object({
        definitions: v.array(ConversionDefinition),
      }),
    },
    async ({ store }) => ({ definitions: await conversionDefinitions(store) }),
  ),

  endpoint(
    "POST /api/v1/insights/config",
    { permission: "insights:write", uses: [storeWrite] },
    {
      summary: "Define an event as a conversion, or change its definition",
      body: v.strictObject({
        event_name: v.pipe(EventName, sentByClients()),
        value_property: v.nullish(PropertyName, null),
        window_seconds: said(
          "How long after a message. One of an inbox counts for 90 days at most",
          v.optional(WholeNumber(1, MAX_WINDOW_SECONDS), DEFAULT_WINDOW_SECONDS),
        ),
      }),
      example: { body: { event_name: "purchase", value_property: "amount_cents", window_seconds: 604_800 } },
      errors: ["QUOTA_EXCEEDED"],
    },
    ({ store, body }) => defineConversion(store, body),
  ),

  endpoint(
    "DELETE /api/v1/insights/config",
    { permission: "insights:write", uses: [storeWrite] },
    {
      summary: "Remove a conversion definition",
      query: v.object({ event_name: EventName }),
      example: { query: { event_name: "purchase" } },
      errors: ["NOT_FOUND"],
    },
    ({ store, query: { event_name } }) => removeDefinition(store, event_name),
  ),
]);
