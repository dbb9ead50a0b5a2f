// Runs a group of endpoints: the checks around every handler, in their one fixed order
// (docs/decisions/0021#order-of-checks), on middy.
import middy from "@middy/core";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import * as v from "valibot";
import { type Deps, NO_TENANT, openAll, opener } from "../kernel/deps.ts";
import { ApiError, toApiError } from "../kernel/errors.ts";
import { errorFields } from "../kernel/log.ts";
import { requestRetries } from "../kernel/retries.ts";
import { insideSandbox, isSandbox } from "../store/sandbox/sandbox.ts";
import type { Secrets } from "../store/secrets.ts";
import type { Access, PresentedCredentials } from "./access.ts";
import { actionsOf, audited } from "./auditing.ts";
import { authenticate, type Caller } from "./authenticate.ts";
import { readCookies } from "./cookies.ts";
import { createCredentialCache, noteKeyUse } from "./credential-cache.ts";
import { type Endpoint, type Group, isReply, routeKeyOf, routesOf } from "./endpoint.ts";
import { gatesOf } from "./gates.ts";
import { requireSignedIds, USER_HASH_HEADER } from "./identity-proof.ts";
import {
  bytesOf,
  parseEcho,
  parseForm,
  readJson,
  readParams,
  readQuery,
  refuseDeepBody,
  refuseLongBody,
} from "./input.ts";
import { type ApiHandler, commonHeaders, json, type Response, respond, withoutBody } from "./responses.ts";
import type { CountDone } from "./sdk-limits.ts";
import { servingUses } from "./serving.ts";

type Event = APIGatewayProxyEventV2;

/** One request during its processing. Parsing replaces the text of `body` by its value. */
interface RequestContext {
  event: Event;
  headers: Readonly<Record<string, string | undefined>>;
  body: unknown;
  isBase64Encoded: boolean;
  requestId: string;
  startedAt: number;
  caller: Caller;
  query: unknown;
  form: unknown;
  /** Counts the writes of the request for the limits, and the bytes of its answer. */
  countDone?: CountDone;
}

/** The Lambda handler of a group. @see docs/decisions/0021#composition-root: called once per environment. */
export function serve(group: Group, bare: Deps): ApiHandler {
  const retries = requestRetries(bare.aws, bare.clock, bare.ids);
  const deps: Deps = { ...bare, aws: retries.aws, pauseBeforeRetry: retries.pause };
  const shared = { open: opener(deps), cached: createCredentialCache(deps.clock.now) };
  const actions = actionsOf(group);
  const chains = new Map(
    routesOf(group).map(({ routeKey, endpoint }) => {
      const reader = readerOf(endpoint, group);
      const action = actions.get(endpoint.route) ?? endpoint.route;
      const run = chain(endpoint, deps, { ...shared, reader, action });
      return [routeKey, routeKey === routeKeyOf(endpoint.route) ? run : withoutBody(run)];
    }),
  );
  return async (event, context) => {
    const run = chains.get(event.routeKey);
    if (!run) throw new Error(`The group ${group.name} has no route ${event.routeKey}.`);
    retries.begin();
    return run(event, context);
  };
}

/** Shared by the endpoints of a group. */
interface GroupRuntime {
  open: ReturnType<typeof opener>;
  cached: ReturnType<typeof createCredentialCache>;
}

/** The GET endpoint of the resource that a PUT or PATCH changes. */
function readerOf({ route }: Endpoint, { endpoints }: Group): Endpoint | undefined {
  const [method, path] = route.split(" ");
  if (method !== "PUT" && method !== "PATCH") return undefined;
  return endpoints.find(
    (candidate) => candidate.route === `GET ${path}` && candidate.shape.returns && !candidate.shape.query,
  );
}

function chain(
  endpoint: Endpoint,
  deps: Deps,
  { open, cached, reader, action }: GroupRuntime & { reader: Endpoint | undefined; action: string },
): ApiHandler {
  const { access, shape } = endpoint;
  const { clock, ids } = deps;
  const depsOf = depsOfRequests(endpoint, { deps, bind: open(endpoint.uses) });
  const current = reader && currentReader(reader, depsOfRequests(reader, { deps, bind: open(reader.uses) }));
  const { viewer: addressOf, ...serving } = open(servingUses)(NO_TENANT);
  const credentials = { ...serving, clock };
  const pass = gatesOf(endpoint, { ...serving, addressOf });

  const handler = middy<RequestContext, Response>({ timeoutEarlyInMillis: 0 })
    .before(async ({ event: context }) => {
      serving.requireEdge(endpoint.route, context.event);
      const presented = presentedBy(context, access);
      const validate = () => authenticate(access, presented, credentials);
      context.caller = access.cachesCredentials
        ? await cached(JSON.stringify([access.credentials, presented]), validate, isOfSandbox)
        : await validate();
    })
    .before(({ event: context }) => pass(context))
    .before((request) => readInput(endpoint, request, current, credentials.secrets))
    .handler(async (context): Promise<Response> => {
      const tenant = tenantOf(context) ?? NO_TENANT;
      const { deps: ownDeps, bind } = depsOf(context);
      const call = {
        caller: context.caller,
        tenant,
        params: readParams(context.event.pathParameters),
        query: context.query,
        body: shape.body && context.body,
        form: context.form,
        raw: shape.raw === undefined ? undefined : bytesOf(context),
        headers: context.headers,
        cookies: readCookies(context.event.cookies),
        sourceIp: addressOf(context.event),
        requestId: context.requestId,
        clock: ownDeps.clock,
        ids: ownDeps.ids,
        log: ownDeps.log,
      };
      const handle = () => endpoint.handler({ ...bind(tenant), ...call });
      let response: Response | undefined;
      try {
        response = respond(endpoint, await audited(serving, { action, ...endpoint }, call, handle));
      } finally {
        await context.countDone?.(Buffer.byteLength(response?.body ?? ""));
      }
      await noteKeyUse(context.caller, serving.platform, deps);
      return response;
    });

  return async (event, context) => {
    const state = stateOf(event, ids, clock.now());
    const response = await handler(state, context).catch((error: unknown) => refuse(error, endpoint, state, deps));
    response.headers = { ...response.headers, ...commonHeaders(endpoint, state.requestId, response) };
    logRequest(endpoint, state, response, deps);
    return response;
  };
}

