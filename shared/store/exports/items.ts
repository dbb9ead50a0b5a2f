// The stored form of exports (RDA-16), for 30 days.
import * as v from "valibot";
import { exportStatuses } from "../../rules/export-states.ts";
import { entity } from "../item.ts";
import { json } from "../json-text.ts";

export const exportKinds = [
  "subscribers",
  "list",
  "segment",
  "recipients",
  "events",
  "report",
  "suppressions",
] as const;
export type ExportKind = (typeof exportKinds)[number];

export interface ExportFilter {
  list_id?: string | undefined;
  segment_id?: string | undefined;
  notification_id?: string | undefined;
  start?: string | undefined;
  end?: string | undefined;
}

export const ExportItem = entity("export", {
  about: "An export: what is written into its file, and how far it has got.",
  row: {
    react: v.literal("export"),
    id: v.string(),
    kind: v.picklist(exportKinds),
    filter: json<ExportFilter>(),
    status: v.picklist(exportStatuses),
    /** The end of a worker's lease, in milliseconds. */
    lease: v.optional(v.number()),
    rows: v.optional(v.number()),
    /** The columns of the file; absent before it is begun. */
    columns: v.optional(json<string[]>()),
    /** Where reading continues. */
    position: v.optional(v.string()),
    /** The multipart upload of a large file, and the tags of its parts. */
    upload: v.optional(v.string()),
    parts: v.optional(json<string[]>()),
    /** The text that is not yet a part is an object of its own. */
    has_rest: v.optional(v.boolean()),
    error: v.optional(v.string()),
    created_at: v.string(),
    completed_at: v.optional(v.string()),
    expires: v.number(),
  },
  writers: ["api-imports", "import-rows", "erase"],
  lifetime: "30 days",
});
