// The live stream of a subscriber's in-app messages: one function behind its own URL, one invocation per open stream.
import type { Writable } from "node:stream";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import * as v from "valibot";
import { said, TextUpTo, Timestamp, titled, Uuid } from "../../shared/contract/schemas.ts";
import { authenticate } from "../../shared/http/authenticate.ts";
import { endpoints } from "../../shared/http/endpoint.ts";
import { limitRequests, requireProvider, requireSecondFactor, requireWorkspace } from "../../shared/http/gates.ts";
import { requireSignedIds, USER_HASH_HEADER } from "../../shared/http/identity-proof.ts";
import { parseQuery, refuseUnknownQuery } from "../../shared/http/input.ts";
import { openToBrowsers, STREAM_ID_HEADER } from "../../shared/http/responses.ts";
import type { CountDone } from "../../shared/http/sdk-limits.ts";
import { servingUses } from "../../shared/http/serving.ts";
import { type Deps, NO_TENANT, openAll } from "../../shared/kernel/deps.ts";
import { ApiError, notFound, toApiError } from "../../shared/kernel/errors.ts";
import { errorFields } from "../../shared/kernel/log.ts";
import { type RequestRetries, requestRetries } from "../../shared/kernel/retries.ts";
import { requireFeature } from "../../shared/rules/plans.ts";
import { platformWrite, storeWrite } from "../../shared/store/context.ts";
import { insideSandbox, isSandbox } from "../../shared/store/sandbox/sandbox.ts";
import { streamLimit } from "./admission.ts";
import { closeFeed, type Feed, openFeed, requireReader, runFeed } from "./feed.ts";
import { serverSentEvents } from "./output.ts";

const Query = v.object({
  subscriber_id: Uuid,
  sdk_key: v.optional(TextUpTo(256)),
  user_hash: said("Instead of the header `X-User-Hash`", v.optional(TextUpTo(1_024))),
  last_event_id: said(
    "Where to begin, if there is no header `Last-Event-ID`: the id of the newest message that the inbox showed, or " +
      "`00000000-0000-7000-8000-000000000000` where it was empty. Messages of the minute before may come again",
    v.optional(TextUpTo(1_024)),
  ),
});

/** The frame of a message (SSE-6). */
const Frame = titled("StreamMessage", {
  id: said("The message's id in the inbox", v.string()),
  notification_id: v.string(),
  title: v.string(),
  body: v.string(),
  data: v.record(v.string(), v.any()),
  sent_at: Timestamp,
  format: v.nullable(v.string()),
  image_url: v.nullable(v.string()),
  actions: v.array(v.object({ id: v.string(), label: v.string(), url: v.string() })),
  display: v.nullable(v.object({ trigger: v.string(), frequency: v.string() })),
});

const uses = [storeWrite, platformWrite, streamLimit] as const;

const endpoint = endpoints({ credentials: ["sdk", "dashboard"], feature: "in_app", uses });

/** The declaration of the stream, for everything that is derived from declarations. */
const declaration = endpoint(
  "GET /v1/in-app/stream",
  {},
  {
    summary: "Open a subscriber's live stream of in-app messages",
    description:
      "`text/event-stream`: one `data:` frame per message, a comment every 30 seconds, `id:` lines for `Last-Event-ID`. " +
      "The stream ends after 90 seconds: reconnect with the last `id:`, whether it came with a message or alone, " +
      "and nothing is lost or sent twice. A connection that breaks before its first `id:` resumes nowhere: begin at " +
      "`last_event_id` to lose nothing then either. The header `X-Stream-Id` names the stream, for the call that ends it early. After a broken connection a message can be sent again: deduplicate by its id.",
    query: Query,
    returns: Frame,
    errors: ["NOT_FOUND", "SERVICE_UNAVAILABLE"],
  },
  () => Promise.reject(new Error("The stream is served by its own function.")),
);

interface StreamFunction {
  name: "stream";
  about: string;
  endpoint: typeof declaration;
  create(deps: Deps): (event: APIGatewayProxyEventV2, response: Writable) => Promise<void>;
}

/** The part of the Lambda runtime that a streaming function needs; the local host has it too. */
interface Runtime {
  HttpResponseStream: {
    from(stream: Writable, metadata: { statusCode: number; headers: Record<string, string> }): Writable;
  };
}

export const stream: StreamFunction = {
  name: "stream",
  about: "The live stream of in-app messages.",
  endpoint: declaration,
  create: (bare) => {
    const retries = requestRetries(bare.aws, bare.clock, bare.ids);
    const deps: Deps = { ...bare, aws: retries.aws, pauseBeforeRetry: retries.pause };
    const admit = openAdmission(deps, retries);
    return async (event, response) => {
      retries.begin();
      const exchange = { event, response };
      const admission = await admit(event).catch((error: unknown): Admission => ({ kind: "refused", error }));
      switch (admission.kind) {
        case "refused":
          return refuse(deps, exchange, admission.error);
        case "headers":
          return sendHeaders(exchange);
        case "stream":
          return sendStream(deps, exchange, admission);
      }
    };
  },
};

interface Exchange {
  event: APIGatewayProxyEventV2;
  response: Writable;
}

