// What went out and its outcome, by day: in all, by type of channel or by category, with flags where something happened.
import type { InsightsGetSeriesQuery } from "../../../sdk/src/types.gen.ts";
import { useQuery } from "../../app/query.ts";
import { channelName } from "../../app/sentences.ts";
import { now } from "../../app/time.ts";
import { chosenOf, Filter } from "../../components/filters.tsx";
import { Card } from "../../components/page.tsx";
import { type Line, Series } from "../../components/series.tsx";
import { Empty, Loaded, Skeleton } from "../../components/states.tsx";
import { UNTIL } from "./annotations.tsx";

const WHOLE: readonly Line[] = [
  { name: "Delivered", measure: "delivered" },
  { name: "Opened", measure: "opened" },
  { name: "Clicked", measure: "clicked" },
  { name: "Not delivered", measure: "failed" },
  { name: "Conversions", measure: "conversions" },
];
const GROUPS = { "": "All messages", channel: "By channel", category: "By category" } as const;
const MEASURES = { delivered: "Delivered", opened: "Opened", clicked: "Clicked", conversions: "Conversions" };

export function OverTime({ start, days }: { start: string; days: number }) {
  const group = chosenOf("series", ["channel", "category"]);
  const measure = chosenOf("of", Object.keys(MEASURES) as (keyof typeof MEASURES)[]) ?? "delivered";
  const asked: InsightsGetSeriesQuery = { start, ...(group && { group_by: group }) };
  const series = useQuery("insights.getSeries", [asked]);
  const annotations = useQuery("annotations.list", [{ from: start, to: UNTIL }]);
  const flags = (annotations.data?.annotations ?? []).map(({ occurred_at, text }) => ({ at: occurred_at, text }));
  return (
    <Card
      title="Over time"
      actions={
        <>
          <Filter small name="series" label="Lines" value={group ?? ""} options={GROUPS} />
          {group && <Filter small name="of" label="Shown" value={measure} options={MEASURES} />}
        </>
      }
    >
      <Loaded query={series} skeleton={<Skeleton rows={6} />}>
        {({ buckets }) => {
          if (buckets.length === 0) return <Empty title={`Nothing was sent in the last ${days} days.`} />;
          const names = [...new Set(buckets.flatMap((bucket) => bucket.group ?? []))];
          const ofGroup = (name: string): Line => ({
            name: group === "channel" ? channelName(name) : name,
            measure,
            group: name,
          });
          const lines = group ? names.map(ofGroup) : WHOLE;
          return (
            <Series
              caption="Messages by day"
              buckets={buckets}
              lines={lines}
              from={Date.parse(start)}
              to={now()}
              flags={flags}
            />
          );
        }}
      </Loaded>
    </Card>
  );
}
