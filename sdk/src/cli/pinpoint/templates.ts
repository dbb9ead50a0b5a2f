// Templates of Pinpoint for email, push, SMS and in-app messages. Those for voice have no counterpart.
import { isObject, objectIn, objectsIn, type Resource } from "../resource.ts";
import type { At, Report } from "./report.ts";
import { BOOKKEEPING, free } from "./segments.ts";
import { defaultsOf, liquidOf, plainTextOf } from "./texts.ts";

type Kind = "EMAIL" | "PUSH" | "SMS" | "INAPP" | "VOICE";

export interface Templates {
  files: Map<string, Resource>;
  /** The name here of a template there; its names are unique by type only. */
  nameOf(type: Kind, name: unknown): string | undefined;
}

const KNOWN = ["TemplateName", "TemplateType", "DefaultSubstitutions", ...BOOKKEEPING];

/** Translates a text of a template or message, and reports the parts that are lost. */
export type Liquid = (text: unknown, field: string) => string | undefined;

export const liquidBy =
  (report: Report, at: At, defaults: unknown): Liquid =>
  (text, field) => {
    const liquid = typeof text === "string" ? liquidOf(text, defaults, report, at, field) : "";
    // A translated text may be blank, which the service refuses.
    return liquid.trim() === "" ? undefined : liquid;
  };

/** A resource without the fields that have no value. */
export const compact = (fields: Resource): Resource =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""));

export function emailContent(
  { subject, html, text }: { subject: unknown; html: unknown; text: unknown },
  liquid: Liquid,
  name: string,
): Resource {
  const title = liquid(subject, "Subject") ?? name;
  const page = liquid(html, "HtmlPart");
  const plain = liquid(text, "TextPart");
  const body = plain ?? (page === undefined ? undefined : plainTextOf(page)) ?? title;
  return { title, body: body || title, by_channel: { email: compact({ subject: title, html: page, text: plain }) } };
}

/** Reports that another version of a template was meant than the one in the folder. */
export function reportTemplateVersion(report: Report, at: At, field: string, version: unknown = "latest"): void {
  if (version !== "latest" && version !== "active")
    report.unmapped(at, field, `is ${String(version)}: the version in the folder is sent`);
}

const PLATFORMS = ["APNS", "GCM", "ADM", "Baidu"];
/** Fields of which each template has one. Templates in lists have none. */
const CONTENT = ["Subject", "HtmlPart", "TextPart", "Body", "Default", "Content", ...PLATFORMS];
export const hasContent = (template: Resource): boolean => CONTENT.some((field) => field in template);
const PUSH_FIELDS = ["Title", "Body", "Url", "Action", "Sound", "MediaUrl", "ImageUrl"];

/** @param messages by platform, `Default` among them */
export function pushContent(messages: Resource, liquid: Liquid, at: At, report: Report): Resource {
  const of = (platform: string) => (isObject(messages[platform]) ? messages[platform] : undefined);
  const chosen = of("Default") ?? of("APNS") ?? of("GCM") ?? {};
  for (const platform of PLATFORMS) {
    const message = of(platform);
    if (!message || message === chosen) continue;
    report.rest(
      at,
      message,
      ["Title", "Body"].filter((field) => message[field] === chosen[field]),
      `${platform}.`,
    );
  }
  report.rest(at, chosen, PUSH_FIELDS, "Default.");
  const opens = ["URL", "DEEP_LINK"].includes(String(chosen.Action));
  if (chosen.Action !== undefined && chosen.Action !== "OPEN_APP" && !opens)
    report.unmapped(at, "Action", `is ${String(chosen.Action)}: a tap opens the app`);
  const title = liquid(chosen.Title, "Title") ?? at.name;
  const push = compact({
    url: opens ? liquid(chosen.Url, "Url") : undefined,
    image_url: liquid(chosen.MediaUrl ?? chosen.ImageUrl, "MediaUrl"),
    sound: chosen.Sound,
  });
  const content = { title, body: liquid(chosen.Body, "Body") ?? title };
  return Object.keys(push).length > 0 ? { ...content, by_channel: { push } } : content;
}

