// Subscribers: upserted by clients, listed for integrations, erased from the dashboard.
import * as v from "valibot";
import { cursor, cursorPage, cursorsOf } from "../../../shared/contract/paging.ts";
import { SomeOf, said, TrueOrFalse, Uuid } from "../../../shared/contract/schemas.ts";
import { endpoints, group, type Shape } from "../../../shared/http/endpoint.ts";
import { notFound, requireFound } from "../../../shared/kernel/errors.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import { secrets, workspaceRead } from "../../../shared/store/capabilities.ts";
import { type StoreReader, storeRead, storeWrite } from "../../../shared/store/context.ts";
import { consentsOf, LiftedSuppression, MAX_CONSENTS } from "../../../shared/store/subscribers/consent-history.ts";
import { Consent } from "../../../shared/store/subscribers/consents.ts";
import { exportSubscriber, SubscriberExport } from "../../../shared/store/subscribers/export.ts";
import { listSubscribers } from "../../../shared/store/subscribers/list.ts";
import { MAX_MEMBERSHIPS, readProfile, SubscriberProfile } from "../../../shared/store/subscribers/profile.ts";
import {
  changeSubscriber,
  countSubscribers,
  eraseSubscriber,
  getProfile,
  getSubscriber,
  recordConsent,
  Subscriber,
} from "../../../shared/store/subscribers/subscribers.ts";
import { timelineOf } from "../../../shared/store/subscribers/timeline.ts";
import { TimelineEntry } from "../../../shared/store/subscribers/timeline-entries.ts";
import { ConsentInput, changeOf, consentOf, listQuery, SubscriberChange, searchQuery, timelineQuery } from "./input.ts";
import { upserts } from "./upsert.ts";

export const MAX_BULK = 1_000;
const MAX_CONCURRENT_ERASURES = 25;

const SubscriberPage = cursorPage(Subscriber);

const reading = {
  summary: "Get a subscriber with its devices, consents, topics, lists and segments",
  description: `\`consents\` has the newest of each channel; \`lists\` and \`segments\` have the newest ${MAX_MEMBERSHIPS}, of static segments those among the newest ${MAX_MEMBERSHIPS} segments of the workspace.`,
  returns: SubscriberProfile,
} as const satisfies Shape;

async function read({ store, params }: { store: StoreReader; params: { id: string } }) {
  return requireFound(await readProfile(store, params.id), "subscriber");
}

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

