// The stored form of import jobs (IMP), for 30 days.
import * as v from "valibot";
import type { ColumnMapping } from "../../rules/import-mapping.ts";
import type { ShownNumbers } from "../../rules/import-names.ts";
import { importSources } from "../../rules/import-sources.ts";
import { importStatuses } from "../../rules/import-states.ts";
import { dateOrders } from "../../rules/import-times.ts";
import type { ColumnType } from "../../rules/import-values.ts";
import { encodings } from "../files/encodings.ts";
import { entity, item } from "../item.ts";
import { json } from "../json-text.ts";

/** Characters that are kept of a cell of a rejected row. */
export const MAX_CELL_CHARACTERS = 200;

/** How many rows had which outcome of their consent, or of their choice of a topic. */
export type ChoiceSummary = Record<"opted_in" | "opted_out" | "unknown" | "unchanged", number>;
/** `yes_without_time` and `future` say why some of the unknown ones are. */
export type ConsentSummary = ChoiceSummary & Record<"suppressed" | "yes_without_time" | "future", number>;
/** How many rows had a phone number that was in E.164 form, was brought into it, or could not be. */
export type PhoneSummary = Record<"kept" | "converted" | "unreadable", number>;

/** A row of the file that was not imported, or not whole. */
export interface RejectedRow {
  line: number;
  reason: string;
  cells: readonly string[];
}

export const ImportItem = entity("import", {
  about: "An import job: how far its file has been read, and what became of the rows.",
  row: {
    react: v.literal("import"),
    id: v.string(),
    list: v.string(),
    source: v.picklist(importSources),
    /** Everything is checked and counted, nothing is written (F13). */
    dry_run: v.optional(v.literal(true)),
    status: v.picklist(importStatuses),
    bytes: v.number(),
    processed: v.optional(v.number()),
    failed: v.optional(v.number()),
    /** Rows of people that the list asks to confirm. */
    pending: v.optional(v.number()),
    /** Rows by the outcome of their consent: a status, or `unchanged`. */
    "consent:*": v.number(),
    "phone:*": v.number(),
    /** Counted before the first row is imported. */
    total: v.optional(v.number()),
    error: v.optional(v.string()),
    /** Where reading continues: the byte after the last record that is accounted for, and its line. */
    offset: v.number(),
    line: v.number(),
    header: v.optional(json<string[]>()),
    /** The caller's mapping of columns. */
    mapping: v.optional(json<ColumnMapping>()),
    /** The keys of the topics that the workspace had when the header was read. */
    topics: v.optional(json<readonly string[]>()),
    /** The counts of choices, by the keys of the topics that the file has columns for. */
    choices: v.optional(json<Readonly<Record<string, ChoiceSummary>>>()),
    /** The same of the channels that send to a number. */
    channels: v.optional(json<Readonly<Record<string, ChoiceSummary>>>()),
    /** How many subscribers a dry run would create. */
    would_create: v.optional(v.number()),
    delimiter: v.optional(v.string()),
    /** As the caller said, or as the file is. */
    encoding: v.optional(v.picklist(encodings)),
    /** The type of each column, from all rows of the file. */
    types: v.optional(json<readonly ColumnType[]>()),
    /** The evidence about numbers without a plus in each column. */
    numbers: v.optional(json<readonly ShownNumbers[]>()),
    /** How times and phone numbers are read: as the caller said, else by the settings of the workspace. */
    time_zone: v.optional(v.string()),
    date_order: v.optional(v.picklist(dateOrders)),
    phone_region: v.optional(v.string()),
    region: v.optional(v.string()),
    /** Whether changes by the rows may start journeys; absent: they may. */
    start_journeys: v.optional(v.literal(false)),
    /** The time of the consents of the whole file. */
    consent_at: v.optional(v.string()),
    consent_source: v.optional(v.string()),
    /** Which worker reads the file, and until when no other one may, in milliseconds. */
    owner: v.optional(v.string()),
    lease: v.optional(v.number()),
    /** Whether there is a file of the rejected rows: an erasure deletes one that names its subscriber. */
    rejected_file: v.optional(v.boolean()),
    /** The same of the rows of which something could not be taken, and how many they are. */
    warnings_file: v.optional(v.boolean()),
    warned: v.optional(v.number()),
    created_at: v.string(),
    completed_at: v.optional(v.string()),
    expires: v.number(),
  },
  writers: ["api-imports", "import-rows", "erase"],
  lifetime: "30 days",
});

export const ImportSample = item({
  about:
    "The first row of an import, and those below with a cell where all above are empty: they show what columns hold.",
  pk: ({ job }: { job: string }) => `import#${job}`,
  sk: () => "S",
  prefix: "S",
  row: {
    cells: json<readonly string[]>(),
    more: v.optional(json<readonly (readonly string[])[]>()),
    expires: v.number(),
  },
  writers: ["import-rows", "erase"],
  lifetime: "30 days",
  personal: "removed",
});

export const RejectedRows = item({
  about: "Rows of an import that were rejected or have warnings, by the byte at which their batch begins.",
  pk: ({ job }: { job: string }) => `import#${job}`,
  sk: ({ offset }: { offset: number }) => `X#${String(offset).padStart(12, "0")}`,
  prefix: "X#",
  row: {
    rows: json<readonly RejectedRow[]>(),
    warnings: v.optional(json<readonly RejectedRow[]>()),
    expires: v.number(),
  },
  writers: ["import-rows", "erase"],
  lifetime: "30 days",
  personal: "removed",
});

export interface AwaitedStatement {
  line: number;
  /** Since when, RFC 3339; else since the creation of the import. */
  at?: string | undefined;
  source?: string | undefined;
}

export const AwaitedRefusal = item({
  about:
    "What rejected rows of an import refuse of somebody who was not there, and how they say to reach it: it holds once a row " +
    "behind them creates the person, or for the address.",
  pk: ({ job }: { job: string }) => `import#${job}`,
  sk: ({ subscriber }: { subscriber: string }) => `W#${subscriber}`,
  prefix: "W#",
  row: {
    /** By channel, the first statement of the rejected rows. */
    "o:*": json<AwaitedStatement>(),
    /** Mail to the address of the person is suppressed. */
    suppressed: v.optional(json<AwaitedStatement>()),
    email: v.optional(v.string()),
    phone: v.optional(v.string()),
    expires: v.number(),
  },
  writers: ["import-rows", "erase"],
  lifetime: "30 days",
  personal: "removed",
});

export const ImportPack = item({
  about: "A batch of an import: its rows, written one by one, name it until its seal counts them.",
  pk: () => "IMPORTPACKS",
  sk: ({ pack }: { pack: string }) => pack,
  row: {
    job: v.string(),
    list: v.string(),
    /** 16 bytes each. */
    subscribers: v.custom<Uint8Array>((value) => value instanceof Uint8Array),
    /** When its worker does not write any more, in milliseconds. */
    until: v.number(),
    /** How many of its members were removed from the list before the seal, by the first digit of their ids. */
    "gone:*": v.number(),
    /** How often it was written: it guards against the seal of another worker. */
    removals: v.optional(v.number()),
  },
  writers: ["import-rows", "api-lists", "ask-confirmation", "erase", "recount"],
  lifetime: "until its rows are counted",
});
