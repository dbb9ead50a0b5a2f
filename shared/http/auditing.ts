// Decides which calls the audit trail records, and makes their entries (RDA-23, docs/decisions/0043).
import { toApiError } from "../kernel/errors.ts";
import type { TenantId } from "../kernel/ids.ts";
import type { AuditOutcome } from "../store/audit/items.ts";
import type { AuditEntry, AuditTrail } from "../store/audit/trail.ts";
import type { Secrets } from "../store/secrets.ts";
import type { Caller } from "./authenticate.ts";
import { type Endpoint, type Group, isReply, type Shape } from "./endpoint.ts";
import { camel, methodNames } from "./operation-names.ts";

const actorOf = (caller: Caller): Pick<AuditEntry, "actor_type" | "actor" | "role"> | undefined => {
  if (caller.kind === "dashboard") return { actor_type: "user", actor: caller.user, role: caller.role };
  if (caller.kind === "server") return { actor_type: "server_key", actor: caller.key };
  if (caller.kind === "agent") return { actor_type: "agent_key", actor: caller.key };
  if (caller.kind === "sdk") return { actor_type: "publishable_key", actor: "publishable_key" };
  return undefined;
};

interface AuditedCall {
  caller: Caller;
  tenant: TenantId;
  params: Readonly<Record<string, string | undefined>>;
  body: unknown;
  requestId: string;
  sourceIp: string;
}

type AuditedEndpoint = Pick<Endpoint, "access" | "shape"> & { action: string };

/** The SDK name of each operation of a group: `campaigns.release`. */
export const actionsOf = (group: Group): Map<string, string> =>
  new Map([...methodNames(group)].map(([route, method]) => [route, `${camel(group.name)}.${method}`]));

/** Runs a call, and records it if required. @throws the error of the call, and 503 if the trail cannot be written */
export function audited(
  { auditTrail, secrets }: { auditTrail: AuditTrail; secrets: Secrets },
  endpoint: AuditedEndpoint,
  call: AuditedCall,
  run: () => Promise<unknown>,
): Promise<unknown> {
  const entry = auditEntryOf(endpoint, call);
  if (!entry) return run();
  return auditTrail.record({ tenant: call.tenant, secrets }, entry, run, (result) =>
    auditOutcomeOf(endpoint.shape, call.requestId, result),
  );
}

/**
 * The entry for a call; undefined if it is not recorded: if it changes nothing, or if it is of a client or excluded by
 * its declaration, and states no consent. Bodies are never recorded, because they hold personal data and secrets.
 */
function auditEntryOf(
  { action, access: { effect, unaudited = [], consents } }: AuditedEndpoint,
  { caller, params, body, requestId, sourceIp }: AuditedCall,
): AuditEntry | undefined {
  const actor = actorOf(caller);
  if (!actor || (effect !== "write" && effect !== "own")) return undefined;
  const isLeftOut = caller.kind === "sdk" || unaudited.some((credential) => credential === caller.kind);
  if (isLeftOut && !consents?.(body)) return undefined;
  const target = Object.values(params)
    .filter((id) => id !== undefined)
    .join("/");
  return { action, ...actor, target: target || undefined, request_id: requestId, ip: sourceIp || undefined };
}

function auditOutcomeOf(
  shape: Shape,
  requestId: string,
  result: PromiseSettledResult<unknown>,
): Omit<AuditOutcome, "mac"> {
  if (result.status === "rejected") {
    const { status, code } = toApiError(result.reason, requestId);
    return { status, code };
  }
  const declared = shape.status ?? (shape.returns ? 200 : 204);
  const { value } = result;
  const body = isReply(value) ? value.body : value;
  const status = (isReply(value) ? value.status : undefined) ?? declared;
  return { status, created: createdBy(shape, body), ...(isDryRun(body) && { dry_run: true as const }) };
}

const isDryRun = (body: unknown): boolean => typeof body === "object" && Object(body).dry_run === true;

/** The id of a created resource, from the field that the shape names. */
function createdBy({ names = "id" }: Shape, body: unknown): string | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  const value = (body as Record<string, unknown>)[names];
  return typeof value === "string" ? value : undefined;
}
