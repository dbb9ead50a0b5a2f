// The health of a channel (RDA-15): whether it can send, its provider's last answers, its rate now, and its uses.
import * as v from "valibot";
import { said, Timestamp, titled } from "../../contract/schemas.ts";
import { DAY, timestamp } from "../../kernel/clock.ts";
import { notFound } from "../../kernel/errors.ts";
import { channelStatuses } from "../../rules/channel-states.ts";
import { rateAt } from "../../rules/pacing.ts";
import type { Store, StoreReader } from "../context.ts";
import { ChannelUsedBy, channelUsers, usedBy } from "../dependents.ts";
import { mailFates } from "../insights/series.ts";
import { type RowOf, ref } from "../item.ts";
import { fromJson } from "../json-text.ts";
import { isUsable } from "./channels.ts";
import { ChannelItem, type ChannelRow, channelOf, PaceItem, SenderDomainItem } from "./items.ts";
import { ownRate } from "./pace.ts";
import { SenderDomain, senderDomainOf } from "./sender-domains.ts";

const RATES_OVER_MS = 30 * DAY;

const Rate = v.nullable(v.number());

export const ChannelHealth = titled("ChannelHealth", {
  can_send: said("Whether it is switched on and its credentials are verified", v.boolean()),
  active: said("Whether it is switched on", v.boolean()),
  status: v.picklist(channelStatuses),
  verified_at: v.nullable(Timestamp),
  verification_error: v.nullable(v.string()),
  verification_requested_at: said(
    "When the verification under way was requested; `null` if there is none",
    v.nullable(Timestamp),
  ),
  last_success_at: said(
    "When its provider accepted a message last; `null` for in-app, which has no provider",
    v.nullable(Timestamp),
  ),
  last_error: said(
    "Why its provider did not accept a message last, whatever was accepted since; `null` if it never did",
    v.nullable(v.object({ at: said("When it was", Timestamp), reason: v.string() })),
  ),
  rate_per_second: said("The most messages a second now; `null`: not limited", Rate),
  throttle: said(
    "Set while the rate is lower than its own because the provider throttled it",
    v.nullable(
      v.object({
        since: said("When the provider throttled it last", Timestamp),
        rate_per_second: said("The rate by now; it rises by 5% each half minute", v.number()),
      }),
    ),
  ),
  busy_until: said("Until when what is in progress takes up its rate; `null` if nothing waits", v.nullable(Timestamp)),
  bounce_rate: said("Bounced of delivered, from 0 to 1; `null` where none is reported", Rate),
  complaint_rate: said("Complaints of delivered, from 0 to 1; `null` where none is reported", Rate),
  domain: said(
    "Of email: what DNS and the provider said of the sender's domain at the last verification; `null` of other channels, " +
      "and before the first",
    v.nullable(SenderDomain),
  ),
  used_by: said("What would send by it", ChannelUsedBy),
  checked_at: said("The time of this answer", Timestamp),
});
type ChannelHealth = v.InferOutput<typeof ChannelHealth>;

/** The health of a channel. @throws 404 */
export async function healthOf(store: StoreReader, id: string): Promise<ChannelHealth> {
  const [[channel, found, looked], users] = await Promise.all([
    store.getEach([ref(ChannelItem, { id }), ref(PaceItem, { channel: id }), ref(SenderDomainItem, { channel: id })]),
    channelUsers(store, id),
  ]);
  if (!channel) throw notFound("channel");
  const pace: Partial<RowOf<typeof PaceItem>> = found ?? {};
  const now = store.clock.now();
  const channelRate = ownRate(channel, pace);
  const rate = rateAt(pace, channelRate, now);
  const isThrottled = rate !== undefined && rate !== channelRate;
  const busyUntil = Math.max(pace.marketing ?? 0, pace.transactional ?? 0);
  const { last_success_at = null, last_error_at, last_error = "" } = pace;
  return {
    can_send: isUsable(channel),
    active: channel.active,
    status: channel.status,
    verified_at: channel.verified_at ?? null,
    verification_error: channel.verification_error ?? null,
    verification_requested_at: channel.queued_at ?? null,
    last_success_at,
    last_error: last_error_at === undefined ? null : { at: last_error_at, reason: last_error },
    rate_per_second: rate === undefined ? null : rounded(rate),
    throttle: isThrottled ? { since: timestamp(pace.cut ?? now), rate_per_second: rounded(rate) } : null,
    busy_until: busyUntil > now ? timestamp(busyUntil) : null,
    ...(await mailRates(store, channel)),
    domain: looked ? senderDomainOf(fromJson(looked.domain)) : null,
    used_by: { ...usedBy(users), experiences: users.experiences },
    checked_at: timestamp(now),
  };
}

const rounded = (rate: number) => Math.round(rate * 100) / 100;

async function mailRates(store: StoreReader, channel: ChannelRow) {
  const none = { bounce_rate: null, complaint_rate: null };
  if (channelOf(channel).settings?.provider !== "ses") return none;
  const now = store.clock.now();
  const { delivered, bounced, complained } = await mailFates(store, { start: now - RATES_OVER_MS, end: now });
  const sent = delivered + bounced;
  if (sent === 0) return none;
  return { bounce_rate: bounced / sent, complaint_rate: complained / sent };
}

/** Notes that the provider of a channel accepted a message, or why it did not. */
export async function noteAnswer(store: Store, channel: string, error: string | undefined): Promise<void> {
  const at = timestamp(store.clock.now());
  const set = error === undefined ? { last_success_at: at } : { last_error_at: at, last_error: error };
  await store.change(PaceItem, { channel }, { set });
}
