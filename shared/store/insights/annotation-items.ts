// The stored form of chart annotations (ANN).
import * as v from "valibot";
import { said, Timestamp } from "../../contract/schemas.ts";
import { entity } from "../item.ts";

export const visibilities = ["tenant", "agency_only"] as const;

/** The fields of an annotation in the API, as they are stored (ANN-1). */
export const annotationFields = {
  id: v.string(),
  occurred_at: Timestamp,
  ends_at: v.optional(Timestamp),
  text: said("What the chart shows at this time, for people", v.string()),
  source: v.picklist(["auto", "manual"]),
  kind: v.string(),
  visibility: v.picklist(visibilities),
  ref_id: v.optional(v.string()),
};

/** The id of this entity is `<occurred_at>#<id>`: annotations are in the order of their times. */
export const AnnotationItem = entity("annotation", {
  about: "A chart annotation.",
  row: { ...annotationFields, created_by: v.optional(v.string()), created_at: Timestamp },
  writers: [
    "api-annotations",
    "api-billing",
    "api-notifications",
    "api-campaigns",
    "api-journeys",
    "api-segments",
    "api-channels",
    "api-templates",
    "api-experiences",
    "api-events",
    "fan-out",
    "deliver",
    "run-campaign",
    "run-schedule",
    "step-journey",
    "end-experience",
    "verify-channel",
    "post-webhook",
    "import-rows",
    "operator",
  ],
});
