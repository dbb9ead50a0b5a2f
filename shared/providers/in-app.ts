// The in-app channel: its provider is our own table, so a repeat writes the same rows and nothing is ever unknown.
import type { Store } from "../resources.ts";
import { compileTemplate, isRenderError, type RenderScope } from "../rules/render.ts";
import type { Chunk, Claim } from "../store/chunks.ts";
import { KNOWN_ALIVE_MS } from "../store/erasure.ts";
import { messageId, messageRow } from "../store/inbox.ts";
import type { Job } from "../store/jobs.ts";
import { keys } from "../store/keys.ts";
import type { Item, Value } from "../store/model.ts";
import { attributesOf, getProfiles, subscriberOf } from "../store/subscribers.ts";

type Rendered = { content: { [name: string]: Value }; data: string | undefined };

/**
 * Writes one inbox row per recipient, 25 a request. A chunk that comes late looks again who is still there: what is
 * written for somebody erased meanwhile would stay, for the erasure has looked for the last time.
 * @returns how many were delivered, and how many failed: erased since, or nothing could be rendered.
 */
export async function deliverInApp(
  store: Store,
  job: Job,
  { at, repeats }: Claim,
  { recipients, plannedAt }: Chunk,
): Promise<{ delivered: number; failed: number }> {
  const render = renderer(job, at);
  const isLate = store.clock.now() - plannedAt > KNOWN_ALIVE_MS;
  const ids = recipients.map(({ subscriber }) => subscriber);
  const profiles = render.isStatic && !isLate ? undefined : await getProfiles(store, ids);
  const rows: Item[] = [];
  for (const [i, { subscriber, arm }] of recipients.entries()) {
    const profile = profiles?.[i];
    if (profiles && !profile) continue;
    const rendered = render.for(arm, render.isStatic ? undefined : scopeOf(profile!, job));
    if (rendered) rows.push(messageRow(store.tenant, job.id, at, { subscriber, ...rendered }));
  }
  const there = repeats ? await written(store, job.id, at, ids) : new Set<string>();
  const missing = rows.filter(({ pk }) => !there.has(pk));
  await store.writeAll(missing.map((put) => ({ put })));
  const delivered = there.size + missing.length;
  return { delivered, failed: recipients.length - delivered };
}

/** Whose row an earlier attempt has written: it stays as it is, for what it says may have changed since. */
async function written(store: Store, job: string, at: number, ids: readonly string[]): Promise<Set<string>> {
  const rows = await store.getAll(ids.map((id) => keys.message(store.tenant, id, messageId(at, job, id))));
  return new Set(rows.flatMap((row) => row?.pk ?? []));
}

/** Renders title and body per arm; a send without personalisation is rendered once. */
function renderer(job: Job, now: number) {
  const texts = {
    a: { title: compileTemplate(job.title ?? ""), body: compileTemplate(job.body ?? "") },
    b: job.variant_b && { title: compileTemplate(job.variant_b.title), body: compileTemplate(job.variant_b.body) },
  };
  const data = job.data ? JSON.stringify(job.data) : undefined;
  const isStatic = [texts.a, texts.b].every((arm) => !arm || (arm.title.isStatic && arm.body.isStatic));
  const known = new Map<string, Rendered | undefined>();

  const render = (arm: "a" | "b" | undefined, scope: RenderScope): Rendered | undefined => {
    const { title, body } = (arm === "b" && texts.b) || texts.a;
    try {
      const options = { now, escape: "none" } as const;
      const content = { title: title.render(scope, options).text, body: body.render(scope, options).text };
      if (isTooLarge(content)) return undefined;
      return { content: arm ? { ...content, variant_id: arm } : content, data };
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
      if (!known.has(key)) known.set(key, render(arm, NOBODY));
      return known.get(key);
    },
  };
}

/** A row of the inbox holds 400 KB: what grew beyond by what it was filled with must not stop the others. */
const MOST_CONTENT_BYTES = 262_144;
const CERTAINLY_SMALL_CHARACTERS = MOST_CONTENT_BYTES / 6;

const isTooLarge = (content: { title: string; body: string }): boolean =>
  content.title.length + content.body.length > CERTAINLY_SMALL_CHARACTERS &&
  Buffer.byteLength(JSON.stringify(content)) > MOST_CONTENT_BYTES;

/** A send without personalisation reads nothing of its recipient. */
const NOBODY: RenderScope = { subscriber: { id: "", attributes: {} }, data: {} };

function scopeOf(profile: Item, job: Job): RenderScope {
  const { id, external_id, email } = subscriberOf(profile);
  return { subscriber: { id, external_id, email, attributes: attributesOf(profile) }, data: job.data ?? {} };
}
