// Resumes a campaign: what becomes of the messages whose time passed while it was paused (AMB-138).
import { useState } from "preact/hooks";
import type { Campaign, CampaignsUpdateBody } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { now } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog.tsx";
import { Choices } from "../../components/field.tsx";
import { Moments } from "../../components/release-moments.tsx";
import { Failure } from "../../components/states.tsx";

type Overdue = NonNullable<CampaignsUpdateBody["overdue"]>;

const OVERDUE: Record<Overdue, string> = {
  keep_distance: "The first at once, the others at their distances",
  now: "All at once",
  skip: "Not at all",
};

export function Resume({ campaign: { id, name, messages } }: { campaign: Campaign }) {
  const resume = useAction("campaigns.update");
  const [isAsking, setAsking] = useState(false);
  const [overdue, setOverdue] = useState<Overdue>("keep_distance");
  const isLate = messages.some(({ scheduled_at }) => scheduled_at !== undefined && Date.parse(scheduled_at) <= now());
  const act = async () => {
    const done = await resume.run(id, { action: "resume", ...(isLate && { overdue }) });
    if (!done) return;
    setAsking(false);
    say("The campaign goes on.");
  };
  return (
    <>
      <Button needs="campaigns.update" onClick={() => setAsking(true)}>
        Resume
      </Button>
      {isAsking && (
        <Confirm
          title={`Resume ${name}?`}
          act="Resume it"
          kind="primary"
          isBusy={resume.isBusy}
          close={() => setAsking(false)}
          onConfirm={() => void act()}
        >
          <div class="stack">
            <Moments
              all={messages.map(({ content, position, scheduled_at }) => ({
                name: content?.title || `Message ${position + 1}`,
                at: scheduled_at,
              }))}
            />
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
            {resume.error && <Failure error={resume.error} />}
          </div>
        </Confirm>
      )}
    </>
  );
}
