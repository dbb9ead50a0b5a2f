// Webhook endpoints of a workspace: ten at most, on two surfaces, with secrets that are derived and nowhere stored.
import { createHmac } from "node:crypto";
import { DAY, timestamp } from "../../clock.ts";
import { invalid, notFound } from "../../http/errors.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { SECRET_PREFIX, type WebhookEvent } from "../../rules/webhook-events.ts";
import { absent, all, any, atMost, is, present } from "../conditions.ts";
import { annotate } from "../insights/annotations.ts";
import { keys } from "../keys.ts";
import type { Item, TenantId } from "../model.ts";
import { onConditionFailed, onTransactionCanceled } from "../refusals.ts";
import type { RootSecrets } from "../secrets.ts";
import type { TransactItem } from "../table.ts";

/** HOK-5, LIM-5. */
export const MAX_WEBHOOKS = 10;
/** How long a secret that was rotated away still signs (D-HOOKS). */
const PREVIOUS_SECRET_MS = DAY;
/** So many failed deliveries in a row switch an endpoint off, if the first of them is a day old (AMB-103). */
const MAX_FAILURES = 20;
const FAILING_MS = DAY;

export interface Webhook {
  id: string;
  target_url: string;
  events: WebhookEvent[];
  description: string | null;
  /** Switched on by the workspace, and not switched off by failures. */
  active: boolean;
  /** Deliveries in a row that ended failed (WHK-11, AMB-103). */
  consecutive_failures: number;
  disabled_at: string | null;
  created_at: string;
  updated_at: string;
}

/** Which secret signs, and since when. */
export interface SecretVersion {
  version: number;
  rotatedAt: number | undefined;
}

export type WebhookItem = Webhook & { secret: SecretVersion; firstFailureAt: number | undefined };

type SecretRoot = Pick<RootSecrets, "cursorKey">;

const SECRET_BYTES = 24;

/** `whsec_` and base64: made of the service's root secret, so that it can sign without being stored (HOK-1). */
export function webhookSecret({ cursorKey }: SecretRoot, tenant: TenantId, id: string, version: number): string {
  const digest = createHmac("sha256", cursorKey).update(`webhook:v1:${tenant}:${id}:${version}`).digest();
  return SECRET_PREFIX + digest.subarray(0, SECRET_BYTES).toString("base64");
}

/** The secrets that sign now: the current one, and for a day the one before it. */
export function signingSecrets(
  root: SecretRoot,
  { tenant, clock }: Pick<Store, "tenant" | "clock">,
  webhook: WebhookItem,
) {
  const { version, rotatedAt } = webhook.secret;
  const isRecent = rotatedAt !== undefined && clock.now() < rotatedAt + PREVIOUS_SECRET_MS;
  const versions = isRecent ? [version, version - 1] : [version];
  return versions.map((each) => webhookSecret(root, tenant, webhook.id, each));
}

export interface WebhookInput {
  target_url: string;
  events: readonly WebhookEvent[];
  description?: string | null | undefined;
}

const counter = (store: Pick<Store, "tenant">) => keys.count(store.tenant, "webhooks", "0");

/** @throws 422 for an eleventh one (AMB-30). */
export async function createWebhook(store: Store, input: WebhookInput): Promise<WebhookItem> {
  const now = store.clock.now();
  const id = store.ids.uuidAt(now);
  const item: Item = {
    ...keys.entity(store.tenant, "webhook", id),
    id,
    target_url: input.target_url,
    events: [...new Set(input.events)],
    ...(input.description && { description: input.description }),
    active: true,
    secret_version: 1,
    consecutive_failures: 0,
    created_at: timestamp(now),
    updated_at: timestamp(now),
  };
  await store
    .transact([
      { update: counter(store), change: { add: { n: 1 } }, when: any(absent("n"), atMost("n", MAX_WEBHOOKS - 1)) },
      { put: item, when: absent() },
    ])
    .catch(
      onTransactionCanceled(() => {
        throw invalid({ target_url: `the workspace has ${MAX_WEBHOOKS} webhook endpoints already` });
      }),
    );
  return webhookOf(item);
}

/** All of them, oldest first. */
export async function listWebhooks(store: StoreReader): Promise<WebhookItem[]> {
  const { items } = await store.query({ pk: keys.entities(store.tenant, "webhook") });
  return items.map(webhookOf);
}

