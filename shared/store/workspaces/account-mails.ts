// The texts of the service's own mails, with links to the console.
import { type Capability, setting } from "../../kernel/deps.ts";
import type { MailPurpose } from "./session-items.ts";

/** Where people open the service. */
export const serviceUrl: Capability<"serviceUrl", string> = {
  as: "serviceUrl",
  env: ["BASE_URL"],
  grants: [],
  open: (deps) => () => setting(deps, "BASE_URL"),
};

interface Text {
  subject: string;
  text: string;
}

const linkTo = (origin: string, page: string, token: string): string => `${origin}/console/${page}?token=${token}`;

/** Mail programs make a link of a domain that is written in one piece, and strangers choose these names. */
const withoutDomains = (name: string): string => name.replace(/([.\u3002\uff0e\uff61])(?=[\p{L}\p{N}])/gu, "$1 ");

const purposes: Record<MailPurpose, { subject: string; before: string; after: string; page: string }> = {
  reset: {
    subject: "Reset your password",
    before: "Somebody asked to reset your password. If it was you, choose a new one here:",
    after: "The link works once, within one hour. If it was not you, ignore this mail: your password stays as it is.",
    page: "reset",
  },
  confirm: {
    subject: "Confirm your e-mail address",
    before: "Confirm that this address is yours:",
    after: "The link works once, within 24 hours. If you did not register, ignore this mail.",
    page: "confirm",
  },
};

export function accountMailText(origin: string, purpose: MailPurpose, name: string, token: string): Text {
  const { subject, before, after, page } = purposes[purpose];
  return {
    subject,
    text: `Hello ${withoutDomains(name)},\n\n${before}\n\n${linkTo(origin, page, token)}\n\nYour token: ${token}\n\n${after}`,
  };
}

export function invitationText(
  origin: string,
  { workspace, role, token, expires_at }: { workspace: string; role: string; token: string; expires_at: string },
): Text {
  const name = withoutDomains(workspace);
  return {
    subject: `You are invited to ${name}`,
    text:
      `You are invited to join ${name} as ${role}:\n\n${linkTo(origin, "invitation", token)}\n\n` +
      `Your token: ${token}\n\nIt works once, until ${expires_at}.`,
  };
}
