// The active journeys of a workspace, by their triggers and by what their runs react to.
import { perEnvironment } from "../../kernel/deps.ts";
import type { TenantId } from "../../kernel/ids.ts";
import type { EntryRules, Trigger } from "../../rules/journey-graph.ts";
import { type StoreReader, storeRead } from "../context.ts";
import { idsByName, type WatcherVersion, watchedIndex } from "../events/watchers.ts";
import { fromJson } from "../json-text.ts";
import { recent } from "../recent.ts";
import { ActiveJourney } from "./items.ts";
import type { Pauses } from "./pauses.ts";
import { getVersion, type Version } from "./versions.ts";

export interface EnterableJourney {
  id: string;
  version: number;
  trigger: Trigger;
  entry_rules: EntryRules | null;
  isPaused: boolean;
  /** The pauses that are over. */
  pauses: Pauses | undefined;
}

export interface JourneyIndex {
  version: number;
  journeys: ReadonlyMap<string, EnterableJourney>;
  /** Journeys, paused ones too, by `event#<name>`, `entered#<segment>` or `exited#<segment>`. */
  byTrigger: ReadonlyMap<string, readonly EnterableJourney[]>;
  /** Ids of journeys whose runs wait for an event, or end by it. */
  byEvent: ReadonlyMap<string, readonly string[]>;
  /** Ids of journeys whose runs end by a change of an attribute. */
  byAttribute: ReadonlyMap<string, readonly string[]>;
}

export interface ActiveJourneys {
  /**
   * The current index: it has every journey that was activated before the call, and none that was paused before it.
   * @param known the version of the watchers, if the caller has read it: then "before it was read"
   */
  of(tenant: string, known?: Promise<WatcherVersion | undefined>): Promise<JourneyIndex>;
  /** A version that runs entered; undefined after the journey is deleted. */
  version(tenant: string, journey: string, version: number): Promise<Version | undefined>;
}

const MAX_VERSIONS_CACHED = 200;
const EMPTY: JourneyIndex = {
  version: 0,
  journeys: new Map(),
  byTrigger: new Map(),
  byEvent: new Map(),
  byAttribute: new Map(),
};

export const eventTrigger = (name: string): string => `event#${name}`;
export const segmentTrigger = (segment: string, entered: boolean): string =>
  `${entered ? "entered" : "exited"}#${segment}`;

/** Caches active journeys, at one small read for each call, and versions, which never change. */
export const activeJourneys = /* @__PURE__ */ perEnvironment(
  "activeJourneys",
  { env: ["TABLE_NAME"], grants: [{ actions: ["dynamodb:GetItem", "dynamodb:Query"], on: "table" }] },
  (deps): ActiveJourneys => {
    const bind = storeRead.open(deps);
    const indexOfNow = watchedIndex(EMPTY, readIndex);
    const versions = recent<Version>(MAX_VERSIONS_CACHED);
    return {
      of: (tenant, known) => indexOfNow(bind(tenant as TenantId), known),
      version: async (tenant, journey, version) => {
        const name = `${tenant}#${journey}#${version}`;
        const found = versions.get(name) ?? (await getVersion(bind(tenant as TenantId), journey, version));
        if (found) versions.set(name, found);
        return found;
      },
    };
  },
);

async function readIndex(store: StoreReader, version: number): Promise<JourneyIndex> {
  const rows = await store.queryAll(ActiveJourney, {});
  const active = rows.map((row) => ({
    journey: {
      id: row.sk,
      version: row.version,
      trigger: fromJson(row.trigger),
      entry_rules: fromJson(row.entry_rules),
      isPaused: row.paused !== undefined,
      pauses: row.pauses && fromJson(row.pauses),
    },
    dependencies: fromJson(row.heard),
  }));
  const journeys = active.map(({ journey }) => journey);
  const running = active.filter(({ journey }) => !journey.isPaused);
  return {
    version,
    journeys: new Map(journeys.map((journey) => [journey.id, journey])),
    byTrigger: Map.groupBy(journeys, ({ trigger }) => triggerName(trigger)),
    byEvent: idsByName(running.map(({ journey, dependencies }) => [journey.id, dependencies.events])),
    byAttribute: idsByName(running.map(({ journey, dependencies }) => [journey.id, dependencies.attributes])),
  };
}

const triggerName = ({ type, event_name = "", segment_id = "" }: Trigger): string =>
  type === "event" ? eventTrigger(event_name) : segmentTrigger(segment_id, type === "segment_entered");
