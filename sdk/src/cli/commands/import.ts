// Imports a CSV file into a list, and shows how far it is.
import { openAsBlob } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { ImportOptions } from "../../import.ts";
import type { Import as Job } from "../../types.gen.ts";
import { type Call, CommandError, command, EXIT, usageError } from "../command.ts";
import { type Connection, withConnection } from "../connection.ts";
import type { Io } from "../io.ts";
import { idOf, isCalled, listAll } from "../names.ts";
import { patiently } from "../patience.ts";
import { isObject, parsed } from "../resource.ts";

const POLL_MS = 1_000;
const BAR_CHARACTERS = 30;

const declared = {
  list: { type: "string", value: "<name>", about: "The list, by name or id" },
  create: { type: "boolean", about: "Create the list if there is none of this name" },
  source: { type: "string", value: "<format>", about: "csv (default), platform_a or platform_b" },
  mapping: {
    type: "string",
    value: "<json>",
    about: 'What columns mean: {"Mail": "email", "Tier": "attribute:tier", "*": "ignore"}',
  },
  "time-zone": { type: "string", value: "<zone>", about: "Of times without a zone" },
  "date-format": { type: "string", value: "<pattern>", about: "How 03/04/2024 is read: dd/mm/yyyy or mm/dd/yyyy" },
  "phone-region": { type: "string", value: "<country>", about: "Of phone numbers without a country code" },
  encoding: { type: "string", value: "<name>", about: "Of the file, where it does not show it" },
  "consent-at": { type: "string", value: "<time>", about: "When those agreed who say yes without a time" },
  "consent-source": { type: "string", value: "<text>", about: "Where the consents of the file are from" },
  "no-journeys": { type: "boolean", about: "Start no journeys with what the rows change" },
  "dry-run": { type: "boolean", about: "Check all rows and write nothing" },
} as const;

const EXAMPLE = '--mapping must be a JSON object of texts, such as {"Mail": "email"}.';

function mappingOf(text: string | undefined): ImportOptions["mapping"] {
  if (text === undefined) return undefined;
  const mapping = parsed(text);
  const isMapping = isObject(mapping) && Object.values(mapping).every((meaning) => typeof meaning === "string");
  if (!isMapping) throw usageError(EXAMPLE);
  return mapping as Record<string, string>;
}

/** The options for reading the file. */
function readingOf({ options }: Call<typeof declared>): ImportOptions {
  const mapping = mappingOf(options.mapping);
  const said = {
    timeZone: options["time-zone"],
    dateFormat: options["date-format"],
    phoneRegion: options["phone-region"],
    encoding: options.encoding,
    consentAt: options["consent-at"],
    consentSource: options["consent-source"],
  };
  const filled = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
  return { ...filled, ...(mapping && { mapping }), startJourneys: options["no-journeys"] !== true };
}

async function listOf({ options }: Call<typeof declared>, connection: Connection): Promise<string> {
  const { list = "", create } = options;
  if (!create) return idOf(connection, "lists", list);
  const found = (await listAll(connection, "lists")).find(isCalled(list));
  if (!found && options["dry-run"])
    throw usageError(`There is no list ${list}, and a dry run makes none: name one that there is.`);
  return String((found ?? (await connection.client.lists.create({ name: list }))).id);
}

function barOf({ processed_rows, total_rows }: Job): string {
  if (!total_rows) return `${processed_rows} rows`;
  const share = Math.min(1, processed_rows / total_rows);
  const full = Math.round(share * BAR_CHARACTERS);
  return `[${"#".repeat(full)}${".".repeat(BAR_CHARACTERS - full)}] ${processed_rows} of ${total_rows} rows`;
}

/** @returns undefined after Ctrl-C while the service could not be reached */
async function waitFor(io: Io, { client }: Connection, id: string): Promise<Job | undefined> {
  for (;;) {
    const job = await patiently(io, () => client.imports.getListsImport(id));
    if (!job) return undefined;
    const isOver = !["pending", "processing"].includes(job.status);
    io.progress(`${barOf(job)} ${job.status}${isOver ? "\n" : ""}`);
    if (isOver || io.signal.aborted) return job;
    await io.pause(POLL_MS);
  }
}

function report(io: Io, job: Job): void {
  io.out(
    `${job.status}: ${job.processed_rows} rows, ${job.failed_rows} rejected${job.dry_run ? ", nothing was written" : ""}`,
  );
  if (job.error_message) io.out(job.error_message);
  for (const { line, reason } of job.rejected_sample) io.out(`  line ${line}: ${reason}`);
  for (const { header, suggestion } of job.columns)
    if (suggestion !== null) io.out(`  column ${header}: perhaps ${suggestion}`);
  if (job.rejected_rows_url) io.out(`All rejected rows: ${job.rejected_rows_url}`);
}

const sources = ["csv", "platform_a", "platform_b"] as const;

export const importFile = command({
  name: "import",
  args: "<file>",
  summary: "Import a CSV file of subscribers into a list, with its progress",
  about: "Ctrl-C ends the waiting, not the import. Exit code 1 if rows were rejected or the import failed.",
  options: declared,
  run: async (call) => {
    const { io, options, args } = call;
    const [path = ""] = args;
    if (options.list === undefined) throw usageError("--list is required: a list by name or id.");
    const source = sources.find((candidate) => candidate === (options.source ?? "csv"));
    if (!source) throw usageError(`--source must be one of ${sources.join(", ")}.`);
    const reading = readingOf(call);
    const file = resolve(io.cwd, path);
    const found = await stat(file).catch(() => undefined);
    if (!found?.isFile()) throw new CommandError(`There is no file ${path}.`);
    return withConnection(io, options, async (connection) => {
      const list = await listOf(call, connection);
      const settings: ImportOptions = { ...reading, source, dryRun: options["dry-run"] === true };
      const { import_job_id } = await connection.client.importCsv(list, await openAsBlob(file), settings);
      const job = await waitFor(io, connection, import_job_id);
      if (!job) throw new CommandError(`The import ${import_job_id} goes on without this command.`);
      if (options.json) io.out(JSON.stringify(job));
      else report(io, job);
      return job.status === "completed" && job.failed_rows === 0 ? EXIT.ok : EXIT.failed;
    });
  },
});
