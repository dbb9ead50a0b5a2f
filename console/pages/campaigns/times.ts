// When the messages of a campaign go out.
import type { Campaign } from "../../../sdk/src/types.gen.ts";

/** A message without a time goes with the campaign, whose time is shown as that of the first message where it has none. @returns undefined: at the release */
export function timesOf({
  messages,
  scheduled_at: time,
}: Pick<Campaign, "scheduled_at"> & {
  messages: readonly { scheduled_at?: string | undefined; moved_to?: string | null | undefined }[];
}): (string | undefined)[] {
  const own = time === messages[0]?.scheduled_at ? undefined : time;
  return messages.map(({ moved_to, scheduled_at = own }) =>
    moved_to === undefined ? scheduled_at : (moved_to ?? undefined),
  );
}
