// What happened to a person, newest first: messages, events, consents, journeys, segments, lists, devices.
import { useState } from "preact/hooks";
import type { SubscribersGetTimelineAnswer } from "../../../sdk/src/types.gen.ts";
import { pathTo } from "../../app/router.ts";
import { usePages } from "../../app/rows.ts";
import { channelName, reasonText } from "../../app/sentences.ts";
import { Badge } from "../../components/badge.tsx";
import { Select } from "../../components/field.tsx";
import { Icon, type IconName } from "../../components/icon.tsx";
import { Card, Time } from "../../components/page.tsx";
import { Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { More } from "../../components/table.tsx";

type Entry = SubscribersGetTimelineAnswer["items"][number];

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

/** One that waited, and has a row of what became of it. Without a channel it stands for those that wait: not for in-app. */
const isOver = (item: Entry, all: readonly Entry[]): boolean => {
  if (item.kind !== "message" || item.state !== "pending") return false;
  const { channel, device_id } = item.data;
  const follows = (other: Entry) =>
    other.kind === "message" &&
    other !== item &&
    other.ref === item.ref &&
    (channel === null
      ? !["in_app", null].includes(other.data.channel)
      : other.data.channel === channel && other.data.device_id === device_id);
  return all.some((other) => follows(other) && other.state !== "pending");
};

const KINDS = Object.keys(icons).map((kind) => ({ value: kind, label: `${kind}s` }));

export function Timeline({ id }: { id: string }) {
  const [kind, setKind] = useState("");
  const { first, items, more } = usePages(
    "subscribers.getTimeline",
    [id, { limit: 30, ...(kind && { kinds: kind }) }],
    (page) => page.items,
    { every: EVERY_MS },
  );
  const shown = items.filter((item) => !isOver(item, items));
  return (
    <Card
      title="Timeline"
      actions={
        <Select
          class="small"
          label="Kind"
          value={kind}
          options={[{ value: "", label: "Everything" }, ...KINDS]}
          onInput={setKind}
        />
      }
    >
      <Loaded query={first} skeleton={<Skeleton rows={8} />}>
        {() => (
          <>
            {shown.length === 0 && <p class="dim">Nothing has happened yet.</p>}
            <ol class="timeline">
              {shown.map((item) => (
                <li key={`${item.kind}${item.at}${item.ref}`}>
                  <span class="step-icon">
                    <Icon name={icons[item.kind]} />
                  </span>
                  <Title id={id} item={item} />
                  <span class="dim">
                    <Time at={item.at} />
                  </span>
                </li>
              ))}
            </ol>
            {more.error && <Failure error={more.error} />}
            <More {...more} />
          </>
        )}
      </Loaded>
    </Card>
  );
}

function Title({ id, item }: { id: string; item: Entry }) {
  if (item.kind !== "message")
    return (
      <span>
        {item.kind === "consent" ? channelName(item.title) : item.title}{" "}
        {item.state && <Badge state={String(item.state)} />}
      </span>
    );
  const { channel, reason } = item.data;
  return (
    <span>
      <a href={pathTo("activity", item.ref, { person: id })} data-row>
        {item.title}
      </a>{" "}
      <Badge state={item.state} />{" "}
      <span class="dim">
        {channel && <span class="one-line">{channelName(channel)}</span>}
        {reason && ` ${reasonText(reason)}`}
      </span>
    </span>
  );
}
