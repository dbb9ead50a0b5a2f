// What is remembered of credentials: the valid ones where the specification allows it (event ingestion, for at most one
// minute, ATH-R6), and the last use of a key.
import { createHash } from "node:crypto";
import { HOUR, SECOND, timestamp } from "../kernel/clock.ts";
import type { Deps } from "../kernel/deps.ts";
import { ApiError } from "../kernel/errors.ts";
import { errorFields } from "../kernel/log.ts";
import { present } from "../store/conditions.ts";
import type { Platform } from "../store/context.ts";
import { recent } from "../store/recent.ts";
import { AgentCredential, ServerCredential } from "../store/workspaces/identity-items.ts";
import type { Caller } from "./authenticate.ts";

/** Counted from the validation, not from the last use. */
export const CREDENTIAL_TTL_MS = 60 * SECOND;
const NEGATIVE_TTL_MS = 5 * SECOND;
const MAX_CACHED = 10_000;

type Entry = { until: number } & ({ kind: "accepted"; caller: Caller } | { kind: "refused"; refusal: ApiError });

/** One cache per environment. */
export function createCredentialCache(now: () => number) {
  const cache = recent<Entry>(MAX_CACHED);

  /** Wraps `find`. @param isFresh whether a caller must not be cached */
  return async (
    secret: string,
    validate: () => Promise<Caller>,
    isFresh: (caller: Caller) => boolean = () => false,
  ): Promise<Caller> => {
    const key = createHash("sha256").update(secret).digest("base64");
    const found = cache.get(key);
    if (found && found.until > now()) {
      if (found.kind === "refused") throw found.refusal;
      return found.caller;
    }
    const at = now();
    try {
      const caller = await validate();
      if (!isFresh(caller)) cache.set(key, { kind: "accepted", caller, until: at + CREDENTIAL_TTL_MS });
      return caller;
    } catch (refusal) {
      if (refusal instanceof ApiError && refusal.status === 401)
        cache.set(key, { kind: "refused", refusal, until: at + NEGATIVE_TTL_MS });
      throw refusal;
    }
  };
}

const NOTED_EVERY_MS = HOUR;

/** Notes the successful use of a key. A failure is logged and not thrown, because the request itself is done. */
export async function noteKeyUse(
  caller: Caller,
  platform: Pick<Platform, "change">,
  { clock, log }: Pick<Deps, "clock" | "log">,
) {
  const now = clock.now();
  if ((caller.kind !== "server" && caller.kind !== "agent") || now - caller.usedAt < NOTED_EVERY_MS) return;
  // The cached caller has the new time (ATH-R6).
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
