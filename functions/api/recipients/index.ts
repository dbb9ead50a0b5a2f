// Who gets a notification and why: the preview of a send, and one person of it after the fact.
import * as v from "valibot";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { Timestamp } from "../../../shared/http/schemas.ts";
import { storeRead, workspaceRead } from "../../../shared/resources.ts";
import { channelClasses } from "../../../shared/rules/reach.ts";
import { decisions, explainRecipient, recipientStates } from "../../../shared/store/sends/explain.ts";
import { previewNotification } from "./preview.ts";

const Cap = v.object({
  category: v.picklist(["marketing", "transactional"]),
  channel_class: v.optional(v.picklist(channelClasses)),
  max: v.number(),
  per: v.picklist(["day", "week"]),
  count: v.number(),
});

const Share = v.object({ percentage: v.number(), bucket: v.number() });
const Clause = v.object({ key: v.string(), condition: v.any(), value: v.any(), matches: v.boolean() });

const Explanation = v.object({
  notification_id: v.string(),
  subscriber_id: v.string(),
  decision: v.picklist(decisions),
  state: v.picklist(recipientStates),
  reason: v.nullable(v.string()),
  /** When the quiet hours end that its messages wait for. */
  deferred_until: v.nullable(Timestamp),
  holdout: Share,
  held_out: v.boolean(),
  split: v.nullable(Share),
  variant_id: v.nullable(v.string()),
  attempts: v.array(
    v.object({
      channel: v.string(),
      device_id: v.nullable(v.string()),
      state: v.picklist(recipientStates),
      reason: v.nullable(v.string()),
      provider_id: v.nullable(v.string()),
      attempted_at: v.array(Timestamp),
      cap: v.nullable(Cap),
    }),
  ),
  /** Null for somebody who is not there any more, or never was. */
  now: v.nullable(
    v.object({
      subscriber_filters: v.array(Clause),
      device_filters: v.array(v.object({ device_id: v.string(), clauses: v.array(Clause) })),
      channels: v.array(
        v.object({
          channel: v.string(),
          reachable: v.boolean(),
          reason: v.nullable(v.string()),
          devices: v.number(),
          consent: v.nullable(v.string()),
        }),
      ),
      quiet_hours: v.nullable(
        v.object({
          ...{ start: v.string(), end: v.string(), days: v.array(v.number()) },
          timezone_mode: v.picklist(["subscriber", "workspace"]),
          timezone: v.string(),
          local_time: v.string(),
          until: v.nullable(Timestamp),
        }),
      ),
      caps: v.array(Cap),
      ranking: v.nullable(v.array(v.object({ class: v.string(), source: v.string(), score: v.number() }))),
    }),
  ),
  evaluated_at: Timestamp,
});

const endpoint = endpoints({ credentials: ["dashboard"], uses: [storeRead, workspaceRead] });

export const recipients = group("recipients", "Who would get a notification, and why somebody got it or did not.", [
  previewNotification,

  endpoint(
    "GET /api/v1/notifications/:id/recipients/:subscriberId",
    {},
    {
      summary: "Explain why somebody got a notification or did not",
      description:
        "What the rows of the send say happened, and its rules clause by clause with the values they see now.",
      returns: Explanation,
      errors: ["NOT_FOUND"],
    },
    ({ store, workspace, params }) => explainRecipient(store, workspace, params.id, params.subscriberId.toLowerCase()),
  ),
]);
