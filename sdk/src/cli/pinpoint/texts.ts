// Texts of Pinpoint, whose placeholders and blocks become Liquid.
import { objectIn, parsed, type Resource } from "../resource.ts";
import { type Node, nodesOf } from "./handlebars.ts";
import type { At, Report } from "./report.ts";

const NAME = /^[A-Za-z_][\w-]*$/;
const PATH = /^(?:User\.UserAttributes|Attributes|Metrics)\.([^.[\]]+)(?:\.?\[(\d+)\])?$/;

/** Other places of values in Pinpoint → their place here. */
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

/** Attributes that the service uses itself: for the address, the local time and the language. */
const OF_THE_SERVICE = ["phone", "timezone", "locale"];
/**
 * The key of an attribute. One with a name of the service's own gets another key, because Pinpoint sent nothing to a
 * number among attributes.
 */
export const keyOf = (name: string): string => (OF_THE_SERVICE.includes(name) ? `pinpoint_${name}` : name);

const valueAt = (object: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((at, name) => objectIn(at)[name], object);

/** Where a value is here, and which element of a list is meant. */
function variableOf(path: string): { name: string; index?: number } | undefined {
  const [, attribute, index] = PATH.exec(path) ?? [];
  if (attribute === undefined) return values[path] === undefined ? undefined : { name: values[path] };
  if (!NAME.test(attribute)) return undefined;
  return { name: `subscriber.${keyOf(attribute)}`, ...(index !== undefined && { index: Number(index) }) };
}

const COMPARISONS: Readonly<Record<string, string>> = {
  eq: "==",
  neq: "!=",
  ne: "!=",
  gt: ">",
  gte: ">=",
  lt: "<",
  lte: "<=",
};
const COMPARED = /^(\S+)\s+("[^"]*"|'[^']*'|-?\d+(?:\.\d+)?)$/;

/** Helpers that have a filter of the same meaning. */
const FILTERS: Readonly<Record<string, string>> = {
  upper: "upcase",
  lower: "downcase",
  defaultIfEmpty: "default",
  join: "join",
};
const HELPED = new RegExp(`^(${Object.keys(FILTERS).join("|")})\\s+(\\S+)(?:\\s+("[^"]*"|'[^'"]*'))?$`);
/** Filters that take an argument beside their value. */
const WITH_TEXT: ReadonlySet<string> = new Set(["defaultIfEmpty", "join"]);

/**
 * What holds for a value, or for the element of a list that is meant: one value of an attribute is a text here, so the
 * first element is also the text itself.
 */
function compared(path: string, test: string, join: "or" | "and"): string | undefined {
  const variable = variableOf(path);
  if (!variable) return undefined;
  const { name, index } = variable;
  if (index === undefined) return `${name} ${test}`;
  const element = `${name}[${index}] ${test}`;
  return index === 0 ? `${name} ${test} ${join} ${element}` : element;
}

/** A condition of Liquid; undefined for a block that has no counterpart. */
function conditionOf(name: string, args: string): string | undefined {
  // A list counts as true if it has a first element.
  if (name === "if" || name === "unless")
    return compared(args.replace(/\.?\[0\]$/, ""), `${name === "unless" ? "==" : "!="} blank`, "or");
  const [, path = "", value = ""] = COMPARED.exec(args) ?? [];
  const sign = COMPARISONS[name];
  return sign && compared(path, `${sign} ${value.replaceAll("'", '"')}`, /^neq?$/.test(name) ? "and" : "or");
}

/** A loop that only writes the elements of a list; undefined for any other loop. */
function listed(args: string, nodes: readonly Node[]): { list: string; variable: string } | undefined {
  const variable = variableOf(args)?.name;
  const at = nodes.findIndex((node) => node.kind === "tag" && node.inner === "this");
  const [before, after] = [nodes.slice(0, at), nodes.slice(at + 1)];
  if (!variable || at < 0 || [...before, ...after].some(({ kind }) => kind !== "text")) return undefined;
  const textOf = (nodes: readonly Node[]) => nodes.map((node) => (node.kind === "text" ? node.text : "")).join("");
  const [start, end] = [textOf(before), textOf(after)];
  const elements = `{{ ${variable} | join: "${(end + start).replaceAll('"', "'")}" }}`;
  // A separator is not written after the last element.
  return { list: start === "" ? elements : `${start}${elements}${end}`, variable };
}

/**
 * @param defaults `DefaultSubstitutions` of a template, as an object
 * @returns the text with placeholders and blocks of Liquid; what has no counterpart is left out and reported
 */
export function liquidOf(text: string, defaults: unknown, report: Report, at: At, field: string): string {
  const leftOut = (whole: string): string => {
    report.unmapped(at, field, `has ${whole}, which was left out`);
    return "";
  };

  const placeholder = (whole: string, inner: string): string => {
    if (inner.startsWith("!")) return "";
    const [, helper = "", ofHelper = inner, argument] = HELPED.exec(inner) ?? [];
    const path = ofHelper.replace(/\.?\[0\]$/, helper === "join" ? "" : "$&");
    const variable = variableOf(path);
    if (variable === undefined || (helper !== "" && !argument === WITH_TEXT.has(helper))) return leftOut(whole);

    const { name, index } = variable;
    if (whole.startsWith("{{{") && field === "HtmlPart")
      report.unmapped(at, field, `has ${whole}, whose value is shown as text: HTML in it is none here`);
    const fallback = valueAt(defaults, path.replace(/\.?\[\d+\]$/, ""));
    const isText = ["string", "number"].includes(typeof fallback) && !String(fallback).includes('"');
    if (fallback !== undefined && fallback !== null && !isText)
      report.unmapped(at, "DefaultSubstitutions", `has a default of ${path} that cannot be said: it is left out`);

    // One value of an attribute is a text here, several are a list: the first of a text is the text.
    const place = index === 0 ? " | first" : `[${index}]`;
    const element = index === undefined ? name : `${name}${place}`;
    const filter = helper === "" ? "" : ` | ${FILTERS[helper]}${argument ? `: ${argument.replaceAll("'", '"')}` : ""}`;
    return `{{ ${element}${isText ? ` | default: "${fallback}"` : ""}${filter} }}`;
  };

  const rendered = (nodes: readonly Node[]): string => nodes.map(renderedNode).join("");

  const renderedNode = (node: Node): string => {
    // The text is escaped so that nothing in it begins a tag of Liquid.
    if (node.kind === "text") return node.text.replaceAll("{%", '{{ "{%" }}');
    if (node.kind === "tag") return placeholder(node.whole, node.inner);
    const { whole, name, args, inner, otherwise } = node;
    const rest = otherwise ? rendered(otherwise.nodes) : "";
    const list = name === "each" ? listed(args, inner) : undefined;
    if (list) return `{% if ${list.variable} != blank %}${list.list}${otherwise ? `{% else %}${rest}` : ""}{% endif %}`;
    const condition = conditionOf(name, args);
    // A condition without a counterpart counts as absent.
    if (condition === undefined) return leftOut(`${whole}…{{/${name}}}`) + rest;
    return `{% if ${condition} %}${rendered(inner)}${otherwise ? `{% else %}${rest}` : ""}{% endif %}`;
  };

  return rendered(nodesOf(text));
}

/** `DefaultSubstitutions`: JSON in a text. */
export function defaultsOf({ DefaultSubstitutions }: Resource): unknown {
  return typeof DefaultSubstitutions === "string" ? parsed(DefaultSubstitutions) : undefined;
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

/** A tag such as `de-DE`, also as `de_DE`. */
export function localeOf(text: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(text.replaceAll("_", "-"))[0];
  } catch {
    return undefined;
  }
}

const MINUTE_SECONDS = 60;

/** `P1DT12H` in whole minutes, hours or days, the next minute of what has seconds; undefined if it is not a duration of those. */
export function durationOf(text: unknown): string | undefined {
  const [, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] =
    /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(String(text)) ?? [];
  const total =
    Number(weeks) * 10_080 +
    Number(days) * 1_440 +
    Number(hours) * 60 +
    Number(minutes) +
    Math.ceil(Number(seconds) / MINUTE_SECONDS);
  if (total === 0) return undefined;
  if (total % 1_440 === 0) return `${total / 1_440}d`;
  return total % 60 === 0 ? `${total / 60}h` : `${total}m`;
}
