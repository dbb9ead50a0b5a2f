// Mails of the service itself, from the domain of the installation. Mails of workspaces go through their channels.
import { type Deps, perEnvironment, setting } from "../kernel/deps.ts";
import { mailSource } from "./email.ts";
import { openSes } from "./ses.ts";

interface ServiceMail {
  tenant?: string;
  /** The id of its subject, unique for each mail. */
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** `rejected`: another attempt has no better result. `off`: the installation has no domain for email. */
type MailOutcome = "sent" | "rejected" | "failed" | "off";

/** Sends a mail, or logs why it was not sent. */
type Mailer = (mail: ServiceMail) => Promise<MailOutcome>;

/** Whether the service can send mail: a secret in a mail proves that its reader has the mailbox (ACC-9). */
export const mailing = /* @__PURE__ */ perEnvironment("canMail", { env: ["MAIL_SENDER"] }, ({ env }) =>
  Boolean(env.MAIL_SENDER),
);

/** Sends no mail if the installation has no domain for email. */
export const mailer = /* @__PURE__ */ perEnvironment(
  "mail",
  { env: ["MAIL_SENDER"], grants: [{ actions: ["ses:SendEmail", "ses:SendRawEmail"], on: "own-mail" }] },
  (deps): Mailer =>
    deps.env.MAIL_SENDER ? openMailer(deps, setting(deps, "MAIL_SENDER")) : async () => "off" as const,
);

function openMailer(deps: Deps, from_email: string): Mailer {
  const ses = openSes(deps);
  const credentials = { type: "email", provider: "ses", from_email } as const;
  return async ({ tenant = "service", id, to, subject, text, html }) => {
    const about = { tenant, job: id, subscriber: id, target: "email", address: { email: to } };
    const message = { ...about, title: subject, body: text, parts: { text, html } };
    const mail = mailSource(credentials, message, deps.clock.now());
    const outcome =
      mail.kind === "refused"
        ? { kind: "rejected", reason: mail.reason }
        : await ses.send(credentials, message, mail.source);
    if (outcome.kind === "accepted") return "sent";
    deps.log({ level: "warn", message: "a mail was not sent", tenant, mail: id, ...outcome });
    // A mail without an answer may have been sent.
    if (outcome.kind === "unknown") return "sent";
    return outcome.kind === "rejected" ? "rejected" : "failed";
  };
}
