// Who a release reaches: numbers by reason with people to look at, and what its messages lack.
import { type ComponentChildren, Fragment } from "preact";
import { ServiceError } from "../../sdk/src/errors.ts";
import type { NotificationPreview, NotificationsCreateBody } from "../../sdk/src/types.gen.ts";
import { classOf } from "../../shared/rules/channel-types.ts";
import { liquidOf } from "../../shared/rules/placeholders.ts";
import { useLead } from "../app/places.ts";
import { type Query, useQuery } from "../app/query.ts";
import { pathTo } from "../app/router.ts";
import { channelName, reasonText } from "../app/sentences.ts";
import { listed, number, plural } from "../app/time.ts";
import { Icon } from "./icon.tsx";
import { checkLinks } from "./link-check.ts";
import { PersonLink } from "./person.tsx";
import { Failure, Led, Skeleton } from "./states.tsx";

/** People to look at, of each line. */
const LOOKED_AT = 2;

interface Line {
  tone: "good" | "warn" | "held" | "bad";
  count: number;
  /** What follows the count. */
  words: string;
  people: readonly string[];
}

function linesOf({ counts, samples, skip_reasons, skipped_samples }: NotificationPreview): Line[] {
  const ids = (isWaiting: boolean) =>
    samples.flatMap(({ subscriber_id, deferred_until }) =>
      (deferred_until !== null) === isWaiting ? [subscriber_id] : [],
    );
  const line = (tone: Line["tone"], count: number, [one, many]: [string, string], people: readonly string[]): Line => ({
    tone,
    count,
    words: count === 1 ? one : many,
    people,
  });
  const lines = [
    line("good", counts.sent - counts.deferred, ["gets it when it goes out", "get it when it goes out"], ids(false)),
    line("warn", counts.deferred, ["waits for the end of quiet hours", "wait for the end of quiet hours"], ids(true)),
    line("held", counts.held_out, ["is held out as control group", "are held out as control group"], []),
    ...Object.entries(skip_reasons).map(([reason, count]) => {
      const why = reasonText(reason);
      return line("bad", count, [`does not get it: ${why}`, `do not get it: ${why}`], skipped_samples[reason] ?? []);
    }),
  ];
  return lines.filter(({ count }) => count > 0);
}

interface SuchAsProps {
  of: number;
  people: readonly string[];
}

/** Some of so many people, to look at. */
export function SuchAs({ of, people }: SuchAsProps) {
  const named = people.slice(0, LOOKED_AT);
  if (named.length === 0) return null;
  return (
    <span class="dim">
      {of > named.length ? ", such as " : " ("}
      {named.map((id, n) => (
        <Fragment key={id}>
          {n > 0 && " and "}
          <PersonLink id={id} />
        </Fragment>
      ))}
      {of === named.length && ")"}
    </span>
  );
}

interface WhoProps {
  preview: Query<NotificationPreview>;
  at: string | undefined;
  /** Each person gets it by one channel, the one they answer to. */
  isSmart: boolean;
}

/** Whom a channel does not reach though another does, by reason. The API names no cap and no text: these are the rest. */
function missedOf({ counts, exact, by_class, missed_by_class }: NotificationPreview, isSmart: boolean) {
  return Object.keys({ ...by_class, ...missed_by_class }).flatMap((name) => {
    const reasons = Object.entries(missed_by_class[name] ?? {});
    const rest = reasons.reduce((sum, [, count]) => sum - count, counts.sent - (by_class[name] ?? 0));
    const isCounted = !isSmart && rest > (exact ? 0 : counts.sent / 100);
    const parts = [
      ...reasons.map(([reason, count]) => `${plural(count, "person", "people")}, ${reasonText(reason)}`),
      ...(isCounted ? [`${plural(rest, "person", "people")}, a cap or nothing to say there`] : []),
    ];
    return parts.length > 0 ? [`Not by ${channelName(name)}: ${parts.join("; ")}`] : [];
  });
}

const OF_MESSAGE = /^(title|body|content|variant_b|template_id|split_percentage|channel_ids|scheduled_at)\b/;

/** What the preview of one message refuses, by the paths of the whole. */
function underMessage(error: ServiceError, at: string): ServiceError {
  const fields = Object.entries(error.fields ?? {}).map(([path, reason]) => [
    OF_MESSAGE.test(path) ? at + path : path,
    reason,
  ]);
  return new ServiceError(error.message, { ...error, ...(error.fields && { fields: Object.fromEntries(fields) }) });
}

