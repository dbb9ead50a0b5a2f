// Who did not get it, by reason, with the way to the people behind each number.
import { reasonText } from "../app/sentences.ts";
import { number, share } from "../app/time.ts";
import { Card } from "./page.tsx";
import { type Column, Table } from "./table.tsx";

interface NotDeliveredProps {
  skipped: Record<string, number>;
  failed: Record<string, number>;
  /** All people of the audience, where that is known. */
  total?: number;
  /** The people of one reason. */
  hrefOf?: (reason: string) => string;
}

interface Row {
  what: "skipped" | "failed";
  reason: string;
  count: number;
}

const rowsOf = (what: Row["what"], counts: Record<string, number>): Row[] =>
  Object.entries(counts).map(([reason, count]) => ({ what, reason, count }));

const ofAudience = (total: number): Column<Row> => ({
  title: "Of the audience",
  isNumber: true,
  cell: ({ count }) => share(count, total),
});

export function NotDelivered({ skipped, failed, total, hrefOf }: NotDeliveredProps) {
  const rows = [...rowsOf("skipped", skipped), ...rowsOf("failed", failed)].toSorted((a, b) => b.count - a.count);
  if (rows.length === 0) return null;
  return (
    <Card title="Who did not get it" flush>
      <Table
        caption="Who did not get it"
        csv="not delivered"
        rows={rows}
        keyOf={({ what, reason }) => `${what} ${reason}`}
        {...(hrefOf && { hrefOf: ({ reason }: Row) => hrefOf(reason) })}
        columns={[
          { title: "Reason", cell: ({ reason }) => reasonText(reason) },
          { title: "What", cell: ({ what }) => what },
          { title: "People", isNumber: true, cell: ({ count }) => number(count) },
          ...(total === undefined ? [] : [ofAudience(total)]),
        ]}
      />
    </Card>
  );
}
