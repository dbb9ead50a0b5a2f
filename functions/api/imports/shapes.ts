// The API's shapes of an import: its counts, the list that it fills, and the files of rejected rows.
import * as v from "valibot";
import { LastError, said, Timestamp, titled } from "../../../shared/contract/schemas.ts";
import { importStatuses } from "../../../shared/rules/import-states.ts";
import type { StoreReader } from "../../../shared/store/context.ts";
import { encodings } from "../../../shared/store/files/encodings.ts";
import { idKeys } from "../../../shared/store/item.ts";
import { ListItem } from "../../../shared/store/lists/items.ts";
import {
  channelChoicesOf,
  choicesOf,
  consentSummaryOf,
  phoneSummaryOf,
} from "../../../shared/store/subscribers/import-counts.ts";
import { type ImportJob, unknownTopicsOf } from "../../../shared/store/subscribers/imports.ts";

const ChoiceCounts = v.object({
  opted_in: v.number(),
  opted_out: v.number(),
  unknown: v.number(),
  unchanged: v.number(),
});

const PhoneCounts = said(
  "What became of the phone numbers of the rows",
  v.object({
    kept: said("Those that were in E.164 form, but for spaces and signs between the digits", v.number()),
    converted: said("Those that were brought into E.164 form", v.number()),
    unreadable: said("Those that stay as the file has them, and are not sent to", v.number()),
  }),
);

export const Job = v.object({
  import_job_id: v.string(),
  list: said(
    "The list that it fills; without a name once it is deleted",
    v.object({ id: v.string(), name: v.nullable(v.string()) }),
  ),
  status: v.picklist(importStatuses),
  processed_rows: v.number(),
  total_rows: v.optional(v.number()),
  failed_rows: v.number(),
  pending_rows: said(
    "Rows of people whom the list asks first: they are members once they confirm it by the link of a mail",
    v.number(),
  ),
  error_message: v.optional(v.string()),
  last_error: v.optional(LastError),
  dry_run: v.boolean(),
  encoding: v.optional(v.picklist(encodings)),
  consent_summary: v.object({
    ...ChoiceCounts.entries,
    suppressed: v.number(),
    yes_without_time: said("Of the unknown ones: they say yes, and the file has no time of it", v.number()),
    future: said("Of the unknown ones: their time is ahead of the import", v.number()),
  }),
  phone_summary: PhoneCounts,
  topic_summary: v.record(v.string(), ChoiceCounts),
  channel_summary: said(
    "By `sms` and `chat_app`, the rows by what they did to its consent; of a dry run, by what they would do",
    v.record(v.string(), ChoiceCounts),
  ),
  new_subscribers: said("How many subscribers a dry run would create", v.optional(v.number())),
  unknown_topics: v.array(v.string()),
  rejected_rows_url: v.optional(v.string()),
  warnings_url: said(
    "A CSV file of the rows of which something could not be taken, such as a phone number",
    v.optional(v.string()),
  ),
  created_at: Timestamp,
});

export const MAX_REJECTED_SHOWN = 20;

export const JobWithColumns = v.object({
  ...Job.entries,
  /** The columns of the file; absent until its header is read. */
  columns: v.array(
    titled("ImportColumn", {
      header: v.string(),
      meaning: v.string(),
      sample: v.nullable(v.string()),
      suggestion: v.nullable(v.string()),
    }),
  ),
  /** The first of the rejected rows. */
  rejected_sample: v.array(v.object({ line: v.number(), reason: v.string() })),
});

type Links = Partial<Record<"rejected_rows_url" | "warnings_url", string | undefined>>;

/** The rows of imports with the names of their lists. */
export async function jobsOf(store: StoreReader, rows: readonly ImportJob[], links: Links = {}) {
  const ids = [...new Set(rows.map(({ list }) => list))];
  const lists = await store.getAll(ListItem, idKeys(ids), { eventual: true });
  const names = new Map(ids.map((id, n) => [id, lists[n]?.name]));
  return rows.map((row) => jobOf(row, names, links));
}

const jobOf = (
  row: ImportJob,
  names: ReadonlyMap<string, string | undefined>,
  links: Links,
): v.InferOutput<typeof Job> => ({
  import_job_id: row.id,
  list: { id: row.list, name: names.get(row.list) ?? null },
  status: row.status,
  processed_rows: row.processed ?? 0,
  total_rows: row.total,
  failed_rows: row.failed ?? 0,
  pending_rows: row.pending ?? 0,
  error_message: row.error,
  ...(row.error !== undefined && {
    last_error: { code: "IMPORT_FAILED", message: row.error, at: row.completed_at ?? row.created_at },
  }),
  dry_run: row.dry_run === true,
  encoding: row.encoding,
  consent_summary: consentSummaryOf(row),
  phone_summary: phoneSummaryOf(row),
  topic_summary: choicesOf(row),
  channel_summary: channelChoicesOf(row),
  new_subscribers: row.dry_run ? (row.would_create ?? 0) : undefined,
  unknown_topics: [...unknownTopicsOf(row)],
  ...links,
  created_at: row.created_at,
});
