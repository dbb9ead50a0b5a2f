// The durable inbox of a subscriber, for the SDKs: it works whether or not the live stream does (INB-10).
import * as v from "valibot";
import { limit, pageRoom } from "../../../shared/contract/paging.ts";
import { Uuid } from "../../../shared/contract/schemas.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { storeRead, storeWrite } from "../../../shared/store/context.ts";
import {
  InboxMessage,
  inboxStatuses,
  listMessages,
  markMessage,
  readAll,
} from "../../../shared/store/sends/inbox/inbox.ts";
import { leaveStream } from "../../../shared/store/sends/inbox/stream-items.ts";

const DEFAULT_LIMIT = 50;
export const MAX_LISTED = 200;

const Reader = v.strictObject({ subscriber_id: Uuid });

const endpoint = endpoints({
  credentials: ["sdk", "dashboard"],
  feature: "in_app",
  unaudited: ["dashboard"],
  uses: [],
});

export const inbox = group("inbox", "The durable inbox of a subscriber.", [
  endpoint(
    "GET /v1/in-app/messages",
    { uses: [storeRead] },
    {
      summary: "List a subscriber's messages, newest first",
      query: v.object({
        subscriber_id: Uuid,
        status: v.optional(v.picklist(inboxStatuses, "must be unread, read or dismissed")),
        limit: limit(DEFAULT_LIMIT, MAX_LISTED),
      }),
      returns: v.object({ messages: v.array(InboxMessage) }),
    },
    async ({ store, query: { subscriber_id, ...filter } }) => ({
      messages: await listMessages(store, subscriber_id, { ...filter, takes: pageRoom() }),
    }),
  ),

  endpoint(
    "POST /v1/in-app/messages/read",
    { uses: [storeWrite] },
    { summary: "Mark every unread message as read", body: Reader, returns: v.object({ updated: v.number() }) },
    async ({ store, body }) => ({ updated: await readAll(store, body.subscriber_id) }),
  ),

  endpoint(
    "POST /v1/in-app/messages/:id/read",
    { uses: [storeWrite] },
    { summary: "Mark a message as read", body: Reader, returns: InboxMessage },
    ({ store, params, body }) => markMessage(store, body.subscriber_id, params.id, "read"),
  ),

  endpoint(
    "POST /v1/in-app/messages/:id/dismiss",
    { uses: [storeWrite] },
    { summary: "Dismiss a message", body: Reader, returns: InboxMessage },
    ({ store, params, body }) => markMessage(store, body.subscriber_id, params.id, "dismissed"),
  ),

  endpoint(
    "POST /v1/in-app/stream/close",
    { uses: [storeWrite] },
    {
      summary: "End a live stream early",
      description:
        "The service does not notice that a viewer left, and a stream costs until it ends. The SDK calls this when the stream " +
        "is closed and when the page goes. The stream ends within two seconds. A stream that has ended is no error.",
      body: v.strictObject({ subscriber_id: Uuid, stream_id: Uuid }),
    },
    ({ store, body }) => leaveStream(store, body.subscriber_id, body.stream_id),
  ),
]);
