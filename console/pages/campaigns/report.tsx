// The report of a campaign: funnel, channels, variants, messages, and its lift with interval and sentence.
import type { Campaign, CampaignsGetReportAnswer, InsightsGetLiftAnswer } from "../../../sdk/src/types.gen.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { channelName, reasonText } from "../../app/sentences.ts";
import { now, number, plural, share } from "../../app/time.ts";
import { CostFacts } from "../../components/cost.tsx";
import { Funnel } from "../../components/funnel.tsx";
import { Card, type Fact, Facts } from "../../components/page.tsx";
import { type Line, Series } from "../../components/series.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";

const EVERY_MS = 2_000;

export function Report({ campaign }: { campaign: Campaign }) {
  const report = useQuery("campaigns.getReport", [campaign.id], { every: EVERY_MS });
  const job = campaign.messages.find(({ job_id }) => job_id)?.job_id ?? "";
  return (
    <Loaded query={report} skeleton={<Skeleton rows={6} />}>
      {(found) => (
        <div class="grid wide">
          <div class="stack">
            <Card title="Results">
              <Funnel of={found} caption="Funnel of the campaign" />
              {found.sent === 0 && job && <Waiting job={job} />}
            </Card>
            <OverTime campaign={campaign} />
          </div>
          <div class="stack">
            {campaign.holdout_percentage > 0 && job && <Lift job={job} />}
            <Breakdowns report={found} />
            <Card title="Cost">
              <CostFacts
                cost={found.cost}
                perConversion={found.cost.per_conversion}
                charged={found.by_channel.flatMap(({ channel, provider_dollars: dollars }) =>
                  dollars ? [{ channel, dollars }] : [],
                )}
              />
            </Card>
            <Reasons report={found} />
          </div>
        </div>
      )}
    </Loaded>
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
  { name: "Conversions", measure: "conversions" },
];
const DAY_MS = 86_400_000;
const MAX_DAYS = 30;

/** The days since the first message; at most a month of them. */
function OverTime({ campaign }: { campaign: Campaign }) {
  const today = Math.floor(now() / DAY_MS) * DAY_MS;
  const start = new Date(today - (MAX_DAYS - 1) * DAY_MS).toISOString();
  const series = useQuery("insights.getSeries", [{ source_type: "campaign", source_id: campaign.id, start }]);
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
            from={Date.parse(first?.at ?? start)}
            to={Math.max(now(), Date.parse(first?.at ?? start) + DAY_MS)}
          />
        )}
      </Loaded>
    </Card>
  );
}

const points = (value: number): string => `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toFixed(1)}`;

/** `+1.4 points, between −0.2 and +3.0: not proven; 1.9 would show.` */
function liftSentence({ ci_low, ci_high, significant, min_detectable_points, ...lift }: InsightsGetLiftAnswer): string {
  if (ci_low === null || ci_high === null) return "There are too few people in one of the groups to compare them.";
  const value = lift.lift_percentage_points;
  const found = `${points(value)} points, between ${points(ci_low)} and ${points(ci_high)}`;
  if (significant) return `${found}: ${value > 0 ? "it works" : "it does harm"}, at 95% confidence.`;
  const would = min_detectable_points === null ? "" : `; ${min_detectable_points.toFixed(1)} would show`;
  return `${found}: not proven${would}.`;
}

const groupText = ({ converters, size }: InsightsGetLiftAnswer["treated"]): string =>
  `${plural(converters, "conversion")} of ${plural(size, "person", "people")} (${share(converters, size)})`;

function Lift({ job }: { job: string }) {
  const lift = useQuery("insights.getLift", [{ job_id: job }]);
  return (
    <Card title="Lift over the control group">
      <Loaded query={lift} skeleton={<Skeleton rows={2} />}>
        {(found) =>
          found.conversion_configured ? (
            <>
              <p>
                <b>{liftSentence(found)}</b>
              </p>
              <Interval lift={found} />
              <Facts
                of={[
                  ["Received it", groupText(found.treated)],
                  ["Control group", groupText(found.holdout)],
                ]}
              />
            </>
          ) : (
            <p>
              The service does not know yet what a conversion is.{" "}
              <a href={pathTo("settings", "conversions")}>Set up conversions</a>
            </p>
          )
        }
      </Loaded>
    </Card>
  );
}

