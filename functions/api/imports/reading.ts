// How an import file is to be read, and what its columns mean, as the caller says (AMB-133).
import * as v from "valibot";
import { OneOf, Region, said, TimeZone, TrimmedTextUpTo } from "../../../shared/contract/schemas.ts";
import { invalid } from "../../../shared/kernel/errors.ts";
import {
  type ColumnMapping,
  columnName,
  IGNORED,
  mappedTopics,
  mappingProblem,
  OTHERS,
} from "../../../shared/rules/import-mapping.ts";
import { dateOrderOf, readTime } from "../../../shared/rules/import-times.ts";
import { checkJson } from "../../../shared/rules/json-limits.ts";
import type { StoreReader } from "../../../shared/store/context.ts";
import { encodingOf, encodings } from "../../../shared/store/files/encodings.ts";
import type { ImportReadingOptions } from "../../../shared/store/subscribers/imports.ts";
import { listTopics } from "../../../shared/store/topics/topics.ts";

export const MAX_MAPPED = 1_000;

const MappingText = v.pipe(
  v.string(),
  v.parseJson(),
  v.check((value) => !Array.isArray(value) && checkJson(value) === undefined),
  v.record(v.string(), v.string()),
);

/** Parses the mapping of columns. @throws 422 if it is none */
export function mappingOf(text: string | undefined): ColumnMapping | undefined {
  if (text === undefined) return undefined;
  const parsed = v.safeParse(MappingText, text);
  if (!parsed.success) throw invalid({ mapping: "must be a JSON object of texts" });

  const entries = Object.entries(parsed.output);
  if (entries.length > MAX_MAPPED) throw invalid({ mapping: `must have at most ${MAX_MAPPED} columns` });
  for (const [name, target] of entries) {
    const problem = name === OTHERS && target !== IGNORED ? `must be ${IGNORED}` : mappingProblem(target);
    if (problem) throw invalid({ [`mapping.${name}`]: problem });
  }

  const columns = entries.map(([name]) => columnName(name));
  const twice = columns.find((name, i) => columns.indexOf(name) !== i);
  if (twice !== undefined) throw invalid({ mapping: `names the column ${twice} twice` });
  return parsed.output;
}

/** Refuses topics that do not exist. @throws 422 naming one */
export async function refuseUnknownTopics(store: StoreReader, mapping: ColumnMapping = {}): Promise<void> {
  if (mappedTopics(mapping).length === 0) return;
  const topics = new Set((await listTopics(store)).map(({ key }) => key));
  for (const [column, target] of Object.entries(mapping)) {
    const isUnknown = mappedTopics({ [column]: target }).some((key) => !topics.has(key));
    if (isUnknown) throw invalid({ [`mapping.${column}`]: "no such topic in this workspace" });
  }
}

const MAX_AHEAD_MS = 300_000;
const DATE_FORMAT = "must be a pattern such as dd/mm/yyyy, mm/dd/yyyy or yyyy-mm-dd";

/** An encoding by any of its labels. */
const canonical = v.transform((text: string) => encodingOf(text.trim().toLowerCase()));
const upper = v.transform((text: string) => text.trim().toUpperCase());

export const readingFields = {
  time_zone: said(
    "Of times without a zone, and of bare dates. Default: the time zone of the workspace",
    v.optional(TimeZone),
  ),
  date_format: said(
    "How days such as 03/04/2024 are read, as `dd/mm/yyyy`. Without it only those are that can be read in one way",
    v.optional(
      v.pipe(
        v.string(),
        v.maxLength(32, DATE_FORMAT),
        v.check((text) => dateOrderOf(text) !== undefined, DATE_FORMAT),
      ),
    ),
  ),
  phone_region: said(
    "Where phone numbers without a country code are from, as ISO 3166. Default: the country of the row, else the region " +
      "of the workspace",
    v.optional(v.pipe(v.string(), v.maxLength(64), upper, Region)),
  ),
  encoding: said(
    "Default: UTF-8 or UTF-16; of a file that is neither, the one in which the names of its columns are known, else the " +
      "one whose words its words are: Shift_JIS of Japanese, Windows-1251 of Cyrillic, Windows-1250 of Polish, " +
      "Windows-1254 of Turkish, Windows-1252 of others. Where nothing shows it, the import fails and asks for it. " +
      "`latin1`, `gb2312` and other labels of the same are taken too",
    v.optional(v.pipe(v.string(), v.maxLength(64), canonical, OneOf(encodings))),
  ),
  start_journeys: said(
    "`false`: what the rows change counts in segments and reports, and starts no journey",
    v.optional(v.picklist(["true", "false"], "must be true or false"), "true"),
  ),
  consent_at: said(
    "When those agreed who say yes in the file without a time",
    v.optional(v.pipe(v.string(), v.trim(), v.maxLength(64))),
  ),
  consent_source: said(
    "Where the consents of the file are from, if it does not say so",
    v.optional(TrimmedTextUpTo(256)),
  ),
};

const Reading = v.object(readingFields);

/**
 * Reads the options of an import.
 * @param ownZone the time zone of the workspace
 * @throws 422 for a `consent_at` that is not a time, or is in the future
 */
export async function readingOptionsOf(
  given: v.InferOutput<typeof Reading>,
  now: number,
  ownZone: () => Promise<string | undefined>,
): Promise<ImportReadingOptions> {
  const { time_zone, date_format, phone_region, encoding, consent_at, consent_source } = given;
  const date_order = date_format === undefined ? undefined : dateOrderOf(date_format);
  if (consent_at !== undefined) {
    const zone = time_zone ?? (await ownZone()) ?? "UTC";
    const at = readTime(consent_at, { zone, order: date_order });
    if (at === undefined) throw invalid({ consent_at: "must be a time such as 2024-03-04T05:06:07Z, or a date" });
    if (at > now + MAX_AHEAD_MS) throw invalid({ consent_at: "must not be more than 5 minutes in the future" });
  }
  const start_journeys = given.start_journeys === "false" ? (false as const) : undefined;
  return { encoding, time_zone, date_order, phone_region, start_journeys, consent_at, consent_source };
}
