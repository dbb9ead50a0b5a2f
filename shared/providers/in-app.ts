// The in-app channel: its provider is our own table. A repeat writes the same rows, and every outcome is known.
import { isPseudonym } from "../kernel/ids.ts";
import { isBlank } from "../rules/characters.ts";
import { type CompiledTemplate, compileTemplate } from "../rules/render.ts";
import { compileData } from "../rules/render-data.ts";
import { checkUrl } from "../rules/safe-url.ts";
import type { Store } from "../store/context.ts";
import type { ItemWrite } from "../store/item.ts";
import { toJson } from "../store/json-text.ts";
import type { Recipient } from "../store/sends/chunks/recipients.ts";
import { type ArmRenderer, armRenderer, type Event, eventFor, isTooLarge } from "../store/sends/content/arms.ts";
import { PROMPT_MS } from "../store/sends/inbox/inbox.ts";
import { type MessageText, type NamedText, saidInApp, storedText } from "../store/sends/inbox/inbox-content.ts";
import { Message, type MessageContent } from "../store/sends/inbox/inbox-items.ts";
import { messageId, messageWrite } from "../store/sends/inbox/inbox-writes.ts";
import type { Job } from "../store/sends/jobs/job-record.ts";
import { type ChunkRef, chunkRefText, earlierClaim, type RoundTimes } from "../store/sends/ledger/touches.ts";
import { KNOWN_ALIVE_MS } from "../store/subscribers/ledger-erasure.ts";
import { getProfiles } from "../store/subscribers/subscribers.ts";

export interface InAppMessages {
  /** Subscribers whose inbox has the message once it is written. */
  delivered: Set<string>;
  /** Subscribers that were deleted. An earlier attempt may have reached them. */
  gone: string[];
  /** How many get no message because they were erased. */
  erased: number;
  /** Writes one row per recipient, 25 a request. */
  write(): Promise<void>;
}

/**
 * Reads all rows that inbox messages need and renders them, so that only the writes are left. A late chunk checks again
 * that its recipients exist: the erasure of a subscriber has already ended its search, so a row written now would stay.
 */
export async function prepareInApp(
  store: Store,
  job: Job,
  chunkRef: ChunkRef,
  { repeats, ...times }: RoundTimes & { repeats: boolean },
  { recipients, plannedAt }: { recipients: readonly Recipient[]; plannedAt: number },
): Promise<InAppMessages> {
  const { at } = times;
  const renderer = contentRenderer(job, at, await eventFor(store, job));
  const now = store.clock.now();
  const origin = {
    place: chunkRefText(chunkRef),
    experience: job.source.type === "experience" ? (job.source.id ?? undefined) : undefined,
    assigned_at: earlierClaim(times),
    late_at: now - at > PROMPT_MS ? now : undefined,
  };
  const isLate = now - plannedAt > KNOWN_ALIVE_MS;

  const ids = recipients.map(({ subscriber }) => subscriber);
  const profiles = renderer.isStatic && !isLate ? undefined : await getProfiles(store, ids);
  const writes: [subscriber: string, write: ItemWrite<"workspace">][] = [];
  const gone: string[] = [];
  const stored = new Map<MessageText, MessageText | NamedText>();
  for (const [i, { subscriber, arm }] of recipients.entries()) {
    const profile = profiles?.[i];
    if (isPseudonym(subscriber)) continue;
    if (profiles && !profile) {
      gone.push(subscriber);
      continue;
    }
    const rendered = renderer.render(arm, profile);
    if (!rendered) continue;
    const text = stored.get(rendered) ?? storedText(job, arm, rendered);
    if (renderer.isStatic) stored.set(rendered, text);
    writes.push([subscriber, messageWrite(job.id, at, { subscriber, ...origin, ...text })]);
  }

  const existing = repeats ? await findWritten(store, job.id, at, ids) : new Set<string>();
  const missing = writes.filter(([subscriber]) => !existing.has(subscriber));
  const inboxes = new Set([...existing, ...missing.map(([subscriber]) => subscriber)]);
  const isMissed = (id: string) => !inboxes.has(id);
  return {
    delivered: new Set(ids.filter((id) => !isMissed(id))),
    gone,
    erased: ids.filter((id) => isPseudonym(id) && isMissed(id)).length + gone.filter(isMissed).length,
    write: () => store.writeAll(missing.map(([, write]) => write)),
  };
}

