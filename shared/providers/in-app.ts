// The in-app channel: its provider is our own table, so a repeat writes the same rows and nothing is ever unknown.
import type { Store } from "../resources.ts";
import { type CompiledTemplate, compileTemplate, isRenderError, type RenderScope } from "../rules/render.ts";
import { checkUrl } from "../rules/safe-url.ts";
import { keys } from "../store/keys.ts";
import type { Item, Value } from "../store/model.ts";
import { messageId, messageRow, PROMPT_MS } from "../store/sends/inbox.ts";
import type { Job } from "../store/sends/jobs.ts";
import { isPseudonym, type Recipient } from "../store/sends/recipients.ts";
import { type ChunkRef, chunkRefText } from "../store/sends/touches.ts";
import { KNOWN_ALIVE_MS } from "../store/subscribers/erasure.ts";
import { getProfiles } from "../store/subscribers/subscribers.ts";
import { eventFor, scopeOf } from "./texts.ts";

type Rendered = { content: { [name: string]: Value }; data: string | undefined };

export interface InAppResult {
  /** Subscribers whose inbox has it. */
  delivered: Set<string>;
  /** Subscribers who are not there any more. */
  gone: string[];
}

/**
 * Writes one inbox row per recipient, 25 a request. A chunk that comes late looks again who is still there: what is
 * written for somebody erased meanwhile would stay, for the erasure has looked for the last time.
 */
export async function deliverInApp(
  store: Store,
  job: Job,
  chunkRef: ChunkRef,
  { at, repeats }: { at: number; repeats: boolean },
  { recipients, plannedAt }: { recipients: readonly Recipient[]; plannedAt: number },
): Promise<InAppResult> {
  const render = renderer(job, at);
  const event = await eventFor(store, job);
  const now = store.clock.now();
  const whence = {
    place: chunkRefText(chunkRef),
    experience: job.source.type === "experience" ? (job.source.id ?? undefined) : undefined,
    late_at: now - at > PROMPT_MS ? now : undefined,
  };
  const isLate = now - plannedAt > KNOWN_ALIVE_MS;
  const ids = recipients.map(({ subscriber }) => subscriber);
  const profiles = render.isStatic && !isLate ? undefined : await getProfiles(store, ids);
  const rows: Item[] = [];
  const gone: string[] = [];
  for (const [i, { subscriber, arm }] of recipients.entries()) {
    const profile = profiles?.[i];
    if (isPseudonym(subscriber)) continue;
    if (profiles && !profile) {
      gone.push(subscriber);
      continue;
    }
    const rendered = render.for(arm, render.isStatic ? undefined : scopeOf(profile!, job, event));
    if (rendered) rows.push(messageRow(store.tenant, job.id, at, { subscriber, ...whence, ...rendered }));
  }
  const there = repeats ? await written(store, job.id, at, ids) : new Set<string>();
  const missing = rows.filter(({ pk }) => !there.has(pk));
  await store.writeAll(missing.map((put) => ({ put })));
  const inboxes = new Set([...there, ...missing.map(({ pk }) => pk)]);
  return { delivered: new Set(ids.filter((id) => inboxes.has(keys.person(store.tenant, id)))), gone };
}

/** Whose row an earlier attempt has written: it stays as it is, for what it says may have changed since. */
async function written(store: Store, job: string, at: number, ids: readonly string[]): Promise<Set<string>> {
  const rows = await store.getAll(ids.map((id) => keys.message(store.tenant, id, messageId(at, job, id))));
  return new Set(rows.flatMap((row) => row?.pk ?? []));
}

/** Renders what is read and followed, per arm; a send without personalisation is rendered once. */
function renderer(job: Job, now: number) {
  const { in_app: look } = job;
  const texts = {
    a: armOf(job.title ?? "", job.body ?? "", look?.image_url),
    b: job.variant_b && armOf(job.variant_b.title, job.variant_b.body, job.variant_b.image_url),
  };
  const actions = look?.actions?.map(({ id, title, url }) => ({
    ...{ id, title: compileTemplate(title), url: compileTemplate(url) },
  }));
  const data = job.data ? JSON.stringify(job.data) : undefined;
  const templates = [texts.a, texts.b].flatMap((arm) => (arm ? [arm.title, arm.body, arm.image] : []));
  const isStatic = [...templates, ...(actions ?? []).flatMap(({ title, url }) => [title, url])].every(
    (template) => template?.isStatic !== false,
  );
  const cache = new Map<string, Rendered | undefined>();

  const render = (arm: "a" | "b" | undefined, scope: RenderScope): Rendered | undefined => {
    const fill = (template: CompiledTemplate) => template.render(scope, { now, escape: "none" }).text;
    const { title, body, image } = (arm === "b" && texts.b) || texts.a;
    try {
      const image_url = image && fill(image);
      const content = {
        ...{ title: fill(title), body: fill(body) },
        ...(look && { format: look.format }),
        // An address that became unsafe or unusable by what was filled in is left out, never sent.
        ...(image_url !== undefined && checkUrl(image_url, "image") === undefined && { image_url }),
        ...(actions && { actions: actions.map(filledBy(fill)).filter(({ url }) => url === "" || !checkUrl(url)) }),
        ...(look?.display && { display: look.display }),
        ...(arm && { variant_id: arm }),
      };
      return isTooLarge(content) ? undefined : { content: content as Rendered["content"], data };
    } catch (error) {
      if (isRenderError(error)) return undefined;
      throw error;
    }
  };
  return {
    isStatic,
    for: (arm: "a" | "b" | undefined, scope: RenderScope | undefined): Rendered | undefined => {
      if (scope) return render(arm, scope);
      const key = arm ?? "";
      if (!cache.has(key)) cache.set(key, render(arm, NOBODY));
      return cache.get(key);
    },
  };
}

const armOf = (title: string, body: string, image: string | undefined) => ({
  ...{ title: compileTemplate(title), body: compileTemplate(body) },
  image: image === undefined ? undefined : compileTemplate(image),
});

/** An action that was written with an address never becomes one that dismisses: it goes where that turns out empty. */
const filledBy =
  (fill: (template: CompiledTemplate) => string) =>
  ({ id, title, url }: { id: string; title: CompiledTemplate; url: CompiledTemplate }) => ({
    ...{ id, title: fill(title), url: url.isStatic ? fill(url) : fill(url) || NOWHERE },
  });

/** No address that `checkUrl` would let pass. */
const NOWHERE = "about:blank";

/** A row of the inbox holds 400 KB: what grew beyond by what it was filled with must not stop the others. */
const MAX_CONTENT_BYTES = 262_144;
const CERTAINLY_SMALL_CHARACTERS = MAX_CONTENT_BYTES / 6;

function isTooLarge(content: { title: string; body: string; actions?: { title: string; url: string }[] }): boolean {
  const { title, body, actions = [] } = content;
  const characters = actions.reduce((sum, action) => sum + action.title.length + action.url.length, 0);
  if (title.length + body.length + characters <= CERTAINLY_SMALL_CHARACTERS / 2) return false;
  return Buffer.byteLength(JSON.stringify(content)) > MAX_CONTENT_BYTES;
}

/** A send without personalisation reads nothing of its recipient. */
const NOBODY: RenderScope = { subscriber: { id: "", attributes: {} }, data: {} };
