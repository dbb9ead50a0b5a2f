import type { EntryRules, Graph, Trigger } from "../../rules/journey-graph.ts";
import type { StoreReader } from "../context.ts";
import { keyOf, type RowOf } from "../item.ts";
import { fromJson } from "../json-text.ts";
import { JourneyVersion } from "./items.ts";

/** The parts of a version that its runs need. */
export interface Version {
  trigger: Trigger;
  entry_rules: EntryRules | null;
  graph: Graph;
}

/** Versions that were activated, newest first. @param range.before only older ones than this */
export async function listVersions(
  store: StoreReader,
  id: string,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<{ versions: (Version & { version: number })[]; next: number | undefined }> {
  const after =
    before === undefined ? undefined : keyOf(JourneyVersion, store.tenant, { journey: id, version: before });
  const page = await store.query(JourneyVersion, { journey: id }, { newestFirst: true, limit, after });
  const versions = page.items.map((row) => ({ version: Number(row.sk.slice("V#".length)), ...versionIn(row) }));
  return { versions, next: page.next && versions.at(-1)?.version };
}

/** A version that was activated: it never changes. */
export async function getVersion(store: StoreReader, id: string, version: number): Promise<Version | undefined> {
  const row = await store.get(JourneyVersion, { journey: id, version });
  return row && versionIn(row);
}

const versionIn = ({ trigger, entry_rules, steps }: RowOf<typeof JourneyVersion>): Version => ({
  trigger: fromJson(trigger),
  entry_rules: fromJson(entry_rules),
  graph: fromJson(steps),
});
