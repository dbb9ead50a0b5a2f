// Tools of agents: endpoints marked with `agents`, run in this process with the caller's workspace and their own checks.
import * as v from "valibot";
import { withoutInvisible, withoutPersonal } from "../../../shared/contract/personal.ts";
import type { AgentScope } from "../../../shared/contract/roles.ts";
import { audited } from "../../../shared/http/auditing.ts";
import type { Caller } from "../../../shared/http/authenticate.ts";
import { type Call, type Endpoint, isReply } from "../../../shared/http/endpoint.ts";
import { parseBody, parseQuery, readParams, refuseDeepBody } from "../../../shared/http/input.ts";
import { type Capability, NO_TENANT, opener } from "../../../shared/kernel/deps.ts";
import { ApiError, invalid } from "../../../shared/kernel/errors.ts";
import { requireFeature } from "../../../shared/rules/plans.ts";
import { auditTrail } from "../../../shared/store/audit/trail.ts";
import { secrets } from "../../../shared/store/capabilities.ts";
import { actionOf, callable } from "./callable.ts";

/** A tool as `tools/list` shows it, and the endpoint behind it: generated from the declarations. */
export interface ToolSpec {
  name: string;
  title: string;
  description: string;
  scope: AgentScope;
  route: string;
  inputSchema: { type: "object"; [keyword: string]: unknown };
  /** For a tool that only reads, the other hints have no meaning. */
  annotations: { readOnlyHint: boolean; destructiveHint?: boolean; idempotentHint?: boolean; openWorldHint?: boolean };
}

export type Agent = Extract<Caller, { kind: "agent" }>;
export type Arguments = Readonly<Record<string, unknown>>;
type Around = Pick<Call, "headers" | "sourceIp" | "requestId" | "clock" | "ids" | "log"> & { caller: Agent };

export interface Tools {
  /** The result of an endpoint for these arguments, as the API would return it. @throws ApiError */
  run(route: string, args: Arguments, around: Around): Promise<unknown>;
}

/** Whether a key holds a scope. Every key may read data that is not personal. */
export const holdsScope = ({ scopes }: Agent, scope: AgentScope): boolean => scope === "read" || scopes.includes(scope);

function endpointOf(route: string): Endpoint {
  const endpoint = callable.get(route);
  if (!endpoint) throw new Error(`The tool of ${route} has no endpoint in callable.ts.`);
  return endpoint;
}

const entriesOf = (schema: v.GenericSchema | undefined): Readonly<Record<string, unknown>> | undefined =>
  (schema as { entries?: Record<string, unknown> } | undefined)?.entries;

/**
 * Splits the arguments of a tool into the parameters of the path, the query, and the fields of the body. A body without
 * fields is `body`.
 */
function inputOf({ route, shape }: Endpoint, args: Arguments) {
  const params: Record<string, string> = {};
  const query: Record<string, string> = {};
  const rest: Record<string, unknown> = {};
  const parameters = [...route.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const queried = entriesOf(shape.query) ?? {};
  for (const [name, value] of Object.entries(args)) {
    const isParameter = parameters.includes(name);
    if (!isParameter && !Object.hasOwn(queried, name)) rest[name] = value;
    else if (typeof value === "object" || value === undefined) throw invalid({ [name]: "must be a single value" });
    else (isParameter ? params : query)[name] = String(value);
  }
  for (const name of parameters) if (params[name] === undefined) throw invalid({ [name]: "is required" });
  if (!shape.body) {
    for (const name of Object.keys(rest)) throw invalid({ [name]: "is not a known field" });
    return { params, query, body: undefined };
  }
  if (entriesOf(shape.body)) return { params, query, body: rest };
  const { body = {}, ...more } = rest;
  for (const name of Object.keys(more)) throw invalid({ [name]: "is not a known field" });
  return { params, query, body };
}

/** The grants of all endpoints behind the tools, and no others. */
export const agentTools: Capability<"tools", Tools> = {
  as: "tools",
  env: [...callable.values()].flatMap(({ uses }) => uses.flatMap(({ env }) => env)),
  grants: [...callable.values()].flatMap(({ uses }) => uses.flatMap(({ grants }) => grants)),
  open: (deps) => {
    const open = opener(deps);
    const trail = open([auditTrail, secrets] as const)(NO_TENANT);
    const bound = new Map([...callable].map(([route, { uses }]) => [route, open(uses)]));
    return (tenant) => ({
      run: async (route, args, around) => {
        const endpoint = endpointOf(route);
        const { access, shape } = endpoint;
        if (access.feature) requireFeature(around.caller.workspace.plan, access.feature);
        const { params, query, body } = inputOf(endpoint, args);
        if (shape.body) refuseDeepBody(shape, body);
        const call = {
          ...around,
          tenant,
          cookies: {},
          params: readParams(params),
          query: parseQuery(shape, query),
          body: parseBody(shape, body),
          form: undefined,
          raw: undefined,
        };
        const action = actionOf.get(route) ?? route;
        const result = await audited(trail, { action, access, shape }, call, () =>
          endpoint.handler({ ...bound.get(route)!(tenant), ...call }),
        );
        return shape.returns && v.parse(shape.returns, isReply(result) ? result.body : result);
      },
    });
  },
};

/** The result as an agent sees it: without personal data unless its key has `read:pii`. */
export const shownTo = (agent: Agent, route: string, result: unknown): unknown =>
  withoutInvisible(holdsScope(agent, "read:pii") ? result : withoutPersonal(endpointOf(route).shape.returns, result));

export function requireAgentScope(agent: Agent, scope: AgentScope): void {
  if (!holdsScope(agent, scope)) throw new ApiError("FORBIDDEN", `This key lacks the scope ${scope}.`);
}
