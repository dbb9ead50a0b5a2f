// Insights: what went out, when do people read, what brought conversions, and what happened meanwhile? Each panel fails alone.
import { daysAgo } from "../../app/time.ts";
import { chosenDays, DaysFilter } from "../../components/filters.tsx";
import { Page } from "../../components/page.tsx";
import { Annotations } from "./annotations.tsx";
import { Heatmap } from "./heatmap.tsx";
import { OverTime } from "./over-time.tsx";
import { SourcesCard } from "./sources.tsx";

export function View() {
  const days = chosenDays();
  const start = daysAgo(days);
  return (
    <Page
      title="Insights"
      about="Messages over time, when people read, conversions and their sources, and annotations."
      actions={<DaysFilter />}
    >
      <OverTime start={start} days={days} />
      <Heatmap days={days} />
      <SourcesCard start={start}>
        <Annotations start={start} />
      </SourcesCard>
    </Page>
  );
}
