// Import: will my file do what I think? A dry run explains the columns and counts, before anything is written.
import type { ImportsListListsImportsAnswer } from "../../../sdk/src/types.gen.ts";
import type { ArgumentsOf } from "../../app/api.ts";
import { usePages } from "../../app/pages-of.ts";
import { pathTo, place } from "../../app/router.ts";
import { number } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Card, Page, Time } from "../../components/page.tsx";
import { Empty, Loaded, Skeleton } from "../../components/states.tsx";
import { More, Table } from "../../components/table.tsx";
import { Job } from "./job.tsx";
import { Wizard } from "./wizard.tsx";

type Row = ImportsListListsImportsAnswer["items"][number];
const EVERY_MS = 5_000;

export function View() {
  const [id] = place.value.parts;
  if (id)
    return (
      <Page title="Import" back={{ href: pathTo("import"), label: "Import" }}>
        <Job key={id} id={id} />
      </Page>
    );
  return (
    <Page title="Import" about="Subscribers from a CSV file into a list. A dry run shows what the file would do.">
      <Wizard />
      <Past />
    </Page>
  );
}

function Past() {
  const jobs = usePages(
    "imports.listListsImports",
    (cursor): ArgumentsOf<"imports.listListsImports"> => [cursor ? { cursor } : {}],
    {
      every: EVERY_MS,
    },
  );
  const rows = jobs.pages.flatMap((page) => page.items);
  return (
    <Card title="Past imports" flush>
      <Loaded query={jobs.first} skeleton={<Skeleton rows={4} />}>
        {() =>
          rows.length === 0 ? (
            <Empty title="There are no imports yet." />
          ) : (
            <Table
              caption="Past imports"
              rows={rows}
              keyOf={({ import_job_id }) => import_job_id}
              hrefOf={({ import_job_id }) => pathTo("import", import_job_id)}
              columns={[
                { title: "Started", cell: ({ created_at }: Row) => <Time at={created_at} /> },
                { title: "Status", cell: ({ status }: Row) => <Badge state={status} /> },
                { title: "Type", cell: ({ dry_run }: Row) => (dry_run ? "dry run" : "import") },
                { title: "Rows", isNumber: true, cell: ({ processed_rows }: Row) => number(processed_rows) },
                { title: "Rejected", isNumber: true, cell: ({ failed_rows }: Row) => number(failed_rows) },
              ]}
            />
          )
        }
      </Loaded>
      <More cursor={jobs.pages.at(-1)?.next_cursor ?? ""} isLoading={jobs.isLoading} load={jobs.load} />
    </Card>
  );
}
