// How every send begins, whichever endpoint or worker starts it: the audience is planned or kept for later, and the job
// row comes last.
import { MINUTE } from "../../../kernel/clock.ts";
import { timeOfUuid } from "../../../kernel/ids.ts";
import { isHeldOut } from "../../../rules/split.ts";
import type { ChannelRow } from "../../channels/items.ts";
import { absent } from "../../conditions.ts";
import type { Store } from "../../context.ts";
import { type ItemWrite, putItem } from "../../item.ts";
import { toJson } from "../../json-text.ts";
import { countTarget } from "../../lists/targets.ts";
import { type Failure, failuresOf, oldRow, onConditionFailed } from "../../refusals.ts";
import { contentOfTemplate, TemplateItem } from "../../templates/items.ts";
import type { Timers } from "../../timers.ts";
import { useWrites } from "../../uses.ts";
import { Usage } from "../../workspaces/items.ts";
import { quarterAt, type SendQuota } from "../../workspaces/sends-ahead.ts";
import { type Allowance, sendReservation, usageRefusal, warnOfUsage } from "../../workspaces/usage.ts";
import { givenWrites, planSmall, SMALL_AUDIENCE } from "../audience/audiences.ts";
import {
  channelSettings,
  deliverySettingsOf,
  planningRules,
  profileReads,
  selectedChannels,
  selectedOf,
} from "../audience/planning.ts";
import { chunkWrites, type PlannedChunk } from "../chunks/chunks.ts";
import { REQUEST_RANGE } from "../chunks/range-names.ts";
import { plannedRangeWrite } from "../chunks/ranges.ts";
import { packRecipients, type Recipient } from "../chunks/recipients.ts";
import { storeContent } from "./job-content.ts";
import { JobItem } from "./job-items.ts";
import type { JobSpec } from "./job-spec.ts";
import { newJobRow } from "./jobs.ts";
import type { SendWatch } from "./send-watch.ts";

const WATCH_AFTER_MS = 15 * MINUTE;

interface Send {
  /** A UUIDv7 of now, or one derived from the origin of the send. */
  id: string;
  /** The id is derived, so a repeat finds its own job: the audience is left to the workers, who plan it once. */
  isRepeatable?: boolean;
  /** Of a one-off send, which may be one row: the watch of its quarter-hour, the quota taken ahead, whether no webhook gets its events. */
  direct?: { watch: SendWatch; quota: SendQuota; noWebhooks?: boolean | undefined } | undefined;
  spec: JobSpec;
  /** The server key that made it. */
  sentBy?: string | undefined;
  /** Ids of the recipients, each once; absent for a send to a target. */
  given?: readonly string[] | undefined;
  /** Ids that were looked up and belong to no subscriber. */
  missing?: ReadonlySet<string>;
  /** Its channels, where they were read. */
  channels?: readonly ChannelRow[] | undefined;
  /**
   * Rows that refer to the job: an idempotency key, a campaign's message, an experience. They may contain the answer to
   * the caller.
   */
  extraItems?: readonly ItemWrite<"workspace">[] | ((answer: StartedSend) => readonly ItemWrite<"workspace">[]);
}

/** `unknown`: given ids of no subscriber, where they were looked up. */
export interface StartedSend {
  id: string;
  sent: number;
  unknown?: readonly string[] | undefined;
}

/** `refused`: a condition of the extra items failed, one place for each. */
type StartResult = ({ kind: "started" } & StartedSend) | { kind: "refused"; failures: readonly Failure[] };

/**
 * Starts a send, now or at its `scheduled_at`. The job row, its share of the quota and the extra items are one
 * transaction. The share of a send to one subscriber was taken ahead, except near the limit (docs/decisions/0055).
 * A repeat of an id whose job exists gets the same answer again.
 * @throws 402 beyond the quota or the workspace's own cap.
 */
export async function startSend(store: Store, timers: Timers, allowance: Allowance, send: Send): Promise<StartResult> {
  const { id, spec, given, isRepeatable = false, direct, sentBy, extraItems = [] } = send;
  const at = spec.scheduled_at === null ? store.clock.now() : Date.parse(spec.scheduled_at);
  const audience: Audience =
    spec.scheduled_at !== null || isRepeatable
      ? { writes: given ? givenWrites(id, given, at) : [], sent: 0 }
      : await prepareAudience(store, send, allowance);
  await store.writeAll(audience.writes);

  const quarter = quarterAt(timeOfUuid(id));
  const taking = audience.direct && direct;
  const isSealed = sentBy !== undefined;
  if (direct && (taking || isSealed)) await direct.watch.ensure(store, timers, quarter);
  if (!taking)
    await timers.set([
      spec.scheduled_at === null
        ? { kind: "job-watch", id, at: store.clock.now() + WATCH_AFTER_MS }
        : { kind: "job", id, at: Date.parse(spec.scheduled_at) },
    ]);

  const answer: StartedSend = { id, sent: audience.sent, unknown: audience.unknown };
  const whole = { ...spec, ...audience.texts };
  const content = await storeContent(store, whole);
  const ahead = (taking && (await taking.quota.take(store, allowance, quarter))) || undefined;
  const row = newJobRow(store, id, whole, { ...planOf(audience), content, ahead, sent_by: sentBy });
  const takenAt = Date.parse(row.created_at);
  const reserved = audience.sent > 0 && !ahead ? [sendReservation(audience.sent, allowance, takenAt)] : [];

  const others = typeof extraItems === "function" ? extraItems(answer) : extraItems;
  const uses = spec.scheduled_at ? useWrites(spec.target, { kind: "notification", id, until: spec.scheduled_at }) : [];
  const rest = [...reserved, ...others, ...uses];
  if (rest.length === 0)
    return store.put(JobItem, { job: id }, row, absent()).then(
      (): StartResult => ({ kind: "started", ...answer }),
      onConditionFailed(JobItem, (old): StartResult => ({ kind: "started", id, sent: old?.sent ?? audience.sent })),
    );

  const failures = await failuresOf(store, [putItem(JobItem, { job: id }, row, absent()), ...rest]);
  const old = oldRow(JobItem, failures[0]);
  if (failures.length > 0 && !old) {
    if (!isRepeatable) await store.writeAll(audience.writes.map(undone));
    const refused = failures.slice(1 + reserved.length);
    if (refused.some(Boolean)) return { kind: "refused", failures: refused };
    const usage = reserved.length > 0 ? failures[1] : undefined;
    throw usageRefusal("sends", audience.sent, oldRow(Usage, usage), allowance);
  }
  if (reserved.length > 0) await warnOfUsage(store, "sends", allowance);
  return old ? { kind: "started", id, sent: old.sent } : { kind: "started", ...answer };
}

