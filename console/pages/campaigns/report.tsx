// The report of a campaign: funnel, channels, variants, messages, and its lift with interval and sentence.
import type { Campaign, CampaignsGetReportAnswer, InsightsGetLiftAnswer } from "../../../sdk/src/types.gen.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { channelName, reasonText } from "../../app/sentences.ts";
import { now, number, plural, share } from "../../app/time.ts";
import { CostFacts } from "../../components/cost.tsx";
import { Funnel } from "../../components/funnel.tsx";
import { Card } from "../../components/page.tsx";
import { type Line, Series } from "../../components/series.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

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
  { name: "Conversions", measure: "converted" },
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
function liftSentence({
  lift_percentage_points,
  ci_low,
  ci_high,
  significant,
  min_detectable_points,
}: InsightsGetLiftAnswer): string {
  if (ci_low === null || ci_high === null) return "There are too few people in one of the groups to compare them.";
  const found = `${points(lift_percentage_points)} points, between ${points(ci_low)} and ${points(ci_high)}`;
  if (significant) return `${found}: ${lift_percentage_points > 0 ? "it works" : "it does harm"}, at 95% confidence.`;
  const would = min_detectable_points === null ? "" : `; ${min_detectable_points.toFixed(1)} would show`;
  return `${found}: not proven${would}.`;
}

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
              <dl class="facts">
                <dt>Received it</dt>
                <dd>
                  {plural(found.treated.converters, "conversion")} of {plural(found.treated.size, "person", "people")} (
                  {share(found.treated.converters, found.treated.size)})
                </dd>
                <dt>Control group</dt>
                <dd>
                  {plural(found.holdout.converters, "conversion")} of {plural(found.holdout.size, "person", "people")} (
                  {share(found.holdout.converters, found.holdout.size)})
                </dd>
              </dl>
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
      <dl class="facts">
        {rows.map(([reason, count]) => [
          <dt key={reason}>{plural(count, "person", "people")}</dt>,
          <dd key={`${reason}-why`}>{reasonText(reason)}</dd>,
        ])}
      </dl>
    </Card>
  );
}

function Breakdowns({ report: { by_channel, by_message, by_variant } }: { report: CampaignsGetReportAnswer }) {
  const open = { title: "Opened", isNumber: true, cell: (row: { opened_human: number }) => number(row.opened_human) };
  const click = {
    title: "Clicked",
    isNumber: true,
    cell: (row: { clicked_human: number }) => number(row.clicked_human),
  };
  return (
    <>
      {by_channel.length > 0 && (
        <Card title="By channel" flush>
          <Table
            caption="By channel"
            rows={by_channel}
            keyOf={({ channel }) => channel}
            columns={[
              { title: "Channel", cell: ({ channel }) => channelName(channel) },
              { title: "Delivered", isNumber: true, cell: (row) => number(row.delivered) },
              open,
              click,
            ]}
          />
        </Card>
      )}
      {by_variant.length > 0 && (
        <Card title="By variant" flush>
          <Table
            caption="By variant"
            rows={by_variant}
            keyOf={({ variant_id }) => variant_id}
            columns={[{ title: "Variant", cell: ({ variant_id }) => variant_id.toUpperCase() }, open, click]}
          />
        </Card>
      )}
      {by_message.length > 0 && (
        <Card title="By message" flush>
          <Table
            caption="By message"
            rows={by_message}
            keyOf={({ position }) => String(position)}
            columns={[
              { title: "Message", cell: ({ label }) => label },
              { title: "Delivered", isNumber: true, cell: (row) => number(row.delivered) },
              open,
              click,
            ]}
          />
        </Card>
      )}
    </>
  );
}
