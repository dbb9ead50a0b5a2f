// Channels: through what a workspace sends.
import * as v from "valibot";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { Timestamp } from "../../../shared/http/schemas.ts";
import { channelTypes } from "../../../shared/plans.ts";
import { storeRead } from "../../../shared/resources.ts";
import { getChannel, listChannels } from "../../../shared/store/channels.ts";

const Channel = v.object({
  id: v.string(),
  type: v.picklist(channelTypes),
  name: v.string(),
  active: v.boolean(),
  status: v.picklist(["pending", "active", "invalid"]),
  verified_at: v.optional(Timestamp),
  verification_error: v.optional(v.string()),
  created_at: Timestamp,
});

const endpoint = endpoints({ credentials: ["dashboard"], uses: [storeRead] });

export const channels = group("channels", "Through what a workspace sends.", [
  endpoint(
    "GET /api/v1/channels",
    {},
    { summary: "List channels", returns: v.object({ channels: v.array(Channel) }) },
    async ({ store }) => ({ channels: await listChannels(store) }),
  ),

  endpoint(
    "GET /api/v1/channels/:id",
    {},
    { summary: "Get a channel", returns: Channel, errors: ["NOT_FOUND"] },
    ({ store, params }) => getChannel(store, params.id),
  ),
]);
