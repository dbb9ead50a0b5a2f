// The active journeys of a workspace by what they begin with and listen to: read again only when one of them changed.

import type { Capability } from "../../deps.ts";
import { type StoreReader, storeRead } from "../../resources.ts";
import type { EntryRules, Trigger } from "../../rules/journey-graph.ts";
import type { Heard } from "../../rules/journey-paths.ts";
import { keys } from "../keys.ts";
import type { TenantId } from "../model.ts";
import { allItems } from "../pages.ts";
import { recent } from "../recent.ts";
import { watched } from "../watched.ts";
import { getVersion, type Version } from "./journeys.ts";

export interface ActiveJourney {
  id: string;
  version: number;
  trigger: Trigger;
  entry_rules: EntryRules | null;
}

export interface JourneyIndex {
  version: number;
  journeys: ReadonlyMap<string, ActiveJourney>;
  /** Ids of journeys by `event#<name>`, `entered#<segment>` or `exited#<segment>`. */
  byTrigger: ReadonlyMap<string, readonly string[]>;
  /** Journeys whose runs wait for an event, or may be ended by it. */
  byEvent: ReadonlyMap<string, readonly string[]>;
  /** Journeys whose runs may be ended by a change of an attribute. */
  byAttribute: ReadonlyMap<string, readonly string[]>;
}

export interface ActiveJourneys {
  /** As of this moment: a journey that was activated before the call is in it, one that was paused is not. */
  of(tenant: string): Promise<JourneyIndex>;
  /** A version that runs entered; undefined once the journey is deleted. */
  version(tenant: string, journey: string, version: number): Promise<Version | undefined>;
}

const VERSIONS_REMEMBERED = 200;
const NONE: JourneyIndex = {
  version: 0,
  journeys: new Map(),
  byTrigger: new Map(),
  byEvent: new Map(),
  byAttribute: new Map(),
};

export const segmentTrigger = (segment: string, entered: boolean): string =>
  `${entered ? "entered" : "exited"}#${segment}`;

/** Remembers active journeys: one small read a call; and versions, which never change. */
export const activeJourneys: Capability<"activeJourneys", ActiveJourneys> = {
  as: "activeJourneys",
  env: ["TABLE_NAME"],
  grants: [{ actions: ["dynamodb:GetItem", "dynamodb:Query"], on: "table" }],
  open: (deps) => {
    const bind = storeRead.open(deps);
    const indexOfNow = watched(NONE, readIndex);
    const versions = recent<Version>(VERSIONS_REMEMBERED);
    const journeys: ActiveJourneys = {
      of: (tenant) => indexOfNow(bind(tenant as TenantId)),
      version: async (tenant, journey, version) => {
        const name = `${tenant}#${journey}#${version}`;
        const found = versions.get(name) ?? (await getVersion(bind(tenant as TenantId), journey, version));
        if (found) versions.set(name, found);
        return found;
      },
    };
    return () => journeys;
  },
};

async function readIndex(store: StoreReader, version: number): Promise<JourneyIndex> {
  const journeys = new Map<string, ActiveJourney>();
  const byTrigger = new Map<string, string[]>();
  const byEvent = new Map<string, string[]>();
  const byAttribute = new Map<string, string[]>();
  const note = (map: Map<string, string[]>, names: Iterable<string>, id: string) => {
    for (const name of names) map.set(name, [...(map.get(name) ?? []), id]);
  };
  for (const item of await allItems(store, { pk: keys.activeJourney(store.tenant, "").pk })) {
    const id = item.sk;
    const trigger: Trigger = JSON.parse(String(item.trigger));
    const heard: Heard = JSON.parse(String(item.heard));
    const entry_rules: EntryRules | null = JSON.parse(String(item.entry_rules));
    journeys.set(id, { id, version: Number(item.version), trigger, entry_rules });
    note(byTrigger, [triggerName(trigger)], id);
    note(byEvent, heard.events, id);
    note(byAttribute, heard.attributes, id);
  }
  return { version, journeys, byTrigger, byEvent, byAttribute };
}

const triggerName = ({ type, event_name = "", segment_id = "" }: Trigger): string =>
  type === "event" ? `event#${event_name}` : segmentTrigger(segment_id, type === "segment_entered");
