// The links of a message before it goes out: which there are, and what is wrong with those that nobody could follow.
import type { NotificationPreview } from "../../sdk/src/types.gen.ts";
import { FOOTER_HOST } from "../../shared/rules/footer-words.ts";

type Rendering = Pick<NotificationPreview["renderings"][number], "body" | "html" | "push" | "in_app">;

/** In HTML, with its entities. */
const HREF = /<a\b[^>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')/gi;
/** In plain text. */
const URL_IN_TEXT = /https?:\/\/[^\s<>"']+/gi;

const unescaped = (text: string): string =>
  text.replaceAll("&amp;", "&").replaceAll("&#38;", "&").replaceAll("&quot;", '"').trim();

function linksOf({ body, html, push, in_app }: Rendering): string[] {
  const inHtml = [...(html ?? "").matchAll(HREF)].map(([, double, single]) => unescaped(double ?? single ?? ""));
  const inText = html ? [] : ((body ?? "").match(URL_IN_TEXT) ?? []).map((text) => text.replace(/[.,;:!?)\]]+$/, ""));
  const buttons = [...(push?.buttons ?? []), ...(in_app?.actions ?? [])].map(({ url }) => url);
  // An empty URL of a button closes the message.
  return [...inHtml, ...inText, ...[push?.url ?? "", ...buttons].filter(Boolean)];
}

/** Names that lead nowhere outside (RFC 2606, RFC 6761). */
const NOWHERE = /(^|\.)(example\.(com|net|org)|example|test|invalid|localhost)$|^127\.|^\[::1\]$/;

function faultOf(link: string): string | undefined {
  if (link === "" || link === "#") return "A link leads nowhere.";
  if (/^(mailto|tel|sms):/i.test(link)) return undefined;
  if (!URL.canParse(link)) return `“${link}” is not a whole address: it begins with https://.`;
  const { protocol, hostname, href } = new URL(link);
  if (NOWHERE.test(hostname)) return `${href} is a placeholder: nobody outside can open it.`;
  return protocol === "http:" ? `${href} is not encrypted: it begins with http://.` : undefined;
}

const isOfFooter = (link: string): boolean => URL.canParse(link) && new URL(link).hostname === FOOTER_HOST;

interface LinkCheck {
  /** All links, each once, without those of the service itself. */
  count: number;
  /** The sites that they lead to. */
  hosts: readonly string[];
  faults: readonly string[];
}

/** @param own the origin of the service, whose own links are its own matter: opting out, the web view of a mail */
export function checkLinks(renderings: readonly Rendering[], own: string): LinkCheck {
  const all = [...new Set(renderings.flatMap(linksOf))].filter((link) => !link.startsWith(own) && !isOfFooter(link));
  const hosts = all.flatMap((link) => (URL.canParse(link) ? new URL(link).hostname || [] : []));
  return {
    count: all.length,
    hosts: [...new Set(hosts)],
    faults: [...new Set(all.flatMap((link) => faultOf(link) ?? []))],
  };
}
