// Timers are due rows: put just before the state they belong to; alone they have no effect (docs/decisions/0021#timers).
import type { DueKind } from "../contract/due-kinds.ts";
import { ttl } from "../kernel/clock.ts";
import type { Deps } from "../kernel/deps.ts";
import type { TenantId } from "../kernel/ids.ts";
import { hashOf } from "./hash.ts";
import { putItem } from "./item.ts";
import { DueItem, dueKey } from "./platform-items.ts";
import { setSandboxTimers } from "./sandbox/timers.ts";
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

/** The table drops a row a week past its time, long after the sweep has forwarded it. */
const KEPT_SECONDS = 7 * 86_400;

/** A longer id is in the key by its hash: a key holds 1 KB. */
const MAX_NAME = 300;

const nameOf = (id: string) => (id.length > MAX_NAME ? hashOf(id) : id);

/** The timers of a tenant: rows that the sweep forwards to the queue of their kind; those of a sandbox follow its own clock. */
export function openTimers(deps: Deps): (tenant: TenantId) => Timers {
  const { sandbox } = deps;
  if (sandbox)
    return () => ({
      set: (timers) =>
        setSandboxTimers(
          deps,
          sandbox,
          timers.map(({ kind, id, at }) => ({
            at,
            name: `${kind}#${nameOf(id)}`,
            work: { kind: "due", due: kind, id },
          })),
        ),
    });
  const table = openPlatformTable(deps, "DUE#");
  return (tenant) => ({
    set: async (timers) => {
      const rows = timers.map(({ kind, id, at }) => {
        const expires = ttl(at) + KEPT_SECONDS;
        const row = { react: "due" as const, tenant, kind, id, at, since: deps.clock.now(), expires };
        return [dueKey(at, `${kind}#${tenant}#${nameOf(id)}`), row] as const;
      });
      const [first, ...others] = rows;
      if (first && others.length === 0) await table.put(DueItem, ...first);
      else await table.writeAll(rows.map(([key, row]) => putItem(DueItem, key, row)));
    },
  });
}
