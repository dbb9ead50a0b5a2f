// Webhook endpoints of a workspace: at most ten, managed by two groups of endpoints. Their secrets are derived, not stored.
import { DAY, timestamp, ttl } from "../../kernel/clock.ts";
import { invalid, notFound, requireFound } from "../../kernel/errors.ts";
import { hmacUnder } from "../../kernel/hmac.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { SECRET_PREFIX, type WebhookEvent } from "../../rules/webhook-events.ts";
import { absent, all, any, atMost, is, present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { countChange } from "../counters.ts";
import { newWatchVersion } from "../events/watchers.ts";
import { annotationWrite } from "../insights/annotations.ts";
import { type ChangeOf, changeItem, fieldsOrNull, type ItemWrite, putItem, removeItem } from "../item.ts";
import { orRefuse, whereItHolds } from "../refusals.ts";
import type { RootSecrets, Secrets } from "../secrets.ts";
import { DeletedWebhook, Webhook, WebhookCount, WebhookItem, type WebhookRow } from "./items.ts";

/** HOK-5, LIM-5. */
export const MAX_WEBHOOKS = 10;
/** How long the previous secret also signs after a rotation (D-HOOKS). */
const PREVIOUS_SECRET_MS = DAY;
/** An endpoint is disabled after this many consecutive failures, if the first is at least a day old (AMB-103). */
const MAX_FAILURES = 20;
const FAILING_MS = DAY;
/** Longer than the log of a deleted endpoint. */
const DELETED_KEPT_MS = 31 * DAY;

type SecretRoot = Pick<RootSecrets, "cursorKey">;

const SECRET_BYTES = 24;

/** `whsec_` and base64, derived from the service's root secret: it signs without being stored (HOK-1). */
function webhookSecret(
  { cursorKey }: SecretRoot,
  tenant: TenantId,
  { id, secret_version }: Pick<WebhookRow, "id" | "secret_version">,
): string {
  const digest = hmacUnder(cursorKey).update(`webhook:v1:${tenant}:${id}:${secret_version}`).digest();
  return SECRET_PREFIX + digest.subarray(0, SECRET_BYTES).toString("base64");
}

/** The secrets that sign now: the current one, and for a day after a rotation the previous one. */
export function signingSecrets(
  root: SecretRoot,
  store: Pick<Store, "tenant" | "clock">,
  { id, secret_version, rotated_at }: WebhookRow,
): string[] {
  const isRecent = rotated_at !== undefined && store.clock.now() < rotated_at + PREVIOUS_SECRET_MS;
  const versions = isRecent ? [secret_version, secret_version - 1] : [secret_version];
  return versions.map((version) => webhookSecret(root, store.tenant, { id, secret_version: version }));
}

interface WebhookInput {
  target_url: string;
  events: readonly WebhookEvent[];
  description?: string | null | undefined;
}

/** A new endpoint with its secret, which is not returned again. @throws 422 for an eleventh one (AMB-30). */
export async function createWebhook(
  store: Store,
  secrets: Secrets,
  { target_url, events, description }: WebhookInput,
): Promise<Webhook & { secret: string }> {
  const now = store.clock.now();
  const row = {
    id: store.ids.uuidAt(now),
    target_url,
    events: [...new Set(events)],
    description: description || undefined,
    active: true,
    secret_version: 1,
    consecutive_failures: 0,
    created_at: timestamp(now),
    updated_at: timestamp(now),
  };
  await store
    .transact([
      changeItem(WebhookCount, {}, countChange({ n: 1 }), any(absent("n"), atMost("n", MAX_WEBHOOKS - 1))),
      putItem(WebhookItem, { id: row.id }, row, absent()),
      newWatchVersion(),
    ])
    .catch(orRefuse(() => invalid({ target_url: `the workspace has ${MAX_WEBHOOKS} webhook endpoints already` })));
  const secret = webhookSecret(await secrets.root(), store.tenant, row);
  return { ...row, description: row.description ?? null, disabled_at: null, secret };
}

/** All of them, oldest first. */
export const listWebhooks = async (store: StoreReader): Promise<WebhookRow[]> =>
  (await store.query(WebhookItem, {})).items;

export const findWebhook = (store: StoreReader, id: string): Promise<WebhookRow | undefined> =>
  store.get(WebhookItem, { id });

/** Gets a webhook. @throws 404 */
export async function getWebhook(store: StoreReader, id: string): Promise<WebhookRow> {
  return requireFound(await findWebhook(store, id), "webhook");
}

/** A webhook endpoint as the dashboard's API returns it. */
export const webhookOf = (row: WebhookRow): Webhook => fieldsOrNull(Webhook.entries, row);

type WebhookChange = { [N in keyof WebhookInput]?: WebhookInput[N] | undefined } & { active?: boolean | undefined };

/** Enabling it again resets its failures. @throws 404. */
export async function changeWebhook(
  store: Store,
  id: string,
  { target_url, events, active, description }: WebhookChange,
): Promise<WebhookRow> {
  const changes: ChangeOf<typeof WebhookItem> = {
    set: {
      target_url,
      events: events && [...new Set(events)],
      active,
      description: description || undefined,
      consecutive_failures: active ? 0 : undefined,
      updated_at: timestamp(store.clock.now()),
    },
    remove: [
      ...(description !== undefined && !description ? (["description"] as const) : []),
      ...(active ? (["disabled_at", "first_failure_at"] as const) : []),
    ],
  };
  if (events === undefined && active === undefined) return changeExisting(store, id, changes);

  await store
    .transact([changeItem(WebhookItem, { id }, changes, present()), newWatchVersion()])
    .catch(orRefuse(() => notFound("webhook")));
  return getWebhook(store, id);
}

/** A new secret; the previous one also signs for 24 hours. @throws 404. */
export async function rotateSecret(store: Store, secrets: Secrets, id: string): Promise<string> {
  const rotating = { add: { secret_version: 1 }, set: { rotated_at: store.clock.now() } };
  // As a transaction, whose repeat after a lost reply changes nothing: two rotations would end the secret of before.
  await store
    .transact([changeItem(WebhookItem, { id }, rotating, present())])
    .catch(orRefuse(() => notFound("webhook")));
  return webhookSecret(await secrets.root(), store.tenant, await getWebhook(store, id));
}

/** @throws 404 */
const changeExisting = (store: Store, id: string, changes: ChangeOf<typeof WebhookItem>): Promise<WebhookRow> =>
  store.change(WebhookItem, { id }, changes, present()).catch(orRefuse(() => notFound("webhook")));

/** Endpoints whose logs exist: the present ones, and those deleted of late. */
export async function webhooksWithLogs(store: StoreReader): Promise<string[]> {
  const [present, deleted] = await Promise.all([listWebhooks(store), store.queryAll(DeletedWebhook, {})]);
  return [...present, ...deleted].map(({ id }) => id);
}

/** HOK-7: nothing more is delivered to it. Its log expires. @throws 404. */
export async function deleteWebhook(store: Store, id: string): Promise<void> {
  const expires = ttl(store.clock.now() + DELETED_KEPT_MS);
  await store
    .transact([
      removeItem(WebhookItem, { id }, present()),
      changeItem(WebhookCount, {}, countChange({ n: -1 })),
      putItem(DeletedWebhook, { id }, { id, expires }),
      newWatchVersion(),
    ])
    .catch(orRefuse(() => notFound("webhook")));
}

/** The writes that end a series of consecutive failures, for the transaction of a delivery; none if there is none. */
export const successWrites = ({
  id,
  consecutive_failures,
}: Pick<WebhookRow, "id" | "consecutive_failures">): ItemWrite<"workspace">[] =>
  consecutive_failures === 0
    ? []
    : [changeItem(WebhookItem, { id }, { set: { consecutive_failures: 0 }, remove: ["first_failure_at"] }, present())];

/** The write that counts a failed delivery (WHK-11). */
export function failureWrite({ clock }: Pick<Store, "clock">, id: string): ItemWrite<"workspace"> {
  const change = { add: { consecutive_failures: 1 }, initial: { first_failure_at: clock.now() } };
  return changeItem(WebhookItem, { id }, change, present());
}

/** Disables an endpoint where every delivery of at least a day failed (AMB-103). It may be called at any time. */
export async function disableFailing(store: Store, id: string): Promise<void> {
  const now = store.clock.now();
  const webhook = await findWebhook(store, id);
  if (!webhook?.active || webhook.consecutive_failures < MAX_FAILURES) return;
  if (now - (webhook.first_failure_at ?? now) < FAILING_MS) return;
  const failures = webhook.consecutive_failures;
  const text = `The webhook to ${webhook.target_url} was switched off: ${failures} deliveries in a row failed.`;
  const isAsRead = all(present(), is("active", true), is("consecutive_failures", failures));
  await whereItHolds(
    store.transact([
      changeItem(WebhookItem, { id }, { set: { active: false, disabled_at: timestamp(now) } }, isAsRead),
      annotationWrite(store, { kind: "webhook_disabled", text, ref_id: id }),
      newWatchVersion(),
    ]),
  );
}
