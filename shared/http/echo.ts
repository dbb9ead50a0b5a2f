// Accepts the response of a GET in a PUT or PATCH (AMB-115): fields outside the body's schema are dropped if they are
// unchanged, and reported otherwise. Times and counts are ignored, because the service changes them.
import * as v from "valibot";
import { isJsonObject } from "../kernel/objects.ts";
import { fieldPath } from "../rules/field-path.ts";

interface SchemaParts {
  entries?: Record<string, v.GenericSchema>;
  item?: v.GenericSchema;
  wrapped?: v.GenericSchema;
}

const partsOf = (schema: v.GenericSchema | undefined): SchemaParts => (schema ?? {}) as SchemaParts;

/** The schema inside `optional` and `nullable`. */
function innerOf(schema: v.GenericSchema | undefined): SchemaParts {
  const { wrapped } = partsOf(schema);
  return wrapped ? innerOf(wrapped) : partsOf(schema);
}

interface Echo {
  /** The body without the unchanged fields that its schema does not take. */
  body: unknown;
  /** Paths of read-only fields with a new value. */
  changed: string[];
}

/** Whether a value is unchanged, apart from times and counts, also inside. */
const isUnchanged = (name: string, sent: unknown, current: unknown): boolean =>
  typeof current === "number" ||
  (name.endsWith("_at") && current !== undefined) ||
  sent === current ||
  (typeof sent === "object" &&
    typeof current === "object" &&
    Object.keys({ ...sent, ...current }).every((key) => isUnchanged(key, Object(sent)[key], Object(current)[key])));

/** Removes unchanged read-only fields. @param current the present response of the GET */
export function withoutEcho(schema: v.GenericSchema, body: unknown, current: unknown): Echo {
  const changed: string[] = [];
  return { body: pruned(schema, body, current, { path: "", changed }), changed };
}

/** The present value of a list's member: the member with the same id, else the one in the same place. */
const sameIn = (current: readonly unknown[], sent: unknown, place: number): unknown =>
  current.find((item) => isJsonObject(item) && isJsonObject(sent) && item.id !== undefined && item.id === sent.id) ??
  current[place];

function pruned(
  schema: v.GenericSchema,
  sent: unknown,
  current: unknown,
  at: { path: string; changed: string[] },
): unknown {
  const { entries, item } = innerOf(schema);
  if (item && Array.isArray(sent) && Array.isArray(current))
    return sent.map((member, i) =>
      pruned(item, member, sameIn(current, member, i), { ...at, path: fieldPath(at.path, i) }),
    );
  if (!entries || !isJsonObject(sent) || !isJsonObject(current)) return sent;
  const kept = Object.entries(sent).flatMap(([name, value]): [string, unknown][] => {
    const path = fieldPath(at.path, name);
    const field = entries[name];
    if (field) {
      if (value === current[name] && !v.is(field, value)) return [];
      return [[name, pruned(field, value, current[name], { ...at, path })]];
    }
    // Who sends back a content without its large mail would take the mail away: the note of it is refused.
    if (name === "left_out" || !Object.hasOwn(current, name)) return [[name, value]];
    if (!isUnchanged(name, value, current[name])) at.changed.push(path);
    return [];
  });
  return Object.fromEntries(kept);
}
