// Runs a group of endpoints: the checks around every deed, in their one fixed order (decision 18), on middy.
import middy from "@middy/core";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context as LambdaContext } from "aws-lambda";
import * as v from "valibot";
import { opener, type Parts } from "../parts.ts";
import { requireFeature } from "../plans.ts";
import type { TenantId } from "../store/model.ts";
import { authenticate, type Caller } from "./authenticate.ts";
import { createCredentialCache } from "./credential-cache.ts";
import { deprecationHeaders } from "./deprecation.ts";
import { type Endpoint, type Group, isReply, routeKeyOf, type Shape } from "./endpoint.ts";
import { toApiError } from "./errors.ts";
import { openToBrowsers } from "./fallback.ts";
import { limitRequests, requirePermission, requireScope, requireWorkspace, requireWritable } from "./gates.ts";
import {
  bytesOf,
  parseBody,
  parseForm,
  parseQuery,
  readJson,
  readParams,
  refuseDeepBody,
  refuseLongBody,
} from "./input.ts";
import { noteKeyUse } from "./key-use.ts";
import { servingUses } from "./serving.ts";

type Event = APIGatewayProxyEventV2;
export type Response = APIGatewayProxyStructuredResultV2;
export type ApiHandler = (event: Event, context: LambdaContext) => Promise<Response>;

/** One request on its way through the steps; the body parser of middy reads and replaces `body`. */
interface Passage {
  event: Event;
  headers: Readonly<Record<string, string | undefined>>;
  body: unknown;
  isBase64Encoded: boolean;
  requestId: string;
  startedAt: number;
  caller: Caller;
  query: unknown;
  form: unknown;
}

/** The Lambda handler of a group. @see decision 15: called once per environment. */
export function serve(group: Group, parts: Parts): ApiHandler {
  const shared = { open: opener(parts), cached: createCredentialCache(parts.clock.now) };
  const chains = new Map(
    group.endpoints.map((endpoint) => [routeKeyOf(endpoint.route), chain(endpoint, parts, shared)]),
  );
  return async (event, context) => {
    const run = chains.get(event.routeKey);
    if (!run) throw new Error(`The group ${group.name} has no route ${event.routeKey}.`);
    return run(event, context);
  };
}

/** What the endpoints of a group share. */
interface Shared {
  open: ReturnType<typeof opener>;
  cached: ReturnType<typeof createCredentialCache>;
}

function chain(endpoint: Endpoint, parts: Parts, { open, cached }: Shared): ApiHandler {
  const { access, shape } = endpoint;
  const { clock, ids, log } = parts;
  const bind = open(endpoint.uses);
  const { platform, viewer: addressOf, ...rest } = open(servingUses)("" as TenantId);
  const credentials = { platform, ...rest, clock };

  const handler = middy<Passage, Response>({ timeoutEarlyInMillis: 0 })
    .before(async ({ event: passage }) => {
      const presented = presentedBy(passage.event);
      const validate = () => authenticate(access, presented, credentials);
      passage.caller = access.cachesCredentials
        ? await cached(JSON.stringify([access.credentials, presented]), validate)
        : await validate();
    })
    .before(({ event: { caller } }) => limitRequests(caller, platform))
    .before(({ event: { caller } }) => requireWorkspace(caller, access))
    .before(({ event: { caller } }) => requireWritable(caller, access))
    .before(({ event: { caller } }) => {
      requirePermission(caller, access.permission);
      requireScope(caller, access.scope);
    })
    .before(({ event: { caller } }) => {
      if (access.feature && caller.kind !== "public") requireFeature(caller.workspace.plan, access.feature);
    })
    .before(({ event: passage }) => {
      passage.query = parseQuery(shape, passage.event.queryStringParameters ?? {});
    })
    .before((request) => {
      if (!shape.body) return;
      refuseLongBody(shape, request.event.caller, request.event);
      readJson(request);
      refuseDeepBody(shape, request.event.body);
      request.event.body = parseBody(shape, request.event.body);
    })
    .before(async ({ event: passage }) => {
      if (shape.form) passage.form = await parseForm(shape, shape.form, passage);
    })
    .handler(async (passage): Promise<Response> => {
      const tenant = (passage.caller.kind === "public" ? "" : passage.caller.workspace.tenant) as TenantId;
      const result = await endpoint.deed({
        ...bind(tenant),
        caller: passage.caller,
        tenant,
        params: readParams(passage.event.pathParameters),
        query: passage.query,
        body: shape.body && passage.body,
        form: passage.form,
        raw: shape.raw === undefined ? undefined : bytesOf(passage),
        headers: passage.headers,
        sourceIp: addressOf(passage.event),
        requestId: passage.requestId,
        clock,
        ids,
        log,
      });
      const response = respond(endpoint, result);
      await noteKeyUse(passage.caller, platform, parts);
      return response;
    });

  return async (event, context) => {
    const passage: Passage = {
      event,
      headers: event.headers,
      body: event.body,
      isBase64Encoded: event.isBase64Encoded,
      requestId: event.requestContext.requestId || ids.uuid(),
      startedAt: clock.now(),
      caller: { kind: "public" },
      query: undefined,
      form: undefined,
    };
    const response = await handler(passage, context).catch((error: unknown) => refuse(error, passage, parts));
    response.headers = { ...response.headers, ...standingHeaders(endpoint, passage, response) };
    logRequest(endpoint, passage, response, parts);
    return response;
  };
}

