// The rules of a workspace's dynamic segments, by what they mention: read again only when something of them changed.

import type { Capability } from "../../deps.ts";
import { type StoreReader, storeRead } from "../../resources.ts";
import { compileRule, type Rule } from "../../rules/segment-evaluation.ts";
import { keys } from "../keys.ts";
import type { TenantId } from "../model.ts";
import { allItems } from "../pages.ts";
import { watched } from "../watched.ts";

export interface SegmentIndex {
  version: number;
  rules: ReadonlyMap<string, Rule>;
  /** Ids of segments by a key that their rules mention. */
  byAttribute: ReadonlyMap<string, readonly string[]>;
  byEvent: ReadonlyMap<string, readonly string[]>;
  /** Those whose membership may change by time alone. */
  windowed: readonly string[];
}

export interface DynamicSegments {
  /** As of this moment: a rule that was stored before the call is in it. */
  of(tenant: string): Promise<SegmentIndex>;
}

const NONE: SegmentIndex = { version: 0, rules: new Map(), byAttribute: new Map(), byEvent: new Map(), windowed: [] };

/**
 * Remembers the rules of workspaces: one small read a call, and all segments only after a change (docs/decisions/0011).
 */
export const dynamicSegments: Capability<"dynamicSegments", DynamicSegments> = {
  as: "dynamicSegments",
  env: ["TABLE_NAME"],
  grants: [{ actions: ["dynamodb:GetItem", "dynamodb:Query"], on: "table" }],
  open: (deps) => {
    const bind = storeRead.open(deps);
    const indexOfNow = watched(NONE, readIndex);
    const segments: DynamicSegments = { of: (tenant) => indexOfNow(bind(tenant as TenantId)) };
    return () => segments;
  },
};

async function readIndex(store: StoreReader, version: number): Promise<SegmentIndex> {
  const all = await allItems(store, { pk: keys.entities(store.tenant, "segment") });
  const items = all.filter(({ is_dynamic }) => is_dynamic === true);
  const rules = new Map(items.map(({ id, rule }) => [String(id), compileRule(JSON.parse(String(rule)))]));
  const byAttribute = new Map<string, string[]>();
  const byEvent = new Map<string, string[]>();
  const note = (map: Map<string, string[]>, names: Iterable<string>, id: string) => {
    for (const name of new Set(names)) map.set(name, [...(map.get(name) ?? []), id]);
  };
  for (const [id, { attributes, events }] of rules) {
    note(byAttribute, attributes, id);
    note(
      byEvent,
      events.map(({ name }) => name),
      id,
    );
  }
  const windowed = [...rules].filter(([, rule]) => hasWindow(rule)).map(([id]) => id);
  return { version, rules, byAttribute, byEvent, windowed };
}

const hasWindow = ({ events }: Rule): boolean => events.some(({ within }) => within !== undefined);
