// Exports as CSV files: subscribers, members, recipients, events, reports (RDA-16).
import * as v from "valibot";
import { cursor, cursorPage, cursorsOf, limit, MAX_PER_PAGE } from "../../../shared/contract/paging.ts";
import { said, Timestamp, TimestampInput, Uuid } from "../../../shared/contract/schemas.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { exportLinks } from "../../../shared/http/rejected-links.ts";
import { timestamp } from "../../../shared/kernel/clock.ts";
import { exportStatuses } from "../../../shared/rules/export-states.ts";
import { secrets, timers } from "../../../shared/store/capabilities.ts";
import { storeRead, storeWrite } from "../../../shared/store/context.ts";
import { entityPage } from "../../../shared/store/entity-pages.ts";
import { createExport, type ExportJob, fileExpiry, getExport } from "../../../shared/store/exports/exports.ts";
import { ExportItem, exportKinds } from "../../../shared/store/exports/items.ts";

const Period = v.optional(
  v.pipe(
    v.strictObject({ start: v.optional(TimestampInput), end: v.optional(TimestampInput) }),
    v.check(({ start, end }) => start === undefined || end === undefined || start <= end, "must end after it begins"),
    v.description("The period, both ends optional. Of reports: when messages were dispatched and people converted"),
  ),
);
const idField = (description: string) => said(description, Uuid);
const what = <const E extends v.ObjectEntries>(description: string, entries: E) =>
  said(description, v.strictObject(entries));

const NewExport = v.variant(
  "kind",
  [
    v.strictObject({ kind: v.literal("subscribers") }),
    v.strictObject({ kind: v.literal("list"), filter: what("Which list", { list_id: idField("The list") }) }),
    v.strictObject({
      kind: v.literal("segment"),
      filter: what("Which segment", { segment_id: idField("The segment") }),
    }),
    v.strictObject({
      kind: v.literal("recipients"),
      filter: what("Which notification", { notification_id: idField("The notification") }),
    }),
    v.strictObject({ kind: v.literal("events"), filter: Period }),
    v.strictObject({ kind: v.literal("report"), filter: Period }),
    v.strictObject({ kind: v.literal("suppressions") }),
  ],
  `must be one of ${exportKinds.join(", ")}`,
);

const Export = v.object({
  id: v.string(),
  kind: said("What is exported", v.picklist(exportKinds)),
  status: v.picklist(exportStatuses),
  rows: said("Rows of the file without its header; `null` before it is whole", v.nullable(v.number())),
  url: said(
    "The address of the file, valid for a day: each answer has a new one. `null` unless completed",
    v.nullable(v.string()),
  ),
  error: said("Why it failed or was deleted", v.nullable(v.string())),
  expires_at: said("Until when the file can be downloaded, three days", v.nullable(Timestamp)),
  created_at: Timestamp,
  completed_at: v.nullable(Timestamp),
});

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

interface ExportContext {
  store: { clock: { now(): number } };
  exportLinks: { urlOf(id: string): Promise<string> };
}

async function exportOf(
  { store, exportLinks: links }: ExportContext,
  job: ExportJob,
): Promise<v.InferOutput<typeof Export>> {
  const expiry = fileExpiry(job);
  const isOver = expiry !== undefined && expiry <= store.clock.now();
  const status = job.status === "completed" && isOver ? "expired" : job.status;
  const { id, kind, rows = null, error = null, created_at, completed_at = null } = job;
  return {
    id,
    kind,
    status,
    rows: status === "completed" || status === "expired" ? rows : null,
    url: status === "completed" ? await links.urlOf(id) : null,
    error,
    expires_at: status === "completed" && expiry !== undefined ? timestamp(expiry) : null,
    created_at,
    completed_at,
  };
}

export const exportEndpoints = [
  endpoint(
    "POST /api/v1/exports",
    { permission: "subscribers:write", uses: [storeWrite, timers] },
    {
      summary: "Export subscribers, a list, a segment, recipients of a notification, events or reports of campaigns",
      description:
        "The CSV file is made in the background: read the export until it is `completed`. A file of subscribers with at most " +
        "100 attributes can be imported again as it is, one with more of them when columns are mapped to be ignored; " +
        "attributes beyond 500 names, those whose name is also a path through another, and those that are called like a column of something else share the column `other_attributes`, as JSON. An apostrophe marks what spreadsheets " +
        "would take for a formula, and an import leaves it out at the beginning of a cell. What is written meanwhile may be missing. At most three are made at a time. When a " +
        "subscriber is erased, the files that may name them are deleted.",
      body: NewExport,
      returns: v.object({ id: v.string() }),
      status: 202,
      example: { body: { kind: "subscribers" } },
      errors: ["QUOTA_EXCEEDED"],
    },
    async ({ store, timers, body }) => {
      const filter = "filter" in body && body.filter !== undefined ? body.filter : {};
      const { id } = await createExport(store, timers, body.kind, filter);
      return { id };
    },
  ),

  endpoint(
    "GET /api/v1/exports/:id",
    { uses: [storeRead, exportLinks] },
    { summary: "Get an export with the address of its file", returns: Export },
    async ({ store, exportLinks: links, params }) =>
      exportOf({ store, exportLinks: links }, await getExport(store, params.id)),
  ),

  endpoint(
    "GET /api/v1/exports",
    { uses: [storeRead, exportLinks, secrets] },
    {
      summary: "List exports of the last 30 days, newest first",
      query: v.object({ limit: limit(20, MAX_PER_PAGE), cursor }),
      returns: cursorPage(Export),
    },
    async ({ store, exportLinks: links, secrets, query: { limit: size, cursor } }) => {
      const cursors = cursorsOf(await secrets.root(), `exports:${store.tenant}`, Uuid);
      const page = { after: cursors.open(cursor), limit: size };
      const { items, next } = await entityPage(store, ExportItem, page, { read: (row) => row });
      return {
        items: await Promise.all(items.map((job) => exportOf({ store, exportLinks: links }, job))),
        next_cursor: cursors.seal(next),
      };
    },
  ),
];
