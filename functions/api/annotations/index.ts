// Chart annotations: what happened when, noted by people and by the service itself.
import * as v from "valibot";
import type { Caller } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { ApiError, invalid } from "../../../shared/http/errors.ts";
import { maxCharacters, Timestamp, TimestampInput } from "../../../shared/http/schemas.ts";
import { storeRead, storeWrite } from "../../../shared/resources.ts";
import {
  autoKinds,
  deleteAnnotation,
  listAnnotations,
  writeAnnotation,
} from "../../../shared/store/insights/annotations.ts";

const visibilities = ["tenant", "agency_only"] as const;
const kinds: readonly string[] = ["custom", ...autoKinds];

const Annotation = v.object({
  id: v.string(),
  occurred_at: Timestamp,
  ends_at: v.optional(Timestamp),
  text: v.string(),
  source: v.picklist(["auto", "manual"]),
  kind: v.string(),
  visibility: v.picklist(visibilities),
  ref_id: v.optional(v.string()),
  created_by: v.nullable(v.string()),
  created_at: Timestamp,
});

const NewAnnotation = v.pipe(
  v.strictObject({
    occurred_at: TimestampInput,
    ends_at: v.optional(TimestampInput),
    text: v.pipe(v.string("must be a string"), v.trim(), v.nonEmpty("must not be empty"), maxCharacters(500)),
    visibility: v.optional(v.picklist(visibilities, "must be tenant or agency_only"), "tenant"),
  }),
  v.forward(
    v.check(
      ({ occurred_at, ends_at }) => ends_at === undefined || ends_at >= occurred_at,
      "must not be before occurred_at",
    ),
    ["ends_at"],
  ),
);

/** The session of an agency in a client's workspace. */
const isAgency = (caller: Caller): boolean => caller.kind === "dashboard" && caller.agency !== undefined;

const endpoint = endpoints({ credentials: ["dashboard"], uses: [storeRead] });
const writing = endpoints({ credentials: ["dashboard"], permission: "insights:write", uses: [storeWrite] });

export const annotations = group("annotations", "What happened when, for charts.", [
  endpoint(
    "GET /api/v1/annotations",
    {},
    {
      summary: "List annotations of a time range, oldest first",
      query: v.object({
        from: TimestampInput,
        to: TimestampInput,
        kinds: v.optional(v.string()),
      }),
      returns: v.object({ annotations: v.array(Annotation) }),
    },
    async ({ store, caller, query: { from, to, kinds: wanted } }) => {
      if (to < from) throw invalid({ to: "must not be before from" });
      const asked = wanted?.split(",").map((kind) => kind.trim());
      const unknown = asked?.find((kind) => !kinds.includes(kind));
      if (unknown !== undefined) throw invalid({ kinds: `names ${unknown || "nothing"}, which is no kind` });
      return { annotations: await listAnnotations(store, { from, to, kinds: asked, isAgency: isAgency(caller) }) };
    },
  ),

  writing(
    "POST /api/v1/annotations",
    {},
    {
      summary: "Note something",
      description: "`agency_only` is for the session of an agency in a client's workspace, and seen there alone.",
      body: NewAnnotation,
      returns: Annotation,
      status: 201,
    },
    async ({ store, caller, body }) => {
      if (body.visibility === "agency_only" && !isAgency(caller))
        throw new ApiError("FORBIDDEN", "Only an agency's session may write annotations for agencies.");
      return writeAnnotation(store, body, caller.kind === "dashboard" ? caller.user : null);
    },
  ),

  writing(
    "DELETE /api/v1/annotations/:id",
    {},
    { summary: "Delete an annotation that somebody wrote", errors: ["NOT_FOUND"] },
    ({ store, caller, params }) => deleteAnnotation(store, params.id, { isAgency: isAgency(caller) }),
  ),
]);
