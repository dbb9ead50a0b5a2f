// One campaign: what may be done with it now, and its report.
import { useState } from "preact/hooks";
import type { Campaign, Target } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { may } from "../../app/may.ts";
import { usePlace } from "../../app/places.ts";
import { useQuery } from "../../app/query.ts";
import { go, pathTo } from "../../app/router.ts";
import { momentText, now, plural } from "../../app/time.ts";
import { contentOfB } from "../../components/arms.tsx";
import { Badge } from "../../components/badge.tsx";
import { Act, Button } from "../../components/button.tsx";
import { ContentSeen, TemplateSeen } from "../../components/content-seen.tsx";
import { DeleteButton } from "../../components/dialog.tsx";
import { Halted } from "../../components/halted.tsx";
import { Menu } from "../../components/menu.tsx";
import { Card, Facts, Page, Time } from "../../components/page.tsx";
import { ChannelNames, TopicName } from "../../components/release-facts.tsx";
import { Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Approval, stateOf } from "./approval.tsx";
import { Editor, hasInput, type OpenedField } from "./editor.tsx";
import { Release, Resume } from "./release.tsx";
import { Report } from "./report.tsx";
import { timesOf } from "./times.ts";

const EVERY_MS = 5_000;

export function CampaignView({ id }: { id: string }) {
  const campaign = useQuery("campaigns.get", [id], { every: EVERY_MS });
  const update = useAction("campaigns.update");
  const duplicate = useAction("campaigns.duplicate");
  const [editing, edit] = useState<OpenedField | "">();
  const isEditing = editing !== undefined;
  const { data } = campaign;
  // What stands in the way of its release leads into the editor.
  usePlace({
    has: (path) => !isEditing && data?.status === "draft" && may("campaigns.replace").allowed && hasInput(path),
    show: (path, reason) => edit({ path, reason }),
  });
  const error = update.error ?? duplicate.error;
  return (
    <Page
      title={data?.name ?? "Campaign"}
      back={{ href: pathTo("campaigns"), label: "Campaigns" }}
      about={
        data && (
          <>
            <Badge state={stateOf(data)} /> {data.category}, {plural(data.messages.length, "message")}, updated{" "}
            <Time at={data.updated_at} />
          </>
        )
      }
      actions={
        data && (
          <>
            {data.status === "paused" && <Resume campaign={data} />}
            {(data.status === "scheduled" || data.status === "live") && (
              <Act action={update} given={[id, { action: "pause" }]}>
                Pause
              </Act>
            )}
            {data.status === "draft" && !isEditing && (
              <>
                <Button icon="pencil" needs="campaigns.replace" onClick={() => edit("")}>
                  Edit
                </Button>
                <Release campaign={data} />
              </>
            )}
            <Menu>
              <Act action={duplicate} given={[id]} then={(copy) => go(pathTo("campaigns", copy.id))}>
                Duplicate
              </Act>
              <Act action={update} given={[id, { action: data.status === "archived" ? "unarchive" : "archive" }]}>
                {data.status === "archived" ? "Unarchive" : "Archive"}
              </Act>
              {(data.status === "draft" || data.status === "archived") && (
                <DeleteButton operation="campaigns.delete" id={id} noun="campaign" name={data.name} page="campaigns">
                  Its report can no longer be read.
                </DeleteButton>
              )}
            </Menu>
          </>
        )
      }
    >
      {error && <Failure error={error} />}
      <Loaded query={campaign} skeleton={<Skeleton rows={8} />}>
        {(found) =>
          isEditing ? (
            <Editor campaign={found} at={editing || undefined} done={() => edit(undefined)} />
          ) : (
            <Shown campaign={found} />
          )
        }
      </Loaded>
    </Page>
  );
}

