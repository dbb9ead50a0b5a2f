// Creates one-off sends: references are checked, and a repeated idempotency key gets the same answer.
import { createHash } from "node:crypto";
import type { NewNotification } from "../../../shared/contract/notification-input.ts";
import type { Workspace } from "../../../shared/http/authenticate.ts";
import { requireFew } from "../../../shared/http/gates.ts";
import { DAY, ttl } from "../../../shared/kernel/clock.ts";
import { conflict } from "../../../shared/kernel/errors.ts";
import { requireFeature } from "../../../shared/rules/plans.ts";
import { ChannelItem } from "../../../shared/store/channels/items.ts";
import { absent, any, below } from "../../../shared/store/conditions.ts";
import { readAhead, type Store } from "../../../shared/store/context.ts";
import type { MailKeeping } from "../../../shared/store/files/mails.ts";
import { type ItemWrite, putItem, type RowOf, ref } from "../../../shared/store/item.ts";
import { oldRow } from "../../../shared/store/refusals.ts";
import type { Secrets } from "../../../shared/store/secrets.ts";
import { SMALL_AUDIENCE } from "../../../shared/store/sends/audience/audiences.ts";
import { drawOf, namedIn } from "../../../shared/store/sends/audience/preview-draws.ts";
import { hashOfLong } from "../../../shared/store/sends/jobs/job-content.ts";
import { jobIdOf } from "../../../shared/store/sends/jobs/job-ids.ts";
import { ContentItem, IdempotencyRecord } from "../../../shared/store/sends/jobs/job-items.ts";
import type { JobWidths } from "../../../shared/store/sends/jobs/job-width.ts";
import { oneOffSpec, saidIn } from "../../../shared/store/sends/jobs/one-off.ts";
import type { SendWatch } from "../../../shared/store/sends/jobs/send-watch.ts";
import { type StartedSend, startSend } from "../../../shared/store/sends/jobs/sends.ts";
import {
  type NamedSubscriber,
  namedByExternalIds,
  namedByIds,
} from "../../../shared/store/subscribers/external-ids.ts";
import { Profile } from "../../../shared/store/subscribers/items.ts";
import { subscriberId } from "../../../shared/store/subscribers/subscribers.ts";
import type { Timers } from "../../../shared/store/timers.ts";
import { WebhookCount } from "../../../shared/store/webhooks/items.ts";
import type { SendQuota } from "../../../shared/store/workspaces/sends-ahead.ts";
import type { Allowance } from "../../../shared/store/workspaces/usage.ts";

const REMEMBERED_MS = DAY;
const MAX_UNKNOWN_SHOWN = 100;

interface CreatedSend {
  id: string;
  sent: number;
  /** How many of the given ids belong to no subscriber, and the first of them (AMB-125). */
  unknown?: number | undefined;
  unknown_ids?: string[] | undefined;
  replayed: boolean;
}

interface Deps {
  store: Store;
  timers: Timers;
  jobWidths: JobWidths;
  sendWatch: SendWatch;
  sendQuota: SendQuota;
  secrets: Secrets;
  mails: MailKeeping;
}

/**
 * Creates a send.
 * @throws 403 by plan, 409 for a key that was used with another body, 422 for a reference that does not exist
 */
export async function createNotification(
  { store, timers, jobWidths, sendWatch, sendQuota, secrets, mails }: Deps,
  allowance: Allowance,
  input: NewNotification,
  { key, sentBy, workspace }: { key: string | undefined; sentBy: string | undefined; workspace: Workspace },
): Promise<CreatedSend> {
  const { plan } = allowance;
  if (input.channel_arbitration_mode === "smart") requireFeature(plan, "smart_channel");
  const digest = digestOf(input);
  const record = key === undefined ? undefined : await store.get(IdempotencyRecord, { key });
  if (record && record.until > store.clock.now()) return replay(record, digest);
  requireFew(workspace, input);

  const { store: ahead, noWebhooks } = await lookAhead(store, secrets, input);
  const { spec: asked, channels } = await oneOffSpec(ahead, plan, input);
  const recipients = await recipientsOf(ahead, secrets, input);
  const { given, missing } = recipients;
  const { preview_id } = input;
  const draw =
    preview_id === undefined
      ? undefined
      : drawOf(store, await secrets.root(), preview_id, { spec: asked, named: namedIn(input) });
  // After the references were found, and before the row, which names the stored texts.
  const [kept = asked] = await mails.keep([asked]);
  const spec = draw === undefined ? kept : { ...kept, draw };
  const id = jobIdOf("api", store.clock.now(), store.ids.bytes(10), await jobWidths.isWide(store, "api"));
  const direct = { watch: sendWatch, quota: sendQuota, noWebhooks };
  const extraItems = (started: StartedSend) => rememberWrites(store, key, digest, answerOf(started, recipients));
  const send = { id, spec, sentBy, given, missing, channels, direct, extraItems };

  const started = await startSend(ahead, timers, allowance, send);
  if (started.kind === "started") return { ...answerOf(started, recipients), replayed: false };
  const concurrent = oldRow(IdempotencyRecord, started.failures[0]);
  if (!concurrent) throw conflict("This idempotency key is in use at the moment. Try again.");
  return replay(concurrent, digest);
}