function inAppContent({ Content }: Resource, liquid: Liquid, at: At, report: Report): Resource {
  const [message, ...others] = objectsIn(Content);
  if (others.length > 0) report.unmapped(at, "Content", `has ${others.length + 1} messages: the first was taken`);
  const { HeaderConfig = {}, BodyConfig = {}, ImageUrl, ...rest } = message ?? {};
  const header = objectIn(HeaderConfig);
  const text = objectIn(BodyConfig);
  report.rest(at, header, ["Header"], "Content.HeaderConfig.");
  report.rest(at, text, ["Body"], "Content.BodyConfig.");
  report.rest(at, rest, ["PrimaryBtn", "SecondaryBtn"], "Content.");

  const actions = ["PrimaryBtn", "SecondaryBtn"].flatMap((button) => {
    const configs = objectIn(rest[button]);
    report.rest(at, configs, ["DefaultConfig"], `Content.${button}.`);
    const defaults = isObject(configs.DefaultConfig) ? configs.DefaultConfig : undefined;
    if (!defaults) return [];
    report.rest(at, defaults, ["Text", "Link", "ButtonAction"], `Content.${button}.`);
    if (defaults.ButtonAction === "CLOSE" && defaults.Link)
      report.unmapped(at, `Content.${button}.ButtonAction`, "is CLOSE: the button opens its link");
    return [
      {
        id: button === "PrimaryBtn" ? "primary" : "secondary",
        title: liquid(defaults.Text, `${button}.Text`) ?? button,
        url: liquid(defaults.Link, `${button}.Link`) ?? "",
      },
    ];
  });

  const title = liquid(header.Header, "Header") ?? at.name;
  const in_app = compact({ image_url: liquid(ImageUrl, "ImageUrl"), ...(actions.length > 0 && { actions }) });
  const content = { title, body: liquid(text.Body, "Body") ?? title };
  return Object.keys(in_app).length > 0 ? { ...content, by_channel: { in_app } } : content;
}

function contentOf(template: Resource, at: At, report: Report): Resource | undefined {
  const defaults = defaultsOf(template);
  if (template.DefaultSubstitutions && !isObject(defaults))
    report.unmapped(at, "DefaultSubstitutions", "is no JSON: there are no defaults");
  const liquid = liquidBy(report, at, defaults);
  const rest = (fields: readonly string[]) => report.rest(at, template, [...KNOWN, ...fields]);
  if (template.TemplateType === "EMAIL") {
    rest(["Subject", "HtmlPart", "TextPart"]);
    const { Subject: subject, HtmlPart: html, TextPart: text } = template;
    return emailContent({ subject, html, text }, liquid, at.name);
  }
  if (template.TemplateType === "SMS") {
    rest(["Body"]);
    return { title: at.name, body: liquid(template.Body, "Body") ?? at.name };
  }
  if (template.TemplateType === "PUSH") {
    rest(["Default", ...PLATFORMS]);
    return pushContent(template, liquid, at, report);
  }
  if (template.TemplateType === "INAPP") {
    rest(["Content"]);
    return inAppContent(template, liquid, at, report);
  }
  report.unmapped(at, "TemplateType", `is ${String(template.TemplateType)}: there are no such messages`);
  return undefined;
}

export function convertTemplates(found: readonly Resource[], report: Report): Templates {
  const files = new Map<string, Resource>();
  const names = new Map<string, string>();
  for (const template of found) {
    const at = { kind: "templates", name: String(template.TemplateName) };
    if (!hasContent(template)) {
      report.unmapped(at, "", "has no content: fetch the template itself");
      continue;
    }
    const content = contentOf(template, at, report);
    if (!content) continue;
    const name = free(files.has(at.name) ? `${at.name} ${String(template.TemplateType)}` : at.name, files);
    files.set(name, { name, content });
    names.set(`${String(template.TemplateType)} ${at.name}`, name);
    report.count("templates written");
  }
  return { files, nameOf: (type, name) => names.get(`${type} ${String(name)}`) };
}
