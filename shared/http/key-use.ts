// When a server key was last good for something: noted on its row, at most once an hour (D-SCOPE).
import { HOUR, timestamp } from "../clock.ts";
import type { Deps } from "../deps.ts";
import type { Platform } from "../resources.ts";
import { present } from "../store/conditions.ts";
import type { Caller } from "./authenticate.ts";

const NOTED_EVERY_MS = HOUR;

/** Notes a use that succeeded. What goes wrong here is logged: the request itself is done. */
export async function noteKeyUse(caller: Caller, platform: Platform, { clock, log }: Pick<Deps, "clock" | "log">) {
  const now = clock.now();
  if (caller.kind !== "server" || now - caller.usedAt < NOTED_EVERY_MS) return;
  // A remembered caller (ATH-R6) remembers this too.
  caller.usedAt = now;
  const { credential } = caller;
  await platform
    .update({ pk: credential, sk: credential }, { set: { last_used_at: timestamp(now) } }, present())
    .catch((error: unknown) => {
      const reason = error instanceof Error ? error.name : "unknown";
      log({ level: "warn", message: "the use of a server key was not noted", key: caller.key, error: reason });
    });
}
