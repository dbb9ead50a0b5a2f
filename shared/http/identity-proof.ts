// Requires signed user ids in calls with the publishable key, if the workspace demands it (ACC-8).
import { ApiError } from "../kernel/errors.ts";
import type { Secrets } from "../store/secrets.ts";
import { areSigned } from "../store/workspaces/identity-keys.ts";
import type { Caller } from "./authenticate.ts";

export const USER_HASH_HEADER = "x-user-hash";
/** The most hashes in one call: of the external id and of the subscriber id, under two keys each. */
const MAX_HASHES = 4;

/** Checks the hashes of ids. @throws 403 for an id without its hash */
export async function requireSignedIds(
  caller: Caller,
  parts: readonly unknown[],
  header: string | undefined,
  secrets: Secrets,
): Promise<void> {
  if (caller.kind !== "sdk" || !caller.workspace.identity.isDemanded) return;
  const named = [...new Set(parts.flatMap(idsIn))];
  if (named.length === 0) return;
  const { tenant, identity } = caller.workspace;
  const presented = (header ?? "").split(",", MAX_HASHES).map((hash) => hash.trim().toLowerCase());
  if (!areSigned(await secrets.root(), { tenant, keys: identity.keys }, named, presented))
    throw new ApiError(
      "FORBIDDEN",
      "This workspace demands signed ids: send X-User-Hash, the HMAC-SHA256 of the user's id that your backend computes.",
    );
}

/** The ids of users that a query or a body names, at the top or in the items of a list. */
function idsIn(part: unknown): string[] {
  if (typeof part !== "object" || part === null) return [];
  const { external_id, subscriber_id } = part as Record<string, unknown>;
  const ids = [external_id, subscriber_id].filter((id) => typeof id === "string");
  return [...ids, ...Object.values(part).filter(Array.isArray).flat().flatMap(idsIn)];
}