/** The subscribers whose row an earlier attempt has written. It stays as it is, because its content may differ now. */
export async function findWritten(store: Store, job: string, at: number, ids: readonly string[]): Promise<Set<string>> {
  const keys = ids.map((subscriber) => ({ subscriber, message: messageId(at, job, subscriber) }));
  const rows = await store.getAll(Message, keys);
  return new Set(ids.filter((_, i) => rows[i]));
}

/** Renders the texts, URLs and custom data of a message, per arm. */
function contentRenderer(job: Job, now: number, event: Event): ArmRenderer<MessageText> {
  const { in_app: look } = job;
  const a = compile(saidInApp(job, "a"));
  const b = job.variant_b && compile(saidInApp(job, "b"));
  const data = job.data ? compileData(job.data) : undefined;
  const templates = [a, b].flatMap((arm) => (arm ? [arm.title, arm.body, arm.image, ...textsOf(arm.actions)] : []));
  const isStatic = [...templates, data].every((template) => template?.isStatic !== false);
  return armRenderer({ job, event, isStatic }, (arm, scope) => {
    const fill = (template: CompiledTemplate) => template.render(scope, { now, escape: "none" }).text;
    const { title, body, image, actions } = (arm === "b" && b) || a;
    const image_url = image && fill(image);
    const content: MessageContent = {
      title: fill(title),
      body: fill(body),
      ...(look && { format: look.format }),
      // A URL that its values made unsafe or invalid is left out.
      ...(image_url !== undefined && checkUrl(image_url, "image") === undefined && { image_url }),
      ...(actions && { actions: actions.map(filledBy(fill)).filter(({ url }) => url === "" || !checkUrl(url)) }),
      ...(look?.display && { display: look.display }),
      ...(arm && { variant_id: arm }),
    };
    const hasMore = content.image_url !== undefined || data !== undefined || (content.actions ?? []).length > 0;
    const isEmpty = !hasMore && isBlank(content.title + content.body);
    if (isEmpty || isTooLarge(content, charactersOf(content))) return undefined;
    return { content, data: data && toJson(data.render(scope, { now }).data) };
  });
}

const compile = ({ title, body, image_url, actions }: ReturnType<typeof saidInApp>) => ({
  title: compileTemplate(title),
  body: compileTemplate(body),
  image: image_url === undefined ? undefined : compileTemplate(image_url),
  actions: actions?.map(
    ({ id, title: label, url }): CompiledAction => ({ id, title: compileTemplate(label), url: compileTemplate(url) }),
  ),
});

interface CompiledAction {
  id: string;
  title: CompiledTemplate;
  url: CompiledTemplate;
}

const textsOf = (actions: readonly CompiledAction[] = []) => actions.flatMap(({ title, url }) => [title, url]);

/** A URL that `checkUrl` refuses. */
const INVALID_URL = "about:blank";

/** An empty URL means that an action dismisses the message. One that is empty only after rendering is invalid. */
const filledBy =
  (fill: (template: CompiledTemplate) => string) =>
  ({ id, title, url }: CompiledAction) => ({
    id,
    title: fill(title),
    url: url.isStatic ? fill(url) : fill(url) || INVALID_URL,
  });

const charactersOf = ({ title, body, actions = [] }: MessageContent): number =>
  actions.reduce((sum, action) => sum + action.title.length + action.url.length, title.length + body.length);
