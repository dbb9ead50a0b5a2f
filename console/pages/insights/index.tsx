// Insights: what went out, when do people read, what brought conversions, and what happened meanwhile? Each panel fails alone.
import { place } from "../../app/router.ts";
import { daysAgo } from "../../app/time.ts";
import { Filter } from "../../components/filters.tsx";
import { Page } from "../../components/page.tsx";
import { Annotations } from "./annotations.tsx";
import { Heatmap } from "./heatmap.tsx";
import { OverTime } from "./over-time.tsx";
import { SourcesCard } from "./sources.tsx";

const RANGES = [7, 30, 90] as const;

export function View() {
  const asked = Number(place.value.query.get("days"));
  const days = RANGES.find((one) => one === asked) ?? 30;
  const start = daysAgo(days);
  return (
    <Page
      title="Insights"
      about="Messages over time, when people read, conversions and their sources, and annotations."
      actions={
        <Filter
          name="days"
          label="Range"
          value={String(days)}
          options={RANGES.map((one) => ({ value: String(one), label: `Last ${one} days` }))}
        />
      }
    >
      <OverTime start={start} days={days} />
      <Heatmap days={days} />
      <SourcesCard start={start}>
        <Annotations start={start} />
      </SourcesCard>
    </Page>
  );
}