export function Who({ preview: { data, error, refresh }, at = "", isSmart }: WhoProps) {
  if (error) return <Failure error={underMessage(error, at)} retry={refresh} />;
  if (!data) return <Skeleton rows={3} />;
  const { counts, exact, by_class } = data;
  const reached = Object.entries(by_class);
  const lines = linesOf(data);
  return (
    <>
      <p class="big">
        {exact ? "" : "About "}
        {plural(counts.sent, "person", "people")} <span class="dim">of {number(counts.total)}</span>
      </p>
      {reached.length > 1 && (
        <p>{reached.map(([name, count]) => `${channelName(name)}: ${plural(count, "person", "people")}`).join(", ")}</p>
      )}
      {missedOf(data, isSmart).map((text) => (
        <p key={text} class="dim">
          {text}
        </p>
      ))}
      {counts.sent === 0 && <p class="banner">Nobody would get this.</p>}
      <div class="meter" aria-hidden="true">
        {lines.map(({ tone, count, words }) => (
          <i key={words} class={tone} style={{ flexGrow: count }} />
        ))}
      </div>
      <ul class="stack tight">
        {lines.map(({ tone, count, words, people }) => (
          <li key={words} class="reach">
            <i class={`dot ${tone}`} />
            <span>
              <b>{number(count)}</b> {words}
              <SuchAs of={count} people={people} />
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** What is to be looked at, and the path of the field where it is mended. */
interface Problem {
  text: string;
  path: string;
}

/** The paths of the texts of a message. */
function textsOf(value: unknown, path: string): readonly (readonly [path: string, text: string])[] {
  if (typeof value === "string") return [[path, value]];
  return Object.entries(Object(value)).flatMap(([name, one]) => textsOf(one, path ? `${path}.${name}` : name));
}

/** The first field of a message that is meant, else its body; the template where it has one. */
function placeIn(
  { template_id, title, body, content, variant_b }: NotificationsCreateBody,
  isMeant: (text: string, path: string) => boolean,
): string {
  if (template_id) return "template_id";
  const found = textsOf({ title, body, content, variant_b }, "").find(([path, text]) => isMeant(text, path));
  return found?.[0] ?? (content ? "content.body" : "body");
}

/** The link that a fault is about. */
const LINK = /https?:\/\/[^\s]+?(?=\/?\s)|(?<=“)[^”]+/;

function problemsOf(body: NotificationsCreateBody, preview: NotificationPreview): readonly Problem[] {
  const { rendered, warnings = [], renderings } = preview;
  const all = [
    ...Object.entries(rendered.unknown_variables).map(([name, count]) => ({
      text: `${name} is empty for ${plural(count, "person", "people")}.`,
      path: placeIn(body, (text) => text.includes(name) || text.includes(liquidOf(name))),
    })),
    ...(rendered.failed > 0
      ? [
          {
            text: `The template fails for ${plural(rendered.failed, "person", "people")}.`,
            path: placeIn(body, (text) => text.includes("{{") || text.includes("{%")),
          },
        ]
      : []),
    ...warnings.map(({ message }) => ({ text: message, path: "target" })),
    ...renderings.flatMap((one) =>
      one.warnings
        .filter(({ code }) => code !== "unknown_variables")
        .map(({ message }) => ({
          text: message,
          path: placeIn(body, (_, path) => path.includes(`by_channel.${classOf(one.channel)}.`)),
        })),
    ),
  ];
  return [...new Map(all.map((one) => [one.text, one])).values()];
}

interface ProblemProps extends Problem {
  /** Beginning of the paths of the message, where there may be several. */
  at?: string | undefined;
  template?: string | undefined;
}

/** It leads to its field, where that is on the screen behind; one of a template to the template. */
export function Problem({ text, path, at = "", template }: ProblemProps) {
  const isOfMessage = OF_MESSAGE.test(path);
  const show = useLead()(isOfMessage ? at + path : path);
  return (
    <p class="reach warn">
      <Icon name="warning" />
      {!show && isOfMessage && template ? (
        <a href={pathTo("content", `templates/${template}`)}>{text}</a>
      ) : (
        <Led to={show}>{text}</Led>
      )}
    </p>
  );
}

const Complete = ({ text }: { text: string }) => (
  <p class="reach good">
    <Icon name="check" />
    <span>{text}</span>
  </p>
);

const HOSTS_NAMED = 3;

function hostsText(hosts: readonly string[]): string {
  const rest = hosts.length - HOSTS_NAMED;
  return listed([...hosts.slice(0, HOSTS_NAMED), ...(rest > 0 ? [`${rest} more`] : [])]);
}

interface GapsProps {
  preview: NotificationPreview | undefined;
  /** What the preview is of. */
  body: NotificationsCreateBody | undefined;
  at: string | undefined;
  children: ComponentChildren;
}

/** What is empty, fails, or is not known, of some of the messages. */
export function Gaps({ preview, body = {}, at, children }: GapsProps) {
  const problems = preview ? problemsOf(body, preview) : [];
  const links = checkLinks(preview?.renderings ?? [], location.origin);
  const faults = links.faults.map((text) => {
    const link = LINK.exec(text)?.[0] ?? text;
    return { text, path: placeIn(body, (one) => one.includes(link)) };
  });
  return (
    <>
      {problems.map((one) => (
        <Problem key={one.text} {...one} at={at} template={body.template_id} />
      ))}
      {preview && problems.length === 0 && (
        <Complete text={`${faults.length === 0 ? "Nothing: every" : "Every"} variable has a value.`} />
      )}
      {faults.map((one) => (
        <Problem key={one.text} {...one} at={at} template={body.template_id} />
      ))}
      {links.count > 0 && faults.length === 0 && (
        <Complete
          text={`${plural(links.count, "link")}${links.hosts.length > 0 ? `, to ${hostsText(links.hosts)}` : ""}.`}
        />
      )}
      {children}
    </>
  );
}

interface MissingProps {
  name: string;
  body: NotificationsCreateBody;
  /** Beginning of the paths of the message. */
  at?: string;
}

/** The same of one of several messages. */
export function MissingIn({ name, body, at }: MissingProps) {
  const { data, error } = useQuery("recipients.previewNotifications", [body]);
  if (error) {
    const [path, reason] = Object.entries(error.fields ?? {})[0] ?? ["content.body", error.message];
    return <Problem text={`“${name}”: ${reason}`} path={path} at={at} template={body.template_id} />;
  }
  const problems = data ? problemsOf(body, data) : [];
  return (
    <>
      {problems.map(({ text, path }) => (
        <Problem key={text} text={`“${name}”: ${text}`} path={path} at={at} template={body.template_id} />
      ))}
      {data && problems.length === 0 && <Complete text={`“${name}”: nothing.`} />}
    </>
  );
}
