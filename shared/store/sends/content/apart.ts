// Contents of over 100 KB: the HTML and the design of their mails are stored apart, under the hash of both, and a row keeps
// the names (docs/decisions/0104).
import { Buffer } from "node:buffer";
import type { ByChannel, MailApart } from "../../../rules/channel-content.ts";
import { hasPlaceholders } from "../../../rules/placeholders.ts";
import { hashOf } from "../../hash.ts";

/** A content of more bytes as JSON is stored in two places. */
const MAX_IN_ROW_BYTES = 102_400;
const FIELDS = ["html", "design"] as const;
/** The roots of variables in texts, which rules look for. */
const ROOTS = ["subscriber", "event", "data"] as const;

/** A content, or a message with two arms of it. */
export interface SaysByChannel {
  by_channel?: ByChannel | undefined;
  variant_b?: { by_channel?: ByChannel | undefined } | null | undefined;
}

type Mail = NonNullable<ByChannel["email"]>;

/** Replaces the mails of a content; all else stays as it is. */
function withMails<T extends SaysByChannel>(said: T, change: (mail: Mail) => Mail): T {
  const { by_channel, variant_b } = said;
  const changed = (content: ByChannel): ByChannel =>
    content.email ? { ...content, email: change(content.email) } : content;
  return {
    ...said,
    ...(by_channel && { by_channel: changed(by_channel) }),
    ...(variant_b?.by_channel && { variant_b: { ...variant_b, by_channel: changed(variant_b.by_channel) } }),
  };
}

/** The HTML and the design of a mail as the text that is stored, in an order of its own. */
const textOf = ({ html, design }: Mail): string => JSON.stringify({ html, design });

/** A mail by name: the same for the same HTML and design, wherever they are stored. Undefined for a mail without either. */
function nameOf(mail: Mail): MailApart | undefined {
  if (mail.apart) return mail.apart;
  const fields = FIELDS.filter((name) => mail[name] !== undefined);
  if (fields.length === 0) return undefined;
  return { hash: hashOf(textOf(mail)), fields, liquid: liquidIn(mail.html ?? "") };
}

function liquidIn(html: string): string {
  if (!hasPlaceholders(html)) return "";
  const used = ROOTS.filter((root) => new RegExp(`\\b${root}\\b`).test(html));
  return (used.length > 0 ? used : ["data"]).map((root) => `{{ ${root}.any }}`).join("");
}

/** With the names of its mails in place of their HTML and design. */
export const named = <T extends SaysByChannel>(said: T): T =>
  withMails(said, (mail) => {
    const apart = nameOf(mail);
    const { html: _, design: __, ...rest } = mail;
    return apart ? { ...rest, apart } : mail;
  });

/**
 * Contents in the form for one row: unchanged up to 100 KB of JSON, else with the names of their mails. @returns the
 * mails to store under those names, before the row
 */
export function split<T extends SaysByChannel>(said: readonly T[]): { kept: T[]; texts: ReadonlyMap<string, string> } {
  const texts = new Map<string, string>();
  if (Buffer.byteLength(JSON.stringify(said)) <= MAX_IN_ROW_BYTES) return { kept: [...said], texts };
  for (const one of said)
    withMails(one, (mail) => {
      const apart = mail.apart ? undefined : nameOf(mail);
      if (apart) texts.set(apart.hash, textOf(mail));
      return mail;
    });
  return { kept: said.map(named), texts };
}

/** The names of mails that are stored apart. */
export function hashesIn(said: readonly SaysByChannel[]): string[] {
  const hashes = new Set<string>();
  for (const one of said)
    withMails(one, (mail) => {
      if (mail.apart) hashes.add(mail.apart.hash);
      return mail;
    });
  return [...hashes];
}

/** With the HTML and the design of its mails; one that is in no text is gone. */
export const joined = <T extends SaysByChannel>(said: T, texts: ReadonlyMap<string, string | undefined>): T =>
  withMails(said, ({ apart, ...rest }) => {
    if (!apart) return rest;
    const text = texts.get(apart.hash);
    if (text === undefined) return { ...rest, apart: { ...apart, isGone: true } };
    return { ...rest, ...(JSON.parse(text) as Pick<Mail, "html" | "design">) };
  });

interface Shown {
  by_channel?: ByChannel | undefined;
  left_out?: string[];
}

/** A content as an answer shows it: without what is stored apart and was not read, which `left_out` names. */
export function abridged<T extends { by_channel?: ByChannel | undefined }>(content: T): T & Shown {
  const { by_channel } = content;
  const { apart, ...email } = by_channel?.email ?? {};
  if (!apart) return content;
  return {
    ...content,
    by_channel: { ...by_channel, email },
    left_out: apart.fields.map((name) => `by_channel.email.${name}`),
  };
}
