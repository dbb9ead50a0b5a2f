// The introduction of the reference (GEN-16), with tables from the code.
import { permissions, roles, scopes } from "../../shared/contract/roles.ts";
import { statuses } from "../../shared/kernel/errors.ts";
import { plans } from "../../shared/rules/plans.ts";
import { webhookSamples } from "../../shared/rules/webhook-events.ts";
import type { Contents } from "./contents.ts";
import { csvChapter, inAppChapter, liquidChapter, webhookHeaderChapter } from "./formats.ts";
import { limits } from "./limits.ts";
import { code, table } from "./markdown.ts";
import { lifecycles } from "./states.ts";

const permissionTable = () =>
  table(
    ["permission", ...roles],
    Object.entries(permissions).map(([name, holders]) => [
      code(name),
      ...roles.map((role) => ((holders as readonly string[]).includes(role) ? "yes" : "")),
    ]),
  );

const MB = 1_048_576;

const planTable = () =>
  table(
    [
      "plan",
      "requests a minute",
      "sends",
      "events",
      "subscribers",
      "dynamic segments",
      "event conditions of a rule",
      "look-back in days",
      "images in MB",
      "team members",
      "channels",
      "features",
    ],
    Object.entries(plans).map(([name, plan]) => [
      code(name),
      plan.requestsPerMinute,
      plan.sends,
      plan.events,
      plan.subscribers,
      plan.dynamicSegments,
      plan.eventConditionsPerRule,
      plan.lookbackDays ?? "any",
      plan.assetBytes / MB,
      plan.teamMembers,
      plan.channelTypes.map(code).join(", "),
      plan.features.map(code).join(", "),
    ]),
  );

const errorTable = () =>
  table(
    ["code", "status"],
    Object.entries(statuses).map(([name, status]) => [code(name), status]),
  );

const webhookTable = () =>
  table(
    ["event", "`data`"],
    Object.entries(webhookSamples).map(([name, sample]) => [code(name), code(JSON.stringify(sample))]),
  );

const stateLines = async () =>
  (await lifecycles()).flatMap(({ name, moves }) =>
    moves.map(
      ({ action, from, to }) => `- ${name}: ${code(action)} moves ${from.map(code).join(", ")} to ${code(to)}.`,
    ),
  );

/** Markdown for `info.description`. */
export async function overview({ groups, stream }: Contents): Promise<string> {
  return `A multi-tenant service that sends messages to your users and keeps a ledger of every send. A *workspace*
(tenant) has no access to the data of another one.

## Resources and endpoints

${groups.map(({ name, about }) => `- **${name}**: ${about}`).join("\n")}
- **${stream.name}**: ${stream.about}

Identifiers are strings; timestamps are RFC 3339. Bodies are JSON (UTF-8) unless an operation says otherwise. Every
response has an \`X-Request-Id\`: include it in support requests.

## Authentication

| credential | how | who |
| --- | --- | --- |
| SDK key | \`X-SDK-Key\` header | apps and browsers; publishable |
| server key | \`Authorization: Bearer service_srv_…\` | servers; secret, with scopes ${scopes.map(code).join(", ")} |
| dashboard token | \`Authorization: Bearer <access token>\` | members, from \`POST /api/v1/auth/login\`; verified with the keys at \`/.well-known/jwks.json\` |

The permissions of a member follow from the role in the workspace. Every role may read.

${permissionTable()}

## States

${(await stateLines()).join("\n")}

An action that the current state does not allow gets a 409, one on an in-app experience a 400. Both name the status.

## Events

The live stream \`GET /v1/in-app/stream\` is \`text/event-stream\`: one \`data:\` frame per message, its id in \`id:\`,
a comment every 30 seconds. Send \`Last-Event-ID\` to resume after a disconnect. A message may arrive twice, with the same id.

Outbound webhooks are HTTPS POSTs of \`{id, event_type, tenant_id, timestamp, data}\`, at least once and in any order, numbered by \`X-Service-Sequence\`;
\`id\`, also in \`X-Service-Delivery\`, is the same on every attempt. 2xx counts as delivered; 5xx and no response are
retried after 1, 2 and 4 seconds; other statuses are final. \`GET /v1/hooks/samples/:event\` returns a sample of each:

${webhookTable()}

${webhookHeaderChapter()}

\`X-Service-Signature\` is \`sha256=\` and the hex HMAC-SHA256 of the raw body, keyed with the *hex text* of the SHA-256
of the secret. Compare in constant time (the SDK's \`verifyWebhook\` does). For a day after a rotation
\`X-Service-Signature-Previous\` is signed with the previous secret.

Ingest behavioral events with \`POST /v1/events\`, and export them page by page with \`GET /v1/events/export\`. An event
with an \`idempotency_key\` counts once. \`POST /v1/events/identify\` assigns the events of an \`anonymous_id\`, past ones
included, to a subscriber. Segments, journeys and conversions follow within seconds.

## Requests

What a GET returned may be sent back by PUT and PATCH. Fields that cannot be changed are accepted when they are unchanged,
and named in the 422 otherwise; times and counts are ignored. Other unknown fields, and unknown parameters of the query, are
a 422 that names them (in-app experiences and assets: 400). Unknown fields of an event are ignored.

## Personalization

${liquidChapter()}

## CSV files

${csvChapter()}

## In-app messages

${inAppChapter()}

## Errors

An error is \`{code, message, fields?}\`. \`code\` is stable, \`message\` may change, and \`fields\` has the error of each
field, under its path: \`content.title\`, \`messages[0].channel_ids\`. At most 20 fields are named. Plan errors have \`error\` instead
of \`code\`. The per-minute limit has \`error\` and \`retry_after\`.

${errorTable()}

Retry 500 and 503 with back-off. After 429 wait for \`Retry-After\`. Do not retry other 4xx unchanged:
\`QUOTA_EXCEEDED\`, \`PAYMENT_REQUIRED\` and \`SEND_CAP_REACHED\` are limits of the plan or the bill, not of the rate.
With an \`Idempotency-Key\` sends are safe to retry for 24 hours.

## Limits

Sends and events are per billing period. A body may have 10 MB. A page has at most 4 MB and ends early with a cursor.

${planTable()}

Of every plan:

${table(["what", "at most"], limits)}

## Paging and versions

Unbounded lists have cursors: pass \`next_cursor\` as \`cursor\` until it is empty. Small lists have \`page\` and
\`per_page\` (or \`page_size\`) and a \`total\`. Sizes above the
maximum, which the field says, are taken as the maximum; only the export refuses them with a 422.

Management and SDK writes are under \`/api/v1\`; events, hooks and in-app delivery are under \`/v1\`. Fields and codes may
be added within a version, so ignore unknown fields. Within a version, no field or code is removed or changes its
meaning. The headers \`Deprecation\` and \`Sunset\` announce a removal at least 12 months ahead.
`;
}
