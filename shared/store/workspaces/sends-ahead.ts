// Sends that an environment reserves ahead from the quota: one write for many single sends (docs/decisions/0055).
import { MINUTE } from "../../kernel/clock.ts";
import { perEnvironment } from "../../kernel/deps.ts";
import { absent, any, atMost } from "../conditions.ts";
import type { Store } from "../context.ts";
import { recent } from "../recent.ts";
import { whereItHolds } from "../refusals.ts";
import { Usage } from "./items.ts";
import { type Allowance, limitOf, periodAt, WARNINGS, warnOfUsage } from "./usage.ts";

/** Sends in a minute; from here on several are taken at once. Below it, usage is always exact. */
const BUSY_FROM = 60;
/** The most that is taken at once, and the most as a share of the limit. */
const MAX_AHEAD = 200;
const MAX_SHARE = 0.01;
/** Beyond this share of the limit, each send is taken by itself, in the transaction of its job. */
const AHEAD_UNTIL = 0.95;
const MAX_CACHED_WORKSPACES = 1_000;

export const QUARTER_MS = 15 * MINUTE;

/** The quarter-hour of a time, counted from 1970. */
export const quarterAt = (at: number): number => Math.floor(at / QUARTER_MS);

export interface SendQuota {
  /**
   * Takes one send of a quarter-hour.
   * @returns false near the limit: the send is then taken in the transaction of its job
   */
  take(store: Store, allowance: Allowance, quarter: number): Promise<boolean>;
}

/** The part of a workspace's quota that an environment has reserved. */
interface Reservation {
  /** Taken and not used yet. It is worth nothing after its quarter-hour, and under a lower limit. */
  left: number;
  quarter: number;
  limit: number;
  /** Sends of this minute and of the one before: as many are taken ahead. */
  minute: number;
  used: number;
  usedBefore: number;
  /** The minute in which the limit was found to be near. */
  nearLimitIn: number | undefined;
}

export const sendQuota = /* @__PURE__ */ perEnvironment("sendQuota", {}, (): SendQuota => {
  const workspaces = recent<Reservation>(MAX_CACHED_WORKSPACES);
  return {
    take: async (store, allowance, quarter) => {
      const limit = limitOf("sends", allowance);
      const minute = Math.floor(store.clock.now() / MINUTE);
      const held = currentOf(workspaces.get(store.tenant), { limit, quarter, minute });
      workspaces.set(store.tenant, held);
      const recently = Math.max(held.used, held.usedBefore);
      held.used++;
      if (held.left > 0) {
        held.left--;
        return true;
      }
      if (held.nearLimitIn === minute) return false;

      const n = recently < BUSY_FROM ? 1 : Math.max(1, Math.min(recently, MAX_AHEAD, Math.floor(limit * MAX_SHARE)));
      const ahead = await takeAhead(store, quarter, n, limit);
      if (ahead.kind === "near limit") {
        held.nearLimitIn = minute;
        return false;
      }
      held.left += n - 1;
      if (ahead.used >= (limit * Math.min(...WARNINGS)) / 100) await warnOfUsage(store, "sends", allowance);
      return true;
    },
  };
});

function currentOf(held: Reservation | undefined, now: Pick<Reservation, "limit" | "quarter" | "minute">): Reservation {
  if (!held) return { ...now, left: 0, used: 0, usedBefore: 0, nearLimitIn: undefined };
  if (held.quarter !== now.quarter || now.limit < held.limit) held.left = 0;
  if (held.minute !== now.minute) {
    held.usedBefore = now.minute === held.minute + 1 ? held.used : 0;
    held.used = 0;
  }
  return Object.assign(held, now);
}

/** `used`: the sends of the period, with those that were taken. */
type TakenAhead = { kind: "taken"; used: number } | { kind: "near limit" };

/** A repeated request takes twice: the settlement of the quarter-hour returns it. */
async function takeAhead(store: Store, quarter: number, n: number, limit: number): Promise<TakenAhead> {
  const max = Math.floor(limit * AHEAD_UNTIL) - n;
  if (max < 0) return { kind: "near limit" };

  const { name: period } = periodAt(quarter * QUARTER_MS);
  const add = { sends: n, [`ahead:${quarter}`]: n };
  const row = await whereItHolds(store.change(Usage, { period }, { add }, any(absent("sends"), atMost("sends", max))));
  return row ? { kind: "taken", used: row.sends ?? 0 } : { kind: "near limit" };
}
