// Segment's tracking API: apps that have its libraries send here what they sent there (docs/decisions/0100).
import * as v from "valibot";
import { said, titled } from "../../../../shared/contract/schemas.ts";
import type { PresentedCredentials, PresentingRequest } from "../../../../shared/http/access.ts";
import { workspaceOf } from "../../../../shared/http/authenticate.ts";
import { type Call, endpoints, replyWith, type Shape } from "../../../../shared/http/endpoint.ts";
import { requireSignedIds, USER_HASH_HEADER } from "../../../../shared/http/identity-proof.ts";
import { bytesOf } from "../../../../shared/http/input.ts";
import { openToBrowsers } from "../../../../shared/http/responses.ts";
import { notFound } from "../../../../shared/kernel/errors.ts";
import { numberOfEach } from "../../../../shared/rules/counting.ts";
import { type Tier, tiers } from "../../../../shared/rules/event-limits.ts";
import { secrets } from "../../../../shared/store/capabilities.ts";
import { serviceUrl } from "../../../../shared/store/workspaces/account-mails.ts";
import { tenantOfSdkKey } from "../../../../shared/store/workspaces/sdk-keys.ts";
import { calls, jsonOf, messagesOf, messageTypes } from "./messages.ts";
import { MAX_USERS, takeMessages, takingUses } from "./taking.ts";
import { type Translation, translated } from "./translation.ts";

const PREFIX = "/v1/segment";
const SETTINGS_SECONDS = 300;

/** The write key: the user name of Basic authentication, or a field of the body where a browser sends no header. */
function writeKeyOf(request: PresentingRequest): PresentedCredentials {
  const [, basic] = /^basic +([\w+/=-]+)$/i.exec(request.headers.authorization ?? "") ?? [];
  const key = basic === undefined ? keyIn(request) : Buffer.from(basic, "base64").toString().split(":", 1)[0];
  const isServerKey = key?.startsWith("service_") === true;
  return { sdkKey: isServerKey ? undefined : key, bearer: isServerKey ? key : undefined };
}

function keyIn(request: PresentingRequest): string | undefined {
  try {
    const { writeKey } = jsonOf(bytesOf(request), request.headers["content-encoding"]);
    return typeof writeKey === "string" ? writeKey : undefined;
  } catch {
    // A request with neither a key nor JSON is refused for the key.
    return undefined;
  }
}

const Counts = v.record(v.string(), v.number());

/** For the reference: everything is optional, and other fields are ignored. */
const MessageFields = v.object({
  type: said("In a batch: what the message is", v.optional(v.picklist(messageTypes))),
  userId: said("The `external_id` of the subscriber", v.optional(v.pipe(v.string(), v.maxLength(512)))),
  anonymousId: said("The id of a visitor who is not known yet", v.optional(v.pipe(v.string(), v.maxLength(256)))),
  event: said("The name of the event, of `track`", v.optional(v.string())),
  properties: said("The properties of the event", v.optional(v.record(v.string(), v.any()))),
});
const BatchFields = v.object({
  batch: said(
    "Messages of any types; with the SDK key the first 50 are taken, of three users, else the first 1,000",
    v.array(MessageFields),
  ),
});

const taking = {
  summary: "Take what a library of Segment sends",
  description:
    "`call` is `identify`, `track`, `page`, `screen`, `group`, `alias` or `batch`, or the letter of it that the browser's " +
    "library writes. The write key is a server key or the SDK key, as the user name of Basic authentication or as " +
    "`writeKey` in the body; gzip is understood. A `userId` is the external id of a subscriber, who is created where there " +
    "is none; traits of `identify` become attributes, the token of `context.device` a device (with the SDK key that of the last message alone), an `anonymousId` beside a " +
    "`userId` is the subscriber's from then on. `track` is an event of that name; `page`, `screen`, `group` and `alias` are " +
    "events of these names. `messageId` is the idempotency key. What is over the limits of events and attributes is cut or " +
    "left out, and counted in the answer.",
  raw: "application/json",
  rawFields: MessageFields,
  returns: titled("TrackingAnswer", {
    success: said("Always true: what was not kept is counted beside it", v.literal(true)),
    accepted: said("Messages that were taken", v.number()),
    dropped: said("Messages that were left out, by reason", v.optional(Counts)),
    shortened: said("Texts that were cut to the limit", v.optional(v.number())),
    omitted: said("Values that were left out", v.optional(v.number())),
  }),
  errors: ["BAD_REQUEST", "NOT_FOUND", "PAYMENT_REQUIRED", "QUOTA_EXCEEDED"],
} as const satisfies Shape;

const tracked = { userId: "ada", event: "Order Completed", properties: { total: 9.5 } };
const example = { params: { call: "track" }, body: tracked };

