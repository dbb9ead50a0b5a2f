// A channel with a rate hands no more to its provider than that, and one chunk; where the provider takes only so many, the
// channel slows down, and no throttle uses up a try (AMB-111).
import { SECOND } from "../../../shared/clock.ts";
import type { Invariant } from "../invariant.ts";
import type { Call } from "../providers.ts";

/** Workers whose clocks differ, or that were delayed, send what others are sending too. */
const OTHERS = 2;
/** Until the channel is slow enough: throttles for each message that the provider took. */
const THROTTLES = { most: 4, first: 150 };

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
            const allowed = rate.chunk * (profile.name === "calm" ? 1 : OTHERS) + 1;
            if (most > allowed)
              broken(`a channel of ${rate.perSecond} a second was ${most} messages ahead, not ${allowed}`, tenant, job);
          }
          const throttled = all.filter(({ isThrottled }) => isThrottled).length;
          const bound = THROTTLES.first + THROTTLES.most * (all.length - throttled);
          if (ledger.limits.has(tenant) && throttled > bound)
            broken(`${throttled} of ${all.length} messages were throttled`, tenant);
        }
      },
    };
  },
};

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