const undone = (write: ItemWrite<"workspace">): ItemWrite<"workspace"> => ({ ...write, write: { kind: "remove" } });

const planOf = ({ sent, reserved, ranges, direct }: Audience) => ({ sent, reserved, ranges, direct });

interface Audience {
  writes: ItemWrite<"workspace">[];
  sent: number;
  /** Taken from the quota now; else the job takes it when it is dispatched. */
  reserved?: number;
  ranges?: string[];
  /** Its only recipient, on the job's row instead of a chunk. */
  direct?: Parameters<typeof newJobRow>[3]["direct"];
  /** The texts of its template, for a send without a separate dispatch. */
  texts?: Pick<JobSpec, "title" | "body" | "by_channel">;
  unknown?: readonly string[];
}

/** The texts of a send: its own, or those of its template now. */
async function textsOf(
  store: Store,
  { title, body, by_channel, template_id }: JobSpec,
): Promise<Pick<JobSpec, "title" | "body" | "by_channel"> | undefined> {
  if (template_id === null) return { title, body, by_channel };
  const template = await store.get(TemplateItem, { id: template_id });
  return template && contentOfTemplate(template);
}

/** A small audience is planned now, so `sent` is exact (AMB-38). Else workers plan it, and `sent` is from the counters. */
async function prepareAudience(
  store: Store,
  { id: job, spec, given, missing, channels, direct }: Send,
  { sending, plan }: Allowance,
): Promise<Audience> {
  const estimate = given ? given.length : await countTarget(store, spec.target);
  if (estimate <= SMALL_AUDIENCE) {
    const via = channels ? selectedOf(channels, spec, plan) : await selectedChannels(store, spec, plan);
    const rules = await planningRules(store, job, spec, {
      via,
      emailConsent: sending?.email_consent_mode ?? "opt_out",
    });
    const chunks = await planSmall(store, spec, rules, given);
    const only = direct && chunks && sending && !spec.safety ? onlyRecipient(spec, chunks) : undefined;
    // The texts of a template that was deleted meanwhile are missed at dispatch.
    const texts = only && (await textsOf(store, spec));
    if (only && texts) {
      const onRow = {
        recipients: packRecipients([only]),
        settings: toJson({
          ...deliverySettingsOf(spec, via.map(channelSettings), sending),
          ...profileReads({ ...spec, ...texts }),
        }),
        no_webhooks: direct?.noWebhooks || undefined,
      };
      return { writes: [], sent: 1, reserved: 1, direct: onRow, texts };
    }
    if (chunks) return planned(job, chunks);
  }
  const size = given ? given.length : Math.max(estimate, SMALL_AUDIENCE);
  const treated = given
    ? given.filter((id) => !missing?.has(id) && !isHeldOut(spec.draw ?? job, id, spec.holdout_percentage)).length
    : Math.round(size * (1 - spec.holdout_percentage / 100));
  return { writes: given ? givenWrites(job, given, store.clock.now()) : [], sent: treated, reserved: treated };
}

/** Addresses of a recipient that is on the row of the job: the row stays below 1 KB. */
const MAX_TARGETS = 8;

/** The recipient of a one-off send that goes to one subscriber (docs/decisions/0046). */
function onlyRecipient({ source }: JobSpec, chunks: readonly PlannedChunk[]): Recipient | undefined {
  const [first, ...others] = chunks;
  if (source.type !== "api" || !first || others.length > 0) return undefined;
  const { recipients, heldOut, skipped } = first.chunk;
  const [only, ...more] = recipients;
  const isAlone = more.length === 0 && heldOut.length === 0 && Object.keys(skipped).length === 0;
  return only && isAlone && !only.source && only.targets.length <= MAX_TARGETS ? only : undefined;
}

function planned(job: string, chunks: readonly PlannedChunk[]): Audience {
  const plain = chunks.map(({ chunk }) => chunk);
  const sent = plain.reduce((sum, { recipients }) => sum + recipients.length, 0);
  const writes = chunks.flatMap((chunk, n) => chunkWrites({ job, range: REQUEST_RANGE, n }, chunk));
  return {
    writes: [...writes, plannedRangeWrite(job, REQUEST_RANGE, plain)],
    sent,
    reserved: sent,
    ranges: [REQUEST_RANGE],
    unknown: chunks.flatMap(({ skippedIds }) => skippedIds.unknown_subscriber ?? []),
  };
}
