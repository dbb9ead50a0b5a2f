// What the API refused, by the path of each field, as people read it.
import type { ServiceError } from "../../sdk/src/errors.ts";

/** Parts of paths that no form shows. */
const HIDDEN = new Set(["content", "by_channel"]);

/** What forms call what the API names otherwise. */
const CALLED: Readonly<Record<string, string>> = {
  channel_ids: "channels",
  event_name: "event",
  template_id: "template",
  html: "HTML",
  in_app: "in-app",
  sms: "SMS",
  url: "URL",
};

const PART = /^(.*?)(?:\[(\d+)\])?$/;

function partText(part: string): string {
  const [, name = "", place] = PART.exec(part) ?? [];
  const called = CALLED[name] ?? name.replaceAll("_", " ");
  return place === undefined ? called : `${called.replace(/s$/, "")} ${Number(place) + 1}`;
}

/** `messages[1].content.by_channel.email.html` as `Message 2, email, HTML`. */
export function pathText(path: string): string {
  const parts = path.split(".");
  const shown = parts.filter((part, n) => n === parts.length - 1 || !HIDDEN.has(part));
  const text = shown.map(partText).join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The API's own words, of each field. */
export function refusalText({ fields = {}, message }: Pick<ServiceError, "fields" | "message">): string {
  const refused = Object.entries(fields);
  return refused.length === 0 ? message : refused.map(([path, reason]) => `${pathText(path)}: ${reason}`).join("; ");
}
