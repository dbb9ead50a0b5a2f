// How many subscribers a rule would choose: exact up to 10,000, beyond from a range of ids, which are evenly spread.
import type { StoreReader } from "../../resources.ts";
import type { Rule } from "../../rules/segment-evaluation.ts";
import { keys, SHARDS } from "../keys.ts";
import type { Item, Key } from "../model.ts";
import { attributesForRules, countSubscribers, isLiving } from "../subscribers/subscribers.ts";
import { chunksOf } from "../table.ts";
import { judgeProfile } from "./facts.ts";

/** D-PREVIEW. */
export const MAX_EXACT = 10_000;
/** A sample's size, in subscribers and, where they are large, in bytes: one page of 1 MB more is 450 RCU. */
const SAMPLE = 10_000;
const SAMPLE_PAGES = 18;
const SAMPLE_BYTES = 2.4 * 1_048_576;
/** A sample whose histories must be read is smaller: each is a request of its own. */
const SAMPLE_OF_HISTORIES = 1_000;
const AT_ONCE = 50;
const MAX_IDS = 10;
const ID_CHARACTERS = 36;

export interface Preview {
  estimated_count: number;
  sample_subscriber_ids: string[];
  exact: boolean;
}

export async function previewRule(store: StoreReader, rule: Rule): Promise<Preview> {
  const total = await countSubscribers(store);
  const profiles = total <= MAX_EXACT ? await everyone(store) : undefined;
  if (profiles) {
    const chosen = await choose(store, rule, profiles);
    return { estimated_count: chosen.length, sample_subscriber_ids: chosen.slice(0, MAX_IDS), exact: true };
  }
  const size = Math.max(total, MAX_EXACT);
  const sample = await someProfiles(store, rule.events.length > 0 ? SAMPLE_OF_HISTORIES : SAMPLE, size);
  const chosen = await choose(store, rule, sample);
  const share = sample.length === 0 ? 0 : chosen.length / sample.length;
  return {
    estimated_count: Math.round(share * size),
    sample_subscriber_ids: chosen.slice(0, MAX_IDS),
    exact: false,
  };
}

const isProfile = (row: Item): boolean => row.sk.length === ID_CHARACTERS && isLiving(row);

/** All shards side by side. @returns undefined if there turn out to be far more than counted. */
async function everyone(store: StoreReader): Promise<Item[] | undefined> {
  let found = 0;
  const shards = await Promise.all(
    SHARDS.map(async (shard) => {
      const profiles: Item[] = [];
      let after: Key | undefined;
      do {
        const page = await store.query({ pk: keys.audience(store.tenant, shard), after, eventual: true });
        profiles.push(...page.items.filter(isProfile));
        found += page.items.length;
        after = page.next;
      } while (after && found <= 2 * MAX_EXACT);
      return profiles;
    }),
  );
  const all = shards.flat();
  return all.length > MAX_EXACT ? undefined : all;
}

/** Subscribers from one end of the ids on, which say nothing about them. */
async function someProfiles(store: StoreReader, wanted: number, total: number): Promise<Item[]> {
  const profiles: Item[] = [];
  let bytes = 0;
  let pages = 0;
  const expected = Math.ceil(wanted / Math.max(1, total / SHARDS.length));
  for (const shard of SHARDS.slice(0, Math.max(1, expected) + 1)) {
    let after: Key | undefined;
    do {
      const limit = wanted - profiles.length;
      const page = await store.query({ pk: keys.audience(store.tenant, shard), after, eventual: true, limit });
      profiles.push(...page.items.filter(isProfile));
      bytes += Buffer.byteLength(JSON.stringify(page.items));
      after = page.next;
      if (profiles.length >= wanted || ++pages >= SAMPLE_PAGES || bytes >= SAMPLE_BYTES) return profiles;
    } while (after);
  }
  return profiles;
}

/** Ids of those whom the rule chooses; histories are read only where the attributes do not settle the matter. */
async function choose(store: StoreReader, rule: Rule, profiles: readonly Item[]): Promise<string[]> {
  const judged = profiles.map((profile) => {
    return { id: String(profile.id), profile, settled: rule.decidedBy(attributesForRules(profile)) };
  });
  const byHistory = new Set<string>();
  const open = judged.filter(({ settled }) => settled === undefined);
  for (const batch of chunksOf(open, AT_ONCE))
    await Promise.all(
      batch.map(async ({ id, profile }) => {
        if ((await judgeProfile(store, rule, profile)).matches) byHistory.add(id);
      }),
    );
  return judged.filter(({ id, settled }) => settled ?? byHistory.has(id)).map(({ id }) => id);
}