/** A request before its caller is known. */
const stateOf = (event: Event, ids: Deps["ids"], startedAt: number): RequestContext => ({
  event,
  headers: event.headers,
  body: event.body,
  isBase64Encoded: event.isBase64Encoded,
  requestId: event.requestContext.requestId || ids.uuid(),
  startedAt,
  caller: { kind: "public" },
  query: undefined,
  form: undefined,
});

type CurrentReader = (context: RequestContext) => Promise<unknown>;

interface HandlerDeps {
  deps: Deps;
  bind: ReturnType<ReturnType<typeof opener>>;
}

const isOfSandbox = (caller: Caller): boolean => caller.kind !== "public" && isSandbox(caller.workspace.tenant);

/** The deps of the function, or those of a sandbox's time for its caller (docs/decisions/0072). */
const depsOfRequests =
  ({ access, uses }: Pick<Endpoint, "access" | "uses">, ordinary: HandlerDeps) =>
  ({ caller }: RequestContext): HandlerDeps => {
    if (access.inRealTime || caller.kind === "public" || !isOfSandbox(caller)) return ordinary;
    const deps = insideSandbox(ordinary.deps, caller.workspace.tenant, caller.workspace.time);
    return { deps, bind: openAll(uses, deps) };
  };

/** Reads what a GET returns now; undefined if it refuses. */
const currentReader =
  ({ shape, handler }: Endpoint, depsOf: (context: RequestContext) => HandlerDeps): CurrentReader =>
  async (context) => {
    const { caller, event, headers, requestId } = context;
    if (caller.kind === "public" || !shape.returns) return undefined;
    const { tenant } = caller.workspace;
    const params = readParams(event.pathParameters);
    const { deps, bind } = depsOf(context);
    const { clock, ids, log } = deps;
    try {
      const result = await handler({ ...bind(tenant), caller, tenant, params, headers, requestId, clock, ids, log });
      return JSON.parse(JSON.stringify(v.parse(shape.returns, isReply(result) ? result.body : result)));
    } catch (error) {
      if (error instanceof ApiError) return undefined;
      throw error;
    }
  };

/** Parses query and body, and checks that user ids in them are signed if that is demanded. */
async function readInput(
  endpoint: Endpoint,
  request: { event: RequestContext },
  current: CurrentReader | undefined,
  secrets: Secrets,
): Promise<void> {
  const { event: context } = request;
  context.query = await readQuery(endpoint, request);
  await readBody(endpoint.shape, request, current);
  const { caller, query, body, headers } = context;
  await requireSignedIds(caller, [query, body], headers[USER_HASH_HEADER], secrets);
}

/** Replaces the body by its parsed value, or sets the form. */
async function readBody(
  shape: Endpoint["shape"],
  request: { event: RequestContext },
  current: CurrentReader | undefined,
): Promise<void> {
  const { event } = request;
  if (shape.form) event.form = await parseForm(shape, shape.form, event);
  if (shape.body || shape.raw) refuseLongBody(shape, event.caller, event);
  if (!shape.body) return;
  await readJson(request);
  refuseDeepBody(shape, event.body);
  event.body = await parseEcho(shape, event.body, current && (() => current(event)));
}

/** Turns a thrown error into a response. This is the only place that does. */
function refuse(error: unknown, endpoint: Endpoint, context: RequestContext, { log }: Deps): Response {
  const refusal = toApiError(error, context.requestId);
  if (refusal.status >= 500)
    log({ level: "error", message: "request failed", ...placeOf(endpoint, context), ...errorFields(error) });
  const challenge = refusal.status === 401 && { "www-authenticate": "Bearer" };
  const headers = { ...refusal.details.headers, ...challenge };
  return json(refusal.status, endpoint.shape.refusalBody?.(refusal) ?? refusal.body(), headers);
}

/** The credentials in the usual headers, else where the endpoint's own protocol has them. */
function presentedBy(
  { event, ...request }: RequestContext,
  { presents }: Pick<Access, "presents">,
): PresentedCredentials {
  const { authorization = "", "x-sdk-key": sdkKey } = event.headers;
  const bearer = /^bearer /i.test(authorization) ? authorization.slice(7).trim() : undefined;
  if (presents && sdkKey === undefined && bearer === undefined) return presents(request);
  return { sdkKey, bearer: authorization && bearer === undefined ? "" : bearer };
}

const tenantOf = ({ caller }: RequestContext) => (caller.kind === "public" ? undefined : caller.workspace.tenant);

/** The fields about a request in each line of the log. */
const placeOf = ({ route }: Endpoint, context: RequestContext) => ({
  request_id: context.requestId,
  tenant: tenantOf(context),
  route,
});

function logRequest(
  endpoint: Endpoint,
  context: RequestContext,
  { statusCode = 200 }: Response,
  { log, clock }: Deps,
): void {
  log({
    level: statusCode >= 500 ? "error" : "info",
    message: "request",
    ...placeOf(endpoint, context),
    status: statusCode,
    ms: clock.now() - context.startedAt,
  });
}
