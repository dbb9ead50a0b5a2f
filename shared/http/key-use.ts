// Notes when a server key was last used, at most once an hour (D-SCOPE).
import { HOUR, timestamp } from "../clock.ts";
import type { Deps } from "../deps.ts";
import { errorFields } from "../log.ts";
import type { Platform } from "../resources.ts";
import { present } from "../store/conditions.ts";
import { ServerCredential } from "../store/workspaces/identity-items.ts";
import type { Caller } from "./authenticate.ts";

const NOTED_EVERY_MS = HOUR;

/** Notes a use that succeeded. A failure is logged and not thrown, because the request itself is done. */
export async function noteKeyUse(
  caller: Caller,
  platform: Pick<Platform, "change">,
  { clock, log }: Pick<Deps, "clock" | "log">,
) {
  const now = clock.now();
  if (caller.kind !== "server" || now - caller.usedAt < NOTED_EVERY_MS) return;
  // The cached caller (ATH-R6) keeps it.
  caller.usedAt = now;
  const { hash } = caller;
  await platform
    .change(ServerCredential, { hash }, { set: { last_used_at: timestamp(now) } }, present())
    .catch((error: unknown) =>
      log({
        level: "warn",
        message: "the use of a server key was not noted",
        key: caller.key,
        tenant: caller.workspace.tenant,
        ...errorFields(error),
      }),
    );
}
