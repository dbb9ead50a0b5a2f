// The report on an export of Pinpoint: the converted things, and every field that was not converted.
import type { Resource } from "../resource.ts";

interface UnmappedField {
  /** `segments`, `endpoints`, … */
  kind: string;
  /** The name of the thing; for endpoints, that of the first one. */
  name: string;
  /** `Activities.a1.RandomSplit` */
  field: string;
  reason: string;
  /** How often the field occurs, if it is a field of endpoints. */
  count: number;
}

/** The thing that a field is of. */
export type At = Pick<UnmappedField, "kind" | "name">;

export interface Report {
  /** Notes a field that was not converted. For endpoints, equal fields and reasons are counted. */
  unmapped(at: At, field: string, reason: string): void;
  /** Reports all fields of an object but these. */
  rest(at: At, object: Resource, known: readonly string[], path?: string): void;
  /** Counts things that were read or written. */
  count(what: string, n?: number): void;
  counts: Record<string, number>;
  entries: UnmappedField[];
}

const NOT_CARRIED = "has no counterpart";

const isEmpty = (value: unknown) =>
  value === null ||
  value === undefined ||
  value === "" ||
  (typeof value === "object" && Object.keys(value as object).length === 0);

export function createReport(): Report {
  const found = new Map<string, UnmappedField>();
  const counts: Record<string, number> = {};
  const unmapped: Report["unmapped"] = ({ kind, name }, field, reason) => {
    const key = kind === "endpoints" ? `${kind} ${field} ${reason}` : `${kind} ${name} ${field} ${reason}`;
    const entry = found.get(key);
    if (entry) entry.count++;
    else found.set(key, { kind, name, field, reason, count: 1 });
  };
  return {
    unmapped,
    rest: (at, object, known, path = "") => {
      for (const [field, value] of Object.entries(object))
        if (!known.includes(field) && !isEmpty(value)) unmapped(at, `${path}${field}`, NOT_CARRIED);
    },
    count: (what, n = 1) => {
      counts[what] = (counts[what] ?? 0) + n;
    },
    counts,
    get entries() {
      return [...found.values()];
    },
  };
}

/** The report as a page for people. */
export function readable({ counts, entries }: Report): string {
  const kinds = [...new Set(entries.map(({ kind }) => kind))];
  const lines = [
    "# What was converted",
    "",
    ...Object.entries(counts).map(([what, n]) => `- ${what}: ${n}`),
    "",
    "# What was not",
    "",
    ...(entries.length === 0 ? ["Everything was converted."] : []),
    ...kinds.flatMap((kind) => [
      `## ${kind}`,
      "",
      ...entries
        .filter((entry) => entry.kind === kind)
        .map(
          ({ name, field, reason, count }) =>
            `- ${name}: \`${field}\` ${reason}${count > 1 ? ` (${count} times)` : ""}`,
        ),
      "",
    ]),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}
