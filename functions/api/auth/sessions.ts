// The caller's sessions: list them, and end them (ACC-5).
import * as v from "valibot";
import { said, Timestamp, titled } from "../../../shared/contract/schemas.ts";
import { ofOwnAccount } from "../../../shared/http/access.ts";
import { requireUser } from "../../../shared/http/authenticate.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { notFound } from "../../../shared/kernel/errors.ts";
import { platformRead, platformWrite } from "../../../shared/store/context.ts";
import { endSession, listSessions } from "../../../shared/store/workspaces/session-ends.ts";

const SessionEntry = titled("SessionEntry", {
  id: v.string(),
  tenant_id: said("The workspace that it began in", v.string()),
  device: said("Browser and system, or what another client calls itself", v.string()),
  address: said("The network address that it began from", v.string()),
  created_at: Timestamp,
  last_used_at: said("When its refresh token was used last", Timestamp),
  current: said("The session of the token that this call was made with", v.boolean()),
});

const endpoint = endpoints({ ...ofOwnAccount, uses: [] });

export const sessions = [
  endpoint(
    "GET /api/v1/auth/sessions",
    { uses: [platformRead] },
    {
      summary: "List the caller's sessions, the one used last first",
      description:
        "A user has at most 200: another one ends the oldest that was never refreshed, else the one that was used longest ago. " +
        "At most 30 of them belong to one sign-in: a switch beyond these ends one of its own sign-in, and none of other devices.",
      returns: v.object({ items: v.array(SessionEntry) }),
    },
    async ({ platform, caller }) => {
      const { user, session } = requireUser(caller);
      const rows = await listSessions(platform, user);
      const items = rows.map(({ id, tenant, device = "unknown", address = "unknown", created_at, last_used_at }) => ({
        id,
        tenant_id: tenant,
        device,
        address,
        created_at,
        last_used_at,
        current: id === session,
      }));
      return { items };
    },
  ),

  endpoint(
    "DELETE /api/v1/auth/sessions/:id",
    { effect: "own", uses: [platformWrite] },
    { summary: "End a session of the caller at once, with its access tokens" },
    async ({ platform, caller, params }) => {
      const isEnded = await endSession(platform, requireUser(caller).user, params.id);
      if (!isEnded) throw notFound("session");
    },
  ),
];
