// The texts of a send: title and body per arm, personalised where they ask for it, rendered once where they do not.
import type { StoreReader } from "../resources.ts";
import { compileTemplate, isRenderError, type RenderScope } from "../rules/render.ts";
import { eventOf } from "../store/events/events.ts";
import { keys } from "../store/keys.ts";
import type { Item } from "../store/model.ts";
import type { Job } from "../store/sends/jobs.ts";
import { attributesOf, subscriberOf } from "../store/subscribers/subscribers.ts";

export interface Texts {
  title: string;
  body: string;
}

export interface Renderer {
  /** Nothing of the recipient is needed. */
  isStatic: boolean;
  /** What a recipient reads; undefined if it cannot be rendered, now or ever. `asHtml`: values in an HTML body. */
  render(arm: "a" | "b" | undefined, profile: Item | undefined, options?: { asHtml?: boolean }): Texts | undefined;
}

/** A send without personalisation reads nothing of its recipient. */
const NOBODY: RenderScope = { subscriber: { id: "", attributes: {} }, data: {} };

type Event = RenderScope["event"];

/** The properties of the event that a send's texts speak of, if they do (D-LIQUID). */
export async function eventFor(store: StoreReader, { event_id, title, body }: Job): Promise<Event> {
  if (event_id === undefined || !/\bevent\b/.test(`${title} ${body}`)) return undefined;
  const row = await store.get(keys.event(store.tenant, event_id));
  return row && eventOf(row).properties;
}

export function rendererOf(job: Job, now: number, event: Event): Renderer {
  const compiled = ({ title, body }: { title: string | null; body: string | null }) => ({
    title: compileTemplate(title ?? ""),
    body: compileTemplate(body ?? ""),
    isHtml: /^\s*</.test(body ?? ""),
  });
  const a = compiled(job);
  const b = job.variant_b && compiled(job.variant_b);
  const isStatic = [a, b].every((arm) => !arm || (arm.title.isStatic && arm.body.isStatic));
  const cache = new Map<string, Texts | undefined>();

  const renderOnce = (arm: "a" | "b" | undefined, scope: RenderScope, asHtml: boolean): Texts | undefined => {
    const { title, body, isHtml } = (arm === "b" && b) || a;
    try {
      const inHtml = asHtml && isHtml ? "html" : "none";
      const texts = {
        title: title.render(scope, { now, escape: "none" }).text,
        body: body.render(scope, { now, escape: inHtml }).text,
      };
      return isTooLarge(texts) ? undefined : texts;
    } catch (error) {
      if (isRenderError(error)) return undefined;
      throw error;
    }
  };
  return {
    isStatic,
    render: (arm, profile, { asHtml = false } = {}) => {
      if (!isStatic) return profile && renderOnce(arm, scopeOf(profile, job, event), asHtml);
      const key = arm ?? "";
      if (!cache.has(key)) cache.set(key, renderOnce(arm, NOBODY, asHtml));
      return cache.get(key);
    },
  };
}

/** A row of the inbox holds 400 KB: what grew beyond by what it was filled with must not stop the others. */
const MAX_CONTENT_BYTES = 262_144;
const CERTAINLY_SMALL_CHARACTERS = MAX_CONTENT_BYTES / 6;

const isTooLarge = (texts: Texts): boolean =>
  texts.title.length + texts.body.length > CERTAINLY_SMALL_CHARACTERS &&
  Buffer.byteLength(JSON.stringify(texts)) > MAX_CONTENT_BYTES;

export function scopeOf(profile: Item, job: Pick<Job, "data">, event: Event): RenderScope {
  const { id, external_id, email } = subscriberOf(profile);
  return { subscriber: { id, external_id, email, attributes: attributesOf(profile) }, data: job.data ?? {}, event };
}
