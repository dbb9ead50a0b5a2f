// Mails a token that resets a password or confirms an address. The request did the same for every address, so that its
// time does not tell whether the address has a user (ACC-1).
import { SECOND } from "../../../shared/kernel/clock.ts";
import { mailer } from "../../../shared/providers/mailer.ts";
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { platformWrite } from "../../../shared/store/context.ts";
import { accountMail, serviceUrl } from "../../../shared/store/workspaces/account-mails.ts";
import { countForMailbox, makeToken } from "../../../shared/store/workspaces/passwords.ts";
import { AccountMail } from "../../../shared/store/workspaces/session-items.ts";

export const mailAccountToken = queueWorker(
  "mail-account",
  "Mails a token that resets a password or confirms an address.",
  [platformWrite, mailer, serviceUrl],
  async ({ mail: id }, { platform, mail, serviceUrl, clock, log }) => {
    const asked = await platform.get(AccountMail, { id });
    if (!asked || asked.expires * SECOND <= clock.now())
      return log({ level: "info", message: "a mail with a token was sent before, or is too late", mail: id });
    const made = await makeToken(platform, asked);
    if (!made) log({ level: "info", message: "a mail with a token has no user, or is not needed", mail: id });
    else if (!(await countForMailbox(platform, asked, made.user)))
      log({ level: "info", message: "a mail with a token goes to a mailbox that has enough of them", mail: id });
    else {
      const { user, token } = made;
      const outcome = await mail({
        id,
        to: user.email,
        ...accountMail(serviceUrl, asked.purpose, user.name, token),
      });
      if (outcome === "failed") throw new Error("The mail was not sent. It is tried again.");
    }
    await platform.remove(AccountMail, { id });
  },
);
