// Interactions that clients report: a message was seen, tapped, clicked or dismissed (INT).
import * as v from "valibot";
import { Id, TimestampInput, Uuid } from "../../../shared/contract/schemas.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { interactions, platforms } from "../../../shared/rules/interactions.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { countInteraction } from "../../../shared/store/sends/interactions/interactions.ts";

const text = (maxLength: number) =>
  v.optional(v.pipe(v.string("must be a string"), v.maxLength(maxLength, `must have at most ${maxLength} characters`)));

const Interaction = v.strictObject({
  job_id: v.pipe(Uuid, v.description("`notification_id` of the payload")),
  interaction: v.picklist(interactions, `must be one of ${interactions.join(", ")}`),
  platform: v.picklist(platforms, `must be one of ${platforms.join(", ")}`),
  occurred_at: TimestampInput,
  action_id: text(256),
  url: text(2_048),
  subscriber_id: v.optional(v.pipe(Id, v.toLowerCase())),
  device_id: text(128),
  variant_id: text(128),
});

const endpoint = endpoints({ credentials: ["sdk"], uses: [storeWrite] });

export const reportInteraction = endpoint(
  "POST /api/v1/notifications/interactions",
  {},
  {
    summary: "Report what a recipient did with a message",
    description:
      "Counts in stats, funnels and reports and fires the webhook event `notification.interaction`. A report equal to " +
      "an earlier one in every field, `occurred_at` included, counts once.",
    body: Interaction,
    example: {
      body: {
        job_id: "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60",
        interaction: "tapped",
        platform: "ios",
        occurred_at: "2026-11-20T12:00:00.000Z",
        subscriber_id: "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60",
      },
    },
    status: 202,
  },
  async ({ store, body }) => {
    await countInteraction(store, body);
  },
);