const digestOf = (input: NewNotification): string =>
  createHash("sha256")
    .update(JSON.stringify({ ...input, idempotency_key: undefined, preview_id: undefined }))
    .digest("hex");

function answerOf({ id, sent, unknown }: StartedSend, { given, unknownOf }: Recipients): Omit<CreatedSend, "replayed"> {
  if (!given) return { id, sent };
  const names = unknownOf(unknown);
  return { id, sent, unknown: names.length, unknown_ids: names.slice(0, MAX_UNKNOWN_SHOWN) };
}

/** The write that keeps the answer for the key of a request, if it has one. */
function rememberWrites(
  { clock }: Store,
  key: string | undefined,
  digest: string,
  answer: Omit<CreatedSend, "replayed">,
): ItemWrite<"workspace">[] {
  if (key === undefined) return [];
  const now = clock.now();
  const until = now + REMEMBERED_MS;
  const row = { ...answer, digest, until, expires: ttl(until) };
  return [putItem(IdempotencyRecord, { key }, row, any(absent(), below("until", now)))];
}

interface Recipients {
  given: readonly string[] | undefined;
  missing: ReadonlySet<string>;
  /**
   * The answer's note of ids that belong to no subscriber.
   * @param unknown those that the audience found; default: `missing`
   */
  unknownOf(unknown?: readonly string[]): readonly string[];
}

/**
 * The given ids without duplicates, and which of them belong to no subscriber. An audience that is planned now looks
 * them up itself.
 */
async function recipientsOf(
  store: Store,
  secrets: Secrets,
  { subscriberIds, external_ids, scheduled_at }: NewNotification,
): Promise<Recipients> {
  if (external_ids) {
    const named = await namedByExternalIds(store, await secrets.root(), [...new Set(external_ids)]);
    const names = new Map(named.map(({ id, name }) => [id, name]));
    const missing = missingOf(named);
    const unknownOf = (unknown?: readonly string[]) => [...(unknown ?? missing)].map((id) => names.get(id) ?? id);
    return { given: [...names.keys()], missing, unknownOf };
  }
  const ids = subscriberIds && [...new Set(subscriberIds)];
  const isPlannedNow = scheduled_at === undefined && ids !== undefined && ids.length <= SMALL_AUDIENCE;
  const missing = missingOf(ids && !isPlannedNow ? await namedByIds(store, ids) : []);
  return { given: ids, missing, unknownOf: (unknown?: readonly string[]) => unknown ?? [...missing] };
}

const missingOf = (named: readonly NamedSubscriber[]): ReadonlySet<string> =>
  new Set(named.flatMap(({ id, exists }) => (exists ? [] : [id])));

function replay(
  { id, sent, unknown, unknown_ids, digest }: RowOf<typeof IdempotencyRecord>,
  wanted: string,
): CreatedSend {
  if (digest !== wanted) throw conflict("This idempotency key was used with another body in the last 24 hours.");
  return { id, sent, ...(unknown !== undefined && { unknown, unknown_ids }), replayed: true };
}

interface Ahead {
  /** A store that answers repeated reads from memory. */
  store: Store;
  /** The workspace has no webhook endpoints that get events of a send. */
  noWebhooks?: boolean;
}

/**
 * Reads ahead: the recipient, its channels, its text if that is stored, and whether a webhook endpoint gets its events.
 */
async function lookAhead(store: Store, secrets: Secrets, input: NewNotification): Promise<Ahead> {
  const id = input.scheduled_at === undefined ? await onlyRecipient(store, secrets, input) : undefined;
  if (id === undefined) return { store };
  const content = input.template_id === undefined ? hashOfLong(saidIn(input)) : undefined;
  const ahead = await readAhead(store, [
    ref(Profile, { id }),
    ref(WebhookCount, {}),
    ...[...new Set(input.channel_ids)].map((channel) => ref(ChannelItem, { id: channel })),
    ...(content === undefined ? [] : [ref(ContentItem, { hash: content })]),
  ]);
  const webhooks = await ahead.get(WebhookCount, {});
  return { store: ahead, noWebhooks: (webhooks?.n ?? 0) <= 0 };
}

/** The only subscriber that a request names. Later reads find an erased one in its next generation. */
async function onlyRecipient(store: Store, secrets: Secrets, { subscriberIds, external_ids }: NewNotification) {
  const [id, ...others] = new Set(subscriberIds ?? external_ids);
  if (id === undefined || others.length > 0) return undefined;
  return subscriberIds ? id : subscriberId(await secrets.root(), store.tenant, id, 0);
}
