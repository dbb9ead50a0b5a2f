// The recipients of a notification: the preview of a send, and the explanation for one recipient.
import * as v from "valibot";
import { cursor, cursorPage, cursorsOf, limit } from "../../../shared/contract/paging.ts";
import { OneOf, said } from "../../../shared/contract/schemas.ts";
import { attributesSeenBy } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { invalid } from "../../../shared/kernel/errors.ts";
import { channelTypes } from "../../../shared/rules/channel-types.ts";
import { recipientStates } from "../../../shared/rules/recipient-states.ts";
import { secrets, workspaceRead } from "../../../shared/store/capabilities.ts";
import { storeRead } from "../../../shared/store/context.ts";
import { mailReading } from "../../../shared/store/files/mails.ts";
import { getJob } from "../../../shared/store/sends/jobs/jobs.ts";
import {
  ListedRecipient,
  listRecipients,
  RecipientPosition,
} from "../../../shared/store/sends/ledger/recipient-list.ts";
import { ActivityEntry, ActivityPosition, listActivity } from "../../../shared/store/sends/reports/activity.ts";
import { explainRecipient } from "../../../shared/store/sends/reports/explain.ts";
import { Explanation } from "../../../shared/store/sends/reports/explanation.ts";
import { Why, whyKinds, whyOf } from "../../../shared/store/why.ts";
import { previewNotification } from "./preview.ts";

const MAX_ASKED_CHARACTERS = 512;
const Asked = v.pipe(v.string(), v.nonEmpty(), v.maxLength(MAX_ASKED_CHARACTERS));

const endpoint = endpoints({ credentials: ["dashboard"], uses: [storeRead, workspaceRead] });

export const recipients = group("recipients", "Who would get a notification, and why a subscriber got it or did not.", [
  previewNotification,

  endpoint(
    "GET /api/v1/notifications/:id/recipients",
    { uses: [secrets] },
    {
      summary: "List the recipients of a notification with what became of each",
      description:
        "In the order of the plan. A page may be short, or empty with a cursor, where a filter leaves most out. " +
        "Subscribers that the plan skipped are listed for 30 days. A send that failed before it was dispatched has nobody. Who was " +
        "reached by one channel and waits by another for the end of quiet hours is `deferred` here, and counts as `delivered` already.",
      query: v.object({
        state: said("Only recipients in this state", v.optional(OneOf(recipientStates))),
        reason: said(
          "Only recipients skipped or failed for this reason",
          v.optional(v.pipe(v.string(), v.maxLength(200))),
        ),
        channel: said("Only recipients of this channel", v.optional(OneOf(channelTypes))),
        limit: limit(50, 100),
        cursor,
      }),
      returns: cursorPage(ListedRecipient),
    },
    async ({ store, secrets, params, query: { limit, cursor, ...filter } }) => {
      const job = await getJob(store, params.id);
      const cursors = cursorsOf(await secrets.root(), `recipients:${store.tenant}:${job.id}`, RecipientPosition);
      const { items, next } = await listRecipients(store, job, filter, { from: cursors.open(cursor), limit });
      return { items, next_cursor: cursors.seal(next) };
    },
  ),

  endpoint(
    "GET /api/v1/activity",
    { uses: [secrets] },
    {
      summary: "List the recipients of the sends of the last seven days with what became of each",
      description:
        "Those of the newest send first, in the order of its plan. A page may be short. What changes later shows when the " +
        "list is read again.",
      query: v.object({
        after: said("The `next_cursor` of the page before", cursor),
        limit: limit(50, 100),
      }),
      returns: cursorPage(ActivityEntry),
    },
    async ({ store, secrets, query: { limit, after } }) => {
      const cursors = cursorsOf(await secrets.root(), `activity:${store.tenant}`, ActivityPosition, "after");
      const { items, next } = await listActivity(store, { after: cursors.open(after), limit });
      return { items, next_cursor: cursors.seal(next) };
    },
  ),

  endpoint(
    "GET /api/v1/notifications/:id/recipients/:subscriberId",
    { agents: "read:pii", uses: [mailReading] },
    {
      summary: "Explain why a subscriber got a notification or did not",
      description:
        "What the rows of the send say happened, and its rules clause by clause with the values they see now.",
      returns: Explanation,
    },
    ({ caller, params, ...deps }) =>
      explainRecipient(deps, {
        job: params.id,
        subscriber: params.subscriberId.toLowerCase(),
        isDiscreet: attributesSeenBy(caller) !== undefined,
      }),
  ),

  endpoint(
    "GET /api/v1/why",
    { agents: "read:pii", uses: [secrets, mailReading] },
    {
      summary: "Explain in words why a person got a send, a campaign or a journey, or did not",
      description:
        "One call: the person by id, external id or email address, and one of send, campaign and journey by id or name. " +
        "`in_words` is the answer; the rest is what it says.",
      query: v.object({
        person: said("An id, an external id or an email address", Asked),
        send: said("The id, name or title of a send: the newest of that name", v.optional(Asked)),
        campaign: said("The id or name of a campaign", v.optional(Asked)),
        journey: said("The id or name of a journey", v.optional(Asked)),
      }),
      returns: Why,
      example: { query: { person: "ada", send: "Autumn sale" } },
      errors: ["NOT_FOUND"],
    },
    ({ store, workspace, secrets, mails, query: { person, ...asked } }) => {
      const [about, ...more] = whyKinds.flatMap((kind) =>
        asked[kind] === undefined ? [] : [{ kind, of: asked[kind] }],
      );
      if (!about || more.length > 0) throw invalid({ send: "exactly one of send, campaign and journey is required" });
      return whyOf({ store, workspace, mails, root: () => secrets.root() }, person, about);
    },
  ),
]);
