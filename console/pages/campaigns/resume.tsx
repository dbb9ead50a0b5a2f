// Resumes a campaign: what becomes of the messages whose time passed while it was paused (AMB-138).
import { useState } from "preact/hooks";
import type { Campaign, CampaignsUpdateBody } from "../../../sdk/src/types.gen.ts";
import { now } from "../../app/time.ts";
import { Ask, DialogButton } from "../../components/dialog.tsx";
import { Choices } from "../../components/field.tsx";
import { Moments } from "../../components/release-moments.tsx";

type Overdue = NonNullable<CampaignsUpdateBody["overdue"]>;

const OVERDUE: Record<Overdue, string> = {
  keep_distance: "The first at once, the others at their distances",
  now: "All at once",
  skip: "Not at all",
};

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
          </div>
        </Ask>
      )}
    />
  );
}
