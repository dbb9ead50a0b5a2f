// By what something reaches people: the facts of a release that its pages share.
import { useQuery } from "../app/query.ts";
import { channelName } from "../app/sentences.ts";
import type { Fact } from "./page.tsx";

export function ChannelNames({ ids }: { ids: readonly string[] }) {
  const all = useQuery("channels.list", []).data?.channels;
  const names = ids.map((id) => {
    const found = all?.find((one) => one.id === id);
    if (found) return channelName(found.type);
    return all ? "a deleted channel" : "…";
  });
  return <>{names.join(", ") || "none"}</>;
}

export function TopicName({ of }: { of: string }) {
  return <>{useQuery("topics.list", []).data?.items.find(({ key }) => key === of)?.name ?? of}</>;
}

interface Means {
  channel_ids: readonly string[];
  category: "marketing" | "transactional";
  topic?: string | undefined;
  /** In percent. */
  holdout?: number | undefined;
}

export const meansOf = ({ channel_ids, category, topic, holdout = 0 }: Means): readonly (Fact | false | "")[] => [
  ["Channels", <ChannelNames key="channels" ids={channel_ids} />],
  ["Category", category],
  topic !== undefined && topic !== "" && ["Topic", <TopicName key="topic" of={topic} />],
  ["Control group", holdout > 0 ? `${holdout}% are held out` : "none"],
];

/** The same in one line, of one of several messages. */
export function MeansOf({ channel_ids, category, topic }: Means) {
  return (
    <>
      <ChannelNames ids={channel_ids} />
      <span class="dim">
        , {category}
        {topic && (
          <>
            , <TopicName of={topic} />
          </>
        )}
      </span>
    </>
  );
}
