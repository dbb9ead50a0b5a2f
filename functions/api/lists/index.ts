// Subscriber lists: subscribers added by hand or by import, as a target of sends.
import * as v from "valibot";
import { cursor, numberedPage, pageFields } from "../../../shared/contract/paging.ts";
import { DescriptionUpTo, NameUpTo, SomeOf, said, TextUpTo, Uuid } from "../../../shared/contract/schemas.ts";
import { SearchText } from "../../../shared/contract/search-text.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { secrets, timers, workspaceRead } from "../../../shared/store/capabilities.ts";
import { storeRead, storeWrite } from "../../../shared/store/context.ts";
import { joinList, leaveList } from "../../../shared/store/lists/joining.ts";
import {
  createList,
  getList,
  listLists,
  removeList,
  requireList,
  SubscriberList,
  updateList,
} from "../../../shared/store/lists/lists.ts";
import { findMembers, listMembers, memberList } from "../../../shared/store/lists/membership-list.ts";

const MAX_NAME_CHARACTERS = 128;
const MAX_DESCRIPTION_CHARACTERS = 1_000;
const MAX_IDS = 1_000;

const Name = NameUpTo(MAX_NAME_CHARACTERS);
const Description = DescriptionUpTo(MAX_DESCRIPTION_CHARACTERS);

const DoubleOptIn = said(
  "Whether who is added confirms it first, by the link of a mail. Default: false",
  v.optional(v.boolean()),
);

const ListChange = v.pipe(
  v.strictObject({ name: v.optional(Name), description: Description, double_opt_in: DoubleOptIn }),
  v.check(
    (change) => Object.values(change).some((value) => value !== undefined),
    "at least one of name, description and double_opt_in is required",
  ),
);

const SubscriberIds = v.strictObject({
  subscriber_ids: SomeOf(Uuid, "subscriber", MAX_IDS, "must be an array of UUIDs"),
});

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

export const lists = group("lists", "Lists of subscribers to send to.", [
  endpoint(
    "POST /api/v1/lists",
    { permission: "content:write", uses: [storeWrite] },
    {
      summary: "Create a list",
      body: v.strictObject({ name: Name, description: Description, double_opt_in: DoubleOptIn }),
      example: { body: { name: "Newsletter", description: "Who reads the letter on Fridays" } },
      returns: SubscriberList,
      status: 201,
      errors: ["CONFLICT", "QUOTA_EXCEEDED"],
    },
    ({ store, body }) => createList(store, body),
  ),

  endpoint(
    "GET /api/v1/lists",
    { agents: "read", uses: [storeRead] },
    {
      summary: "List the lists, newest first",
      query: v.object({ ...pageFields("page_size"), name: v.optional(TextUpTo(200)) }),
      returns: numberedPage(SubscriberList),
    },
    ({ store, query: { page, page_size: size, name } }) => listLists(store, { page, size, name }),
  ),

  endpoint(
    "GET /api/v1/lists/:id",
    { agents: "read", uses: [storeRead] },
    { summary: "Get a list", returns: SubscriberList },
    ({ store, params }) => getList(store, params.id),
  ),

  endpoint(
    "PATCH /api/v1/lists/:id",
    { permission: "content:write", uses: [storeWrite] },
    {
      summary: "Change a list: supplied fields overwrite, others stay",
      body: ListChange,
      returns: SubscriberList,
      example: { body: { name: "Readers of the newsletter" } },
      errors: ["CONFLICT"],
    },
    ({ store, params, body }) => updateList(store, params.id, body),
  ),

  endpoint(
    "DELETE /api/v1/lists/:id",
    { permission: "content:write", uses: [storeWrite, timers] },
    {
      summary: "Delete a list; its subscribers stay",
      description: "Refused while a scheduled notification names the list. Memberships are removed in the background.",
      errors: ["CONFLICT"],
    },
    ({ store, timers, params }) => removeList(store, timers, params.id),
  ),

  endpoint(
    "GET /api/v1/lists/:id/subscribers",
    { uses: [storeRead, secrets, workspaceRead] },
    {
      summary: "List the members of a list",
      description: "With `q` those whom it finds; a page may then be short.",
      query: v.object({ cursor, q: v.optional(SearchText) }),
      returns: memberList(),
    },
    async ({ store, secrets, workspace, params: { id }, query: { q, cursor } }) => {
      await requireList(store, id);
      const root = await secrets.root();
      const region = async () => (await workspace())?.region;
      return q === undefined
        ? listMembers(store, root, { kind: "list", id }, cursor)
        : findMembers(store, root, id, { q, cursor }, region);
    },
  ),

  endpoint(
    "POST /api/v1/lists/:id/subscribers",
    { permission: "subscribers:write", uses: [storeWrite] },
    {
      summary: "Add up to 1,000 subscribers to a list",
      description:
        "Of a list with `double_opt_in`, `pending` are those who are asked by a mail first, at most three times in seven " +
        "days, and are members once they confirm. Who confirmed it before is a member at once, and who has opted out of mail is not asked.",
      body: SubscriberIds,
      returns: v.object({
        added: v.number(),
        already_member: v.number(),
        pending: v.number(),
        not_found: v.array(v.string()),
      }),
    },
    async ({ store, params, body }) => {
      const joined = await joinList(store, params.id, body.subscriber_ids, { source: "dashboard" });
      return { ...joined, pending: joined.pending.length };
    },
  ),

  endpoint(
    "POST /api/v1/lists/:id/subscribers/remove",
    { permission: "subscribers:write", uses: [storeWrite] },
    {
      summary: "Remove up to 1,000 subscribers from a list",
      description: "Who has yet to confirm it is removed too: the link of that mail confirms nothing any more.",
      body: SubscriberIds,
      returns: v.object({ removed: v.number(), not_found: v.array(v.string()) }),
    },
    async ({ store, params, body }) => {
      await requireList(store, params.id);
      return leaveList(store, params.id, body.subscriber_ids);
    },
  ),
]);