export const subscribers = group("subscribers", "The users that a workspace sends messages to.", [
  ...upserts,

  endpoint(
    "DELETE /api/v1/subscribers/:id",
    { permission: "subscribers:write", uses: [storeWrite] },
    {
      summary: "Erase a subscriber with its devices and memberships",
      description:
        "Its events stay in exports without their actor; with `erase_properties=true` without properties too.",
      query: v.object({
        erase_properties: v.optional(TrueOrFalse, "false"),
      }),
    },
    async ({ store, params, query }) => {
      const isErased = await eraseSubscriber(store, params.id, { eraseProperties: query.erase_properties });
      if (!isErased) throw notFound("subscriber");
    },
  ),

  endpoint(
    "POST /api/v1/subscribers/bulk-delete",
    { permission: "subscribers:write", uses: [storeWrite] },
    {
      summary: "Erase up to 1,000 subscribers",
      body: v.strictObject({
        subscriber_ids: SomeOf(Uuid, "subscriber", MAX_BULK, "must be an array of UUIDs"),
        erase_properties: v.optional(v.boolean(), false),
      }),
      returns: v.object({ deleted: v.number(), not_found: v.array(v.string()) }),
    },
    async ({ store, body }) => {
      const ids = [...new Set(body.subscriber_ids)];
      const notFoundIds: string[] = [];
      for (const batch of chunksOf(ids, MAX_CONCURRENT_ERASURES)) {
        const erased = await Promise.all(
          batch.map((id) => eraseSubscriber(store, id, { eraseProperties: body.erase_properties })),
        );
        notFoundIds.push(...batch.filter((_, i) => !erased[i]));
      }
      return { deleted: ids.length - notFoundIds.length, not_found: notFoundIds };
    },
  ),

  endpoint(
    "GET /v1/subscribers",
    { credentials: ["server"], scope: "subscribers:read", uses: [storeRead, secrets] },
    {
      summary: "List subscribers for an integration, newest first",
      description: "By `email` a subscriber can be found moments after the address was written.",
      query: listQuery,
      returns: SubscriberPage,
    },
    async ({ store, secrets, query }) => listSubscribers(store, await secrets.root(), query),
  ),

  endpoint(
    "GET /v1/subscribers/:id",
    { credentials: ["server"], scope: "subscribers:read", uses: [storeRead] },
    reading,
    read,
  ),

  endpoint(
    "GET /api/v1/subscribers",
    { agents: "read:pii", uses: [storeRead, secrets, workspaceRead] },
    {
      summary: "List subscribers, newest first, or search them",
      description:
        "With `q` the list is in the order of what was found, whatever the case. By `q` or `email` a subscriber can be found " +
        "moments after it was written.",
      query: searchQuery,
      returns: SubscriberPage,
    },
    async ({ store, secrets, workspace, query }) =>
      listSubscribers(store, await secrets.root(), query, async () => (await workspace())?.region),
  ),

  endpoint(
    "GET /api/v1/subscribers/count",
    { uses: [storeRead] },
    { summary: "Count subscribers", returns: v.object({ count: v.number(), exact: v.boolean() }) },
    async ({ store }) => ({ count: await countSubscribers(store), exact: true }),
  ),

  endpoint("GET /api/v1/subscribers/:id", { agents: "read:pii", uses: [storeRead] }, reading, read),

  endpoint(
    "GET /api/v1/subscribers/:id/export",
    { uses: [storeRead, secrets] },
    {
      summary: "Export everything about a subscriber",
      description:
        "Profile, devices, consents, topics, lists, segments, the inbox with its texts, sends, events, journeys and " +
        "conversions. What does not fit into one answer follows by `next_cursor`; the SDK's command line makes one file of it.",
      query: v.object({ cursor }),
      returns: SubscriberExport,
    },
    async ({ store, secrets, params, query }) => exportSubscriber(store, await secrets.root(), params.id, query.cursor),
  ),

  endpoint(
    "PATCH /api/v1/subscribers/:id",
    { permission: "subscribers:write", uses: [storeWrite] },
    {
      summary: "Change a subscriber's email address and attributes",
      description: "Attributes that are not named stay; null removes one.",
      body: SubscriberChange,
      example: { body: { attributes: { plan: "team", trial_ends: null } } },
      returns: Subscriber,
    },
    async ({ store, params, body }) => {
      return requireFound(await changeSubscriber(store, params.id, changeOf(body)), "subscriber");
    },
  ),

  endpoint(
    "GET /api/v1/subscribers/:id/consents",
    { agents: "read:pii", uses: [storeRead, secrets] },
    {
      summary: "List a subscriber's consent history, newest first",
      description: `What holds for its present addresses comes first: a suppression, and an opt-out by whoever had the address before. A page has ${MAX_CONSENTS} of the history.`,
      query: v.object({ cursor }),
      returns: v.object({
        ...cursorPage(Consent).entries,
        lifted: said(
          "Of its present addresses, the suppressions that were lifted last; on the first page",
          v.array(LiftedSuppression),
        ),
      }),
    },
    async ({ store, secrets, params, query }) => {
      const profile = requireFound(await getProfile(store, params.id), "subscriber");
      const cursors = cursorsOf(await secrets.root(), `consents:${store.tenant}:${profile.id}`, Uuid);
      const { items, lifted, next } = await consentsOf(store, profile, cursors.open(query.cursor));
      return { items, lifted, next_cursor: cursors.seal(next) };
    },
  ),

  endpoint(
    "GET /api/v1/subscribers/:id/timeline",
    { uses: [storeRead, secrets] },
    {
      summary: "List what happened to a subscriber, newest first",
      description:
        "Messages, events (of linked anonymous ids too), consents, journeys, segments, lists and devices. `ref` is the id " +
        "of what an entry is about. Messages of the inbox are listed for 30 days.",
      query: timelineQuery,
      returns: cursorPage(TimelineEntry),
    },
    async ({ store, secrets, params, query }) => {
      if (!(await getSubscriber(store, params.id))) throw notFound("subscriber");
      return timelineOf(store, await secrets.root(), params.id, query);
    },
  ),

  endpoint(
    "POST /api/v1/subscribers/:id/consents",
    { permission: "subscribers:write", uses: [storeWrite, workspaceRead] },
    {
      summary: "Record a consent of a subscriber",
      description:
        "It is added to the history. The newest consent of a channel or topic decides. Where opt-ins are confirmed, an " +
        "opt-in is `pending`, and a mail asks its owner to confirm it, at most three times in seven days.",
      body: v.strictObject({ ...ConsentInput.entries, source: v.optional(ConsentInput.entries.source, "dashboard") }),
      example: { body: { channel: "email", status: "opted_in", consented_at: "2026-11-20T12:00:00.000Z" } },
      returns: Consent,
      status: 201,
    },
    async ({ store, workspace, params, body }) => {
      const consent = await recordConsent(store, params.id, await consentOf({ store, workspace }, body));
      if (!consent) throw notFound("subscriber");
      return consent;
    },
  ),
]);
