// The outbox of a sandbox: what would have been sent, in the order in which it would have been.
import { timestamp, ttl } from "../../kernel/clock.ts";
import type { Deps, Sandbox } from "../../kernel/deps.ts";
import type { Store, StoreReader } from "../context.ts";
import { fieldsOf, keyOf, type NewRowOf, type RowOf } from "../item.ts";
import { fromJson, toJson } from "../json-text.ts";
import type { Key } from "../model.ts";
import { openWorkspaceTable } from "../table.ts";
import { OutboxItem, sentFields } from "./items.ts";

const KEPT_SECONDS = 30 * 86_400;
const MAX_CHARACTERS = 100_000;

interface SandboxMessage extends Pick<RowOf<typeof OutboxItem>, keyof typeof sentFields> {
  headers: Record<string, string>;
}
type SentInput = Pick<SandboxMessage, "channel" | "to" | "body"> &
  Partial<Pick<SandboxMessage, "subscriber_id" | "job_id" | "title" | "headers">>;

const cut = (text: string): string => text.slice(0, MAX_CHARACTERS);

/** Records messages of a sandbox; resolves to the id of each. */
export function openOutbox(deps: Deps, { tenant, wall }: Sandbox): (sent: SentInput) => Promise<string> {
  const table = openWorkspaceTable(deps)(tenant);
  return async ({ channel, to, body, subscriber_id = null, job_id = null, title = null, headers = {} }) => {
    const now = deps.clock.now();
    const id = deps.ids.uuidAt(now);
    const expires = ttl(wall.now()) + KEPT_SECONDS;
    const row: NewRowOf<typeof OutboxItem> = {
      id,
      channel,
      at: timestamp(now),
      to,
      subscriber_id,
      job_id,
      title: title === null ? null : cut(title),
      body: cut(body),
      headers: toJson(headers),
      expires,
    };
    await table.put(OutboxItem, { id }, row);
    return id;
  };
}

/** A page of the outbox, oldest first, and where the next one begins. */
export async function listSent(
  store: StoreReader,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<{ items: SandboxMessage[]; next?: string }> {
  const from = after === undefined ? undefined : keyOf(OutboxItem, store.tenant, { id: after });
  const page = await store.query(OutboxItem, {}, { limit, after: from });
  const items = page.items.map(({ headers, ...row }) => ({
    ...fieldsOf(sentFields, row),
    headers: headers === undefined ? {} : fromJson(headers),
  }));
  const last = items.at(-1);
  return page.next && last ? { items, next: last.id } : { items };
}

/** The rows that name a subscriber, also in the body of a webhook. */
export async function sentTo(store: Store, subscriber: string): Promise<Key[]> {
  const rows = await store.queryAll(OutboxItem, {});
  return rows.filter(({ subscriber_id, body }) => subscriber_id === subscriber || body.includes(subscriber));
}
