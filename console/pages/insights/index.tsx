// Insights: what went out, when do people read, what brought conversions, and what happened meanwhile? Each panel fails alone.
import { place } from "../../app/router.ts";
import { now } from "../../app/time.ts";
import { Filter } from "../../components/filters.tsx";
import { Page } from "../../components/page.tsx";
import { Annotations } from "./annotations.tsx";
import { Heatmap } from "./heatmap.tsx";
import { OverTime } from "./over-time.tsx";
import { SourcesCard } from "./sources.tsx";

const RANGES = [7, 30, 90] as const;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

export function View() {
  const asked = Number(place.value.query.get("days"));
  const days = RANGES.find((one) => one === asked) ?? 30;
  // Whole hours, so that the same range is the same read.
  const start = new Date(Math.floor(now() / HOUR_MS) * HOUR_MS - days * DAY_MS).toISOString();
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
