// Imports CSV files of any size into lists: a small one with the request, a large one through an upload (ARC-1).
import { type CallOptions, requiredId, type Settings, send } from "./transport.ts";
import type { Endpoints } from "./types.gen.ts";

/** A file of this size fits into one request of every deployment; a larger one is uploaded to the bucket first. */
const MAX_DIRECT_BYTES = 4_000_000;
const UPLOAD_TIMEOUT_MS = 300_000;

export interface ImportOptions extends CallOptions {
  /** The format of the columns: our own (`csv`, the default), or another platform's export. */
  source?: "csv" | "platform_a" | "platform_b";
  /** What columns mean: `{ Mail: "email", Tier: "attribute:tier", Note: "ignore" }`. Others keep their usual meaning. */
  mapping?: Readonly<Record<string, string>>;
  /** The IANA zone of times without a zone and of bare dates. Default: that of the workspace. */
  timeZone?: string;
  /** How days such as 03/04/2024 are read: `dd/mm/yyyy` or `mm/dd/yyyy`. */
  dateFormat?: string;
  /** Where phone numbers without a country code are from, as ISO 3166. Default: the country of the row. */
  phoneRegion?: string;
  /** A label of the encoding, such as `gbk` or `latin1`. Default: detected from the file. */
  encoding?: string;
  /** False: the changes by its rows start no journey. */
  startJourneys?: boolean;
  /** When consents without a time in the file were given, RFC 3339. */
  consentAt?: string;
  /** The source of the file's consents. */
  consentSource?: string;
  /** Checks and counts all rows, and writes nothing. */
  dryRun?: boolean;
}

/** @returns `importCsv(listId, file, options)` of a client. */
export const csvImporter =
  (imports: Endpoints["imports"], settings: Settings) =>
  async (listId: string, file: Blob, importOptions: ImportOptions = {}) => {
    const { source = "csv", dryRun = false, timeZone, dateFormat, phoneRegion, encoding, ...rest } = importOptions;
    const { mapping, startJourneys = true, consentAt, consentSource, ...options } = rest;
    const fields = {
      listId: requiredId("importCsv", "listId", listId),
      source,
      dry_run: String(dryRun),
      ...(mapping !== undefined && { mapping: JSON.stringify(mapping) }),
      ...(timeZone !== undefined && { time_zone: timeZone }),
      ...(dateFormat !== undefined && { date_format: dateFormat }),
      ...(phoneRegion !== undefined && { phone_region: phoneRegion }),
      ...(encoding !== undefined && { encoding }),
      ...(!startJourneys && { start_journeys: "false" }),
      ...(consentAt !== undefined && { consent_at: consentAt }),
      ...(consentSource !== undefined && { consent_source: consentSource }),
    };
    if (file.size <= MAX_DIRECT_BYTES) return imports.importLists(formOf(fields, file), options);
    const upload = await imports.createListsImportUpload(options);
    const request = { method: "POST", url: upload.url, headers: {}, body: formOf(upload.fields, file) };
    // The key of the object is part of the form, so a repeated upload writes the same object.
    await send(settings, request, true, { timeoutMs: UPLOAD_TIMEOUT_MS, ...options });
    return imports.importLists(formOf({ ...fields, upload_id: upload.upload_id }), options);
  };

/** A form with a CSV file as its last part, since S3 ignores what comes after the file. */
export function formOf(fields: Readonly<Record<string, string>>, file?: Blob, filename = "subscribers.csv"): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  if (file) form.set("file", new Blob([file], { type: "text/csv" }), filename);
  return form;
}