/** A thrown error becomes a response here and nowhere else. */
function refuse(error: unknown, { requestId }: Passage, { log }: Parts): Response {
  const refusal = toApiError(error, requestId);
  if (refusal.status >= 500)
    log({
      level: "error",
      message: "request failed",
      request_id: requestId,
      error: error instanceof Error ? `${error.name}: ${error.message}` : "unknown",
      stack: error instanceof Error ? error.stack : undefined,
    });
  return json(refusal.status, refusal.body(), refusal.details.headers);
}

function respond({ route, shape }: Endpoint, result: unknown): Response {
  const reply = isReply(result)
    ? result
    : { status: shape.status ?? (shape.returns || shape.text ? 200 : 204), body: result, headers: {} };
  if (shape.text) return text(shape.text, reply);
  if (!shape.returns) return { statusCode: reply.status, headers: reply.headers };
  const body = v.safeParse(shape.returns, reply.body);
  if (!body.success) throw new Error(`${route} answered outside its schema: ${v.getDotPath(body.issues[0]) ?? "body"}`);
  return json(reply.status, body.output, reply.headers);
}

const text = (
  { type, headers }: NonNullable<Shape["text"]>,
  { status, body, headers: own }: { status: number; body: unknown; headers: Record<string, string> },
): Response => ({
  statusCode: status,
  headers: { ...headers, ...own, "content-type": type },
  ...(Buffer.isBuffer(body) ? { body: body.toString("base64"), isBase64Encoded: true } : { body: String(body) }),
});

const json = (statusCode: number, body: unknown, headers: Record<string, string> = {}): Response => ({
  statusCode,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

function standingHeaders(
  { access, shape }: Endpoint,
  { requestId }: Passage,
  { statusCode = 200 }: Response,
): Record<string, string> {
  const kept = statusCode < 300 && access.credentials.length === 0 ? shape.cacheSeconds : undefined;
  return {
    "x-request-id": requestId,
    "cache-control": kept === undefined ? "no-store" : `public, max-age=${kept}`,
    "x-content-type-options": "nosniff",
    ...deprecationHeaders(shape.deprecated),
    ...(access.credentials.includes("sdk") && openToBrowsers),
  };
}

function presentedBy({ headers }: Event) {
  const authorization = headers.authorization ?? "";
  const bearer = /^bearer /i.test(authorization) ? authorization.slice(7).trim() : undefined;
  return { sdkKey: headers["x-sdk-key"], bearer: authorization && bearer === undefined ? "" : bearer };
}

function logRequest(endpoint: Endpoint, passage: Passage, { statusCode = 200 }: Response, { log, clock }: Parts): void {
  log({
    level: statusCode >= 500 ? "error" : "info",
    message: "request",
    request_id: passage.requestId,
    tenant: passage.caller.kind === "public" ? undefined : passage.caller.workspace.tenant,
    route: endpoint.route,
    status: statusCode,
    ms: clock.now() - passage.startedAt,
  });
}
