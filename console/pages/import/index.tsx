// Import: will my file do what I think? A dry run explains the columns and counts, before anything is written.
import { pathTo, place } from "../../app/router.ts";
import { usePages } from "../../app/rows.ts";
import { number } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Collection } from "../../components/collection.tsx";
import { Page, Time } from "../../components/page.tsx";
import { Job } from "./job.tsx";
import { Wizard } from "./wizard.tsx";

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
  const rows = usePages("imports.listListsImports", [{}], ({ items }) => items, { every: EVERY_MS });
  return (
    <Collection
      noun="import"
      card="Past imports"
      rows={rows}
      usual={4}
      keyOf={({ import_job_id }) => import_job_id}
      hrefOf={({ import_job_id }) => pathTo("import", import_job_id)}
      columns={[
        { title: "List", cell: ({ list }) => list.name ?? "a deleted list" },
        { title: "Started", isMinor: true, cell: ({ created_at }) => <Time at={created_at} /> },
        { title: "Status", cell: ({ status }) => <Badge state={status} /> },
        { title: "Type", isMinor: true, isWord: true, cell: ({ dry_run }) => (dry_run ? "dry run" : "import") },
        { title: "Rows", isNumber: true, cell: ({ processed_rows }) => number(processed_rows) },
        { title: "Rejected", isNumber: true, cell: ({ failed_rows }) => number(failed_rows) },
      ]}
    />
  );
}
