// Texts of Pinpoint, whose placeholders become Liquid.

import { isObject, type Resource } from "../resource.ts";
import type { Report } from "./report.ts";

type At = { kind: string; name: string };

const NAME = /^[A-Za-z_][\w-]*$/;
const PATH = /^(?:User\.UserAttributes|Attributes|Metrics)\.([^.[\]]+)(?:\.?\[0\])?$/;

/** Where else Pinpoint finds a value, and where it is here. */
const values: Record<string, string> = {
  "User.UserId": "subscriber.external_id",
  Address: "subscriber.email",
  "Location.Country": "subscriber.country",
  "Location.City": "subscriber.city",
  "Location.Region": "subscriber.region",
  "Location.PostalCode": "subscriber.postal_code",
  "Demographic.Locale": "subscriber.locale",
  "Demographic.Timezone": "subscriber.timezone",
};

const valueAt = (object: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), object);

function variableOf(path: string): string | undefined {
  const [, attribute] = PATH.exec(path) ?? [];
  if (attribute !== undefined) return NAME.test(attribute) ? `subscriber.${attribute}` : undefined;
  return values[path];
}

/**
 * @param defaults `DefaultSubstitutions` of a template, as an object
 * @returns the text with placeholders of Liquid; what has no counterpart is left out and reported
 */
export function liquidOf(text: string, defaults: unknown, report: Report, at: At, field: string): string {
  return text.replaceAll(/\{\{\{?([^{}]+)\}?\}\}/g, (whole, inner: string) => {
    const path = inner.trim();
    const variable = variableOf(path);
    if (variable === undefined) {
      report.unmapped(at, field, `has ${whole}, which was left out`);
      return "";
    }
    const fallback = valueAt(defaults, path.replace(/\.?\[0\]$/, ""));
    const quoted = typeof fallback === "string" && !fallback.includes('"') ? ` | default: "${fallback}"` : "";
    return `{{ ${variable}${quoted} }}`;
  });
}

/** `DefaultSubstitutions`: JSON in a text. */
export function defaultsOf({ DefaultSubstitutions }: Resource): unknown {
  if (typeof DefaultSubstitutions !== "string") return undefined;
  try {
    return JSON.parse(DefaultSubstitutions);
  } catch {
    return undefined;
  }
}

/** The words of a page of HTML, where there is no plain text. */
export function plainTextOf(html: string): string {
  return html
    .replaceAll(/<(style|script|head)[\s\S]*?<\/\1>/gi, "")
    .replaceAll(/<(br|\/p|\/div|\/tr|\/h\d|\/li)[^>]*>/gi, "\n")
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&nbsp;", " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&")
    .replaceAll(/[ \t]+/g, " ")
    .replaceAll(/\s*\n\s*/g, "\n")
    .trim();
}

/** `P1DT12H` in whole minutes, hours or days; undefined if it is not a duration of those. */
export function durationOf(text: unknown): string | undefined {
  const [, weeks, days, hours, minutes] =
    /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:\d+S)?)?$/.exec(String(text)) ?? [];
  const total =
    Number(weeks ?? 0) * 10_080 + Number(days ?? 0) * 1_440 + Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  if (total === 0) return undefined;
  if (total % 1_440 === 0) return `${total / 1_440}d`;
  return total % 60 === 0 ? `${total / 60}h` : `${total}m`;
}
