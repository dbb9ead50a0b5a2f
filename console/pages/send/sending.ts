// Who gets the draft, and how it goes out: as a send, or as a campaign whose release is asked for.
import type { CampaignsCreateBody, NotificationsCreateBody } from "../../../sdk/src/types.gen.ts";
import { inPlain } from "../../../shared/rules/placeholders.ts";
import { type RunningAction, useAction } from "../../app/action.ts";
import { useOnce } from "../../app/once.ts";
import { useQuery } from "../../app/query.ts";
import { refusalText } from "../../app/refusal.ts";
import { onward, pathTo } from "../../app/router.ts";
import { asksSecondPerson } from "../../app/session.ts";
import { useSettled } from "../../app/settled.ts";
import { momentText, plural } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { useUsableChannels } from "../../components/pickers.tsx";
import { isCounting } from "../../components/release-sheet.tsx";
import { bodyOf, type Draft, type DraftEditor, missingIn } from "./draft.ts";

/** A preview is valid for ten minutes. */
const PREVIEW_EVERY_MS = 300_000;
const PREVIEW_WAIT_MS = 500;

/** Where the workspace asks a second person, a send to an audience is a campaign, whose release is asked for (RDA-26). */
export const asksFor = ({ audience }: Draft): boolean => asksSecondPerson() && audience !== "people";

const NO_SMART = "A campaign uses every chosen channel: switch the smart channel off.";

/** Who gets the draft, and why it cannot be sent yet. */
export function useReach(draft: Draft) {
  const via = useUsableChannels().filter(({ id }) => draft.channel_ids?.includes(id) ?? true);
  const missing = missingIn(draft, via) ?? (asksFor(draft) && draft.smart ? NO_SMART : undefined);
  const body = bodyOf(draft, via);
  const settled = useSettled(missing ? undefined : body, PREVIEW_WAIT_MS);
  const asked = settled ?? body;
  const preview = useQuery("recipients.previewNotifications", [asked], {
    when: settled !== undefined,
    every: PREVIEW_EVERY_MS,
  });
  const isCurrent = settled !== undefined && JSON.stringify(settled) === JSON.stringify(body) && !isCounting(preview);
  const fault = preview.error ? "Fix the marked fields first." : undefined;
  const refusal = missing ?? (isCurrent ? fault : "Counting who gets it.");
  const counts = preview.data?.counts;
  return { via, missing, body, asked, preview, counts, reached: counts?.sent ?? 0, refusal };
}

export type Reach = ReturnType<typeof useReach>;

export function useSend({ draft, note, discard }: DraftEditor, { body, reached, preview }: Reach) {
  // Who is shown is who gets it: the draw of the preview counts (AMB-140).
  const preview_id = preview.data?.preview_id;
  const send = useAction("notifications.create", { stale: ["notifications.", "billing."], isOnce: true });
  const create = useOnce("campaigns.create", draft.lost, (lost) => note({ lost }));
  const release = useAction("campaigns.release");
  const ask = async () => {
    const to = onward();
    const made = await create.run(campaignOf(body));
    if (!made) return;
    discard();
    const done = await release.run(made.answer.id, { preview_id });
    say(
      done
        ? "Another member is asked to approve."
        : `It is a draft. Nobody was asked to approve it: ${refusalOf(release)}`,
    );
    to(pathTo("campaigns", made.answer.id));
  };
  const submit = async () => {
    if (asksFor(draft)) return ask();
    const to = onward();
    const done = await send.run({ ...body, ...(preview_id && { preview_id }) }, { idempotencyKey: draft.key });
    // The key stands for what got through before: another message has another one.
    if (isSpent(send)) note({ key: crypto.randomUUID() });
    if (!done) return;
    discard();
    say(
      draft.when === "later"
        ? `Scheduled for ${momentText(body.scheduled_at ?? "")}.`
        : `Sent to ${plural(reached, "person", "people")}.`,
    );
    to(pathTo("activity", done.answer.id));
  };
  return { send: asksFor(draft) ? create : send, submit };
}

/** Of another 409, such as of a request that is still under way, nobody knows whether it went out: the key stays. */
export const isSpent = ({ error }: RunningAction) => error?.message.includes("with another body");

const refusalOf = ({ error }: RunningAction): string => (error ? refusalText(error) : "");

/** The same message to the same audience. */
function campaignOf(asked: NotificationsCreateBody): CampaignsCreateBody {
  const { title = "", body = "", content, name, external_ids: _, ...rest } = asked;
  const own = rest.template_id ? {} : { content: content ?? { title, body } };
  return { ...rest, ...own, name: name || inPlain(title || content?.title || "Send") };
}
