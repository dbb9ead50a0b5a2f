// Chapters of the reference on formats that no JSON Schema describes: templates, CSV files, headers of webhooks (GEN-16).
import { OPTED_IN, OPTED_OUT } from "../../shared/rules/import-answers.ts";
import { MAX_EXTRA_COLUMNS, MAX_VALUE_BYTES } from "../../shared/rules/import-columns.ts";
import { importFields } from "../../shared/rules/import-mapping.ts";
import { usualNames } from "../../shared/rules/import-names.ts";
import { EVIDENCE, importSources, presets } from "../../shared/rules/import-sources.ts";
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

/** Fields by the names of columns, the best one first. */
const columnTable = () =>
  table(
    ["meaning", "names"],
    importFields.map((field) => [code(field), words(usualNames[field])]),
  );

const presetLines = () =>
  importSources
    .flatMap((source) =>
      Object.entries(presets[source]).map(
        ([header, field]) => `- In ${code(source)}, ${code(header)} is ${code(field)}.`,
      ),
    )
    .join("\n");

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
      [code("platform_a"), "`Email Suppressions` of nothing but `UNSUBSCRIBE`", "`opted_out`"],
      [code("platform_a"), "any other `Email Suppressions`", "`suppressed`"],
      [code("platform_b"), "`CONFIRM_TIME` or `OPTIN_TIME`", "`opted_in`"],
      [code("platform_b"), "`UNSUB_TIME`, or the status `unsubscribed`", "`opted_out`"],
      [code("platform_b"), "`CLEAN_TIME`, or the status `cleaned`", "`suppressed`"],
      ["any", "a true value or a date where the name says no, such as `Unsubscribed`", "`opted_out`"],
      ["any", "the same where it says that mail came back or was complained of, such as `Bounced`", "`suppressed`"],
      ["any", "a false value where the name says yes, such as `Accepts marketing`", "`opted_out`"],
      [
        "any",
        "a word for an opt-out alone, such as `Unsubscribed`, whatever the name of its column",
        "`opted_out`; not in a column that is mapped to an attribute",
      ],
      ["any", "a true value where the name says yes", "`opted_in` with a time of consent; without one `unknown`"],
      [
        "any",
        "a time ahead of the import by more than five minutes",
        "proves nothing; an opt-out counts from the import on",
      ],
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
  (): string => `A header row, RFC 4180; \`,\`, \`;\` or a tab between the cells, or what a first line \`sep=\` says. UTF-8,
UTF-16, or where it is neither Shift_JIS, Windows-1251, Windows-1250 or Windows-1254 by the words that it has, and Windows-1252 if it has none of them: \`encoding\` of the job says
which, and that of the form overrides. Case, spaces and punctuation of headers do not matter. A row needs an \`external_id\` or an \`email\`; without the first, the lower-cased address becomes the
\`external_id\`. In a file of which no row has either, the phone number does. Of repeated rows the last value wins, an empty cell says nothing, and each
row's consent counts: an opt-out stays whichever row has it, and one in a row without an
\`external_id\` holds for whoever has the address.

${columnTable()}

${presetLines()}
- \`id\` beside \`cio_id\` is the \`external_id\`.

\`topic:<key>\` holds the choice of a topic and \`topic_at:<key>\` its time, else \`consent_at\` counts. A column of a topic
that the workspace does not have becomes an attribute, and \`unknown_topics\` names its key. \`consent_status:sms\` and
\`consent_status:chat_app\` hold what was said of these channels, \`consent_at:sms\` and \`consent_at:chat_app\` when.

All other columns in which something stands, at most ${MAX_EXTRA_COLUMNS}, become attributes under a snake_case key; of a file with more, say by
\`mapping\` which are left out, or \`"*": "ignore"\` for all that it does not name. A column is of booleans (\`true\`,
\`false\`, \`yes\`, \`no\`, or as spreadsheets write them in the languages of the service, such as \`WAHR\`) only if all its
values are, and of numbers only if each is written as the number would be, or all have the same decimals. In a file that is not
divided by commas \`1.234,50\` is a number too, and \`1,234.50\` is one in any; so \`01234\`, \`1.10\` beside \`1.9\`, and \`1e5\` stay texts. An array or object of JSON becomes what it
says. A value has at most ${MAX_VALUE_BYTES / KB} KB. \`tags\` are separated by \`,\`, \`;\` or \`|\`; a quoted one may hold those.

Times without a zone, and bare dates, are in \`time_zone\`, else in the zone of the workspace. Phone numbers become E.164 by
\`phone_region\`, else by the country of the row, else by the \`region\` of the workspace; one that cannot be read stays as it
is, and \`phone_summary\` counts it. A domain beyond ASCII gets its form in ASCII; an address with other letters before the
\`@\` is kept and \`skipped: address_not_supported\`.

With \`start_journeys=false\`, as for people who are moved from another platform, what the rows change counts in segments and
reports, and starts no journey.

 \`platform_a\` is the export of Klaviyo and \`platform_b\` that of Mailchimp, as they are.

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
