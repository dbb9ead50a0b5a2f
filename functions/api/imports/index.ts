// Imports of CSV files into lists: in our own format, or as two other platforms export them.
import * as v from "valibot";
import { endpoints, group, redirect } from "../../../shared/http/endpoint.ts";
import { ApiError, notFound } from "../../../shared/http/errors.ts";
import { isUuid, Timestamp } from "../../../shared/http/schemas.ts";
import { multipart, type UploadedFile } from "../../../shared/http/upload.ts";
import { importUploads } from "../../../shared/import-files.ts";
import { openedRejectedLink, rejectedLinks } from "../../../shared/rejected-links.ts";
import { storeRead, storeWrite, timers } from "../../../shared/resources.ts";
import { importSources } from "../../../shared/rules/import-columns.ts";
import { importStatuses } from "../../../shared/rules/import-states.ts";
import { listExists } from "../../../shared/store/lists/lists.ts";
import {
  cancelImport,
  consentSummaryOf,
  createImport,
  getImport,
  type ImportJob,
} from "../../../shared/store/subscribers/imports.ts";

/** LIM-6, AMB-83. */
export const MAX_FILE_BYTES = 52_428_800;
const FORM_SECONDS = 900;

const Form = v.object({
  listId: v.optional(v.string()),
  source: v.optional(v.picklist(importSources, `must be one of ${importSources.join(", ")}`), "csv"),
  upload_id: v.optional(v.string()),
  dry_run: v.optional(v.picklist(["true", "false"], "must be true or false"), "false"),
});

const Job = v.object({
  import_job_id: v.string(),
  status: v.picklist(importStatuses),
  processed_rows: v.number(),
  total_rows: v.optional(v.number()),
  failed_rows: v.number(),
  error_message: v.optional(v.string()),
  dry_run: v.boolean(),
  consent_summary: v.record(v.string(), v.number()),
  rejected_rows_url: v.optional(v.string()),
  created_at: Timestamp,
});

const jobOf = (row: ImportJob, rejected_rows_url: string | undefined): v.InferOutput<typeof Job> => ({
  import_job_id: row.id,
  status: row.status,
  processed_rows: row.processed ?? 0,
  total_rows: row.total,
  failed_rows: row.failed ?? 0,
  error_message: row.error,
  dry_run: row.dry_run === true,
  consent_summary: consentSummaryOf(row),
  rejected_rows_url,
  created_at: row.created_at,
});

const bad = (field: string, reason: string) =>
  new ApiError("BAD_REQUEST", `${field}: ${reason}`, { fields: { [field]: reason } });

const isCsv = ({ filename, contentType }: UploadedFile) =>
  /^\s*text\/csv\s*(;|$)/i.test(contentType) || filename.toLowerCase().endsWith(".csv");

const endpoint = endpoints({ credentials: ["dashboard"], uses: [importUploads] });

const link = endpoints({ credentials: [], effect: "read", uses: [openedRejectedLink] });

/** @throws 404 for a link that is not ours or has expired. */
async function followed(open: (token: string) => Promise<string | undefined>, token: string) {
  const target = await open(token);
  if (target === undefined) throw notFound("link");
  return redirect(target);
}

export const imports = group("imports", "CSV files into lists.", [
  endpoint(
    "POST /api/v1/lists/import",
    { permission: "subscribers:write", uses: [storeWrite, timers] },
    {
      summary: "Import a CSV file into a list",
      description:
        "`source` is `csv` for our own columns, `platform_a` or `platform_b` for another platform's export as it is. " +
        "A file of more than a few megabytes is uploaded first, see `POST /api/v1/lists/import/uploads`. With `dry_run` " +
        "everything is checked and counted and nothing is written.",
      form: multipart(Form, { fileBytes: MAX_FILE_BYTES, isOptional: true }),
      returns: v.object({ import_job_id: v.string(), status: v.literal("pending") }),
      status: 202,
      errors: ["BAD_REQUEST", "NOT_FOUND", "CONFLICT", "FILE_TOO_LARGE"],
      example: { body: { listId: "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60" } },
    },
    async ({ store, timers, uploads, form: { fields, file }, clock, ids }) => {
      const { listId: list, source, upload_id, dry_run } = fields;
      if (list === undefined || !isUuid(list)) throw bad("listId", "must be the UUID of a list");
      if (!file === (upload_id === undefined)) throw bad("file", "a CSV file, or the upload_id of one, is required");
      if (file && !isCsv(file)) throw bad("file", "must be text/csv or be named .csv");
      if (!(await listExists(store, list))) throw notFound("list");
      const id = upload_id ?? ids.uuidAt(clock.now());
      const bytes = file ? file.bytes.length : isUuid(id) ? await uploads.sizeOf(id) : undefined;
      if (bytes === undefined) throw bad("upload_id", "nothing was uploaded under this id");
      if (bytes > MAX_FILE_BYTES)
        throw new ApiError("FILE_TOO_LARGE", `The file is larger than ${MAX_FILE_BYTES} bytes.`);
      if (file) await uploads.put(id, file.bytes);
      await createImport(store, timers, { id, list, source, bytes, dry_run: dry_run === "true" });
      return { import_job_id: id, status: "pending" };
    },
  ),

  endpoint(
    "POST /api/v1/lists/import/uploads",
    { permission: "subscribers:write" },
    {
      summary: "Get a form with which to upload a file of up to 50 MB",
      description:
        "POST the `fields` and then `file` to `url` as multipart/form-data, then import with the `upload_id`.",
      returns: v.object({
        upload_id: v.string(),
        url: v.string(),
        fields: v.record(v.string(), v.string()),
        expires_in: v.number(),
      }),
      status: 201,
    },
    async ({ uploads, clock, ids }) => {
      const upload_id = ids.uuidAt(clock.now());
      return { upload_id, ...(await uploads.form(upload_id, MAX_FILE_BYTES)), expires_in: FORM_SECONDS };
    },
  ),

  endpoint(
    "POST /api/v1/lists/import/:jobId/cancel",
    { permission: "subscribers:write", uses: [storeWrite] },
    {
      summary: "Cancel an import: it ends after the batch in progress",
      description: "Rows that were taken stay.",
      returns: Job,
      status: 200,
      errors: ["NOT_FOUND", "CONFLICT"],
    },
    async ({ store, params }) => jobOf(await cancelImport(store, params.jobId), undefined),
  ),

  endpoint(
    "GET /api/v1/lists/import/:jobId",
    { uses: [storeRead, rejectedLinks] },
    { summary: "Get an import job", returns: Job, errors: ["NOT_FOUND"] },
    async ({ store, rejectedLinks, params }) => {
      const job = await getImport(store, params.jobId);
      return jobOf(job, job.rejected_file ? await rejectedLinks.urlOf(job.id) : undefined);
    },
  ),

  link(
    "GET /r/:token",
    {},
    {
      summary: "Download the rejected rows of an import",
      description: "The link of an import job, valid for 24 hours. It redirects to the file.",
      status: 302,
      text: { type: "text/plain; charset=utf-8" },
      errors: ["NOT_FOUND"],
    },
    ({ openRejected, params }) => followed(openRejected, params.token),
  ),

  link(
    "HEAD /r/:token",
    {},
    {
      summary: "Get the address of the rejected rows",
      status: 302,
      text: { type: "text/plain; charset=utf-8" },
      errors: ["NOT_FOUND"],
    },
    ({ openRejected, params }) => followed(openRejected, params.token),
  ),
]);
