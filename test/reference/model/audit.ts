// The audit trail (F22, docs/decisions/0043 and 0102): which calls are in it, once each.
import type { Operation } from "./access.ts";
import { ANY, type Answer, type Request } from "./kit.ts";
import type { AuditedCall } from "./records/plans.ts";
import type { World } from "./world.ts";

const INBOX = /^POST \/v1\/in-app/;
const SENDS = "POST /v1/notifications";
const CONFIRMS = "TOOL confirm_send";
const STATES_CONSENT = ["POST /api/v1/subscribers/upsert", "POST /v1/subscribers/upsert", "PUT /v1/preferences"];

/**
 * Calls of members that change something, but for marks in an inbox; what server keys do with webhooks, and stop or let go, and one entry a
 * quarter-hour for all that one sends; of apps and upserts, what states a consent.
 */
function kindOf({ route, write }: Operation, { as, body }: Request): AuditedCall["kind"] | null {
  if (route.startsWith("GET ") || as.kind === "none") return null;
  if (as.kind === "dashboard") return write && !INBOX.test(route) ? "call" : null;
  if (as.kind === "agent") return CONFIRMS === route ? "call" : null;
  if (as.kind === "server" && route === SENDS) return "send";
  if (as.kind === "server" && /hooks|\/cancel$|\/resume$/.test(route)) return "call";
  const isConsent = STATES_CONSENT.includes(route) && (route.includes("preferences") || body?.consent !== undefined);
  return isConsent ? "call" : null;
}

export function recordCall(world: World, operation: Operation, request: Request, answer: Answer): void {
  const kind = kindOf(operation, request);
  if (kind === null) return;
  const { kind: actor, role = null } = request.as;
  const { status, body } = answer;
  const made = { kind, at: world.now, actor, role, code: body?.code ?? (body?.error ? ANY : null) };
  // What an agent confirms is a send like any other.
  if (operation.route !== CONFIRMS) world.calls.push({ ...made, route: operation.route, status });
  else if (!body?.replayed)
    world.calls.push({ ...made, route: "POST /api/v1/notifications", status: status === 200 ? 201 : status });
}
