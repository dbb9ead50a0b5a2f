// The service's own mails, with links to the console.
import { type Capability, setting } from "../../kernel/deps.ts";
import { cardHtml } from "../../rules/mail-card.ts";
import type { MailPurpose } from "./session-items.ts";

/** Where people open the service: read each time, because the local service may work before it has its port. */
export const serviceUrl: Capability<"serviceUrl", string> = {
  as: "serviceUrl",
  env: ["BASE_URL"],
  grants: [],
  open: (deps) => () => setting(deps, "BASE_URL"),
};

interface Mail {
  subject: string;
  text: string;
  html: string;
}

const linkTo = (origin: string, page: string, token: string): string => `${origin}/console/${page}?token=${token}`;

/** Mail programs make a link of a domain that is written in one piece, and strangers choose these names. */
const withoutDomains = (name: string): string => name.replace(/([.\u3002\uff0e\uff61])(?=[\p{L}\p{N}])/gu, "$1 ");

interface Letter {
  subject: string;
  before: readonly string[];
  label: string;
  after: readonly string[];
}

/** The same as text and as HTML. */
function mailOf({ subject, before, label, after }: Letter, url: string, token: string): Mail {
  const notes = [`Your token: ${token}`];
  return {
    subject,
    text: [...before, url, ...notes, ...after].join("\n\n"),
    html: cardHtml({ lang: "en", heading: subject, before, button: { label, url }, after, notes }),
  };
}

const purposes: Record<MailPurpose, Omit<Letter, "before"> & { before: string; page: string }> = {
  reset: {
    subject: "Reset your password",
    before: "Somebody asked to reset your password. If it was you, choose a new one here:",
    label: "Choose a new password",
    after: ["The link works once, within one hour. If it was not you, ignore this mail: your password stays as it is."],
    page: "reset",
  },
  confirm: {
    subject: "Confirm your email address",
    before: "Confirm that this address is yours:",
    label: "Confirm the address",
    after: ["The link works once, within 24 hours. If you did not register, ignore this mail."],
    page: "confirm",
  },
};

export function accountMail(origin: string, purpose: MailPurpose, name: string, token: string): Mail {
  const { page, before, ...letter } = purposes[purpose];
  const said = { ...letter, before: [`Hello ${withoutDomains(name)},`, before] };
  return mailOf(said, linkTo(origin, page, token), token);
}

const untilText = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });

export function invitationMail(
  origin: string,
  { workspace, role, token, expires_at }: { workspace: string; role: string; token: string; expires_at: string },
): Mail {
  const name = withoutDomains(workspace);
  const letter = {
    subject: `You are invited to ${name}`,
    before: [`You are invited to join ${name} as ${role}:`],
    label: "Accept the invitation",
    after: [`The link works once, until ${untilText.format(new Date(expires_at))} UTC.`],
  };
  return mailOf(letter, linkTo(origin, "invitation", token), token);
}
