// One import: progress, consent, rejected rows with their reasons, and what each column was taken for.
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { Import } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { invalidate, useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { number, plural } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Button, LinkButton } from "../../components/button.tsx";
import { inWords } from "../../components/field.tsx";
import { Card, Figure } from "../../components/page.tsx";
import { Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { consentLines, meaningText, phoneLines } from "./words.ts";

const EVERY_MS = 2_000;
const isOpen = ({ status }: Import): boolean => status === "pending" || status === "processing";

interface JobProps {
  id: string;
  /** How to change what a column means, while that is still possible. */
  meaningOf?: ((column: Import["columns"][number]) => ComponentChildren) | undefined;
  /** Takes what a column may be meant for. */
  suggest?: ((header: string, meaning: string) => void) | undefined;
  /** What columns are said to mean since. */
  taken?: readonly string[] | undefined;
  children?: (job: Import) => ComponentChildren;
}

export function Job({ id, meaningOf, suggest, taken, children }: JobProps) {
  const job = useQuery("imports.getListsImport", [id], {
    every: (known) => (!known || isOpen(known) ? EVERY_MS : undefined),
  });
  // Those below it say the same of it.
  useEffect(() => {
    if (job.data && !isOpen(job.data)) invalidate("imports.listListsImports");
  }, [job.data?.status]);
  const cancel = useAction("imports.cancelListImport", { stale: ["imports."] });
  return (
    <Loaded query={job} skeleton={<Skeleton rows={6} />}>
      {(found) => (
        <div class="stack">
          {cancel.error && <Failure error={cancel.error} />}
          <Outcome job={found} cancel={() => void cancel.run(id)} />
          {found.dry_run && !suggest && !isOpen(found) && (
            <p class="dim">
              A dry run keeps no file. To import it, <a href={pathTo("import")}>choose the file again</a>.
            </p>
          )}
          {found.columns.length > 0 && <Columns job={found} meaningOf={meaningOf} suggest={suggest} taken={taken} />}
          {found.rejected_sample.length > 0 && <Rejected job={found} />}
          {children?.(found)}
        </div>
      )}
    </Loaded>
  );
}

function Outcome({ job, cancel }: { job: Import; cancel: () => void }) {
  const { status, list, dry_run, processed_rows, total_rows, failed_rows, error_message, new_subscribers } = job;
  const good = processed_rows - failed_rows;
  const shareOf = (rows: number) => ({ width: `${total_rows ? (100 * rows) / total_rows : 0}%` });
  const consents = consentLines(job.consent_summary);
  const phones = phoneLines(job.phone_summary);
  const choices = [
    ...Object.entries(job.channel_summary).map(
      ([key, summary]) => [`Consent by ${channelText(key)}`, summary] as const,
    ),
    ...Object.entries(job.topic_summary).map(([key, summary]) => [`Topic ${key}`, summary] as const),
  ].map(([what, summary]) => [what, countsOf(summary)] as const);
  return (
    <Card
      title={dry_run ? "Result of the dry run" : "Result of the import"}
      actions={
        isOpen(job) && (
          <Button kind="quiet" needs="imports.cancelListImport" onClick={cancel}>
            Cancel
          </Button>
        )
      }
    >
      <p class="verdict">
        <Badge state={status} /> {dry_run ? "Nothing is written yet." : list.name && `Into the list ${list.name}.`}
      </p>
      {error_message && (
        <p class="banner bad">
          <span class="initial">{error_message}</span>
        </p>
      )}
      <div class="figures" aria-live="polite">
        <Figure value={number(good)} label={dry_run ? "valid" : "imported"} />
        <Figure value={number(failed_rows)} label="rejected" />
        {job.pending_rows > 0 && <Figure value={number(job.pending_rows)} label="to confirm" />}
        {new_subscribers !== undefined && <Figure value={number(new_subscribers)} label="new people" />}
        <Figure value={total_rows === undefined ? "–" : number(total_rows)} label="rows in the file" />
      </div>
      {total_rows !== undefined && (
        <div class="meter" aria-hidden="true">
          <i class="good" style={shareOf(good)} />
          <i class="bad" style={shareOf(failed_rows)} />
        </div>
      )}
      {status === "completed" && !dry_run && (
        <div class="actions">
          <LinkButton kind="primary" needs="campaigns.create" href={pathTo("campaigns", "new", { list: list.id })}>
            Write a campaign to this list
          </LinkButton>
          <LinkButton href={pathTo("content", `lists/${list.id}`)}>Look at the list</LinkButton>
        </div>
      )}
      {consents.length > 0 && <p>Consent by email: {consents.join("; ")}.</p>}
      {choices.map(([what, counts]) => counts && <p key={what}>{`${what}: ${counts}.`}</p>)}
      {phones.length > 0 && <p>Phone numbers: {phones.join("; ")}.</p>}
      {job.warnings_url && (
        <p>
          Some rows were taken only in part.{" "}
          <a href={job.warnings_url} download>
            Download what was left out
          </a>
        </p>
      )}
      {job.unknown_topics.length > 0 && (
        <p class="banner warn">{`No such topic: ${job.unknown_topics.join(", ")}. These columns become attributes.`}</p>
      )}
    </Card>
  );
}

const channelText = (channel: string): string => (channel === "sms" ? "SMS" : "chat app");

const countsOf = (summary: object): string =>
  Object.entries(summary)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${plural(count, "row")} ${inWords(name)}`)
    .join(", ");

type ColumnsProps = { job: Import } & Pick<JobProps, "meaningOf" | "suggest" | "taken">;

function Columns({ job: { columns }, meaningOf, suggest, taken = [] }: ColumnsProps) {
  return (
    <Card title="Column mapping" flush>
      <Table
        caption="Columns"
        rows={columns}
        keyOf={({ header }) => header}
        columns={[
          {
            title: "Column, with a sample",
            cell: ({ header, sample }) => (
              <>
                {header || <span class="dim">without a name</span>}
                <div class="clip dim">{sample ?? "–"}</div>
              </>
            ),
          },
          {
            title: "Mapped to",
            isWord: true,
            cell: (column) => (
              <div class="stack tight">
                {meaningOf?.(column) ?? meaningText(column.meaning)}
                {suggest && !taken.includes(column.suggestion ?? "") && <Meant column={column} suggest={suggest} />}
              </div>
            ),
          },
        ]}
      />
    </Card>
  );
}

interface MeantProps {
  column: Import["columns"][number];
  suggest: NonNullable<JobProps["suggest"]>;
}

const Meant = ({ column: { header, suggestion }, suggest }: MeantProps) =>
  suggestion && (
    <div class="actions meant">
      <span class="dim">Did you mean</span>
      <Button onClick={() => suggest(header, suggestion)}>{meaningText(suggestion)}</Button>
    </div>
  );

function Rejected({ job: { rejected_sample, rejected_rows_url, failed_rows } }: { job: Import }) {
  return (
    <Card
      title={`Rejected: ${plural(failed_rows, "row")}`}
      flush
      actions={
        rejected_rows_url && (
          <a href={rejected_rows_url} download>
            Download all as CSV
          </a>
        )
      }
    >
      <Table
        caption="Rejected rows"
        rows={rejected_sample}
        keyOf={({ line }) => String(line)}
        columns={[
          { title: "Line", cell: ({ line }) => number(line) },
          { title: "Why", cell: ({ reason }) => reason },
        ]}
      />
    </Card>
  );
}
