// UTM parameters on the links of marketing mail, by the settings of a workspace (CHC-6).
import { mappedLinks } from "./html-links.ts";
import { type MailBodies, mappedUrls } from "./mail-body.ts";

export interface UtmDefaults {
  source: string;
  medium: string;
  /** Absent: the name of the send. */
  campaign?: string | undefined;
}

/** A link with the origin of its reader, in its query or in the address inside its fragment. */
const HAS_UTM = /[?&#]utm_[a-z]/i;

/**
 * The query that marks the links of a mail, such as `utm_source=shop&utm_medium=email`. @param send its category
 * decides: transactional mail has none @returns undefined if its links stay as they are
 */
export function utmQueryOf(
  defaults: UtmDefaults | null | undefined,
  { category, name }: { category: "marketing" | "transactional"; name: string | null },
): string | undefined {
  if (!defaults || category !== "marketing") return undefined;
  const { source, medium, campaign = name ?? undefined } = defaults;
  return Object.entries({ utm_source: source, utm_medium: medium, utm_campaign: campaign })
    .flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${encodeURIComponent(value)}`]))
    .join("&");
}

/** An http or https URL with the query before its fragment. The rest stays as it is, so that signatures stay valid. */
export function withUtm(url: string, query: string): string {
  if (HAS_UTM.test(url)) return url;
  const [, before = "", fragment = ""] = /^([^#]*)(.*)$/s.exec(url) ?? [];
  return `${before}${jointAfter(before)}${query}${fragment}`;
}

function jointAfter(url: string): "?" | "&" | "" {
  if (!url.includes("?")) return "?";
  return /[?&]$/.test(url) ? "" : "&";
}

export const taggedBodies = ({ text, html }: MailBodies, query: string | undefined): MailBodies =>
  query === undefined
    ? { text, html }
    : {
        text: mappedUrls(text, (url) => withUtm(url, query)),
        html: mappedLinks(html, (url) => withUtm(url, query)),
      };
