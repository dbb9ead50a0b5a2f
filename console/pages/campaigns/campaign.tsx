// One campaign: what may be done with it now, and its report.
import { useState } from "preact/hooks";
import type { Campaign, CampaignsUpdateBody } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { go, pathTo } from "../../app/router.ts";
import { plural } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { ContentSeen } from "../../components/content-seen.tsx";
import { Halted } from "../../components/halted.tsx";
import { Card, Confirm, Page, Time } from "../../components/page.tsx";
import { Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Editor } from "./editor.tsx";
import { Facts } from "./facts.tsx";
import { Report } from "./report.tsx";

const STALE = ["campaigns."];
const EVERY_MS = 5_000;

/** What may follow from a status. */
const moves: Record<Campaign["status"], readonly CampaignsUpdateBody["action"][]> = {
  draft: ["archive"],
  scheduled: ["pause", "archive"],
  live: ["pause", "archive"],
  paused: ["resume", "archive"],
  completed: ["archive"],
  archived: ["unarchive"],
};
const words = { pause: "Pause", resume: "Resume", archive: "Archive", unarchive: "Unarchive" };

export function CampaignView({ id }: { id: string }) {
  const campaign = useQuery("campaigns.get", [id], { every: EVERY_MS });
  const update = useAction("campaigns.update", { stale: STALE });
  const release = useAction("campaigns.release", { stale: [...STALE, "notifications."] });
  const duplicate = useAction("campaigns.duplicate", { stale: STALE });
  const remove = useAction("campaigns.delete", { stale: STALE });
  const [asking, setAsking] = useState<"release" | "delete">();
  const [isEditing, setEditing] = useState(false);
  const { data } = campaign;
  const error = update.error ?? release.error ?? duplicate.error ?? remove.error;
  const close = () => setAsking(undefined);
  return (
    <Page
      title={data?.name ?? "Campaign"}
      back={{ href: pathTo("campaigns"), label: "Campaigns" }}
      about={
        data && (
          <>
            <Badge state={data.status} /> {data.category}, {plural(data.messages.length, "message")}, updated{" "}
            <Time at={data.updated_at} />
          </>
        )
      }
      actions={
        data && (
          <>
            <Button
              needs="campaigns.duplicate"
              isBusy={duplicate.isBusy}
              onClick={async () => {
                const copy = await duplicate.run(id);
                if (copy) go(pathTo("campaigns", copy.answer.id));
              }}
            >
              Duplicate
            </Button>
            {moves[data.status].map((action) => (
              <Button
                key={action}
                needs="campaigns.update"
                isBusy={update.isBusy}
                onClick={() => void update.run(id, { action })}
              >
                {words[action]}
              </Button>
            ))}
            {(data.status === "draft" || data.status === "archived") && (
              <Button kind="danger" needs="campaigns.delete" onClick={() => setAsking("delete")}>
                Delete
              </Button>
            )}
            {data.status === "draft" && !isEditing && (
              <>
                <Button icon="pencil" needs="campaigns.replace" onClick={() => setEditing(true)}>
                  Edit
                </Button>
                <Button kind="primary" icon="send" needs="campaigns.release" onClick={() => setAsking("release")}>
                  Release
                </Button>
              </>
            )}
          </>
        )
      }
    >
      {error && <Failure error={error} />}
      <Loaded query={campaign} skeleton={<Skeleton rows={8} />}>
        {(found) =>
          isEditing && found.status === "draft" ? (
            <Editor campaign={found} done={() => setEditing(false)} />
          ) : (
            <>
              {found.halted.map(({ job_id, ...halt }) => (
                <Halted key={job_id} send={job_id} halt={halt}>
                  <a href={pathTo("activity", job_id)}>View send</a>
                </Halted>
              ))}
              {found.status !== "draft" && <Report campaign={found} />}
              <div class="grid wide">
                <div class="stack">
                  <Messages campaign={found} />
                </div>
                <Facts campaign={found} />
              </div>
            </>
          )
        }
      </Loaded>
      {asking === "release" && data && (
        <Release
          campaign={data}
          isBusy={release.isBusy}
          close={close}
          onConfirm={async () => {
            const done = await release.run(id);
            close();
            if (done) say("The campaign is released.");
          }}
        />
      )}
      {asking === "delete" && data && (
        <Confirm
          title={`Delete ${data.name}?`}
          name={data.name}
          act="Delete the campaign"
          isBusy={remove.isBusy}
          close={close}
          onConfirm={async () => {
            const done = await remove.run(id);
            close();
            if (!done) return;
            say(`${data.name} is deleted.`);
            go(pathTo("campaigns"));
          }}
        >
          Its report can no longer be read.
        </Confirm>
      )}
    </Page>
  );
}

/** Says how many people the release reaches, by the preview of its first message. */
function Release({
  campaign,
  ...rest
}: {
  campaign: Campaign;
  isBusy: boolean;
  close: () => void;
  onConfirm: () => void;
}) {
  const [first] = campaign.messages;
  const preview = useQuery("recipients.previewNotifications", [
    {
      target: campaign.target,
      ...(first?.template_id
        ? { template_id: first.template_id }
        : { title: first?.content?.title, body: first?.content?.body }),
      channel_ids: first?.channel_ids,
      category: campaign.category,
      ...(campaign.topic && { topic: campaign.topic }),
      holdout_percentage: campaign.holdout_percentage,
    },
  ]);
  return (
    <Confirm title={`Release ${campaign.name}?`} act="Release it" kind="primary" {...rest}>
      <Loaded query={preview} skeleton={<Skeleton rows={2} />}>
        {({ counts, exact }) => (
          <p>
            {exact ? "" : "About "}
            {plural(counts.sent + counts.deferred, "person gets", "people get")} it,{" "}
            {plural(counts.held_out, "is", "are")} held out, {plural(counts.skipped, "is", "are")} skipped. What is sent
            cannot be taken back.
          </p>
        )}
      </Loaded>
    </Confirm>
  );
}

function Messages({ campaign: { messages } }: { campaign: Campaign }) {
  return (
    <div class="grid">
      {messages.map(({ id, content, position, job_id, scheduled_at, error }) => (
        <Card
          key={id}
          title={messages.length > 1 ? `Message ${position + 1}` : "Message"}
          actions={job_id && <a href={pathTo("activity", job_id)}>View send</a>}
        >
          {error && <p class="banner bad">{error.message}</p>}
          {content ? <ContentSeen content={content} /> : <p class="dim">A template.</p>}
          {scheduled_at && (
            <p class="dim">
              Sent <Time at={scheduled_at} />
            </p>
          )}
        </Card>
      ))}
    </div>
  );
}
