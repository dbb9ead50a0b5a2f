// Signs the ids of a workspace's users, for workspaces that demand it. For backends.
import { createHmac } from "node:crypto";

/** A subscriber's id is a UUID of version 8. */
const SUBSCRIBER_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

const hashOf = (key: string, id: string): string => createHmac("sha256", key).update(id).digest("hex");

/**
 * What the app sends as `X-User-Hash`: HMAC-SHA256, in hex. Compute it only for the user who is logged in.
 * @param key the workspace's identity key, as returned when it was created
 * @param externalId the user's id in your system
 * @throws for an id that has the form of a subscriber's id: its hash would open the inbox of that subscriber.
 */
export function userHash(key: string, externalId: string): string {
  if (SUBSCRIBER_ID.test(externalId))
    throw new Error("This external id has the form of a subscriber's id. Sign a subscriber's id with subscriberHash.");
  return hashOf(key, externalId);
}

/**
 * The same for a backend that keeps the ids of subscribers. An upsert with a signed external id returns it as `user_hash`.
 * @param subscriberId as the service returned it, never as a user chose it
 */
export const subscriberHash = (key: string, subscriberId: string): string => hashOf(key, subscriberId);
