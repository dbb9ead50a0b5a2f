// Timers are due rows: put just before the state they belong to, harmless alone (docs/decisions/0021#timers).

import type { Deps } from "../deps.ts";
import type { DueKind, DueTimer } from "../due-kinds.ts";
import { platformKeys } from "./keys.ts";
import type { Item, TenantId } from "./model.ts";
import { openPlatformTable } from "./table.ts";

export interface Timer {
  kind: DueKind;
  /** The entity whose time comes. */
  id: string;
  /** Service time in milliseconds. */
  at: number;
}

export interface Timers {
  /** Sets timers; setting the same one again changes nothing. */
  set(timers: readonly Timer[]): Promise<void>;
}

export type DueRow = Item & DueTimer & { kind: DueKind };

/** Rows live a week past their time if nobody consumes them: the sweep has looked long before. */
const KEPT_SECONDS = 7 * 86_400;

export function openTimers(deps: Deps): (tenant: TenantId) => Timers {
  const table = openPlatformTable(deps, "DUE#");
  return (tenant) => ({
    set: async (timers) => {
      const rows = timers.map(({ kind, id, at }): DueRow => {
        const expires = Math.ceil(at / 1_000) + KEPT_SECONDS;
        const key = platformKeys.due(at, `${kind}#${tenant}#${id}`);
        return { ...key, react: "due", tenant, kind, id, at, since: deps.clock.now(), expires };
      });
      if (rows.length === 1) await table.put(rows[0]!);
      else await table.writeAll(rows.map((put) => ({ put })));
    },
  });
}
