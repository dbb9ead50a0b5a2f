// Who a release reaches: numbers by reason with people to look at, and what its messages lack.
import { type ComponentChildren, Fragment } from "preact";
import { useState } from "preact/hooks";
import type { NotificationPreview, NotificationsCreateBody } from "../../sdk/src/types.gen.ts";
import { sendName } from "../app/placeholders.ts";
import { type Query, useQuery } from "../app/query.ts";
import { pathTo } from "../app/router.ts";
import { channelName, reasonText } from "../app/sentences.ts";
import { now, number, plural } from "../app/time.ts";
import { Icon } from "./icon.tsx";
import { checkLinks } from "./link-check.ts";
import { PersonLink } from "./person.tsx";
import { Failure, Skeleton } from "./states.tsx";

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

export function Who({ preview: { data, error, refresh } }: { preview: Query<NotificationPreview> }) {
  if (error) return <Failure error={error} retry={refresh} />;
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
      {counts.sent === 0 && <p class="banner">Not one person would get this.</p>}
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
              {people.length > 0 && (
                <span class="dim">
                  {", such as "}
                  {people.slice(0, LOOKED_AT).map((id, n) => (
                    <Fragment key={id}>
                      {n > 0 && " and "}
                      <PersonLink id={id} />
                    </Fragment>
                  ))}
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

const WEEK_MS = 7 * 86_400_000;
const NAMED = 3;

/** What else the workspace sends: who gets two messages a day leaves. */
export function Others() {
  const [from] = useState(() => new Date(now() - WEEK_MS).toISOString());
  const found = useQuery("notifications.list", [{ from, limit: 50, exclude_source_type: "journey" }]).data;
  if (!found) return <Skeleton rows={1} />;
  const sends = found.items.filter(({ status }) => status !== "scheduled" && status !== "canceled");
  const names = [...new Set(sends.map(sendName))];
  return (
    <p>
      {sends.length === 0
        ? "Nothing was sent in the last 7 days."
        : `${plural(sends.length, "send")} in the last 7 days${names.length > NAMED ? ", such as" : ":"} ${names.slice(0, NAMED).join(", ")}.`}{" "}
      <a href={pathTo("campaigns", "upcoming")}>What goes out next</a>
    </p>
  );
}

const problemsOf = ({ rendered, warnings = [], renderings }: NotificationPreview): readonly string[] => [
  ...new Set([
    ...Object.entries(rendered.unknown_variables).map(
      ([name, count]) => `${name} is empty for ${plural(count, "person", "people")}.`,
    ),
    ...(rendered.failed > 0 ? [`The template fails for ${plural(rendered.failed, "person", "people")}.`] : []),
    ...warnings.map(({ message }) => message),
    ...renderings.flatMap((one) =>
      one.warnings.filter(({ code }) => code !== "unknown_variables").map(({ message }) => message),
    ),
  ]),
];

const Problem = ({ text }: { text: string }) => (
  <p class="reach warn">
    <Icon name="warning" />
    <span>{text}</span>
  </p>
);

const Complete = ({ text }: { text: string }) => (
  <p class="reach good">
    <Icon name="check" />
    <span>{text}</span>
  </p>
);

const HOSTS_NAMED = 3;

function listed(hosts: readonly string[]): string {
  const rest = hosts.length - HOSTS_NAMED;
  return new Intl.ListFormat("en").format([...hosts.slice(0, HOSTS_NAMED), ...(rest > 0 ? [`${rest} more`] : [])]);
}

interface GapsProps {
  preview: NotificationPreview | undefined;
  children: ComponentChildren;
}

/** What is empty, fails, or is not known, of some of the messages. */
export function Gaps({ preview, children }: GapsProps) {
  const problems = preview ? problemsOf(preview) : [];
  const links = checkLinks(preview?.renderings ?? [], location.origin);
  return (
    <>
      {problems.map((text) => (
        <Problem key={text} text={text} />
      ))}
      {preview && problems.length === 0 && (
        <Complete text={`${links.faults.length === 0 ? "Nothing: every" : "Every"} variable has a value.`} />
      )}
      {links.faults.map((text) => (
        <Problem key={text} text={text} />
      ))}
      {links.count > 0 && links.faults.length === 0 && (
        <Complete
          text={`${plural(links.count, "link")}${links.hosts.length > 0 ? `, to ${listed(links.hosts)}` : ""}.`}
        />
      )}
      {children}
    </>
  );
}

interface MissingProps {
  name: string;
  body: NotificationsCreateBody;
}

/** The same of one of several messages. */
export function MissingIn({ name, body }: MissingProps) {
  const { data, error } = useQuery("recipients.previewNotifications", [body]);
  if (error) return <Problem text={`${name}: ${Object.values(error.fields ?? {})[0] ?? error.message}`} />;
  const problems = data ? problemsOf(data) : [];
  return (
    <>
      {problems.map((text) => (
        <Problem key={text} text={`${name}: ${text}`} />
      ))}
      {data && problems.length === 0 && <Complete text={`${name}: nothing.`} />}
    </>
  );
}
