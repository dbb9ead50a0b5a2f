// Moves from Pinpoint: its exports become configuration files, subscribers and devices, with a report of the fields
// that did not fit.
import { writeFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { type Call, command, EXIT } from "../command.ts";
import { fileNameOf, writeDocument } from "../config/files.ts";
import { type Connection, withConnection } from "../connection.ts";
import { makeFolder } from "../folders.ts";
import { listAll } from "../names.ts";
import { convertCampaigns } from "../pinpoint/campaigns.ts";
import { createChannels } from "../pinpoint/channels.ts";
import { convertJourneys } from "../pinpoint/journeys.ts";
import { personOf } from "../pinpoint/people.ts";
import { endpointsIn, type PinpointExport, readExport } from "../pinpoint/read.ts";
import { createReport, type Report, readable } from "../pinpoint/report.ts";
import { type Audiences, convertSegments } from "../pinpoint/segments.ts";
import { convertTemplates } from "../pinpoint/templates.ts";
import { createWriter, forEachOf } from "../pinpoint/writer.ts";
import type { Resource } from "../resource.ts";

const AT_ONCE = 8;
const MEMBERS_AT_ONCE = 1_000;

const declared = {
  out: { type: "string", value: "<folder>", about: "Where the files are written (default: engagement)" },
  people: { type: "boolean", about: "Write subscribers and devices to the workspace, too" },
} as const;

type PinpointCall = Call<typeof declared>;

function convert(call: PinpointCall, { things }: PinpointExport, out: string, report: Report): Audiences {
  const channels = createChannels();
  const audiences = convertSegments(things.segments, report);
  const templates = convertTemplates(things.templates, report);
  const context = { report, audiences, templates, channels, now: call.io.now() };
  const journeys = convertJourneys(things.journeys, context);
  const campaigns = convertCampaigns(things.campaigns, context);
  const { lists, segments } = audiences;
  const kinds = { lists, segments, templates: templates.files, journeys, campaigns, channels: channels.files };
  for (const [kind, files] of Object.entries(kinds)) {
    const taken = new Set<string>();
    for (const [name, document] of files) {
      const file = fileNameOf(name, taken);
      taken.add(file);
      writeDocument(out, `${kind}/${file}`, document);
    }
  }
  return audiences;
}

/** The list whose imported segment's name, id or own file is in the path of a file of endpoints. */
function listOf(path: string, { byId, lists, imported }: Audiences): string | undefined {
  const parts = new Set(path.split(sep).flatMap((part) => [part, part.replace(/(\.jsonl?|\.csv)?(\.gz)?$/, "")]));
  for (const [id, found] of byId)
    if (found.type === "list" && (parts.has(id) || parts.has(found.list))) return found.list;
  const name = [...lists.keys()].find((key) => parts.has(key));
  return name ?? [...parts].flatMap((part) => imported.get(part) ?? [])[0];
}

/** A list without a file of its members stays empty. */
function reportEmpty(folder: string, { endpointFiles }: PinpointExport, audiences: Audiences, report: Report): void {
  const filled = new Set(endpointFiles.map((file) => listOf(relative(folder, file), audiences)));
  for (const name of audiences.lists.keys())
    if (!filled.has(name))
      report.unmapped({ kind: "segments", name }, "ImportDefinition", "has no file of its members in the folder");
}

async function* people(folder: string, { endpointFiles }: PinpointExport, report: Report) {
  for (const file of endpointFiles) {
    const path = relative(folder, file);
    for await (const endpoint of endpointsIn(file, path, report)) yield { endpoint, path };
  }
}

async function readPeople(folder: string, found: PinpointExport, report: Report, now: number): Promise<void> {
  for await (const { endpoint } of people(folder, found, report)) {
    report.count("endpoints read");
    if (!personOf(endpoint, report, now)) reportNobody(report);
  }
}

const reportNobody = (report: Report): void => report.unmapped({ kind: "endpoints", name: "" }, "Id", "is missing");

async function writePeople(
  { io }: PinpointCall,
  connection: Connection,
  { folder, found, audiences, report }: { folder: string; found: PinpointExport; audiences: Audiences; report: Report },
): Promise<void> {
  const { sdk_key } = await connection.client.account.getSdkKey();
  const write = createWriter(connection.withSdkKey(sdk_key), report);
  const members = new Map<string, Set<string>>();
  let done = 0;
  await forEachOf(people(folder, found, report), AT_ONCE, async ({ endpoint, path }) => {
    report.count("endpoints read");
    const person = personOf(endpoint, report, io.now());
    if (!person) return reportNobody(report);
    const id = await write(endpoint, person);
    const list = listOf(path, audiences);
    if (id && list) members.set(list, (members.get(list) ?? new Set()).add(id));
    done++;
    if (done % 100 === 0) io.progress(`${done} endpoints`);
  });
  if (done > 0) io.progress(`${done} endpoints\n`);
  const lists = new Map((await listAll(connection, "lists")).map(({ name, id }) => [String(name), String(id)]));
  for (const [name, ids] of members) {
    const id = lists.get(name) ?? (await connection.client.lists.create({ name })).id;
    const all = [...ids];
    for (let from = 0; from < all.length; from += MEMBERS_AT_ONCE)
      await connection.client.lists.createSubscriber(id, { subscriber_ids: all.slice(from, from + MEMBERS_AT_ONCE) });
    report.count("members of lists written", all.length);
  }
}

function writeReport(out: string, report: Report): void {
  makeFolder(out);
  const { counts, entries } = report;
  writeFileSync(join(out, "pinpoint-report.json"), `${JSON.stringify({ counts, unmapped: entries }, null, 2)}\n`);
  writeFileSync(join(out, "pinpoint-report.txt"), readable(report));
}

export const fromPinpoint = command({
  name: "from-pinpoint",
  args: "<folder>",
  summary: "Turn exports of Amazon Pinpoint into files, subscribers and devices",
  about:
    "The folder holds what the API of Pinpoint returned: segments, journeys, templates and campaigns as JSON, and endpoints as\n" +
    "CreateExportJob wrote them (JSON lines or CSV, packed or not), under any names. Files of configuration are written for `diff`\n" +
    "and `apply`. pinpoint-report.json and .txt name every field that was not carried over.",
  options: declared,
  run: async (call) => {
    const { io, options, args } = call;
    const folder = resolve(io.cwd, args[0] ?? "");
    const out = resolve(io.cwd, options.out ?? "engagement");
    const report = createReport();
    const found = readExport(folder, report);
    const audiences = convert(call, found, out, report);
    reportEmpty(folder, found, audiences, report);
    if (options.people)
      await withConnection(io, options, (connection) =>
        // The report includes what was written before a failure.
        writePeople(call, connection, { folder, found, audiences, report }).finally(() => writeReport(out, report)),
      );
    else {
      await readPeople(folder, found, report, io.now());
      writeReport(out, report);
    }
    print(call, out, report);
    return EXIT.ok;
  },
});

function print({ io, options }: PinpointCall, out: string, { counts, entries }: Report): void {
  const result: Resource = { counts, unmapped: entries };
  if (options.json) {
    io.out(JSON.stringify(result));
    return;
  }
  for (const [what, n] of Object.entries(counts)) io.out(`${what}: ${n}`);
  io.out(
    `${entries.length} kinds of fields were not carried over: see ${relative(io.cwd, join(out, "pinpoint-report.txt"))}`,
  );
  if (!options.people && (counts["endpoints read"] ?? 0) > 0) io.out("No subscriber was written: that takes --people.");
}
