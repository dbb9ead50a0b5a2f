// What brought conversions and revenue, and the funnel of one campaign or journey.
import type { ComponentChildren } from "preact";
import type { InsightsGetSummaryQuery, Summary } from "../../../sdk/src/types.gen.ts";
import { PAGE } from "../../app/lookup.ts";
import { type Query, useQuery } from "../../app/query.ts";
import { pathTo, place, setQuery } from "../../app/router.ts";
import { channelName } from "../../app/sentences.ts";
import { amount, number } from "../../app/time.ts";
import { chosenOf, Filter } from "../../components/filters.tsx";
import { FunnelOf } from "../../components/funnel-of.tsx";
import { Card } from "../../components/page.tsx";
import { CampaignSelect, JourneySelect } from "../../components/pickers.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

const GROUPS = ["campaign", "journey", "channel"] as const;
const TITLES = { campaign: "Campaigns", journey: "Journeys", channel: "Channels" };
type Group = InsightsGetSummaryQuery["group_by"];
type NamedSource = { id: string; name: string };

export function SourcesCard({ start, children }: { start: string; children: ComponentChildren }) {
  const { query } = place.value;
  const group = chosenOf("by", GROUPS) ?? "campaign";
  const summary = useQuery("insights.getSummary", [{ group_by: group, start }]);
  const campaigns = useQuery("campaigns.list", [{ page_size: PAGE }], { when: group === "campaign" });
  const journeys = useQuery("journeys.list", [{}], { when: group === "journey" });
  const named: readonly NamedSource[] = (group === "campaign" ? campaigns.data?.items : journeys.data?.journeys) ?? [];
  const namesError = group === "channel" ? undefined : (campaigns.error ?? journeys.error);
  // Until the first of the sources is known, no funnel is read in its place.
  const isKnown = summary.data !== undefined || summary.error !== undefined;
  const first = isKnown ? summary.data?.rows[0]?.source_id || named[0]?.id : undefined;
  const source = query.get("source") || first;
  const Choice = group === "campaign" ? CampaignSelect : JourneySelect;
  const nameOf = (id: string) =>
    group === "channel"
      ? channelName(id)
      : (summary.data?.rows.find((row) => row.source_id === id)?.source?.name ??
        named.find((one) => one.id === id)?.name ??
        "deleted");
  return (
    <div class={group === "channel" ? "stack" : "grid wide"}>
      <div class="stack">
        <Card
          title="Top sources"
          flush
          actions={<Filter small name="by" label="Sources" value={group} options={TITLES} clears={["source"]} />}
        >
          <Top summary={summary} group={group} source={source} nameOf={nameOf} />
        </Card>
        {children}
      </div>
      {group !== "channel" && (
        <Card title="Funnel">
          {namesError && <Failure error={namesError} />}
          {named.length > 0 && <Choice key={group} value={source ?? ""} onInput={(id) => setQuery({ source: id })} />}
          {source && <FunnelOf group={group} source={source} start={start} />}
          {!source && !isKnown && <Skeleton rows={5} />}
          {!source && isKnown && !namesError && (
            <p class="dim">There is no {group} yet whose messages could be counted.</p>
          )}
        </Card>
      )}
    </div>
  );
}

interface TopProps {
  summary: Query<{ rows: Summary[] }>;
  group: Group;
  source: string | undefined;
  nameOf: (id: string) => ComponentChildren;
}

function Top({ summary, group, source, nameOf }: TopProps) {
  const { query } = place.value;
  const select = ({ source_id }: Summary) =>
    pathTo("insights", "", { ...Object.fromEntries(query), source: source_id });
  return (
    <Loaded query={summary} skeleton={<Skeleton rows={4} />}>
      {({ rows }) =>
        rows.length === 0 ? (
          <Empty
            title="No conversion followed a message in this period."
            action={<a href={pathTo("settings", "conversions")}>Set up conversions</a>}
          >
            Each conversion counts for the last message delivered before it.
          </Empty>
        ) : (
          <>
            <Table
              caption="Top sources"
              csv={`conversions by ${group}`}
              rows={rows}
              keyOf={({ source_id }) => source_id}
              {...(group !== "channel" && { hrefOf: select, selected: source })}
              columns={[
                { title: TITLES[group].slice(0, -1), cell: ({ source_id }) => nameOf(source_id) },
                { title: "Conversions", isNumber: true, cell: ({ conversions }) => number(conversions) },
                { title: "Revenue", isNumber: true, cell: ({ revenue_cents }) => amount(revenue_cents) },
              ]}
            />
            <p class="hint inset">Each conversion counts once: for the last message delivered before it.</p>
          </>
        )
      }
    </Loaded>
  );
}
