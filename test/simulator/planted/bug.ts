// A planted bug: a part of one file's text, replaced when the file is loaded.
import type { ProfileName } from "../profiles.ts";

export interface Bug {
  name: string;
  area:
    | "ledger"
    | "claims"
    | "cancel"
    | "timers"
    | "reactions"
    | "counters"
    | "tenancy"
    | "erasure"
    | "events"
    | "inbox";
  file: string;
  /** Occurs exactly once in the file. */
  find: string;
  replace: string;
  /** Where to look for it: every scenario and profile in turn unless said. */
  scenario?: string;
  profile?: ProfileName;
}
