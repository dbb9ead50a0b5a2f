// The caller's sessions: where they are, and their end (ACC-5).
import * as v from "valibot";
import { Timestamp } from "../../../shared/contract/schemas.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { notFound } from "../../../shared/kernel/errors.ts";
import { platformRead, platformWrite } from "../../../shared/store/context.ts";
import { endSession, listSessions } from "../../../shared/store/workspaces/refresh.ts";
import { requireUser } from "./passwords.ts";

const SessionEntry = v.pipe(
  v.object({
    id: v.string(),
    tenant_id: v.pipe(v.string(), v.description("The workspace that it began in")),
    device: v.pipe(v.string(), v.description("Browser and system, or what another client calls itself")),
    address: v.pipe(v.string(), v.description("The network address that it began from")),
    created_at: Timestamp,
    last_used_at: v.pipe(Timestamp, v.description("When its refresh token was used last")),
    current: v.pipe(v.boolean(), v.description("The session of the token that this call was made with")),
  }),
  v.title("SessionEntry"),
);

const endpoint = endpoints({
  credentials: ["dashboard"],
  openWhileSuspended: true,
  openBeforeSecondFactor: true,
  inRealTime: true,
  uses: [],
});

export const sessions = [
  endpoint(
    "GET /api/v1/auth/sessions",
    { uses: [platformRead] },
    {
      summary: "List the caller's sessions, the one used last first",
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
