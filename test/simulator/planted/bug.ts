// A planted bug: a part of one file's text, replaced when the file is loaded.

/** The areas of the product. */
export const areas = [
  "cancel",
  "audit",
  "campaigns",
  "claims",
  "counters",
  "erasure",
  "events",
  "experiences",
  "imports",
  "inbox",
  "journeys",
  "ledger",
  "lists",
  "pacing",
  "purge",
  "quotas",
  "reactions",
  "retries",
  "revocation",
  "sandboxes",
  "segments",
  "sending",
  "suspension",
  "tenancy",
  "timers",
  "webhooks",
] as const;

/** A part of a file's text. */
interface Patch {
  file: string;
  /** Occurs exactly once in the file. */
  find: string;
  replace: string;
}

export interface Bug extends Patch {
  name: string;
  area: (typeof areas)[number];
  /** Other parts that the bug needs. */
  also?: readonly Patch[];
}
