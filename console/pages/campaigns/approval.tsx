// A release that waits for a second person: who asked, for what, and the choice of the others (RDA-26).
import { useState } from "preact/hooks";
import type { Campaign } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { me } from "../../app/session.ts";
import { momentText, now } from "../../app/time.ts";
import { Act } from "../../components/button.tsx";
import { ActionDialog, DialogButton } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { Time } from "../../components/page.tsx";
import { Failure } from "../../components/states.tsx";
import { type CampaignApproval, Sheet } from "./release.tsx";

/** What the badge of a campaign says. */
export const stateOf = ({ status, approval }: Pick<Campaign, "status" | "approval">): string =>
  status === "draft" && approval?.status === "waiting" ? "awaiting_approval" : status;

export function Approval({ campaign, approval }: { campaign: Campaign; approval: CampaignApproval }) {
  const withdraw = useAction("campaigns.withdraw");
  const { requested_by, requested_at, decided_by, decided_at, note } = approval;
  const isOwn = requested_by.user_id === me.value?.user.id;
  const who = isOwn ? "You" : requested_by.name;
  if (approval.status === "declined")
    return (
      <p class="banner">
        <Icon name="cross" />
        <span>
          <b>{decided_by?.name} declined the release</b> that {isOwn ? "you" : who} asked for,{" "}
          {decided_at && <Time at={decided_at} />}
          {note ? `: ${note}` : "."}
        </span>
      </p>
    );
  return (
    <div class="banner" role="status">
      <Icon name="clock" />
      <span>
        <b>{who} asked for approval</b>, <Time at={requested_at} />. {goesOut(campaign, approval)}
      </span>
      {withdraw.error && <Failure error={withdraw.error} />}
      <div class="row">
        {isOwn ? (
          <Act action={withdraw} given={[campaign.id]} said="The request is withdrawn.">
            Withdraw
          </Act>
        ) : (
          <>
            <DialogButton
              label="Approve"
              kind="primary"
              icon="check"
              needs="campaigns.approve"
              refusal={isLate(approval) ? "A time that was asked for has passed. Ask again." : undefined}
              dialog={(close) => <Sheet campaign={campaign} asked={approval} close={close} />}
            />
            <DialogButton
              label="Decline"
              needs="campaigns.decline"
              dialog={(close) => <Decline id={campaign.id} approval={approval} close={close} />}
            />
          </>
        )}
      </div>
    </div>
  );
}

const isLate = ({ sends_at }: CampaignApproval): boolean =>
  sends_at.some((at) => at !== null && Date.parse(at) <= now());

/** When the first message goes out, and its audience. */
function goesOut({ holdout_percentage, messages }: Campaign, { sends_at, previewed }: CampaignApproval): string {
  const first = sends_at.includes(null) ? undefined : sends_at.flatMap((at) => at ?? []).sort()[0];
  const isSplit = previewed && (holdout_percentage > 0 || messages.some(({ variant_b }) => variant_b));
  return `It goes out ${first ? `${momentText(first)}, ` : ""}once approved${isSplit ? ", split as its preview showed" : ""}.`;
}

function Decline({ id, approval, close }: { id: string; approval: CampaignApproval; close: () => void }) {
  const decline = useAction("campaigns.decline");
  const [note, setNote] = useState("");
  return (
    <ActionDialog
      title="Decline the release?"
      form={{ action: decline, placed: ["note"] }}
      submit="Decline it"
      run={() => decline.run(id, { approval_id: approval.id, ...(note.trim() && { note }) })}
      said={() => "The release is declined."}
      close={close}
    >
      <p>The campaign stays a draft.</p>
      <TextField
        label={`Why, for ${approval.requested_by.name} (optional)`}
        rows={3}
        value={note}
        onInput={setNote}
        fault={decline.error?.fields?.note}
      />
    </ActionDialog>
  );
}
