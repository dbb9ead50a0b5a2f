// The time to live of a table: the attribute whose second says when an item expires.
import { MINUTE } from "../time.ts";
import type { Engine, Operations } from "./engine.ts";
import { validation } from "./errors.ts";
import { flag, needed, structure } from "./parameters.ts";
import { findTable, onTable } from "./table-lookup.ts";

/** The time between two changes. AWS documents one hour. */
const MIN_INTERVAL_MS = 30 * MINUTE;
const SPECIFICATION = structure({
  Enabled: needed(flag),
  AttributeName: needed({ type: "String", min: 1, max: 255 }),
});

export function timeToLiveOperations(engine: Engine): Operations {
  const { tables, storage, clock } = engine;
  return {
    DescribeTimeToLive: onTable({}, false, ({ TableName }) => {
      const attribute = findTable(engine, TableName).record.timeToLive?.attribute;
      return {
        TimeToLiveDescription: attribute
          ? { TimeToLiveStatus: "ENABLED", AttributeName: attribute }
          : { TimeToLiveStatus: "DISABLED" },
      };
    }),
    UpdateTimeToLive: onTable({ TimeToLiveSpecification: needed(SPECIFICATION) }, true, (input) => {
      const wanted = input.TimeToLiveSpecification as { Enabled: boolean; AttributeName: string };
      const table = findTable(engine, input.TableName);
      const { timeToLive: current, ...record } = table.record;
      if (wanted.Enabled && current)
        throw validation(
          current.attribute === wanted.AttributeName
            ? "TimeToLive is already enabled"
            : `TimeToLive is active on a different AttributeName: current AttributeName is ${current.attribute}`,
        );
      if (!wanted.Enabled && !current) throw validation("TimeToLive is already disabled");
      if (!wanted.Enabled && current!.attribute !== wanted.AttributeName)
        throw validation(
          `TimeToLive is active on a different AttributeName: current AttributeName is ${current!.attribute}`,
        );
      const now = clock.now();
      if (record.timeToLiveAt !== undefined && now < record.timeToLiveAt + MIN_INTERVAL_MS)
        throw validation("Time to live has been modified multiple times within a fixed interval");
      const timeToLive = wanted.Enabled ? { timeToLive: { attribute: wanted.AttributeName } } : {};
      storage.remarkExpiry(tables.save({ ...table, record: { ...record, ...timeToLive, timeToLiveAt: now } }));
      return { TimeToLiveSpecification: wanted };
    }),
  };
}
