// The results of the parts of a send or campaign, each figure with its share of the delivered messages.
import type { ComponentChildren } from "preact";
import type { VariantReport } from "../../sdk/src/types.gen.ts";
import { number, share } from "../app/time.ts";
import { Compared, type Difference } from "./lift.tsx";
import { Card } from "./page.tsx";
import { type Column, Table } from "./table.tsx";

interface CountedResults {
  delivered: number;
  opened_human: number;
  clicked_human: number;
  failed?: number;
  uncertain?: number;
  bounced?: number;
  unsubscribed?: number;
}

interface BreakdownProps<T> {
  title: string;
  /** The name of the CSV file. */
  file: string;
  rows: readonly T[];
  keyOf: (row: T) => string;
  first: Column<T>;
  last?: Column<T>;
  children?: ComponentChildren;
}

/** `120 (24%)`: of the messages of the row that were delivered. */
const ofDelivered = (part: number, { delivered }: CountedResults): string =>
  delivered ? `${number(part)} (${share(part, delivered)})` : number(part);

/** Left out where it is 0 everywhere. */
const counted = <T,>(title: string, of: (row: T) => number): Column<T> => ({
  title,
  isMinor: true,
  isNumber: true,
  has: (row) => of(row) > 0,
  cell: (row) => number(of(row)),
});

export function Breakdown<T extends CountedResults>({
  title,
  file,
  rows,
  keyOf,
  first,
  last,
  children,
}: BreakdownProps<T>) {
  const [row] = rows;
  if (!row) return null;
  const lost: Column<T>[] = [
    counted("Failed", ({ failed = 0 }) => failed),
    counted("Uncertain", ({ uncertain = 0 }) => uncertain),
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

interface ByVariantProps {
  /** The name of the CSV file. */
  file: string;
  of: {
    by_variant: readonly VariantReport[];
    b_over_a: { opened: Difference; clicked: Difference } | null;
  };
}

/** Both arms, and how sure it is that they differ. */
export const ByVariant = ({ file, of: { by_variant, b_over_a: difference } }: ByVariantProps) => (
  <Breakdown
    title="By variant"
    file={file}
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
);
