// The release of a campaign, with all its messages, audiences and times; and how a paused one continues.
import { useState } from "preact/hooks";
import type { Campaign, CampaignsUpdateBody, NotificationsCreateBody } from "../../../sdk/src/types.gen.ts";
import { inPlain } from "../../../shared/rules/placeholders.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { asksSecondPerson } from "../../app/session.ts";
import { now, plural } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { armsBody, armsInWords, armsOf } from "../../components/arms.tsx";
import { Ask, DialogButton } from "../../components/dialog.tsx";
import { Choices } from "../../components/field.tsx";
import type { Fact } from "../../components/page.tsx";
import { meansOf } from "../../components/release-facts.tsx";
import { Moments } from "../../components/release-moments.tsx";
import { MissingIn } from "../../components/release-reach.tsx";
import { ReleaseSheet } from "../../components/release-sheet.tsx";
import { timesOf } from "./times.ts";

export function Release({ campaign }: { campaign: Campaign }) {
  const isAsked = campaign.approval?.status === "waiting";
  const ask = isAsked ? "Ask again" : "Ask for approval";
  return (
    <DialogButton
      label={asksSecondPerson() ? ask : "Release"}
      kind={isAsked ? undefined : "primary"}
      icon="send"
      needs="campaigns.release"
      dialog={(close) => <Sheet campaign={campaign} close={close} />}
    />
  );
}

/** What the sheet is about: a release, or a part of one that takes two. */
function wordsOf(isApproval: boolean) {
  if (isApproval) return { title: "Approve the release of", act: "Approve for" };
  return asksSecondPerson()
    ? { title: "Ask to release", act: "Ask to release to" }
    : { title: "Release", act: "Release to" };
}

type Message = Campaign["messages"][number];

/** A preview is valid for ten minutes. */
const PREVIEW_EVERY_MS = 300_000;

const bodyOf = (
  campaign: Campaign,
  message: Message | undefined,
  time: string | undefined,
): NotificationsCreateBody => ({
  target: campaign.target,
  ...(message?.template_id ? { template_id: message.template_id } : { content: message?.content }),
  ...armsBody(armsOf(message ?? {})),
  chat_app_template_id: message?.chat_app_template_id,
  chat_app_parameters: message?.chat_app_parameters,
  channel_ids: message?.channel_ids ?? [],
  category: campaign.category,
  ...(campaign.topic && { topic: campaign.topic }),
  holdout_percentage: campaign.holdout_percentage,
  // What is late goes out at once, and a preview is of a time to come.
  ...(time && Date.parse(time) > now() && { scheduled_at: time }),
});

const nameOf = ({ content, position }: Message): string =>
  (content?.title && inPlain(content.title)) || `Message ${position + 1}`;

export type CampaignApproval = NonNullable<Campaign["approval"]>;

interface SheetProps {
  campaign: Campaign;
  /** What another member asked for, and is approved. */
  asked?: CampaignApproval;
  close: () => void;
}

const STALE = ["campaigns.", "notifications.", "billing."];

export function Sheet({ campaign, asked, close }: SheetProps) {
  const { id, name, messages, category, topic, holdout_percentage, safety } = campaign;
  const release = useAction("campaigns.release", { stale: STALE });
  const approve = useAction("campaigns.approve", { stale: STALE });
  const { title, act } = wordsOf(asked !== undefined);
  const isForTwo = asked !== undefined || asksSecondPerson();
  const times = timesOf(campaign);
  const body = bodyOf(campaign, messages[0], times[0]);
  const preview = useQuery("recipients.previewNotifications", [body], {
    every: PREVIEW_EVERY_MS,
  });
  // Who is shown is who gets it: the draw of the preview counts (AMB-140).
  const preview_id = preview.data?.preview_id;
  const channel_ids = [...new Set(messages.flatMap((message) => message.channel_ids))];
  const run = async () => {
    const done = asked ? await approve.run(id, { approval_id: asked.id }) : await release.run(id, { preview_id });
    if (!done) return;
    close();
    say(done.answer.status === "draft" ? "Another member is asked to approve." : "The campaign is released.");
  };
  return (
    <ReleaseSheet
      title={`${title} ${name}?`}
      act={act}
      action={asked ? approve : release}
      preview={preview}
      body={body}
      at="messages[0]."
      when={messages.map((message, n) => ({
        ...(messages.length > 1 && { name: nameOf(message) }),
        at: times[n],
        ...(isForTwo && { words: "Once approved" }),
      }))}
      by={[
        messages.length > 1 && ["Messages", plural(messages.length, "message")],
        ...meansOf({ channel_ids, category, topic, holdout: holdout_percentage }),
        ...messages
          .filter(({ variant_b }) => variant_b)
          .map((message): Fact => {
            const term = messages.length > 1 ? `Variants of ${nameOf(message)}` : "Variants";
            return [term, armsInWords(armsOf(message).split)];
          }),
      ]}
      gaps={messages
        .slice(1)
        .map((message, n) => (
          <MissingIn
            key={message.id}
            name={nameOf(message)}
            body={bodyOf(campaign, message, times[n + 1])}
            at={`messages[${n + 1}].`}
          />
        ))}
      safety={safety}
      onRelease={run}
      close={close}
    />
  );
}

type Overdue = NonNullable<CampaignsUpdateBody["overdue"]>;

const OVERDUE: Record<Overdue, string> = {
  keep_distance: "The first at once, the others at their distances",
  now: "All at once",
  skip: "Not at all",
};

/** What becomes of the messages whose time passed while the campaign was paused (AMB-138). */
export function Resume({ campaign: { id, name, messages } }: { campaign: Campaign }) {
  const [overdue, setOverdue] = useState<Overdue>("keep_distance");
  const isLate = messages.some(({ scheduled_at }) => scheduled_at !== undefined && Date.parse(scheduled_at) <= now());
  return (
    <DialogButton
      label="Resume"
      needs="campaigns.update"
      dialog={(close) => (
        <Ask
          operation="campaigns.update"
          given={[id, { action: "resume", ...(isLate && { overdue }) }]}
          title={`Resume ${name}?`}
          act="Resume it"
          kind="primary"
          said="The campaign goes on."
          close={close}
        >
          <div class="stack">
            <Moments all={messages.map((message) => ({ name: nameOf(message), at: message.scheduled_at }))} />
            {isLate && (
              <Choices
                legend="Messages whose time has passed are sent"
                name="overdue"
                value={overdue}
                options={OVERDUE}
                onInput={setOverdue}
                hint="What was sent before the pause is not sent again."
              />
            )}
          </div>
        </Ask>
      )}
    />
  );
}
