// Keys of a rule or filter that no subscriber has: most often a misspelling, which `$ne` would send to everybody (AMB-148).
import * as v from "valibot";
import { said, titled } from "../../contract/schemas.ts";
import type { StoreReader } from "../context.ts";
import { isKept, MAX_NAMES, namesOf } from "./names.ts";

const KeyWarning = titled("KeyWarning", {
  code: v.literal("unknown_attribute"),
  key: said("The key, as it is written in the rule or filter", v.string()),
  message: v.string(),
});
type KeyWarning = v.InferOutput<typeof KeyWarning>;

/** Fields of the subscriber itself, which rules see beside the attributes. */
const FIELDS: ReadonlySet<string> = new Set(["external_id", "email", "created_at"]);

export const KeyWarnings = said(
  "The keys of the rule or filter that no subscriber has; absent where there is none",
  v.optional(v.array(KeyWarning)),
);

/**
 * The keys that no subscriber has or had, each with a sentence. None are named where a workspace has no attributes yet,
 * or more keys than are kept.
 */
export async function unknownKeys(store: StoreReader, keys: readonly string[]): Promise<{ warnings?: KeyWarning[] }> {
  const asked = [...new Set(keys)].filter((key) => !FIELDS.has(key) && isKept(key));
  if (asked.length === 0) return {};

  const known = new Set(await namesOf(store, "attributes"));
  if (known.size === 0 || known.size >= MAX_NAMES.attributes) return {};
  const unknown = asked.filter((key) => !known.has(key));
  return unknown.length > 0 ? { warnings: unknown.map(warningOf) } : {};
}

const warningOf = (key: string): KeyWarning => ({
  code: "unknown_attribute",
  key,
  message: `No subscriber has the attribute ${key}.`,
});
