// A timeline as it is told: the channels of one message in one entry, under the day on which it happened.
import type { SubscribersGetTimelineAnswer } from "../../../sdk/src/types.gen.ts";
import { inPlain } from "../../../shared/rules/placeholders.ts";
import { pathTo } from "../../app/router.ts";
import { channelName } from "../../app/sentences.ts";
import { clockTime, dayName } from "../../app/time.ts";

export type Entry = SubscribersGetTimelineAnswer["items"][number];
type Message = Extract<Entry, { kind: "message" }>;

interface OnChannel {
  key: string;
  channel: string | null;
  state: Message["state"];
  reason: string | null;
  until: string | null;
}

export interface StoryEntry {
  key: string;
  /** The newest of its entries. */
  head: Entry;
  title: string;
  /** `14:32:05`, in the zone of the reader. */
  time: string;
  /** `Today`, `Monday, 23 November`. */
  day: string;
  /** The channels of a message. */
  channels: readonly OnChannel[];
}

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

const onChannel = ({ state, data }: Message): OnChannel => ({
  key: `${data.channel} ${data.device_id} ${state}`,
  channel: data.channel,
  state,
  reason: data.reason,
  until: data.deferred_until,
});

/** @param entries newest first; entries of one send on one day are told as one */
export function happeningsOf(entries: readonly Entry[]): StoryEntry[] {
  const told = new Map<string, StoryEntry>();
  for (const [n, head] of entries.entries()) {
    if (isOver(head, entries)) continue;
    const day = dayName(head.at);
    const key = head.kind === "message" ? `${head.ref} ${day}` : `${n} ${head.kind} ${head.at} ${head.ref}`;
    const known = told.get(key);
    const channels = head.kind === "message" ? [onChannel(head)] : [];
    if (known) told.set(key, { ...known, channels: [...known.channels, ...channels] });
    else told.set(key, { key, head, title: titleOf(head), time: clockTime(head.at), day, channels });
  }
  return [...told.values()];
}

const titleOf = ({ kind, title, subject }: Entry): string =>
  kind === "consent" || kind === "device" ? channelName(title) : inPlain(subject?.name ?? title);

export function byDay(all: readonly StoryEntry[]): { day: string; happenings: StoryEntry[] }[] {
  return [...Map.groupBy(all, ({ day }) => day)].map(([day, happenings]) => ({ day, happenings }));
}

interface Wait {
  key: string;
  title: string;
  href: string;
  reason: string | null;
  until: string | null;
  /** A run of a journey that goes on. */
  isRun?: boolean;
}

/** Messages that wait, and journeys whose newest entry says that a run goes on. */
export function waitsOf(all: readonly StoryEntry[]): Wait[] {
  const runs = new Set<string>();
  return all.flatMap(({ key, head, title, channels }): Wait[] => {
    if (head.kind === "message") {
      const waiting = channels.find(({ state }) => state === "deferred" || state === "pending");
      const href = pathTo("activity", head.ref);
      return waiting ? [{ key, title, href, reason: waiting.reason, until: waiting.until }] : [];
    }
    if (head.kind !== "journey" || head.state === "refused" || runs.has(head.data.run_id)) return [];
    runs.add(head.data.run_id);
    if (head.state !== "active" && head.state !== "entered") return [];
    const href = pathTo("journeys", head.ref);
    return [{ key, title, href, reason: null, until: null, isRun: true }];
  });
}
