// Imports of CSV files into lists: in our own format, or in the export formats of other platforms.
import * as v from "valibot";
import { cursor, cursorPage, cursorsOf, limit, MAX_PER_PAGE } from "../../../shared/contract/paging.ts";
import { Id, isUuid, OneOf, said, TextUpTo, TrueOrFalse, Uuid } from "../../../shared/contract/schemas.ts";
import { endpoints, group, redirect } from "../../../shared/http/endpoint.ts";
import { openedRejectedLink, rejectedLinks, warningsLinks } from "../../../shared/http/rejected-links.ts";
import { FIELD_BYTES, multipart, type UploadedFile } from "../../../shared/http/upload.ts";
import { ApiError, malformed, notFound, requireFound } from "../../../shared/kernel/errors.ts";
import { importSources } from "../../../shared/rules/import-sources.ts";
import { secrets, timers, workspaceRead } from "../../../shared/store/capabilities.ts";
import { storeRead, storeWrite } from "../../../shared/store/context.ts";
import { entityPage } from "../../../shared/store/entity-pages.ts";
import { importUploads } from "../../../shared/store/files/imports.ts";
import { listExists } from "../../../shared/store/lists/lists.ts";
import { ImportItem } from "../../../shared/store/subscribers/import-items.ts";
import { problemRows } from "../../../shared/store/subscribers/import-problems.ts";
import {
  cancelImport,
  createImport,
  describeColumns,
  findImport,
  getImport,
} from "../../../shared/store/subscribers/imports.ts";
import { exportEndpoints } from "./exports.ts";
import { MAX_MAPPED, mappingOf, readingFields, readingOptionsOf, refuseUnknownTopics } from "./reading.ts";
import { Job, JobWithColumns, jobsOf, MAX_REJECTED_SHOWN } from "./shapes.ts";

/** LIM-6, AMB-83. */
export const MAX_FILE_BYTES = 52_428_800;

const Form = v.strictObject({
  // The handler checks the file, because every problem with it is a 400 (IMP-6, AMB-34). A form has no longer fields.
  listId: v.optional(v.pipe(v.string(), v.maxLength(FIELD_BYTES), v.toLowerCase())),
  source: v.optional(OneOf(importSources), "csv"),
  upload_id: v.optional(v.pipe(Id, v.toLowerCase())),
  dry_run: v.optional(TrueOrFalse, "false"),
  mapping: said(
    "What columns mean, as JSON: `" +
      '{"Mail": "email", "Tier": "attribute:tier", "Weekly": "topic:weekly", "Note": "ignore"}' +
      `\`, at most ${MAX_MAPPED} of them. Others keep their usual meaning; \`"*": "ignore"\` leaves out those that would become attributes. A header has at most 1,000 columns and 64 KB.`,
    v.optional(TextUpTo(65_536)),
  ),
  ...readingFields,
});

const isCsv = ({ filename, contentType }: UploadedFile) =>
  /^\s*text\/csv\s*(;|$)/i.test(contentType) || filename.toLowerCase().endsWith(".csv");

const endpoint = endpoints({ credentials: ["dashboard"], uses: [importUploads] });

const link = endpoints({ credentials: [], effect: "read", uses: [openedRejectedLink] });

/** Opens a signed link. @throws 404 for a link that is not ours or has expired */
async function followed(open: (token: string) => Promise<string | undefined>, token: string) {
  const target = requireFound(await open(token), "link");
  return redirect(target);
}

