// Lambda's event filtering, as far as the patterns of our workers go: local mappings pass on what a deployment would.
import type { StreamPattern } from "../shared/contract/stream-sources.ts";

/** Whether a record matches one of the patterns. */
export const matchesOne = (patterns: readonly StreamPattern[], record: object): boolean =>
  patterns.some((pattern) => matches(pattern, record));

function matches(pattern: StreamPattern, value: unknown): boolean {
  return Object.entries(pattern).every(([name, wanted]) => {
    const found = Object(value)[name] as unknown;
    if (!isRules(wanted)) return matches(wanted, found);
    return wanted.some((rule) => {
      if (typeof rule === "string") return found === rule;
      if ("exists" in rule) return found !== undefined;
      return typeof found === "string" && found.startsWith(rule.prefix);
    });
  });
}

type Rules = Extract<StreamPattern[string], readonly unknown[]>;
const isRules = (wanted: StreamPattern[string]): wanted is Rules => Array.isArray(wanted);
