// Reads what the API of Pinpoint returned: JSON files of segments, journeys, templates and campaigns, with or without
// the envelope of the command line, and endpoints as JSON lines or CSV, packed or not.
import { createReadStream, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { CommandError } from "../command.ts";
import { isObject, parsed, type Resource } from "../resource.ts";
import type { Report } from "./report.ts";
import { hasContent } from "./templates.ts";

type PinpointKind = "segments" | "journeys" | "templates" | "campaigns";

export interface PinpointExport {
  things: Record<PinpointKind, Resource[]>;
  /** Files that may hold endpoints. */
  endpointFiles: string[];
}

/** The envelope that the command line of AWS puts around a response. */
const ENVELOPE =
  /^(Segment|Journey|Campaign|Endpoint|EmailTemplate|PushNotificationTemplate|SMSTemplate|VoiceTemplate|InAppTemplate|Templates)(s?)Response$/;

/** An endpoint, or a member of an imported segment that is named by its user. */
const isEndpoint = (value: Resource) =>
  (typeof value.ChannelType === "string" && "Address" in value) ||
  (isObject(value.User) && typeof value.User.UserId === "string");

function kindOf(value: Resource): PinpointKind | "endpoint" | undefined {
  if ("SegmentType" in value || "SegmentGroups" in value) return "segments";
  if ("Activities" in value || "StartActivity" in value) return "journeys";
  if ("TemplateType" in value) return "templates";
  if ("SegmentId" in value && ("MessageConfiguration" in value || "TemplateConfiguration" in value)) return "campaigns";
  if (isEndpoint(value)) return "endpoint";
  return undefined;
}

/**
 * The responses in a document: itself, what its envelope holds, or the items of a list.
 * @param isCut is called for a list that has more pages
 */
function responsesIn(value: unknown, isCut: () => void): Resource[] {
  if (Array.isArray(value)) return value.flatMap((member) => responsesIn(member, isCut));
  if (!isObject(value)) return [];
  // Responses of the SDKs have metadata beside the envelope.
  const enveloped = Object.entries(value).find(([name]) => ENVELOPE.test(name));
  if (enveloped) return responsesIn(enveloped[1], isCut);
  if (!Array.isArray(value.Item)) return [value];
  if (typeof value.NextToken === "string" && value.NextToken !== "") isCut();
  return value.Item.flatMap((member) => responsesIn(member, isCut));
}

/** Sorts the files of a folder, whatever their names. @throws CommandError if there is none */
export function readExport(folder: string, report: Report): PinpointExport {
  const things: PinpointExport["things"] = { segments: [], journeys: [], templates: [], campaigns: [] };
  const endpointFiles: string[] = [];
  const files = filesIn(folder);
  if (files.length === 0) throw new CommandError(`There is no file in ${folder}.`);
  for (const file of files) {
    const document = documentOf(file);
    const at = { kind: "files", name: relative(folder, file) };
    const responses = responsesIn(document, () =>
      report.unmapped(at, "NextToken", "says that there are more pages: fetch them, too"),
    );
    if (document === undefined || responses.some((response) => kindOf(response) === "endpoint"))
      endpointFiles.push(file);
    for (const response of responses) {
      const kind = kindOf(response);
      if (kind === undefined) report.unmapped(at, "", "is of no known kind");
      else if (kind !== "endpoint") things[kind].push(response);
    }
  }
  for (const kind of Object.keys(things) as PinpointKind[]) {
    things[kind] = newestOf(kind, things[kind], report);
    if (things[kind].length > 0) report.count(`${kind} read`, things[kind].length);
  }
  return { things, endpointFiles };
}

/** A file that is one document of JSON. */
const documentOf = (file: string): unknown =>
  file.endsWith(".json") ? withoutNulls(parsed(textOf(readFileSync(file)))) : undefined;

/** Some SDKs write fields without a value as null. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const present = Object.entries(value).filter(([, value]) => value !== null);
  return Object.fromEntries(present.map(([name, value]) => [name, withoutNulls(value)]));
}

/** Decodes a file that a shell wrote: some shells write UTF-16, or a mark before UTF-8. */
const textOf = (bytes: Buffer): string => bytes.toString(isUtf16(bytes) ? "utf16le" : "utf8").replace(/^\uFEFF/, "");

const isUtf16 = ([first, second]: Buffer): boolean => first === 0xff && second === 0xfe;

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => !basename(name).startsWith("."))
      .map((name) => join(folder, name))
      .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile())
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw new CommandError(`There is no folder ${folder}.`);
    throw error;
  }
}

/**
 * The endpoints of a file, one at a time: such a file may be larger than the memory. The first line of a CSV names fields
 * by their paths, such as `User.UserAttributes.plan`.
 * @param name the file in the report
 */
