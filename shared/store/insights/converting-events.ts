// The names of events that a workspace counts as conversions.
import type { Capability } from "../../kernel/deps.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { storeRead } from "../context.ts";
import { watchedIndex } from "../events/watchers.ts";
import { conversionDefinitions } from "./conversions.ts";

export interface ConvertingEvents {
  /** The names now: with every definition that was made before the call. */
  of(tenant: string): Promise<ReadonlySet<string>>;
}

interface Index {
  version: number;
  names: ReadonlySet<string>;
}

const EMPTY: Index = { version: 0, names: new Set() };

/** Caches the names, at one small read for each call. */
export const convertingEvents: Capability<"convertingEvents", ConvertingEvents> = {
  as: "convertingEvents",
  env: storeRead.env,
  grants: [{ actions: ["dynamodb:GetItem", "dynamodb:Query"], on: "table" }],
  open: (deps) => {
    const bind = storeRead.open(deps);
    const indexOfNow = watchedIndex(EMPTY, async (store, version): Promise<Index> => {
      const definitions = await conversionDefinitions(store);
      return { version, names: new Set(definitions.map(({ event_name }) => event_name)) };
    });
    const of: ConvertingEvents["of"] = async (tenant) => (await indexOfNow(bind(tenant as TenantId))).names;
    return () => ({ of });
  },
};
