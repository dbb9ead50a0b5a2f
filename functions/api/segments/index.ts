// Segments: the subscribers that match a rule over attributes and events, computed once or kept up to date.
import * as v from "valibot";
import { grammar } from "../../../shared/contract/grammar.ts";
import { cursor, cursorsOf, MAX_PER_PAGE } from "../../../shared/contract/paging.ts";
import { Force, JsonObject, NameUpTo, titled, Uuid } from "../../../shared/contract/schemas.ts";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { editAsSeen, IF_MATCH, tagged } from "../../../shared/http/if-match.ts";
import { requireFound } from "../../../shared/kernel/errors.ts";
import { compileRule } from "../../../shared/rules/segment-evaluation.ts";
import { RULE_JSON_DEPTH, RULE_NODES } from "../../../shared/rules/segment-grammar.ts";
import { secrets, timers } from "../../../shared/store/capabilities.ts";
import { type StoreReader, storeRead, storeWrite } from "../../../shared/store/context.ts";
import { listMembers, memberList } from "../../../shared/store/lists/membership-list.ts";
import { ClauseResult, explainMembership } from "../../../shared/store/segments/explain.ts";
import { previewChange, previewRule } from "../../../shared/store/segments/preview.ts";
import { removeSegment } from "../../../shared/store/segments/removal.ts";
import { compiledRule } from "../../../shared/store/segments/rules.ts";
import {
  createSegment,
  getSegment,
  listSegments,
  recomputeSegment,
  requireRule,
  Segment,
  updateSegment,
} from "../../../shared/store/segments/segments.ts";
import { namesOf } from "../../../shared/store/subscribers/names.ts";
import { KeyWarnings, unknownKeys } from "../../../shared/store/subscribers/unknown-keys.ts";

const MAX_NAME_CHARACTERS = 128;
const MAX_RULE_BYTES = 65_536;
/** A rule may be nested deeper and have more keys than other bodies. */
const RULE_LIMITS = { depth: RULE_JSON_DEPTH, keys: 60 * RULE_NODES };

const Name = NameUpTo(MAX_NAME_CHARACTERS);
const Rule = v.pipe(
  JsonObject,
  v.check(
    (rule) => Buffer.byteLength(JSON.stringify(rule)) <= MAX_RULE_BYTES,
    `must have at most ${MAX_RULE_BYTES} bytes as JSON`,
  ),
  grammar("SegmentRule"),
);
const IsDynamic = v.boolean();

const Side = titled("SegmentMovement", { estimated_count: v.number(), sample_subscriber_ids: v.array(v.string()) });

const CheckedSegment = titled("CheckedSegment", {
  ...Segment.entries,
  warnings: KeyWarnings,
});

type CheckedSegment = v.InferOutput<typeof CheckedSegment> & Segment;

const checked = async (store: StoreReader, segment: Segment): Promise<CheckedSegment> => ({
  ...segment,
  ...(await unknownKeys(store, compileRule(segment.rule).keys)),
});

const cursorQuery = v.object({ cursor });
const rule = { attribute: { plan: { $in: ["pro", "team"] } } };

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

