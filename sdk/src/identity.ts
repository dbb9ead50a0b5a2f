// Signs the ids of a workspace's users, for workspaces that demand it. For backends.
import { createHmac } from "node:crypto";

/**
 * What the app sends as `X-User-Hash`: HMAC-SHA256, in hex. Compute it only for the user who is logged in.
 * @param key the workspace's identity key, as returned when it was created
 * @param id the user's external id, or the subscriber's id
 */
export const userHash = (key: string, id: string): string => createHmac("sha256", key).update(id).digest("hex");
