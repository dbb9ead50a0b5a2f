// What the caller of an import says that columns mean (RDA-14).
import * as v from "valibot";
import { refusePrototypeKeys } from "../../../shared/http/input.ts";
import { ApiError } from "../../../shared/kernel/errors.ts";
import { type ColumnMapping, columnName, mappedTopics, mappingProblem } from "../../../shared/rules/import-columns.ts";
import { checkJson } from "../../../shared/rules/json-limits.ts";
import type { StoreReader } from "../../../shared/store/context.ts";
import { listTopics } from "../../../shared/store/topics/topics.ts";

const MAX_MAPPED = 200;

/** A field of the form that cannot be right. */
export const bad = (field: string, reason: string) =>
  new ApiError("BAD_REQUEST", `${field}: ${reason}`, { fields: { [field]: reason } });

const MappingText = v.pipe(
  v.string(),
  v.parseJson({ reviver: refusePrototypeKeys }),
  v.check((value) => !Array.isArray(value) && checkJson(value) === undefined),
  v.record(v.string(), v.string()),
);

/** @throws 400 for what is no mapping of columns. */
export function mappingOf(text: string | undefined): ColumnMapping | undefined {
  if (text === undefined) return undefined;
  const parsed = v.safeParse(MappingText, text);
  if (!parsed.success) throw bad("mapping", "must be a JSON object of texts");
  const entries = Object.entries(parsed.output);
  if (entries.length > MAX_MAPPED) throw bad("mapping", `must have at most ${MAX_MAPPED} columns`);
  for (const [name, target] of entries) {
    const problem = mappingProblem(target);
    if (problem) throw bad(`mapping.${name}`, problem);
  }
  const columns = entries.map(([name]) => columnName(name));
  const twice = columns.find((name, i) => columns.indexOf(name) !== i);
  if (twice !== undefined) throw bad("mapping", `names the column ${twice} twice`);
  return parsed.output;
}

/** @throws 400 for a topic that there is not. */
export async function refuseUnknownTopics(store: StoreReader, mapping: ColumnMapping = {}): Promise<void> {
  if (mappedTopics(mapping).length === 0) return;
  const keys = (await listTopics(store)).map(({ key }) => key);
  const unknown = Object.entries(mapping).find((entry) =>
    mappedTopics(Object.fromEntries([entry])).some((key) => !keys.includes(key)),
  );
  if (unknown) throw bad(`mapping.${unknown[0]}`, "no such topic in this workspace");
}