export const segments = group("segments", "Subscribers that match a rule over attributes and events.", [
  endpoint(
    "GET /api/v1/segments",
    { agents: "read", uses: [storeRead, secrets] },
    {
      summary: "List segments, newest first",
      query: cursorQuery,
      returns: v.object({ segments: v.array(Segment), next_cursor: v.string() }),
    },
    async ({ store, secrets, query: { cursor } }) => {
      const cursors = cursorsOf(await secrets.root(), `segments:${store.tenant}`, Uuid);
      const { segments, next } = await listSegments(store, { after: cursors.open(cursor), limit: MAX_PER_PAGE });
      return { segments, next_cursor: cursors.seal(next) };
    },
  ),

  endpoint(
    "POST /api/v1/segments",
    { permission: "content:write", agents: "write:drafts", uses: [storeWrite, timers] },
    {
      summary: "Create a segment",
      description:
        "The rule is a tree, or the flat form of one attribute and one event. Members are computed in the background; " +
        "a dynamic segment then follows every change of attributes, every event and every window that ends.",
      body: v.strictObject({ name: Name, is_dynamic: v.optional(IsDynamic, false), rule: Rule }),
      limits: RULE_LIMITS,
      returns: CheckedSegment,
      status: 201,
      errors: ["FEATURE_NOT_AVAILABLE", "CONFLICT", "QUOTA_EXCEEDED"],
      example: { body: { name: "Paying", is_dynamic: true, rule } },
    },
    async ({ store, timers, caller, body }) =>
      checked(store, await createSegment(store, timers, workspaceOf(caller).plan, body)),
  ),

  endpoint(
    "POST /api/v1/segments/preview",
    { effect: "read", agents: "read", uses: [storeRead] },
    {
      summary: "Count the subscribers that match a rule",
      description: "The body is the rule itself. Exact up to 10,000 subscribers, else estimated from a sample of them.",
      body: Rule,
      limits: RULE_LIMITS,
      returns: v.object({
        estimated_count: v.number(),
        sample_subscriber_ids: v.array(v.string()),
        exact: v.boolean(),
        warnings: KeyWarnings,
      }),
      example: { body: rule },
    },
    async ({ store, caller, body }) => {
      const rule = await requireRule(store, workspaceOf(caller).plan, body, "");
      const [preview, unknown] = await Promise.all([previewRule(store, rule), unknownKeys(store, rule.keys)]);
      return { ...preview, ...unknown };
    },
  ),

  endpoint(
    "POST /api/v1/segments/:id/compare",
    { effect: "read", uses: [storeRead] },
    {
      summary: "Count the subscribers that another rule would add to a segment, and those that it would remove",
      description:
        "Compares the segment's rule with the given one. Exact up to 10,000 subscribers, else estimated from a sample of " +
        "them. Nothing is changed.",
      body: v.strictObject({ rule: Rule }),
      limits: RULE_LIMITS,
      returns: v.object({ entering: Side, leaving: Side, exact: v.boolean() }),
      example: { body: { rule } },
    },
    async ({ store, caller, params, body }) => {
      const { rule } = await getSegment(store, params.id);
      const wanted = await requireRule(store, workspaceOf(caller).plan, body.rule);
      return previewChange(store, rule && (await compiledRule(store, rule)), wanted);
    },
  ),

  endpoint(
    "GET /api/v1/segments/attribute-keys",
    { agents: "read", uses: [storeRead] },
    {
      summary: "List the attribute keys that subscribers have, with the paths through objects",
      returns: v.object({ keys: v.array(v.string()) }),
    },
    async ({ store }) => ({ keys: await namesOf(store, "attributes") }),
  ),

  endpoint(
    "GET /api/v1/segments/event-names",
    { agents: "read", uses: [storeRead] },
    { summary: "List the names of events seen so far", returns: v.object({ names: v.array(v.string()) }) },
    async ({ store }) => ({ names: await namesOf(store, "events") }),
  ),

  endpoint(
    "GET /api/v1/segments/:id",
    { agents: "read", uses: [storeRead] },
    {
      summary: "Get a segment",
      description: "The header `ETag` is its version.",
      returns: CheckedSegment,
    },
    async ({ store, params }) => tagged(await checked(store, await getSegment(store, params.id))),
  ),

  endpoint(
    "PATCH /api/v1/segments/:id",
    { permission: "content:write", uses: [storeWrite, timers] },
    {
      summary: "Change a segment's name and rule",
      description: `\`is_dynamic\` cannot be changed. A static segment keeps its members until it is computed anew. ${IF_MATCH}`,
      body: v.strictObject({ name: Name, rule: Rule, is_dynamic: v.optional(IsDynamic) }),
      limits: RULE_LIMITS,
      returns: CheckedSegment,
      errors: ["CONFLICT", "PRECONDITION_FAILED"],
      example: { body: { name: "Paying well", rule } },
    },
    ({ store, timers, caller, params, body, headers }) =>
      editAsSeen(headers, CheckedSegment, {
        read: () => getSegment(store, params.id),
        edit: (seen) => {
          const { plan } = workspaceOf(caller);
          return updateSegment(store, timers, params.id, { plan, input: body, seen: seen?.version });
        },
        show: (segment) => checked(store, segment),
      }),
  ),

  endpoint(
    "DELETE /api/v1/segments/:id",
    { permission: "content:write", uses: [storeWrite, timers] },
    {
      summary: "Delete a segment; its subscribers stay",
      description:
        "Refused while it triggers an active journey, or while a released campaign, a scheduled notification or a live or paused experience names it. With `force` journeys, campaigns and experiences that wait for their start are paused, with an annotation. A notification fails at its time, and says why.",
      query: Force,
      errors: ["CONFLICT"],
    },
    ({ store, timers, params, query }) => removeSegment(store, timers, params.id, query),
  ),

  endpoint(
    "POST /api/v1/segments/:id/recompute",
    { permission: "content:write", uses: [storeWrite, timers] },
    {
      summary: "Compute a segment's members anew",
      returns: v.object({ status: v.literal("queued") }),
      status: 202,
    },
    async ({ store, timers, params }) => {
      await recomputeSegment(store, timers, params.id);
      return { status: "queued" };
    },
  ),

  endpoint(
    "GET /api/v1/segments/:id/members",
    { uses: [storeRead, secrets] },
    {
      summary: "List the members of a segment",
      query: cursorQuery,
      returns: memberList(),
    },
    async ({ store, secrets, params, query }) => {
      await getSegment(store, params.id);
      return listMembers(store, await secrets.root(), { kind: "segment", id: params.id }, query.cursor);
    },
  ),

  endpoint(
    "GET /api/v1/segments/:id/members/:subscriberId",
    { uses: [storeRead] },
    {
      summary: "Get whether a subscriber is in a segment, and the result of each clause of the rule",
      returns: v.object({ member: v.boolean(), reasons: v.array(ClauseResult) }),
    },
    async ({ store, params }) => {
      const explained = await explainMembership(store, params.id, params.subscriberId);
      const { member, reasons } = requireFound(explained, "segment or subscriber");
      return { member, reasons };
    },
  ),
]);
