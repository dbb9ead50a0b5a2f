// A channel with a rate hands no more to its provider than that, but for a group at a time; where the provider takes only
// so many, the channel slows down, and no throttle uses up a try (AMB-111).
import { SECOND } from "../../../shared/kernel/clock.ts";
import type { Invariant } from "../invariant.ts";
import type { Call } from "../providers.ts";
import { MAX_PHONES } from "../scenarios/pacing.ts";

/** A person's phones are in one group, and a group of marketing and one of transactional messages may go together. */
const TOGETHER = 2 * MAX_PHONES;
/** A channel without a rate is taken to send 50 a second, and 30% less after each throttle. */
const cutsTo = (perSecond: number): number => Math.ceil(Math.log(50 / perSecond) / Math.log(1 / 0.7));

export const pacing: Invariant = {
  name: "pacing",
  watch: ({ ledger, profile, onProviderCall }, broken) => {
    const calls = new Map<string, Call[]>();
    onProviderCall((call) => {
      const { tenant } = call.message;
      if (ledger.rates.has(tenant) || ledger.limits.has(tenant))
        calls.set(tenant, [...(calls.get(tenant) ?? []), call]);
    });
    return {
      end: () => {
        for (const [tenant, all] of calls) {
          const rate = ledger.rates.get(tenant);
          if (rate) {
            const { most, job } = mostAbove(all, rate.perSecond);
            // A worker that was delayed, or whose clock differs, sends what others are sending too.
            const others = profile.name === "calm" ? TOGETHER + rate.perSecond * secondsLost(all) : rate.chunk;
            const allowed = rate.perSecond + others;
            if (most > allowed)
              broken(`a channel of ${rate.perSecond} a second was ${most} messages ahead, not ${allowed}`, tenant, job);
          }
          const throttled = all.filter(({ isThrottled }) => isThrottled).length;
          const limit = ledger.limits.get(tenant);
          // Each cut may cost the throttles of one group. At the lowered rate, there is at most one for each accepted message.
          const group = new Set(all.map(({ target }) => target)).size;
          if (limit && throttled > group * cutsTo(limit) + all.length - throttled)
            broken(`${throttled} of ${all.length} messages were throttled`, tenant);
        }
      },
    };
  },
};

/** For how long slow answers of the provider kept its workers from sending. */
const secondsLost = (calls: readonly Call[]): number =>
  calls.map(({ at, toldAt = at }) => (toldAt - at) / SECOND).reduce((sum, took) => (took > 1 ? sum + took : sum), 0);

/** How many messages more than a rate allows went in some span of time, at most. */
function mostAbove(calls: readonly Call[], perSecond: number): { most: number; job: string } {
  let least = 0;
  const found = { most: 0, job: "" };
  for (const [n, { at, job }] of calls.entries()) {
    const allowed = (perSecond * (at - calls[0]!.at)) / SECOND;
    least = Math.min(least, n - allowed);
    const above = n + 1 - allowed - least;
    if (above > found.most) Object.assign(found, { most: above, job });
  }
  return { ...found, most: Math.ceil(found.most) };
}