function Shown({ campaign }: { campaign: Campaign }) {
  return (
    <>
      {campaign.status === "draft" && campaign.approval && (
        <Approval campaign={campaign} approval={campaign.approval} />
      )}
      {campaign.halted.map(({ job_id, ...halt }) => (
        <Halted key={job_id} send={job_id} halt={halt}>
          <a href={pathTo("activity", job_id)}>View send</a>
        </Halted>
      ))}
      {campaign.status === "draft" || campaign.status === "scheduled" ? (
        <div class="grid wide">
          <Messages campaign={campaign} />
          <Settings campaign={campaign} />
        </div>
      ) : (
        <Report campaign={campaign}>
          <Settings campaign={campaign} />
          <Messages campaign={campaign} />
        </Report>
      )}
    </>
  );
}

function Messages({ campaign }: { campaign: Campaign }) {
  const { messages, status } = campaign;
  const times = timesOf(campaign);
  return (
    <div class="grid">
      {messages.map(({ id, content, template_id, variant_b, position, job_id, channel_ids, error }, n) => (
        <Card
          key={id}
          title={messages.length > 1 ? `Message ${position + 1}` : "Message"}
          actions={job_id && <a href={pathTo("activity", job_id)}>View send</a>}
        >
          {error && <p class="banner bad">{error.message}</p>}
          {content && <ContentSeen content={content} />}
          {!content && template_id && <TemplateSeen id={template_id} />}
          {variant_b && (
            <>
              <p class="dim">Variant B</p>
              <ContentSeen content={content ? contentOfB(content, variant_b) : variant_b} />
            </>
          )}
          {times[n] && (
            <p class="dim">
              {job_id && Date.parse(times[n]) <= now() ? "Sent" : "Planned for"} {momentText(times[n])}
            </p>
          )}
          {/* What went out has its channels in the report. */}
          {(!job_id || status === "scheduled") && (
            <p class="dim">
              By <ChannelNames ids={channel_ids} />
            </p>
          )}
        </Card>
      ))}
    </div>
  );
}

/** Who is reached, with which control group, and under which brake. */
function Settings({ campaign }: { campaign: Campaign }) {
  const { target, holdout_percentage, topic, safety, approval } = campaign;
  const [first] = timesOf(campaign)
    .flatMap((time) => time ?? [])
    .toSorted((a, b) => Date.parse(a) - Date.parse(b));
  return (
    <Card title="Settings">
      <Facts
        of={[
          ["Audience", <Audience key="audience" target={target} />],
          first && [Date.parse(first) > now() ? "Goes out" : "Went out", <Time key="time" at={first} isDate />],
          ["Control group", holdout_percentage ? `${holdout_percentage}%` : "none"],
          topic && ["Topic", <TopicName key="topic" of={topic} />],
          approval?.status === "approved" && [
            "Approved by",
            `${approval.decided_by?.name}, as ${approval.requested_by.name} asked`,
          ],
          ["Brake", brakeText(safety)],
        ]}
      />
    </Card>
  );
}

function brakeText(safety: Campaign["safety"]): string {
  if (safety === undefined) return "workspace default";
  return safety === null ? "off" : "custom limits";
}

function Audience({ target }: { target: Target }) {
  const list = useQuery("lists.get", [target.type === "list" ? target.list_id : ""], { when: target.type === "list" });
  const segment = useQuery("segments.get", [target.type === "segment" ? target.segment_id : ""], {
    when: target.type === "segment",
  });
  if (target.type === "all") return <>Everyone</>;
  if (target.type === "list")
    return (
      <>
        The list <a href={pathTo("content", `lists/${target.list_id}`)}>{list.data?.name ?? "…"}</a>
        {list.data && `, ${plural(list.data.subscriber_count, "person", "people")}`}
      </>
    );
  return (
    <>
      The segment <a href={pathTo("segments", target.segment_id)}>{segment.data?.name ?? "…"}</a>
      {segment.data && `, ${plural(segment.data.count, "person", "people")}`}
    </>
  );
}
