// Notes when a server key or an agent key was last used, at most once an hour (D-SCOPE, D-MCP).
import { HOUR, timestamp } from "../kernel/clock.ts";
import type { Deps } from "../kernel/deps.ts";
import { errorFields } from "../kernel/log.ts";
import { present } from "../store/conditions.ts";
import type { Platform } from "../store/context.ts";
import { AgentCredential, ServerCredential } from "../store/workspaces/identity-items.ts";
import type { Caller } from "./authenticate.ts";

const NOTED_EVERY_MS = HOUR;

/** Notes a use that succeeded. A failure is logged and not thrown, because the request itself is done. */
export async function noteKeyUse(
  caller: Caller,
  platform: Pick<Platform, "change">,
  { clock, log }: Pick<Deps, "clock" | "log">,
) {
  const now = clock.now();
  if ((caller.kind !== "server" && caller.kind !== "agent") || now - caller.usedAt < NOTED_EVERY_MS) return;
  // The cached caller (ATH-R6) keeps it.
  caller.usedAt = now;
  const { hash } = caller;
  const use = { set: { last_used_at: timestamp(now) } };
  const noted: Promise<unknown> =
    caller.kind === "agent"
      ? platform.change(AgentCredential, { hash }, use, present())
      : platform.change(ServerCredential, { hash }, use, present());
  await noted.catch((error: unknown) =>
    log({
      level: "warn",
      message: "the use of a key was not noted",
      key: caller.key,
      tenant: caller.workspace.tenant,
      ...errorFields(error),
    }),
  );
}
