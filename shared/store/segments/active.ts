// The rules of a workspace's dynamic segments, by the attributes and events that they mention.
import { perEnvironment } from "../../kernel/deps.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { compileRule, type Rule } from "../../rules/segment-evaluation.ts";
import { type StoreReader, storeRead } from "../context.ts";
import { idsByName, type WatcherVersion, watchedIndex } from "../events/watchers.ts";
import { fromJson } from "../json-text.ts";
import { SegmentItem } from "./items.ts";
import { zoneFor } from "./rules.ts";

export interface SegmentIndex {
  version: number;
  rules: ReadonlyMap<string, Rule>;
  /** Ids of segments by an attribute key that their rules mention. */
  byAttribute: ReadonlyMap<string, readonly string[]>;
  /** Ids of segments by the name of an event that their rules mention. */
  byEvent: ReadonlyMap<string, readonly string[]>;
  /** Segments whose membership can change by time alone. */
  windowed: readonly string[];
}

interface DynamicSegments {
  /**
   * The current rules, including every rule that was stored before the call.
   * @param known a version of the watchers: then the rules of that version, or newer ones
   */
  of(tenant: string, known?: Promise<WatcherVersion | undefined>): Promise<SegmentIndex>;
}

const EMPTY: SegmentIndex = { version: 0, rules: new Map(), byAttribute: new Map(), byEvent: new Map(), windowed: [] };

/** Caches the rules of workspaces: one small read for each call, and all segments only after a change. */
export const dynamicSegments = /* @__PURE__ */ perEnvironment(
  "dynamicSegments",
  { env: ["TABLE_NAME"], grants: [{ actions: ["dynamodb:GetItem", "dynamodb:Query"], on: "table" }] },
  (deps): DynamicSegments => {
    const bind = storeRead.open(deps);
    const indexOfNow = watchedIndex(EMPTY, readIndex);
    return {
      of: (tenant, known) => indexOfNow(bind(tenant as TenantId), known),
    };
  },
);

async function readIndex(store: StoreReader, version: number): Promise<SegmentIndex> {
  const rows = (await store.queryAll(SegmentItem, {})).filter(({ is_dynamic }) => is_dynamic);
  const stored = rows.map(({ rule }) => fromJson(rule));
  const zone = await zoneFor(store, stored);
  const rules = rows.map(({ id, rule }) => [id, compileRule(fromJson(rule), zone)] as const);
  return {
    version,
    rules: new Map(rules),
    byAttribute: idsByName(rules.map(([id, { attributes }]) => [id, attributes])),
    byEvent: idsByName(rules.map(([id, { events }]) => [id, events.map(({ name }) => name)])),
    windowed: rules.flatMap(([id, rule]) => (hasWindow(rule) ? [id] : [])),
  };
}

const hasWindow = ({ events }: Rule): boolean => events.some(({ within }) => within !== undefined);
