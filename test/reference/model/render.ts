// The subset of Liquid that texts may use (D-LIQUID).
import type { Body } from "./kit.ts";
import type { Subscriber } from "./records/people.ts";

export interface Values {
  subscriber: Subscriber | null;
  data?: Body;
  event?: Body;
}

/** Through a list, the path is one through the first element that it leads on from. */
function along(holder: Body, [key, ...rest]: string[]): Body {
  if (key === undefined) return holder;
  if (!Array.isArray(holder)) return along(holder?.[key], rest);
  return holder.map((one) => along(one, [key, ...rest])).find((found) => found !== undefined && found !== null);
}

/** A name with dots goes before the path (AMB-148). */
const within = (holder: Body, keys: string[]): Body => holder?.[keys.join(".")] ?? along(holder, keys);

/** D-ATTR: what is no field of the subscriber is an attribute. */
function valueAt(values: Values, path: string): Body {
  const [root, ...rest] = path.trim().split(".");
  if (root === "subscriber") {
    const { subscriber } = values;
    if (rest[0] === "attributes") return within(subscriber?.attributes, rest.slice(1));
    const field = { id: subscriber?.id, external_id: subscriber?.external_id, email: subscriber?.email }[rest[0] ?? ""];
    return field ?? within(subscriber?.attributes, rest);
  }
  return root === "data" || root === "event" ? within(values[root], rest) : undefined;
}

/**
 * Content per channel: what is missing falls back to the title and the body; an SMS of its own has no title. Arm B has its
 * own title and body, and of a channel what it names.
 */
export function saidBy(content: Body, armB: Body | undefined, channel: string): { title: string; body: string } {
  const { title = "", body = "" } = armB ?? content;
  const own = { ...content.by_channel?.[channel], ...armB?.by_channel?.[channel] };
  if (channel === "sms") return own.body === undefined ? { title, body } : { title: "", body: own.body };
  return { title: own.subject ?? own.title ?? title, body: own.text ?? own.body ?? body };
}

/** An unknown variable renders empty; `default` stands in for what is missing, empty or false. */
function output(values: Values, expression: string): string {
  const [path, ...filters] = expression.split("|").map((part) => part.trim());
  let value = valueAt(values, path!);
  for (const filter of filters) {
    const fallback = /^default:\s*"(.*)"$/.exec(filter);
    if (fallback && (value === undefined || value === null || value === "" || value === false)) value = fallback[1];
    if (filter === "upcase") value = String(value ?? "").toUpperCase();
  }
  return value === undefined || value === null ? "" : String(value);
}

/** `{{ … }}` and one level of `{% if … %}`. Only false and what is missing are untrue. */
export function render(text: string, values: Values): string {
  const chosen = text.replace(
    /\{% if (.+?) %\}(.*?)(?:\{% else %\}(.*?))?\{% endif %\}/gs,
    (_, path: string, yes: string, no = "") => {
      const value = valueAt(values, path);
      return value !== undefined && value !== null && value !== false ? yes : no;
    },
  );
  return chosen.replace(/\{\{(.+?)\}\}/gs, (_, expression: string) => output(values, expression));
}
