// How many addresses are suppressed, by the reason.
import { suppressionReasons } from "../../../shared/rules/addresses.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { SUPPRESSED } from "../../app/sentences.ts";
import { number, share } from "../../app/time.ts";
import { Card } from "../../components/page.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

/** As many as one page of the list has. */
const NEWEST = 100;

export function Suppressed() {
  const newest = useQuery("suppressions.list", [{ limit: NEWEST }]);
  return (
    <Card title="Suppressed addresses" flush>
      <Loaded query={newest} skeleton={<Skeleton rows={4} />}>
        {({ items, next_cursor }) => {
          const rows = suppressionReasons
            .map((reason) => ({ reason, n: items.filter((one) => one.reason === reason).length }))
            .filter(({ n }) => n > 0);
          if (rows.length === 0) return <p class="inset">No address is suppressed.</p>;
          return (
            <>
              <Table
                caption="Suppressed addresses"
                rows={rows}
                keyOf={({ reason }) => reason}
                hrefOf={({ reason }) => pathTo("suppressions", "", { reason })}
                columns={[
                  { title: "Reason", cell: ({ reason }) => SUPPRESSED[reason] },
                  { title: "Addresses", isNumber: true, cell: ({ n }) => number(n) },
                  { title: "Share", isNumber: true, cell: ({ n }) => share(n, items.length) },
                ]}
              />
              {next_cursor && <p class="hint inset">Of the {number(NEWEST)} newest.</p>}
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}