const ProjectSettings = v.object({
  integrations: said(
    "Where the library sends to: here alone",
    v.object({
      "Segment.io": said(
        "This service, under the name that the library knows",
        v.object({
          apiKey: said("The SDK key that was asked for", v.string()),
          apiHost: said("Where messages are sent to: host and path", v.string()),
          protocol: said("`https`, or `http` on a laptop", v.string()),
        }),
      ),
    }),
  ),
  metrics: said("No figures of the library itself are taken", v.object({ sampleRate: said("Always 0", v.literal(0)) })),
});

const endpoint = endpoints({ credentials: ["sdk", "server"], unaudited: ["server"], uses: [] });
const access = { scope: "events:write", presents: writeKeyOf, uses: takingUses } as const;

type TrackingCall = Parameters<typeof takeMessages>[0] &
  Pick<Call<typeof taking>, "raw" | "headers" | "clock" | "log"> & { params: { call: string } };

async function take({ params, raw, headers, clock, log, ...context }: TrackingCall) {
  const call = calls.find((candidate) => candidate === params.call);
  if (call === undefined) throw notFound("call");
  const { caller, secrets } = context;
  const tier = caller.kind === "server" ? "server" : "client";
  const receipt = { tier, receivedAt: clock.now() } as const;
  const body = jsonOf(raw, headers["content-encoding"]);
  const { messages, unreadable, tooMany } = messagesOf(call, body, tiers[tier].eventsPerRequest);
  const translations = messages.map((message) => translated(message, receipt));
  const known = withinUsers(translations, tier);
  const taken = known.filter((translation): translation is Translation => translation.kind === "taken");
  const named = taken.flatMap(({ externalId }) => (externalId === undefined ? [] : [{ external_id: externalId }]));
  await requireSignedIds(caller, [{ named }], headers[USER_HASH_HEADER], secrets);

  const { full } = await takeMessages(context, taken, receipt);
  const unread = { ...(unreadable > 0 && { unreadable }), ...(tooMany > 0 && { too_many: tooMany }) };
  const answer = answerOf(taken, { ...droppedOf(known), ...unread }, full);
  if (answer.dropped || answer.omitted || answer.shortened)
    log({ level: "warn", message: "tracking values dropped", tenant: workspaceOf(caller).tenant, ...answer });
  return answer;
}

/** Each user of a batch costs writes of its own, so that the publishable key names a few at most (AMB-146). */
function withinUsers(messages: readonly ReturnType<typeof translated>[], tier: Tier) {
  const users = new Set<string>();
  return messages.map((message) => {
    if (message.kind === "dropped" || message.externalId === undefined) return message;
    if (!users.has(message.externalId) && users.size === MAX_USERS[tier])
      return { kind: "dropped", reason: "too_many_users" } as const;
    users.add(message.externalId);
    return message;
  });
}

const droppedOf = (known: readonly ReturnType<typeof translated>[]): Record<string, number> =>
  numberOfEach(known.flatMap((translation) => (translation.kind === "dropped" ? [translation.reason as string] : [])));

function answerOf(taken: readonly Translation[], dropped: Record<string, number>, full: number) {
  const sum = (of: "shortened" | "omitted") => taken.reduce((total, translation) => total + translation[of], 0);
  const [shortened, omitted] = [sum("shortened"), sum("omitted") + full];
  return {
    success: true as const,
    accepted: taken.length,
    ...(Object.keys(dropped).length > 0 && { dropped }),
    ...(shortened > 0 && { shortened }),
    ...(omitted > 0 && { omitted }),
  };
}

export const tracking = [
  endpoint("POST /v1/segment/:call", access, { ...taking, example }, take),

  endpoint(
    "POST /v1/segment/v1/:call",
    access,
    { ...taking, example, summary: "Take what a library that adds /v1 to its address sends" },
    take,
  ),

  endpoint(
    "POST /v1/batch",
    access,
    {
      ...taking,
      summary: "Take what a library sends that is given the address of this service alone",
      rawFields: BatchFields,
      example: { body: { batch: [{ type: "track", ...tracked }] } },
    },
    (call) => take({ ...call, params: { call: "batch" } }),
  ),

  endpoint(
    "GET /v1/projects/:key/settings",
    { credentials: [], uses: [secrets, serviceUrl] },
    {
      summary: "Get what the browser's library of Segment asks for before it sends",
      description: "`key` is the SDK key. There are no destinations: what is sent comes here.",
      returns: ProjectSettings,
      cacheSeconds: SETTINGS_SECONDS,
    },
    async ({ params, secrets, serviceUrl }) => {
      if ((await tenantOfSdkKey(params.key, secrets)) === undefined) throw notFound("project");
      const { protocol, host } = new URL(serviceUrl);
      const destination = { apiKey: params.key, apiHost: `${host}${PREFIX}`, protocol: protocol.replace(":", "") };
      const settings = { integrations: { "Segment.io": destination }, metrics: { sampleRate: 0 } };
      return replyWith(200, settings, openToBrowsers);
    },
  ),
];
