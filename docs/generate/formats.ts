// Chapters of the reference on formats that no JSON Schema describes: templates, CSV files, headers of webhooks (GEN-16).
import {
  columnMeanings,
  EVIDENCE,
  type ImportSource,
  importSources,
  MAX_EXTRA_COLUMNS,
  MAX_VALUE_BYTES,
} from "../../shared/rules/import-columns.ts";
import { OPTED_IN, OPTED_OUT } from "../../shared/rules/import-consents.ts";
import { FILTERS } from "../../shared/rules/liquid-filters.ts";
import { PLACEHOLDERS, RENDERED_BYTES, TAGS, TEMPLATE_BYTES } from "../../shared/rules/render.ts";
import { code, table } from "./markdown.ts";
import { webhookHeaderTable } from "./webhooks.ts";

const KB = 1_024;
const words = (names: Iterable<string>) => [...names].map(code).join(", ");

export const liquidChapter = (): string => `Titles, bodies, URLs and the texts in \`data\` may hold a subset of Liquid:

- Outputs \`{{ … }}\`: \`subscriber.id\`, \`subscriber.external_id\`, \`subscriber.email\`, attributes as
  \`subscriber.first_name\` or \`subscriber.attributes.first_name\`, \`data.x\` of the send, and \`event.x\`, a property of
  the event that triggered a journey.
- Tags \`{% … %}\`: ${words(TAGS)}, with \`elsif\`, \`else\` and \`when\`.
- Filters: ${words(Object.keys(FILTERS).sort())}. \`date\` takes a pattern and a time zone:
  \`{{ "now" | date: "%H:%M", subscriber.timezone }}\`.

A variable without a value renders empty; \`default\` gives it one. Values are escaped in HTML mails, and Liquid inside a
value stays text. A template has at most ${TEMPLATE_BYTES / KB} KB and ${PLACEHOLDERS.toLocaleString("en-US")} placeholders, its result at most
${RENDERED_BYTES / KB} KB. A wrong template is a 422 with its line.`;

const headersOf = (source: ImportSource, meaning: string) =>
  Object.entries(columnMeanings[source]).flatMap(([header, field]) => (field === meaning ? [header] : []));

/** Standard columns by source; each name in any case. */
const columnTable = () =>
  table(
    ["meaning", ...importSources.map(code)],
    Object.values(columnMeanings.csv).map((meaning) => [
      code(meaning),
      ...importSources.map((source) => words(headersOf(source, meaning))),
    ]),
  );

const evidenceLines = () =>
  importSources
    .filter((source) => EVIDENCE[source].length > 0)
    .map((source) => `- ${code(source)} also reads ${words(EVIDENCE[source])} as evidence of consent.`)
    .join("\n");

const consentTable = () =>
  table(
    ["source", "in the file", "consent"],
    [
      [code("csv"), `${words(OPTED_IN)} with \`consent_at\``, "`opted_in`; without a time `unknown`"],
      [code("csv"), words(OPTED_OUT), "`opted_out`"],
      [code("platform_a"), "`SUBSCRIBED` with a timestamp", "`opted_in`; without one `unknown`"],
      [code("platform_a"), "`UNSUBSCRIBED`", "`opted_out`"],
      [code("platform_a"), "any `Email Suppressions`", "`suppressed`"],
      [code("platform_b"), "`CONFIRM_TIME` or `OPTIN_TIME`", "`opted_in`"],
      [code("platform_b"), "`UNSUB_TIME`, or the status `unsubscribed`", "`opted_out`"],
      [code("platform_b"), "`CLEAN_TIME`, or the status `cleaned`", "`suppressed`"],
      [
        "any",
        `${words(OPTED_IN)} in \`topic:<key>\`, with \`topic_at:<key>\` or a time of consent`,
        "opted in to the topic; without a time `unknown`",
      ],
      ["any", `${words(OPTED_OUT)} in \`topic:<key>\``, "opted out of the topic"],
      ["any", "anything else", "`unknown`"],
      ["any", "a subscriber who is opted out or suppressed here", "unchanged: no import subscribes anyone again"],
    ],
  );

export const csvChapter =
  (): string => `UTF-8, a header row, RFC 4180; \`,\`, \`;\` or a tab between the cells. Headers are
read in any case. A row needs an \`external_id\` or an \`email\`; without the first, the lower-cased address becomes the
\`external_id\`. Of repeated rows the last one wins.

${columnTable()}

\`topic:<key>\` holds the choice of a topic and \`topic_at:<key>\` its time, else \`consent_at\` counts. A column of a topic
that the workspace does not have becomes an attribute, and \`unknown_topics\` names its key.

All other columns, at most ${MAX_EXTRA_COLUMNS}, become attributes under a snake_case key. \`true\`, \`false\` and plain numbers are
converted; a number with a leading zero stays a text. A value has at most ${MAX_VALUE_BYTES / KB} KB. \`tags\` are separated by \`,\`,
\`;\` or \`|\`. \`platform_a\` is the export of Klaviyo and \`platform_b\` that of Mailchimp, as they are.

${evidenceLines()}

${consentTable()}`;

export const inAppChapter =
  (): string => `\`content\` of an experience and of a message in the inbox has \`title\`, \`body\`,
\`image_url\` and \`actions\`, at most four \`{id, title, url}\`. An empty \`url\` dismisses the message. The live stream
calls \`title\` of an action \`label\`. Report what the user does with \`POST /api/v1/notifications/interactions\`: the
message's \`notification_id\` is the \`job_id\`, and \`action_id\` names the tapped action.

\`display\` is always there. \`trigger\` is \`immediate\`, \`session_start\` or \`event\` (then \`trigger_event\` names it),
\`frequency\` is \`once\` or \`once_per_session\`, \`priority\` 1 to 10, \`screens\` at most 20 route patterns. Apps apply these
rules; the frame of the stream has \`trigger\` and \`frequency\`, and all of them in \`data.display\`.`;

export const webhookHeaderChapter = (): string =>
  table(
    ["header", "value"],
    webhookHeaderTable.map(([name, description]) => [code(name), description]),
  );
