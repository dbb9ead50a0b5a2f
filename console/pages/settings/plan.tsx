// The plan, what is used of it, where the month is going, and the workspace's own cap.
import { useState } from "preact/hooks";
import type { Billing } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { bytes, number, plural, share } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/field.tsx";
import { Form, FormFault } from "../../components/form.tsx";
import { Card, type Fact, Facts, Time } from "../../components/page.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { MonthCost } from "./month-cost.tsx";

interface Row {
  what: string;
  used: number;
  limit: number;
  text?: (value: number) => string;
}

const rowsOf = ({ usage, limits, monthly_send_cap }: Billing): Row[] => [
  ...(monthly_send_cap === null
    ? []
    : [{ what: "Messages, of the monthly cap", used: usage.sends, limit: monthly_send_cap }]),
  { what: "Messages this period", used: usage.sends, limit: limits.sends },
  { what: "Events this period", used: usage.events, limit: limits.events },
  { what: "Subscribers", used: usage.subscribers, limit: limits.subscribers },
  { what: "Dynamic segments", used: usage.dynamic_segments, limit: limits.dynamic_segments },
  { what: "Stored images", used: usage.asset_bytes, limit: limits.asset_bytes, text: bytes },
];

export function Plan() {
  const billing = useQuery("billing.get", []);
  return (
    <Loaded query={billing} skeleton={<Skeleton rows={8} />}>
      {(found) => (
        <>
          <Card title="Plan">
            <Facts of={factsOf(found)} />
          </Card>
          <Table
            caption="Usage"
            rows={rowsOf(found)}
            keyOf={({ what }) => what}
            columns={[
              { title: "Resource", cell: ({ what }) => what },
              { title: "Used", isNumber: true, cell: ({ used, text = number }) => text(used) },
              { title: "Limit", isNumber: true, cell: ({ limit, text = number }) => text(limit) },
              { title: "Share", isNumber: true, cell: ({ used, limit }) => share(used, limit) },
            ]}
          />
          <p class="hint">
            A message counts once per recipient, delivered or not. A send that has not ended counts with its whole
            audience.
          </p>
          <MonthCost billing={found} />
          <Cap cap={found.monthly_send_cap} />
        </>
      )}
    </Loaded>
  );
}

const factsOf = ({ plan, status, period_start, period_end, forecast, limits }: Billing): Fact[] => [
  [
    "Plan",
    <>
      <span class="capital">{plan}</span> <Badge state={status} />
    </>,
  ],
  [
    "Period",
    <>
      began <Time at={period_start} />, ends <Time at={period_end} />
    </>,
  ],
  ["Forecast", `${plural(forecast.sends_at_period_end, "message")} by the end of the period`],
  ["Requests a minute", number(limits.requests_per_minute)],
  ["Members", `up to ${number(limits.team_members)}`],
];

function Cap({ cap }: { cap: number | null }) {
  const update = useAction("billing.update");
  const [text, setText] = useState(cap === null ? "" : String(cap));
  return (
    <Card title="Monthly cap">
      <Form
        error={update.error}
        kind="row"
        onSubmit={async () => {
          const done = await update.run({ monthly_send_cap: text === "" ? null : Number(text) });
          if (done) say("Saved.");
        }}
      >
        <TextField
          label="Messages a month"
          type="number"
          min={0}
          value={text}
          onInput={setText}
          fault={update.error?.fields?.monthly_send_cap}
        />
        <Button type="submit" needs="billing.update" isBusy={update.isBusy}>
          Save
        </Button>
      </Form>
      <p class="hint">If empty, only the plan sets a limit. A send that would exceed the cap is refused as a whole.</p>
      <FormFault error={update.error} placed={["monthly_send_cap"]} />
    </Card>
  );
}
