// Adds to a mail: tracked links, an open pixel, and links to unsubscribe and to the preferences (D-EMAIL, TPC-4).
import { escapeHtml } from "./characters.ts";
import type { FooterWords } from "./footer-words.ts";
import { mappedLinks } from "./html-links.ts";
import type { MailBodies } from "./mail-body.ts";

export type MailParts = MailBodies;

interface MailUrls {
  /** Only in marketing mail. */
  unsubscribe?: string | undefined;
  /** Only in mail with a topic. */
  preferences?: string | undefined;
  /** The lines of the sender, and the words of the links; default: English. */
  sender?: readonly string[];
  words?: FooterWords;
  /** Both only in mail whose opens and clicks are counted. */
  open?: string | undefined;
  click?(target: string, link: number, links: number): string;
}

/** The parts of a mail. The links of the text part are not tracked. */
export function mailParts({ text, html }: MailBodies, urls: MailUrls): MailParts {
  const { sender = [], words = { unsubscribe: "Unsubscribe", preferences: "Preferences" } } = urls;
  const links = [
    { label: words.unsubscribe, url: urls.unsubscribe },
    { label: words.preferences, url: urls.preferences },
  ].flatMap(({ label, url }) => (url === undefined ? [] : [{ label, url }]));
  const anchors = links.map(({ label, url }) => `<a href="${url}">${label}</a>`).join(" ");
  const lines = [...sender.map(escapeHtml), anchors].join("<br>");
  const added =
    (links.length === 0 ? "" : `${UNSUBSCRIBE}${lines}</p>`) +
    (urls.open === undefined ? "" : `${PIXEL}src="${urls.open}" width="1" height="1" alt="" style="border:0">`);
  const linked = urls.click ? mappedLinks(html, urls.click) : html;
  // In lower case a text may be longer, such as one with İ.
  const at = [...linked.matchAll(/<\/body/gi)].at(-1)?.index ?? linked.length;
  return {
    text:
      links.length === 0
        ? text
        : text + SIGNATURE + [...sender, ...links.map(({ label, url }) => `${label}: ${url}`)].join("\n"),
    html: linked.slice(0, at) + added + linked.slice(at),
  };
}

const UNSUBSCRIBE = '<p data-part="unsubscribe" style="margin:16px;font-size:12px;color:#666666">';
const PIXEL = '<img data-part="open" ';
const SIGNATURE = "\n\n-- \n";

/** A footer has no paragraph in it; so a mail that begins many is still read in one pass. */
const FOOTER = /(<p data-part="unsubscribe"[^<>]*>(?:(?!<p ).)*?<\/p>)?<img data-part="open" [^<>]*>/;

/** The parts without the footer and the pixel of `mailParts`. Tracked links stay. */
export function withoutAdditions({ text, html }: MailParts): MailParts {
  const hasFooter = FOOTER.exec(html)?.[1] !== undefined;
  const end = hasFooter ? text.lastIndexOf(SIGNATURE) : -1;
  return { text: end < 0 ? text : text.slice(0, end), html: html.replace(FOOTER, "") };
}

/** The sender of the workspace's mail, as lines of a footer (CHC-4): the name, and the lines of the postal address. */
export const senderOf = (
  settings: { sender_name: string | null; postal_address: string | null } | undefined,
): readonly string[] =>
  [settings?.sender_name ?? "", ...(settings?.postal_address ?? "").split(/[\r\n]+/)]
    .map((line) => line.trim())
    .filter(Boolean);