/** Labels that are nearer would cover each other. */
const LABEL_WIDTH = 26;

/** A dot and its interval across zero. The sentence above says the same in words. */
function Interval({ lift: { lift_percentage_points: value, ci_low, ci_high } }: { lift: InsightsGetLiftAnswer }) {
  if (ci_low === null || ci_high === null) return null;
  const reach = Math.max(1, Math.abs(ci_low), Math.abs(ci_high)) * 1.15;
  const at = (one: number) => 150 + (150 * one) / reach;
  return (
    <svg class="interval" viewBox="0 0 300 44" aria-hidden="true">
      <line class="axis" x1="0" x2="300" y1="16" y2="16" />
      <line class="zero" x1="150" x2="150" y1="4" y2="28" />
      <line class="range" x1={at(ci_low)} x2={at(ci_high)} y1="16" y2="16" />
      <circle cx={at(value)} cy="16" r="5" />
      {Math.min(Math.abs(at(ci_low) - 150), Math.abs(at(ci_high) - 150)) > LABEL_WIDTH && (
        <text x="150" y="41" text-anchor="middle">
          0
        </text>
      )}
      <text x={at(ci_low)} y="41" text-anchor="middle">
        {points(ci_low)}
      </text>
      <text x={at(ci_high)} y="41" text-anchor="middle">
        {points(ci_high)}
      </text>
    </svg>
  );
}

function Reasons({ report: { skip_reasons, fail_reasons } }: { report: CampaignsGetReportAnswer }) {
  const rows = [...Object.entries(skip_reasons), ...Object.entries(fail_reasons)];
  if (rows.length === 0) return null;
  return (
    <Card title="Not delivered">
      <Facts of={rows.map(([reason, count]): Fact => [plural(count, "person", "people"), reasonText(reason)])} />
    </Card>
  );
}

interface Counted {
  delivered?: number;
  opened_human: number;
  clicked_human: number;
}

interface BreakdownProps<T> {
  title: string;
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** What the rows are. */
  first: Column<T>;
}

/** What came of the parts of a campaign. */
function Breakdown<T extends Counted>({ title, rows, keyOf, first }: BreakdownProps<T>) {
  if (rows.length === 0) return null;
  const delivered = { title: "Delivered", isNumber: true, cell: (row: T) => number(row.delivered ?? 0) };
  return (
    <Card title={title} flush>
      <Table
        caption={title}
        rows={rows}
        keyOf={keyOf}
        columns={[
          first,
          ...(rows[0]?.delivered === undefined ? [] : [delivered]),
          { title: "Opened", isNumber: true, cell: (row) => number(row.opened_human) },
          { title: "Clicked", isNumber: true, cell: (row) => number(row.clicked_human) },
        ]}
      />
    </Card>
  );
}

function Breakdowns({ report: { by_channel, by_message, by_variant } }: { report: CampaignsGetReportAnswer }) {
  return (
    <>
      <Breakdown
        title="By channel"
        rows={by_channel}
        keyOf={({ channel }) => channel}
        first={{ title: "Channel", cell: ({ channel }) => channelName(channel) }}
      />
      <Breakdown
        title="By variant"
        rows={by_variant}
        keyOf={({ variant_id }) => variant_id}
        first={{ title: "Variant", cell: ({ variant_id }) => variant_id.toUpperCase() }}
      />
      <Breakdown
        title="By message"
        rows={by_message}
        keyOf={({ position }) => String(position)}
        first={{ title: "Message", cell: ({ label }) => label }}
      />
    </>
  );
}
