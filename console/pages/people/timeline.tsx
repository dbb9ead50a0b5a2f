// What happened to a person, newest first, by day: messages with what became of them on each channel, events, consents, journeys.
import { useState } from "preact/hooks";
import type { ArgumentsOf } from "../../app/api.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { usePages } from "../../app/rows.ts";
import { channelName, reasonText } from "../../app/sentences.ts";
import { momentText, zone } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Select } from "../../components/field.tsx";
import { Icon, type IconName } from "../../components/icon.tsx";
import { Card } from "../../components/page.tsx";
import { Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { More } from "../../components/table.tsx";
import { JourneyWalk, MessageSeen } from "./closer.tsx";
import { byDay, type Entry, happeningsOf, type StoryEntry, waitsOf } from "./story.ts";

const icons: Record<Entry["kind"], IconName> = {
  message: "send",
  event: "activity",
  consent: "shield",
  journey: "journey",
  segment: "segment",
  list: "content",
  device: "channel",
};
const EVERY_MS = 10_000;
const LISTED = 30;

const KINDS = Object.keys(icons).map((kind) => ({
  value: kind,
  label: `${kind.charAt(0).toUpperCase()}${kind.slice(1)}s`,
}));

const asked = (id: string, kind: string): ArgumentsOf<"subscribers.getTimeline"> => [
  id,
  { limit: LISTED, ...(kind && { kinds: kind }) },
];

/** Asks for the timeline while the profile is still read. */
export const useTimelineAhead = (id: string, when: boolean): void =>
  void useQuery("subscribers.getTimeline", asked(id, ""), { when });

export function Timeline({ id }: { id: string }) {
  const [kind, setKind] = useState("");
  const { first, items, more } = usePages("subscribers.getTimeline", asked(id, kind), (page) => page.items, {
    every: EVERY_MS,
  });
  const all = happeningsOf(items);
  return (
    <>
      <Waiting all={all} />
      <Card
        title="What happened"
        actions={
          <>
            <span class="dim">Times in {zone}</span>
            <Select
              class="small"
              label="Kind"
              value={kind}
              options={[{ value: "", label: "Everything" }, ...KINDS]}
              onInput={setKind}
            />
          </>
        }
      >
        <Loaded query={first} skeleton={<Skeleton rows={8} />}>
          {() => (
            <>
              {all.length === 0 && <p class="dim">Nothing has happened yet.</p>}
              {byDay(all).map(({ day, happenings }) => (
                <section key={day} class="day" aria-label={day}>
                  <h3>{day}</h3>
                  <ol class="timeline">
                    {happenings.map((one) => (
                      <Row key={one.key} person={id} happening={one} />
                    ))}
                  </ol>
                </section>
              ))}
              {more.error && <Failure error={more.error} />}
              <More {...more} />
            </>
          )}
        </Loaded>
      </Card>
    </>
  );
}

/** What is still to come: messages that wait, and journeys that go on. */
function Waiting({ all }: { all: readonly StoryEntry[] }) {
  const waits = waitsOf(all);
  if (waits.length === 0) return null;
  return (
    <Card title="What waits">
      <ul class="stack tight">
        {waits.map(({ key, title, href, reason, until, isRun }) => (
          <li key={key} class="reach">
            <Icon name="clock" />
            <span>
              <a href={href}>{title}</a>{" "}
              <span class="dim">
                {isRun ? "is under way" : `waits${reason ? `: ${reasonText(reason)}` : ""}`}
                {until && `, until ${momentText(until)}`}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

interface RowProps {
  person: string;
  happening: StoryEntry;
}

function Row({ person, happening }: RowProps) {
  const { head, title, time } = happening;
  const [isOpen, setOpen] = useState(false);
  const hasMore = head.kind === "message" || head.kind === "journey";
  return (
    <li>
      <span class="step-icon">
        <Icon name={icons[head.kind]} />
      </span>
      <Title person={person} happening={happening} />
      <span class="when">
        <time dateTime={head.at} class="dim">
          {time}
        </time>
        {hasMore && (
          <Button
            kind="quiet"
            icon={isOpen ? "dash" : "plus"}
            label={`${isOpen ? "Less" : "More"} about ${title}`}
            pressed={isOpen}
            onClick={() => setOpen(!isOpen)}
          />
        )}
      </span>
      {isOpen && (
        <div class="closer stack tight">
          {head.kind === "message" ? (
            <MessageSeen person={person} send={head.ref} />
          ) : (
            head.kind === "journey" && <JourneyWalk person={person} entry={head} />
          )}
        </div>
      )}
    </li>
  );
}

function Title({ person, happening: { head, title, channels } }: RowProps) {
  if (head.kind === "message")
    return (
      <span>
        <a href={pathTo("activity", head.ref, { person })} data-row>
          {title}
        </a>
        {channels.map(({ key, channel, state, reason }) => (
          <span key={key} class="block">
            <Badge state={state} />{" "}
            <span class="dim">
              {channel && <span class="one-line">{channelName(channel)}</span>}
              {reason && ` ${reasonText(reason)}`}
            </span>
          </span>
        ))}
      </span>
    );
  const href = hrefOf(head);
  return (
    <span>
      {href ? <a href={href}>{title}</a> : title}{" "}
      {head.state && <Badge state={String(head.state)} {...(head.kind === "list" && { word: "added" })} />}
      {head.kind === "journey" && head.data.refusal && <span class="dim">{reasonText(head.data.refusal)}</span>}
      {head.kind === "event" && <Properties of={head.data.properties} />}
      {head.kind === "consent" && head.data.source && <span class="dim"> via {head.data.source}</span>}
    </span>
  );
}

function hrefOf({ kind, ref }: Entry): string | undefined {
  if (kind === "journey") return pathTo("journeys", ref);
  if (kind === "segment") return pathTo("segments", ref);
  if (kind === "list") return pathTo("content", `lists/${ref}`);
  return undefined;
}

const SHOWN = 4;

/** The first of the properties of an event. */
function Properties({ of }: { of: Record<string, unknown> | null | undefined }) {
  const all = Object.entries(of ?? {});
  if (all.length === 0) return null;
  const text = all.slice(0, SHOWN).map(([key, value]) => `${key} ${String(JSON.stringify(value))}`);
  return (
    <span class="dim block">
      {text.join(", ")}
      {all.length > SHOWN && ` and ${all.length - SHOWN} more`}
    </span>
  );
}