export const imports = group("imports", "CSV files into lists, and exports as CSV files.", [
  endpoint(
    "POST /api/v1/lists/import",
    { permission: "subscribers:write", uses: [storeWrite, timers, workspaceRead] },
    {
      summary: "Import a CSV file into a list",
      description:
        "`source` is `csv` for our own columns, `platform_a` or `platform_b` for another platform's export as it is. " +
        "A file of more than a few megabytes is uploaded first, see `POST /api/v1/lists/import/uploads`. With `dry_run` " +
        "everything is checked and counted and nothing is written.",
      form: multipart(Form, { fileBytes: MAX_FILE_BYTES, isOptional: true, refusal: 400 }),
      returns: v.object({
        import_job_id: v.string(),
        status: v.literal("pending"),
        dry_run: v.optional(said("It is one", v.literal(true))),
      }),
      names: "import_job_id",
      status: 202,
      errors: ["NOT_FOUND", "CONFLICT"],
      example: { body: { listId: "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60" } },
    },
    async ({ store, timers, uploads, workspace, form: { fields, file }, clock, ids }) => {
      const { listId: list, source, upload_id, dry_run } = fields;
      const mapping = mappingOf(fields.mapping);
      const reading = await readingOptionsOf(fields, clock.now(), async () => (await workspace())?.timezone);

      if (list === undefined || !isUuid(list)) throw malformed({ listId: "must be the UUID of a list" });
      if (!file === (upload_id === undefined))
        throw malformed({ file: "a CSV file, or the upload_id of one, is required" });
      if (file && !isCsv(file)) throw malformed({ file: "must be text/csv or be named .csv" });
      if (!(await listExists(store, list))) throw notFound("list");
      await refuseUnknownTopics(store, mapping);

      const id = upload_id ?? ids.uuidAt(clock.now());
      // The file of a finished import is gone. A client that got no answer may repeat its request.
      const uploadedBytes = async () =>
        isUuid(id) ? ((await uploads.sizeOf(id)) ?? (await findImport(store, id))?.bytes) : undefined;
      const bytes = file ? file.bytes.length : await uploadedBytes();
      if (bytes === undefined) throw malformed({ upload_id: "nothing was uploaded under this id" });
      if (bytes > MAX_FILE_BYTES)
        throw new ApiError("FILE_TOO_LARGE", `The file is larger than ${MAX_FILE_BYTES} bytes.`);

      if (file) await uploads.put(id, file.bytes);
      await createImport(store, timers, { id, list, source, bytes, dry_run, mapping, ...reading });
      return { import_job_id: id, status: "pending", ...(dry_run && { dry_run }) };
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
      return { upload_id, ...(await uploads.form(upload_id, MAX_FILE_BYTES)) };
    },
  ),

  endpoint(
    "POST /api/v1/lists/import/:jobId/cancel",
    { permission: "subscribers:write", uses: [storeWrite] },
    {
      summary: "Cancel an import: it ends after the batch in progress",
      description: "Rows that were taken stay.",
      returns: Job,
      errors: ["CONFLICT"],
    },
    async ({ store, params }) => (await jobsOf(store, [await cancelImport(store, params.jobId)]))[0]!,
  ),

  endpoint(
    "GET /api/v1/lists/import/:jobId",
    { uses: [storeRead, rejectedLinks, warningsLinks] },
    {
      summary: "Get an import job, with what its columns mean and its first rejected rows",
      description:
        "`meaning` of a column is a field, `attribute:<key>`, `topic:<key>`, `consent evidence` or `ignore`. `suggestion` is " +
        "what a column with an unknown name may be meant for: say so by `mapping`.",
      returns: JobWithColumns,
    },
    async ({ store, rejectedLinks, warningsLinks, params }) => {
      const job = await getImport(store, params.jobId);
      const [rejected_rows_url, warnings_url, columns, rejected] = await Promise.all([
        job.rejected_file ? rejectedLinks.urlOf(job.id) : undefined,
        job.warnings_file ? warningsLinks.urlOf(job.id) : undefined,
        describeColumns(store, job),
        (job.failed ?? 0) > 0 ? problemRows(store, job.id, "rejected", MAX_REJECTED_SHOWN) : [],
      ]);
      const [shown] = await jobsOf(store, [job], { rejected_rows_url, warnings_url });
      return {
        ...shown!,
        columns,
        rejected_sample: rejected.map(({ line, reason }) => ({ line, reason })),
      };
    },
  ),

  endpoint(
    "GET /api/v1/lists/import",
    { uses: [storeRead, secrets] },
    {
      summary: "List imports of the last 30 days, newest first",
      query: v.object({ limit: limit(20, MAX_PER_PAGE), cursor }),
      returns: cursorPage(Job),
    },
    async ({ store, secrets, query: { limit: size, cursor } }) => {
      const cursors = cursorsOf(await secrets.root(), `imports:${store.tenant}`, Uuid);
      const page = { after: cursors.open(cursor), limit: size };
      const { items, next } = await entityPage(store, ImportItem, page, { read: (row) => row });
      return {
        items: await jobsOf(store, items),
        next_cursor: cursors.seal(next),
      };
    },
  ),

  link(
    "GET /r/:token",
    {},
    {
      summary: "Download the rejected rows of an import, or the file of an export",
      description:
        "The link of an import job or export, valid for 24 hours while the workspace is not deleted. It redirects to the file.",
      status: 302,
      text: { type: "text/plain; charset=utf-8" },
    },
    ({ openRejected, params }) => followed(openRejected, params.token),
  ),

  link(
    "HEAD /r/:token",
    {},
    {
      summary: "Get the address of the rejected rows, or of the file of an export",
      status: 302,
      text: { type: "text/plain; charset=utf-8" },
    },
    ({ openRejected, params }) => followed(openRejected, params.token),
  ),

  ...exportEndpoints,
]);
