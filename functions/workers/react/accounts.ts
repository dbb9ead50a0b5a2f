// Mails with tokens that users asked for.
import type { Context } from "../../../shared/kernel/deps.ts";
import { mailAccountQueue } from "../../../shared/runtime/resources.ts";
import { AccountMail } from "../../../shared/store/workspaces/session-items.ts";
import { type Changes, isNew } from "./change.ts";

export const accountUses = [mailAccountQueue] as const;

export async function queueAccountMails(
  changes: Changes,
  { mailAccountQueue: queue }: Context<typeof accountUses>,
): Promise<void> {
  const asked = changes.of(AccountMail, "account-mail").filter(isNew);
  await queue.send(asked.map(({ after }) => ({ mail: after.id })));
}
