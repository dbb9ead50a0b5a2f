// At rest, each subscriber that triggered a journey, which has been active ever since, has had a run of it, and where the
// rules of entry allow it, one that began afterwards or had not ended by then (JND-10).
import { MINUTE } from "../../../shared/kernel/clock.ts";
import { eventsIn, HISTORY } from "../../../shared/store/events/history.ts";
import { ActorEvents } from "../../../shared/store/events/items.ts";
import { rowOf } from "../../../shared/store/item.ts";
import { JourneyItem } from "../../../shared/store/journeys/items.ts";
import { fromJson } from "../../../shared/store/json-text.ts";
import { SegmentMembership } from "../../../shared/store/lists/items.ts";
import { itemsOf, placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

/** A request that began before an activation may store its events after it. */
const UNDER_WAY_MS = 2 * MINUTE;

/** What triggers a journey is stored so long after the run ended that kept it from beginning another, at most. */
const EARLIER_MS = MINUTE;

interface Occurrence {
  tenant: string;
  subscriber: string;
  /** As the trigger of a journey names it. */
  what: string;
  at: number;
}

export const journeyEntries: Invariant = {
  name: "journey-entries",
  watch: ({ mirror, ledger, kernel, profile }, broken) => {
    /** By journey, since when it is active. */
    const since = new Map<string, number>();
    const seen: Occurrence[] = [];
    return {
      commit: ({ pk, sk, before, after }) => {
        const place = placeOf(pk);
        if (!place) return;
        const at = kernel.now();
        const { tenant, kind, id: subscriber } = place;
        if (kind === "journey" && subscriber === "" && after?.status !== before?.status) {
          if (after?.status === "active") since.set(sk, at);
          else since.delete(sk);
        }
        if (kind !== "U" || !after) return;
        if (sk.startsWith("G#")) {
          const { member, segment_id } = rowOf(SegmentMembership, after);
          if (member !== (before?.member ?? false))
            seen.push({
              tenant,
              subscriber,
              what: `${member ? "segment_entered" : "segment_exited"} ${segment_id}`,
              at,
            });
        }
        if (sk.startsWith(HISTORY) && !before)
          for (const { event_name } of eventsIn(rowOf(ActorEvents, after)))
            seen.push({ tenant, subscriber, what: `event ${event_name}`, at });
      },
      end: () => {
        for (const { tenant, item } of itemsOf(mirror, "journey")) {
          const from = since.get(String(item.id));
          // Beyond the quota nobody enters (AMB-147).
          if (from === undefined || ledger.everSuspended.has(tenant) || ledger.caps.has(tenant)) continue;
          const { id, trigger, entry_rules } = rowOf(JourneyItem, item);
          if (fromJson(entry_rules)?.eligibility) continue;
          const { type, segment_id, event_name } = fromJson(trigger);
          const named = seen.filter(
            (one) =>
              one.tenant === tenant &&
              one.what === `${type} ${segment_id ?? event_name}` &&
              one.at > from + UNDER_WAY_MS,
          );
          const { allow_reentry, reentry_window } = fromJson(entry_rules) ?? {};
          for (const { subscriber, at } of named) {
            if (ledger.people.get(subscriber)?.erasingSince !== undefined) continue;
            const pk = `T#${tenant}#U#${subscriber}`;
            const run = mirror.get(pk, `J#${id}#newest`);
            if (!run) broken(`${subscriber} was named by the trigger of journey ${id} and has no run`, subscriber, id);
            if (!run || !allow_reentry || reentry_window !== undefined) continue;
            const began = Date.parse(String(run.entered_at));
            const lasted = run.status === "active" ? at : Date.parse(String(run.ended_at ?? 0));
            if (Math.max(began, lasted) < at - EARLIER_MS - 2 * profile.skewMs)
              broken(`${subscriber} was named by the trigger of journey ${id} and did not enter again`, subscriber, id);
          }
        }
      },
    };
  },
};