/** Lambda's runtime sends status and headers at the first `write`. */
function begin({ event, response }: Exchange, statusCode: number, headers: Record<string, string>): Writable {
  const { HttpResponseStream } = (globalThis as unknown as { awslambda: Runtime }).awslambda;
  const common = {
    "x-request-id": event.requestContext.requestId,
    ...openToBrowsers,
    "x-content-type-options": "nosniff",
  };
  return HttpResponseStream.from(response, { statusCode, headers: { ...headers, ...common } });
}

function refuse({ log }: Deps, exchange: Exchange, error: unknown): void {
  const { requestId: request_id } = exchange.event.requestContext;
  const refusal = toApiError(error, request_id);
  const { status } = refusal;
  const entry = { route: declaration.route, request_id, status };
  log(
    status >= 500
      ? { level: "error", message: "a stream could not open", ...entry, ...errorFields(error) }
      : { level: "info", message: "stream refused", ...entry },
  );
  const headers = { "content-type": "application/json", "cache-control": "no-store", ...refusal.details.headers };
  const out = begin(exchange, status, headers);
  // A body given to `end` would bypass the first `write`.
  out.write(JSON.stringify(refusal.body()));
  out.end();
}

/** Writes a comment, because without a `write` the response has no headers. */
function sendHeaders(exchange: Exchange): void {
  const out = begin(exchange, 200, eventStream);
  out.write(":\n\n");
  out.end();
}

async function sendStream({ log }: Deps, exchange: Exchange, { feed, countDone }: Opened): Promise<void> {
  const { headers, requestContext } = exchange.event;
  const out = begin(exchange, 200, { ...eventStream, [STREAM_ID_HEADER]: feed.connection });
  let uncounted = 0;
  const write = (text: string) => {
    uncounted += Buffer.byteLength(text);
    out.write(text);
  };
  // The viewer chose where the stream begins; other senders cause the later messages.
  const countTold = () => {
    const bytes = uncounted;
    uncounted = 0;
    return countDone(bytes);
  };
  try {
    await runFeed(feed, serverSentEvents(write, headers["last-event-id"]), countTold);
  } catch (error) {
    const { requestId: request_id } = requestContext;
    log({ level: "warn", message: "a stream ended with an error", request_id, ...errorFields(error) });
  } finally {
    out.end();
    await closeFeed(feed);
  }
}

const eventStream = { "content-type": "text/event-stream", "cache-control": "no-cache, no-transform" };

interface Opened {
  feed: Feed;
  countDone: CountDone;
}

type Admission =
  | ({ kind: "stream" } & Opened)
  /** The answer to a HEAD. */
  | { kind: "headers" }
  | { kind: "refused"; error: unknown };

/** Authenticates a request, applies the gates of the endpoint, and opens the stream. */
function openAdmission(deps: Deps, retries: RequestRetries): (event: APIGatewayProxyEventV2) => Promise<Admission> {
  const serving = openAll(servingUses, deps)(NO_TENANT);
  const { platform, secrets, tokens, requestTokens, sdkLimits, viewer: addressOf } = serving;
  const credentials = { platform, secrets, tokens, clock: deps.clock };
  const bind = openAll(uses, deps);
  return async (event) => {
    const { headers, queryStringParameters = {}, requestContext } = event;
    const { method } = requestContext.http;
    // The function's URL takes any method.
    if (method !== "GET" && method !== "HEAD") throw notFound("route");

    const authorization = headers["x-viewer-authorization"] ?? headers.authorization ?? "";
    const presented = {
      sdkKey: headers["x-sdk-key"] ?? queryStringParameters.sdk_key,
      bearer: authorization ? authorization.replace(/^bearer /i, "") : undefined,
    };
    const caller = await authenticate(declaration.access, presented, credentials);
    if (caller.kind === "public") throw new ApiError("UNAUTHORIZED", "Valid credentials are required.");

    await limitRequests(caller, platform, requestTokens);
    const counted = { caller, link: undefined, address: () => addressOf(event), units: 0 };
    const countDone = await sdkLimits.count(counted, platform);
    requireWorkspace(caller, declaration.access);
    requireProvider(caller, declaration.access);
    requireSecondFactor(caller, declaration.access);
    requireFeature(caller.workspace.plan, "in_app");
    refuseUnknownQuery(declaration.shape, queryStringParameters);
    const query = parseQuery(declaration.shape, queryStringParameters) as v.InferOutput<typeof Query>;
    const { subscriber_id, user_hash } = query;
    await requireSignedIds(caller, [query], headers[USER_HASH_HEADER] ?? user_hash, secrets);

    const viewer = { address: addressOf(event), lastEventId: headers["last-event-id"] || query.last_event_id };
    const { tenant, time } = caller.workspace;
    const inside = isSandbox(tenant) ? insideSandbox(deps, tenant, time) : deps;
    const bound = isSandbox(tenant) ? openAll(uses, inside)(tenant) : bind(tenant);

    if (method === "HEAD") {
      await requireReader(bound.store, subscriber_id).finally(() => countDone(0));
      return { kind: "headers" };
    }
    const opening = openFeed({ ...inside, retries, ...bound }, subscriber_id, viewer);
    return { kind: "stream", feed: await opening.finally(() => countDone(0)), countDone };
  };
}
