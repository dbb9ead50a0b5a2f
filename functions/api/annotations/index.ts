// Chart annotations: dated notes, made by users and by the service itself.
import * as v from "valibot";
import { TextUpTo, TimestampInput, TrimmedTextUpTo } from "../../../shared/contract/schemas.ts";
import type { Caller } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { ApiError, invalid } from "../../../shared/kernel/errors.ts";
import { platformRead, storeRead, storeWrite } from "../../../shared/store/context.ts";
import { visibilities } from "../../../shared/store/insights/annotation-items.ts";
import {
  Annotation,
  autoKinds,
  deleteAnnotation,
  listAnnotations,
  writeAnnotation,
} from "../../../shared/store/insights/annotations.ts";
import { NamedAnnotation, withNames } from "../../../shared/store/insights/named-annotations.ts";
import { memberName } from "../../../shared/store/workspaces/members.ts";

const MAX_TEXT_CHARACTERS = 500;
/** Longer than the names of all kinds together. */
const MAX_KINDS_CHARACTERS = 1_024;
const kinds: readonly string[] = ["custom", ...autoKinds];

const NewAnnotation = v.pipe(
  v.strictObject({
    occurred_at: v.pipe(
      TimestampInput,
      v.check((at) => Date.parse(at) >= 0, "must not be before 1970"),
    ),
    ends_at: v.optional(TimestampInput),
    text: TrimmedTextUpTo(MAX_TEXT_CHARACTERS),
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

/** The agency behind a session in a client's workspace. */
const agencyOf = (caller: Caller): string | undefined => (caller.kind === "dashboard" ? caller.agency : undefined);

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

export const annotations = group("annotations", "What happened when, for charts.", [
  endpoint(
    "GET /api/v1/annotations",
    { agents: "read", uses: [storeRead, platformRead] },
    {
      summary: "List annotations of a time range, oldest first",
      description: "Those that begin within it, and those that began before it and end within it or later.",
      query: v.object({
        from: TimestampInput,
        to: TimestampInput,
        kinds: v.optional(TextUpTo(MAX_KINDS_CHARACTERS)),
      }),
      example: { query: { from: "2026-11-01T00:00:00.000Z", to: "2026-11-30T00:00:00.000Z" } },
      returns: v.object({ annotations: v.array(NamedAnnotation) }),
    },
    async ({ store, platform, tenant, caller, query: { from, to, kinds: wanted } }) => {
      if (to < from) throw invalid({ to: "must not be before from" });
      const agency = agencyOf(caller);
      const chosen = wanted?.split(",").map((kind) => kind.trim());
      const unknown = chosen?.find((kind) => !kinds.includes(kind));
      if (unknown !== undefined) throw invalid({ kinds: `names ${unknown || "nothing"}, which is no kind` });
      const found = await listAnnotations(store, { from, to, kinds: chosen, isAgency: agency !== undefined });
      return { annotations: await withNames(store, found, (user) => memberName(platform, { tenant, agency }, user)) };
    },
  ),

  endpoint(
    "POST /api/v1/annotations",
    { permission: "insights:write", uses: [storeWrite] },
    {
      summary: "Create an annotation",
      description: "Only an agency's session in a client's workspace can write and see `agency_only` annotations.",
      body: NewAnnotation,
      example: { body: { occurred_at: "2026-11-20T12:00:00.000Z", text: "New prices" } },
      returns: Annotation,
      status: 201,
    },
    async ({ store, caller, body }) => {
      if (body.visibility === "agency_only" && agencyOf(caller) === undefined)
        throw new ApiError("FORBIDDEN", "Only an agency's session may write annotations for agencies.");
      return writeAnnotation(store, body, caller.kind === "dashboard" ? caller.user : null);
    },
  ),

  endpoint(
    "DELETE /api/v1/annotations/:id",
    { permission: "insights:write", uses: [storeWrite] },
    { summary: "Delete an annotation that a user wrote" },
    ({ store, caller, params }) => deleteAnnotation(store, params.id, { isAgency: agencyOf(caller) !== undefined }),
  ),
]);
