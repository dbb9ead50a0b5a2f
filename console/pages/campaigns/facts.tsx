// What a campaign is set to: who is reached, with which control group, and under which brake.
import type { Campaign, Target } from "../../../sdk/src/types.gen.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { plural } from "../../app/time.ts";
import { Card } from "../../components/page.tsx";

export function Facts({ campaign: { target, holdout_percentage, topic, safety } }: { campaign: Campaign }) {
  return (
    <Card title="Settings">
      <dl class="facts">
        <dt>Audience</dt>
        <dd>
          <Audience target={target} />
        </dd>
        <dt>Control group</dt>
        <dd>{holdout_percentage ? `${holdout_percentage}%` : "none"}</dd>
        {topic && [<dt key="topic">Topic</dt>, <dd key="name">{topic}</dd>]}
        <dt>Brake</dt>
        <dd>{safety === undefined ? "workspace default" : safety === null ? "off" : "custom limits"}</dd>
      </dl>
    </Card>
  );
}

function Audience({ target }: { target: Target }) {
  const list = useQuery("lists.get", [target.type === "list" ? target.list_id : ""], { when: target.type === "list" });
  const segment = useQuery("segments.get", [target.type === "segment" ? target.segment_id : ""], {
    when: target.type === "segment",
  });
  if (target.type === "all") return <>everyone</>;
  if (target.type === "list")
    return (
      <>
        the list <a href={pathTo("content", "lists")}>{list.data?.name ?? "…"}</a>
        {list.data && `, ${plural(list.data.subscriber_count, "person", "people")}`}
      </>
    );
  return (
    <>
      the segment <a href={pathTo("segments", target.segment_id)}>{segment.data?.name ?? "…"}</a>
      {segment.data && `, ${plural(segment.data.count, "person", "people")}`}
    </>
  );
}