export async function findWebhook(store: StoreReader, id: string): Promise<WebhookItem | undefined> {
  const item = await store.get(keys.entity(store.tenant, "webhook", id));
  return item && webhookOf(item);
}

/** @throws 404. */
export async function getWebhook(store: StoreReader, id: string): Promise<WebhookItem> {
  const found = await findWebhook(store, id);
  if (!found) throw notFound("webhook");
  return found;
}

export interface WebhookChange {
  target_url?: string | undefined;
  events?: readonly WebhookEvent[] | undefined;
  active?: boolean | undefined;
  description?: string | null | undefined;
}

/** Switching it on again forgets its failures. @throws 404. */
export async function changeWebhook(store: Store, id: string, change: WebhookChange): Promise<WebhookItem> {
  const { target_url, events, active, description } = change;
  const set = {
    target_url,
    events: events && [...new Set(events)],
    active,
    ...(description && { description }),
    ...(active && { consecutive_failures: 0 }),
    updated_at: timestamp(store.clock.now()),
  };
  const remove = [
    ...(description === null ? ["description"] : []),
    ...(active ? ["disabled_at", "first_failure_at"] : []),
  ];
  return update(store, id, { set, remove });
}

/** A new secret; the old one also signs for 24 hours. @throws 404. */
export const rotateSecret = (store: Store, id: string): Promise<WebhookItem> =>
  update(store, id, { add: { secret_version: 1 }, set: { rotated_at: store.clock.now() } });

const update = (store: Store, id: string, change: Parameters<Store["update"]>[1]): Promise<WebhookItem> =>
  store.update(keys.entity(store.tenant, "webhook", id), change, present()).then(
    webhookOf,
    onConditionFailed(() => {
      throw notFound("webhook");
    }),
  );

/** HOK-7: from here on nothing is delivered to it. Its log goes with its time to live. @throws 404. */
export async function deleteWebhook(store: Store, id: string): Promise<void> {
  await store
    .transact([
      { remove: keys.entity(store.tenant, "webhook", id), when: present() },
      { update: counter(store), change: { add: { n: -1 } } },
    ])
    .catch(
      onTransactionCanceled(() => {
        throw notFound("webhook");
      }),
    );
}

/** A delivery arrived: the endpoint's failures in a row are over. Nothing is written where there were none. */
export async function noteSuccess(store: Store, { id, consecutive_failures }: WebhookItem): Promise<void> {
  if (consecutive_failures === 0) return;
  await store
    .update(
      keys.entity(store.tenant, "webhook", id),
      { set: { consecutive_failures: 0 }, remove: ["first_failure_at"] },
      present(),
    )
    .catch(onConditionFailed(() => undefined));
}

/** The step that counts a delivery that ended failed (WHK-11). */
export const failureWrite = (store: Store, id: string): TransactItem => ({
  update: keys.entity(store.tenant, "webhook", id),
  change: { add: { consecutive_failures: 1 }, initial: { first_failure_at: store.clock.now() } },
  when: present(),
});

/** An endpoint that did nothing but fail for a day is switched off (AMB-103). */
export async function switchOffFailing(store: Store, id: string): Promise<void> {
  const now = store.clock.now();
  const webhook = await findWebhook(store, id);
  if (!webhook?.active || webhook.consecutive_failures < MAX_FAILURES) return;
  if (now - (webhook.firstFailureAt ?? now) < FAILING_MS) return;
  const key = keys.entity(store.tenant, "webhook", id);
  const isOff = await store
    .update(key, { set: { active: false, disabled_at: timestamp(now) } }, all(present(), is("active", true)))
    .then(
      () => true,
      onConditionFailed(() => false),
    );
  const failures = webhook.consecutive_failures;
  const text = `The webhook to ${webhook.target_url} was switched off: ${failures} deliveries in a row failed.`;
  if (isOff) await annotate(store, { kind: "webhook_disabled", text, ref_id: id });
}

export const webhookOf = (item: Item): WebhookItem => ({
  id: String(item.id),
  target_url: String(item.target_url),
  events: item.events as WebhookEvent[],
  description: (item.description as string | undefined) ?? null,
  active: item.active === true,
  consecutive_failures: Number(item.consecutive_failures ?? 0),
  disabled_at: (item.disabled_at as string | undefined) ?? null,
  created_at: String(item.created_at),
  updated_at: String(item.updated_at),
  secret: { version: Number(item.secret_version), rotatedAt: item.rotated_at as number | undefined },
  firstFailureAt: item.first_failure_at as number | undefined,
});
