// Mail of the service itself, from the domain of the installation: what workspaces send goes through their channels.
import { type Capability, type Deps, setting } from "./deps.ts";
import { mailSource } from "./providers/mail-source.ts";
import { openSes } from "./providers/ses.ts";

interface Letter {
  tenant: string;
  /** What it is about; never two letters of one id. */
  id: string;
  to: string;
  subject: string;
  text: string;
}

/** Sends a letter, or logs why it did not go: never throws, and never keeps the caller from answering. */
export type Mailer = (letter: Letter) => Promise<void>;

/** Where no domain for e-mail is set, nothing is mailed. */
export const mailer: Capability<"mail", Mailer> = {
  as: "mail",
  env: ["MAIL_SENDER"],
  grants: [{ actions: ["ses:SendEmail", "ses:SendRawEmail"], on: "own-mail" }],
  open: (deps) => {
    const send = deps.env.MAIL_SENDER ? openMailer(deps, setting(deps, "MAIL_SENDER")) : async () => undefined;
    return () => send;
  },
};

function openMailer(deps: Deps, from_email: string): Mailer {
  const ses = openSes(deps);
  const credentials = { type: "email", provider: "ses", from_email } as const;
  return async ({ tenant, id, to, subject, text }) => {
    const about = { tenant, job: id, subscriber: id, target: "email", address: { email: to } };
    const message = { ...about, title: subject, body: text };
    const mail = mailSource(credentials, message, deps.clock.now());
    const outcome =
      "refused" in mail
        ? { status: "rejected", reason: mail.refused }
        : await ses.send(credentials, message, mail.source);
    if (outcome.status !== "accepted") deps.log({ level: "warn", message: "a mail was not sent", tenant, ...outcome });
  };
}
