// One figure of emails by day, for the providers with the most of them.
import type { InsightsGetDeliverabilityAnswer } from "../../../sdk/src/types.gen.ts";
import { mailboxName } from "../../app/mailboxes.ts";
import { now } from "../../app/time.ts";
import { chosenOf, Filter } from "../../components/filters.tsx";
import { Card } from "../../components/page.tsx";
import { Series } from "../../components/series.tsx";

const MEASURES = {
  bounced: "Bounced",
  complained: "Complaints",
  delivered: "Delivered",
  unsubscribed: "Opted out",
  opened_human: "Opened",
} as const;
/** As many as lines can be told apart. */
const MAX_LINES = 5;

export function Trend({ rows, buckets, start }: InsightsGetDeliverabilityAnswer & { start: string }) {
  const measure = chosenOf("of", Object.keys(MEASURES) as (keyof typeof MEASURES)[]) ?? "delivered";
  const lines = rows
    .slice(0, MAX_LINES)
    .map(({ mailbox_provider: group }) => ({ name: mailboxName(group), measure, group }));
  return (
    <Card title="Over time" actions={<Filter small name="of" label="Shown" value={measure} options={MEASURES} />}>
      <Series
        caption="Emails by day"
        buckets={buckets.map(({ mailbox_provider: group, ...bucket }) => ({ ...bucket, group }))}
        lines={lines}
        from={Date.parse(start)}
        to={now()}
      />
    </Card>
  );
}
