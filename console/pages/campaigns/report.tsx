// The report of a campaign: key figures with their base, funnel, lift, parts, reasons, cost and days.
import type { ComponentChildren } from "preact";
import type { Series as Bucket, Campaign, CampaignsGetReportAnswer } from "../../../sdk/src/types.gen.ts";
import { DAY } from "../../../shared/kernel/clock.ts";
import { inPlain } from "../../../shared/rules/placeholders.ts";
import { type Query, useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { channelName } from "../../app/sentences.ts";
import { amount, now, number, plural, share } from "../../app/time.ts";
import { Breakdown, ByVariant } from "../../components/breakdown.tsx";
import { CostFacts } from "../../components/cost.tsx";
import { Funnel } from "../../components/funnel.tsx";
import { Lift } from "../../components/lift.tsx";
import { NotDelivered } from "../../components/not-delivered.tsx";
import { Card, Money } from "../../components/page.tsx";
import { Rates } from "../../components/rates.tsx";
import { type Line, type Measure, Series } from "../../components/series.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";

const EVERY_MS = 2_000;

interface ReportProps {
  campaign: Campaign;
  /** What was sent, at the end of its narrow column. */
  children: ComponentChildren;
}

export function Report({ campaign, children }: ReportProps) {
  const report = useQuery("campaigns.getReport", [campaign.id], { every: EVERY_MS });
  const series = useSeries(campaign);
  const jobs = campaign.messages.flatMap(({ job_id }) => job_id || []);
  const [job = ""] = jobs;
  return (
    <Loaded query={report} skeleton={<Skeleton rows={6} />}>
      {(found) => (
        <>
          <KeyFigures report={found} buckets={series.data?.buckets ?? []} />
          <div class="grid wide">
            <div class="stack">
              <Card title="Results">
                <Funnel of={found} caption="Funnel of the campaign" />
                {found.sent === 0 && job && <Waiting job={job} />}
              </Card>
              <OverTime series={series} />
              <Breakdowns report={found} />
            </div>
            <div class="stack">
              {campaign.holdout_percentage > 0 && job && <Lift job={job} />}
              <Card title="Cost">
                <CostFacts
                  cost={found.cost}
                  perConversion={found.cost.per_conversion}
                  charged={found.by_channel.flatMap(({ channel, provider_dollars: dollars }) =>
                    dollars ? [{ channel, dollars }] : [],
                  )}
                />
              </Card>
              <NotDelivered
                skipped={found.skip_reasons}
                failed={found.fail_reasons}
                {...(jobs.length === 1 && { hrefOf: (reason) => pathTo("activity", job, { reason }) })}
              />
              {children}
            </div>
          </div>
        </>
      )}
    </Loaded>
  );
}

/** Each day from the first message until today, also those on which nothing happened. */
function daysOf(buckets: readonly Bucket[]): (Bucket | undefined)[] {
  const [first] = buckets;
  if (!first) return [];
  const byDay = new Map(buckets.map((bucket) => [Date.parse(bucket.at), bucket]));
  const start = Date.parse(first.at);
  const count = Math.floor((now() - start) / DAY) + 1;
  return Array.from({ length: count }, (_, n) => byDay.get(start + n * DAY));
}

interface KeyFiguresProps {
  report: CampaignsGetReportAnswer;
  buckets: readonly Bucket[];
}

/** Its outcome, at a glance. */
function KeyFigures({ report, buckets }: KeyFiguresProps) {
  const { sent, delivered, opened_human, clicked_human, bounced, complained, unsubscribed } = report;
  const { converted, conversions, revenue_cents, last_touch_revenue_cents, cost } = report;
  // Asked only where a nought may mean that nobody said what a conversion is.
  const goals = useQuery("insights.getConfig", [], { when: sent > 0 && converted === 0 });
  const counts = converted > 0 || (goals.data?.definitions.length ?? 0) > 0;
  if (sent === 0) return null;
  const courseOf = (measure: Measure) => daysOf(buckets).map((bucket) => bucket?.[measure] ?? 0);
  const ofDelivered = `of ${number(delivered)} delivered`;
  return (
    <Rates
      of={[
        {
          label: "Delivered",
          value: share(delivered, sent),
          base: `of ${number(sent)} sent`,
          course: courseOf("delivered"),
        },
        {
          label: "Opened by people",
          value: share(opened_human, delivered),
          base: ofDelivered,
          course: courseOf("opened_human"),
        },
        {
          label: "Clicked by people",
          value: share(clicked_human, delivered),
          base: ofDelivered,
          course: courseOf("clicked_human"),
        },
        { label: "Opted out", value: share(unsubscribed, delivered), base: ofDelivered },
        bounced + complained > 0 && {
          label: "Bounced",
          value: share(bounced, sent),
          base: `of ${number(sent)} sent; ${plural(complained, "complaint")}`,
        },
        counts && {
          label: "Converted",
          value: share(converted, sent),
          base: `${plural(converted, "person", "people")}. It was the last message before ${plural(conversions, "conversion")}`,
          course: courseOf("converted"),
        },
        revenue_cents > 0 && {
          label: "Revenue",
          value: amount(revenue_cents),
          base: `of the people who converted. As the last message: ${amount(last_touch_revenue_cents)}`,
        },
        {
          label: "Cost",
          value: <Money of={cost.dollars} />,
          base:
            cost.per_conversion === null ? (
              "at list prices"
            ) : (
              <>
                <Money of={cost.per_conversion} /> a person converted
              </>
            ),
        },
      ]}
    />
  );
}

/** Why a report has no numbers yet. */
function Waiting({ job }: { job: string }) {
  const { data } = useQuery("notifications.get", [job], { every: EVERY_MS });
  if (!data || data.deferred === 0) return null;
  return <p>{plural(data.deferred, "person waits", "people wait")} for the end of quiet hours.</p>;
}

const LINES: readonly Line[] = [
  { name: "Delivered", measure: "delivered" },
  { name: "Opened", measure: "opened" },
  { name: "Clicked", measure: "clicked" },
  { name: "Converted", measure: "converted" },
];
const MAX_DAYS = 30;

/** The days since the first message; at most a month of them. */
function useSeries({ id }: Campaign) {
  const today = Math.floor(now() / DAY) * DAY;
  const start = new Date(today - (MAX_DAYS - 1) * DAY).toISOString();
  return useQuery("insights.getSeries", [{ source_type: "campaign", source_id: id, start }]);
}

function OverTime({ series }: { series: Query<{ buckets: Bucket[] }> }) {
  const first = series.data?.buckets[0];
  if (series.data && !first) return null;
  return (
    <Card title="Day by day">
      <Loaded query={series} skeleton={<Skeleton rows={6} />}>
        {({ buckets }) => (
          <Series
            caption="The campaign by day"
            buckets={buckets}
            lines={LINES}
            // A line has two ends: of a campaign of today it begins on the day before.
            from={Math.min(Date.parse(first?.at ?? ""), now() - DAY)}
            to={now()}
          />
        )}
      </Loaded>
    </Card>
  );
}

/** The campaign by its parts: by channel, by variant and by message. */
function Breakdowns({ report }: { report: CampaignsGetReportAnswer }) {
  const { by_channel, by_message } = report;
  return (
    <>
      <Breakdown
        title="By channel"
        file="campaign by channel"
        rows={by_channel}
        keyOf={({ channel }) => channel}
        first={{ title: "Channel", cell: ({ channel }) => channelName(channel) }}
      />
      <ByVariant file="campaign by variant" of={report} />
      <Breakdown
        title="By message"
        file="campaign by message"
        rows={by_message}
        keyOf={({ position }) => String(position)}
        first={{ title: "Message", cell: ({ label }) => inPlain(label) }}
        last={{ title: "Cost", isNumber: true, isMinor: true, cell: ({ dollars }) => <Money of={dollars} /> }}
      />
    </>
  );
}
