// The platforms whose exports are read directly (IMP-10): our own format, and two others.
import type { Standard } from "./import-names.ts";

export const importSources = ["csv", "platform_a", "platform_b"] as const;
export type ImportSource = (typeof importSources)[number];

/** The meanings of a source's columns beside their usual names, in lower case. */
export const presets: Record<ImportSource, Record<string, Standard>> = {
  csv: {},
  platform_a: { source: "consent_source" },
  platform_b: { status: "consent_status", source: "consent_source" },
};

/** Further columns with evidence of consent. They become attributes only if they are in `KEPT` too. */
export const EVIDENCE: Record<ImportSource, readonly string[]> = {
  csv: [],
  platform_a: ["email suppressions"],
  platform_b: ["unsub_time", "clean_time", "confirm_time", "optin_time", "optin_ip", "confirm_ip"],
};
