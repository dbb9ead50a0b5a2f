// Asks the capacity model, if it is on, for what an operation consumes. Each function throws the refusal.
import type { Call, Engine } from "./engine.ts";
import type { IndexChange } from "./indexing.ts";
import type { StoredKey } from "./keys.ts";
import type { Table } from "./tables.ts";
import type { Charge } from "./throughput.ts";

interface Target {
  table: Table;
  key: StoredKey;
}

/** A write of one item and of its index entries: a full index refuses the write of the item. */
export function admitWrite(
  engine: Engine,
  call: Call,
  { table, key }: Target,
  { units, bytes = 0, indexUnits = [] }: { units: number; bytes?: number; indexUnits?: readonly IndexChange[] },
): void {
  if (!engine.throughput) return;
  admit(engine, call, [
    { table, kind: "write", key, units, bytes },
    ...indexUnits.flatMap(({ index, entries }) =>
      entries.map((entry): Charge => ({ table, index, kind: "write", key: entry.key, units: entry.units })),
    ),
  ]);
}

export function admitRead(engine: Engine, call: Call, { table, key }: Target, units: number, index?: string): void {
  if (engine.throughput)
    admit(engine, call, [{ table, kind: "read", key, units, ...(index !== undefined && { index }) }]);
}

function admit({ throughput }: Engine, call: Call, charges: readonly Charge[]): void {
  const refused = throughput!.take(charges);
  if (refused) throw refused;
  call.charges.push(...charges);
}

/** Returns what the call has consumed, when nothing of it is stored. */
export function giveBack({ throughput }: Engine, call: Call): void {
  throughput?.giveBack(call.charges);
  call.charges.length = 0;
}

export const isRefusal = (error: unknown): error is Error =>
  error instanceof Error && "throttlingReasons" in ((error as { fields?: object }).fields ?? {});