export async function* endpointsIn(file: string, name: string, report: Report): AsyncGenerator<Resource> {
  try {
    for await (const { n, resources } of linesIn(file)) {
      const endpoints = resources.filter(isEndpoint);
      if (endpoints.length === 0) report.unmapped({ kind: "files", name: `${name}:${n}` }, "", "is no endpoint");
      yield* endpoints;
    }
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

interface FileLine {
  /** The number of the line, from 1. */
  n: number;
  resources: Resource[];
}

function linesIn(file: string): AsyncIterable<FileLine> | FileLine[] {
  // A document of one API response spans several lines, so the whole file is parsed.
  const document = documentOf(file);
  if (document !== undefined) return [{ n: 1, resources: responsesIn(document, () => undefined) }];
  const raw = createReadStream(file);
  const input = file.endsWith(".gz") ? raw.pipe(createGunzip()) : raw;
  const lines = linesOf(input);
  return /\.csv(\.gz)?$/i.test(file) ? recordsIn(lines) : documentsIn(lines);
}

/** The lines of a text, without a mark before them. */
async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const source = input[Symbol.asyncIterator]();
  const { value: first = Buffer.alloc(0) } = await source.next();
  const decoder = new TextDecoder(isUtf16(first) ? "utf-16le" : "utf-8");
  async function* text(): AsyncGenerator<string> {
    yield decoder.decode(first, { stream: true });
    for await (const chunk of { [Symbol.asyncIterator]: () => source }) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  }
  yield* createInterface({ input: Readable.from(text()), crlfDelay: Number.POSITIVE_INFINITY });
}

async function* documentsIn(lines: AsyncIterable<string>): AsyncGenerator<FileLine> {
  let n = 0;
  for await (const line of lines) {
    n++;
    if (line.trim() !== "") yield { n, resources: responsesIn(parsed(line), () => undefined) };
  }
}

async function* recordsIn(lines: AsyncIterable<string>): AsyncGenerator<FileLine> {
  let header: string[] | undefined;
  let cellsOf = cellsBetween(",");
  let text = "";
  let n = 0;
  for await (const line of lines) {
    n++;
    text = text === "" ? line : `${text}\n${line}`;
    // A quoted cell may hold line breaks.
    if (text === "" || (text.split('"').length - 1) % 2 === 1) continue;
    if (!header) {
      const first = text;
      cellsOf = cellsBetween([",", ";", "\t"].find((mark) => first.includes(mark)) ?? ",");
      header = cellsOf(first).map((cell) => cell.trim());
    } else yield { n, resources: [endpointOf(header, cellsOf(text))] };
    text = "";
  }
  // A quote that is never closed holds the rest of the file.
  if (text !== "") yield { n, resources: [] };
}

/** The cells of a line of RFC 4180; each begins behind a mark, the first one too, which may be empty. */
function cellsBetween(mark: string): (line: string) => string[] {
  const cell = new RegExp(`${mark}(?:"((?:[^"]|"")*)"(?=${mark}|$)|([^${mark}]*))`, "g");
  return (line) =>
    [...`${mark}${line}`.matchAll(cell)].map(([, quoted, plain = ""]) => quoted?.replaceAll('""', '"') ?? plain);
}

/** Attributes have lists of values, metrics have numbers. Columns of one name are values of one attribute. */
function endpointOf(header: readonly string[], cells: readonly string[]): Resource {
  const endpoint: Resource = {};
  for (const [i, path] of header.entries()) {
    const value = cells[i]?.trim() ?? "";
    if (value === "" || path === "") continue;
    const isList = /^(User\.User)?Attributes\./.test(path);
    const parts = isList || path.startsWith("Metrics.") ? splitAttribute(path) : path.split(".");
    const last = parts.pop() ?? "";
    let place = endpoint;
    for (const part of parts) {
      place[part] ??= {};
      place = place[part] as Resource;
    }
    if (isList) place[last] = [...((place[last] as string[] | undefined) ?? []), ...listedIn(value)];
    else place[last] = path.startsWith("Metrics.") && !Number.isNaN(Number(value)) ? Number(value) : value;
  }
  return endpoint;
}

/** The values of a cell: the elements of a JSON list, else its text. */
function listedIn(cell: string): string[] {
  const list = cell.startsWith("[") ? parsed(cell) : undefined;
  return Array.isArray(list) ? list.map(String) : [cell];
}

/** The name of an attribute may hold dots. */
function splitAttribute(path: string): string[] {
  const [, before = "", name = ""] = /^((?:User\.User)?Attributes|Metrics)\.(.+)$/.exec(path) ?? [];
  return [...before.split("."), name];
}

const nameOf = ({ Name, TemplateName, Id }: Resource): string => String(Name ?? TemplateName ?? Id);

const idOf = (kind: PinpointKind, thing: Resource): string =>
  kind === "templates" ? `${String(thing.TemplateType)} ${nameOf(thing)}` : String(thing.Id);

const versionOf = ({ Version }: Resource): number => Number(Version ?? 0);
const timeOf = ({ LastModifiedDate }: Resource): number => Date.parse(String(LastModifiedDate)) || 0;

/** List operations return templates without content. */
const isListed = (kind: PinpointKind, thing: Resource): boolean => kind === "templates" && !hasContent(thing);

/** The newest version of each thing, in the place of its first one: a folder may have several versions. */
function newestOf(kind: PinpointKind, found: readonly Resource[], report: Report): Resource[] {
  const byId = new Map<string, Resource[]>();
  for (const thing of found) byId.set(idOf(kind, thing), [...(byId.get(idOf(kind, thing)) ?? []), thing]);
  return [...byId.values()].map((all) => {
    const whole = all.filter((thing) => !isListed(kind, thing));
    const candidates = whole.length > 0 ? whole : all.slice(0, 1);
    const newest = candidates.reduce((a, b) => (isOlder(b, a) ? a : b));
    for (const thing of candidates)
      if (JSON.stringify(thing) !== JSON.stringify(newest)) reportOlder({ kind, name: nameOf(newest) }, thing, report);
    return newest;
  });
}

const isOlder = (a: Resource, b: Resource): boolean =>
  versionOf(a) === versionOf(b) ? timeOf(a) < timeOf(b) : versionOf(a) < versionOf(b);

function reportOlder(
  at: { kind: PinpointKind; name: string },
  { Version, LastModifiedDate }: Resource,
  report: Report,
): void {
  const which = Version === undefined ? `one of ${String(LastModifiedDate)}` : `version ${String(Version)}`;
  report.unmapped(at, "Version", `is several times in the folder: ${which} was left out for a newer one`);
}
