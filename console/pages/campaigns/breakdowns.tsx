// A campaign by its parts: by channel, by variant and by message, each figure with its share of those it was delivered to.
import type { ComponentChildren } from "preact";
import type { CampaignsGetReportAnswer } from "../../../sdk/src/types.gen.ts";
import { channelName } from "../../app/sentences.ts";
import { money, number, share } from "../../app/time.ts";
import { Compared } from "../../components/lift.tsx";
import { Card } from "../../components/page.tsx";
import { type Column, Table } from "../../components/table.tsx";

interface Counted {
  delivered: number;
  opened_human: number;
  clicked_human: number;
  bounced?: number;
  unsubscribed?: number;
}

interface BreakdownProps<T> {
  title: string;
  /** Of the CSV file. */
  file: string;
  rows: readonly T[];
  keyOf: (row: T) => string;
  first: Column<T>;
  last?: Column<T>;
  children?: ComponentChildren;
}

/** `120 (24%)`: of the messages of the row that were delivered. */
const ofDelivered = (part: number, { delivered }: Counted): string =>
  delivered ? `${number(part)} (${share(part, delivered)})` : number(part);

/** What came of the parts of a campaign. */
function Breakdown<T extends Counted>({ title, file, rows, keyOf, first, last, children }: BreakdownProps<T>) {
  const [row] = rows;
  if (!row) return null;
  const lost: Column<T>[] = [
    { title: "Bounced", isMinor: true, isNumber: true, cell: (one) => number(one.bounced ?? 0) },
    { title: "Opted out", isMinor: true, isNumber: true, cell: (one) => ofDelivered(one.unsubscribed ?? 0, one) },
  ];
  return (
    <Card title={title} flush>
      <Table
        caption={title}
        csv={file}
        rows={rows}
        keyOf={keyOf}
        columns={[
          first,
          { title: "Delivered", isNumber: true, cell: (one) => number(one.delivered) },
          { title: "Opened", isNumber: true, cell: (one) => ofDelivered(one.opened_human, one) },
          { title: "Clicked", isNumber: true, cell: (one) => ofDelivered(one.clicked_human, one) },
          ...(row.bounced === undefined ? [] : lost),
          ...(last ? [last] : []),
        ]}
      />
      {children}
    </Card>
  );
}

const BETTER = ["B is better", "A is better"] as const;

export function Breakdowns({ report }: { report: CampaignsGetReportAnswer }) {
  const { by_channel, by_message, by_variant, b_over_a: difference } = report;
  return (
    <>
      <Breakdown
        title="By channel"
        file="campaign by channel"
        rows={by_channel}
        keyOf={({ channel }) => channel}
        first={{ title: "Channel", cell: ({ channel }) => channelName(channel) }}
      />
      <Breakdown
        title="By variant"
        file="campaign by variant"
        rows={by_variant}
        keyOf={({ variant_id }) => variant_id}
        first={{ title: "Variant", cell: ({ variant_id }) => variant_id.toUpperCase() }}
      >
        {difference && (
          <div class="inset stack tight">
            <Compared of="Opened, B against A" difference={difference.opened} words={BETTER} />
            <Compared of="Clicked, B against A" difference={difference.clicked} words={BETTER} />
          </div>
        )}
      </Breakdown>
      <Breakdown
        title="By message"
        file="campaign by message"
        rows={by_message}
        keyOf={({ position }) => String(position)}
        first={{ title: "Message", cell: ({ label }) => label }}
        last={{ title: "Cost", isNumber: true, cell: ({ dollars }) => money(dollars) }}
      />
    </>
  );
}
