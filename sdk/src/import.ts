// Imports CSV files of any size into lists: a small one with the request, a large one through an upload (ARC-1).
import { type CallOptions, requiredId, type Settings, send } from "./transport.ts";
import type { Endpoints } from "./types.gen.ts";

/** Fits into one request of every deployment; a larger file is uploaded to the bucket first. */
const MAX_DIRECT_BYTES = 4_000_000;
const UPLOAD_TIMEOUT_MS = 300_000;

export interface ImportOptions extends CallOptions {
  /** The format of the columns: our own (`csv`, the default), or another platform's export. */
  source?: "csv" | "platform_a" | "platform_b";
  /** Checks and counts all rows, and writes nothing. */
  dryRun?: boolean;
}

/** @returns `importCsv(listId, file, options)` of a client. */
export const csvImporter =
  (imports: Endpoints["imports"], settings: Settings) =>
  async (listId: string, file: Blob, { source = "csv", dryRun = false, ...options }: ImportOptions = {}) => {
    const fields = { listId: requiredId("importCsv", "listId", listId), source, dry_run: String(dryRun) };
    if (file.size <= MAX_DIRECT_BYTES) return imports.importLists(formOf(fields, file), options);
    const upload = await imports.createListsImportUpload(options);
    const request = { method: "POST", url: upload.url, headers: {}, body: formOf(upload.fields, file) };
    // The key of the object is part of the form, so a repeated upload writes the same object.
    await send(settings, request, true, { timeoutMs: UPLOAD_TIMEOUT_MS, ...options });
    return imports.importLists(formOf({ ...fields, upload_id: upload.upload_id }), options);
  };

function formOf(fields: Record<string, string>, file?: Blob): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  // Last: S3 ignores what comes after the file.
  if (file) form.set("file", new Blob([file], { type: "text/csv" }), "subscribers.csv");
  return form;
}
