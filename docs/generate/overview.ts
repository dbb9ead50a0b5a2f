// The introduction of the reference: what the whole service is and does (GEN-16), its tables from the code.
import { statuses } from "../../shared/http/errors.ts";
import { permissions, roles, scopes } from "../../shared/http/roles.ts";
import { plans } from "../../shared/plans.ts";
import { webhookSamples } from "../../shared/rules/webhook-events.ts";
import type { Contents } from "./contents.ts";
import { limits } from "./limits.ts";
import { lifecycles } from "./states.ts";

const row = (cells: readonly unknown[]) => `| ${cells.join(" | ")} |`;
const table = (head: readonly string[], rows: readonly (readonly unknown[])[]) =>
  [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");
const code = (text: string) => `\`${text}\``;

const permissionTable = () =>
  table(
    ["permission", ...roles],
    Object.entries(permissions).map(([name, holders]) => [
      code(name),
      ...roles.map((role) => ((holders as readonly string[]).includes(role) ? "yes" : "")),
    ]),
  );

const planTable = () =>
  table(
    ["plan", "requests a minute", "sends", "events", "subscribers", "dynamic segments", "team members", "features"],
    Object.entries(plans).map(([name, plan]) => [
      code(name),
      ...[plan.requestsPerMinute, plan.sends, plan.events, plan.subscribers, plan.dynamicSegments, plan.teamMembers],
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
  return `A multi-tenant service that sends messages to the people a product knows, and keeps a ledger of every send.
A *workspace* (tenant) never sees, counts or reaches what belongs to another one.

## Resources and endpoints

${groups.map(({ name, about }) => `- **${name}**: ${about}`).join("\n")}
- **${stream.name}**: ${stream.about}

Identifiers are strings; timestamps are RFC 3339. Bodies are JSON (UTF-8) unless an operation says otherwise. Every
answer carries \`X-Request-Id\`: name it when asking for help.

## Authentication

| credential | how | who |
| --- | --- | --- |
| SDK key | \`X-SDK-Key\` header | apps and browsers; publishable |
| server key | \`Authorization: Bearer service_srv_…\` | servers; secret, with scopes ${scopes.map(code).join(", ")} |
| dashboard token | \`Authorization: Bearer <access token>\` | people, from \`POST /api/v1/auth/login\`; verified with the keys at \`/.well-known/jwks.json\` |

What a person may do follows from the role in the workspace; every role may read.

${permissionTable()}

## States

${(await stateLines()).join("\n")}

An action that the current state does not allow is answered with 409.

## Events

The live stream \`GET /v1/in-app/stream\` is \`text/event-stream\`: one \`data:\` frame per message, its id in \`id:\`,
a comment every 30 seconds. Send \`Last-Event-ID\` to go on after a break. A message may come twice; its id tells.

Outbound webhooks are HTTPS POSTs of \`{id, event_type, tenant_id, timestamp, data}\`, at least once and in any order;
\`id\`, also in \`X-Service-Delivery\`, is the same on every attempt. 2xx counts as delivered; 5xx and no answer are tried
again after 1, 2 and 4 seconds; anything else is final. \`GET /v1/hooks/samples/:event\` shows one of each:

${webhookTable()}

\`X-Service-Signature\` is \`sha256=\` and the hex HMAC-SHA256 of the raw body, keyed with the *hex text* of the SHA-256
of the secret. Compare in constant time (the SDK's \`verifyWebhook\` does). For a day after a rotation
\`X-Service-Signature-Previous\` is signed with the secret before.

Behavioral events come in by \`POST /v1/events\` and out, page by page, by \`GET /v1/events/export\`. An
\`idempotency_key\` makes an event count once; events under an \`anonymous_id\` belong to a subscriber from
\`POST /v1/events/identify\` on, past ones too. Segments, journeys and conversions follow from them within seconds.

## Errors

A refusal is \`{code, message, fields?}\`. \`code\` is stable, \`message\` may change, \`fields\` says what is wrong with
which field. Refusals by plan have \`error\` in place of \`code\`; the per-minute limit has \`error\` and \`retry_after\`.

${errorTable()}

Repeat 500 and 503 with back-off; after 429 wait for \`Retry-After\`. Repeating any other 4xx unchanged does not help,
and \`QUOTA_EXCEEDED\`, \`PAYMENT_REQUIRED\` and \`SEND_CAP_REACHED\` are limits of plan or bill, not of frequency.
\`Idempotency-Key\` makes sends safe to repeat for 24 hours.

## Limits

Sends and events are per billing period. A body may have 10 MB, a page at most 4 MB: it then closes early with a cursor.

${planTable()}

Of every plan:

${table(["what", "at most"], limits)}

## Paging and versions

Lists that may grow without bound have cursors: pass \`next_cursor\` as \`cursor\` until it is empty. Small ones have
\`page\` and \`per_page\` (or \`page_size\`) and a \`total\`. Sizes above the largest are cut to it.

Management and SDK writes live under \`/api/v1\`, events, hooks and in-app delivery under \`/v1\`. Fields and codes may
be added within a version, so ignore fields that you do not know; nothing is taken away or changes its meaning. What
goes with a next version says so by the headers \`Deprecation\` and \`Sunset\`, at least 12 months ahead.
`;
}
