// How often a job was seen, opened and clicked: summed from the counters, or counted again from the rows they stand for.

import type { StoreReader } from "../../resources.ts";
import { type Interaction, interactions, type Stage, stages } from "../../rules/interactions.ts";
import { keys, SHARDS } from "../keys.ts";
import type { Item } from "../model.ts";
import { allItems } from "../pages.ts";

type Tally = {
  /** Reports, by what they say. */
  interactions: Record<Interaction, number>;
  /** Distinct recipients who came to each stage. */
  recipients: Record<Stage, number>;
};

export interface InteractionTotals extends Tally {
  /** By channel type. */
  channels: Record<string, Tally>;
  /** By arm, for A/B sends alone. */
  variants: Record<string, Tally>;
}

interface Counted {
  interaction: string;
  channel?: string;
  variant_id?: string;
  /** Marks that its recipient came to by it: `opened`, `opened@in_app`. */
  firsts: string[];
}

const REPORTS = "i";
const RECIPIENTS = "r";

/** What a row adds to the counters: `i|tapped`, `r|opened`, and the same under `c|<channel>` and `v|<variant>`. */
export function countersOf({ interaction, channel, variant_id, firsts }: Counted): Record<string, number> {
  const names = [`${REPORTS}|${interaction}`];
  if (channel !== undefined) names.push(`c|${channel}|${REPORTS}|${interaction}`);
  if (variant_id !== undefined) names.push(`v|${variant_id}|${REPORTS}|${interaction}`);
  for (const first of firsts) {
    const [stage, by] = first.split("@");
    if (by !== undefined) names.push(`c|${by}|${RECIPIENTS}|${stage}`);
    else {
      names.push(`${RECIPIENTS}|${stage}`);
      if (variant_id !== undefined) names.push(`v|${variant_id}|${RECIPIENTS}|${stage}`);
    }
  }
  return Object.fromEntries(names.map((name) => [name, 1]));
}

/** The totals of a job: one request, half an RCU a partition. */
export async function interactionTotals(store: StoreReader, job: string): Promise<InteractionTotals> {
  const items = await store.getAll(
    SHARDS.map((shard) => keys.interactions(store.tenant, job, shard)),
    { eventual: true },
  );
  return totalsOf(items.flatMap((item) => (item ? [countersIn(item)] : [])));
}

/** The same from the rows: what the counters must agree with. */
export async function recountInteractions(store: StoreReader, job: string): Promise<InteractionTotals> {
  const parts = SHARDS.flatMap((first) => SHARDS.map((second) => first + second));
  const rows = await Promise.all(
    parts.map((part) => allItems(store, { pk: keys.interactionRows(store.tenant, job, part) })),
  );
  return totalsOf(rows.flat().map((row) => countersOf(countedOf(row))));
}

const countedOf = ({ interaction, channel, variant_id, firsts }: Item): Counted => ({
  interaction: String(interaction),
  ...(channel !== undefined && { channel: String(channel) }),
  ...(variant_id !== undefined && { variant_id: String(variant_id) }),
  firsts: firsts as string[],
});

const countersIn = ({ pk: _, sk: __, ...counters }: Item): Record<string, number> => counters as Record<string, number>;

const zeros = <K extends string>(names: readonly K[]) =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<K, number>;

const emptyTally = (): Tally => ({ interactions: zeros(interactions), recipients: zeros(stages) });

function totalsOf(counted: readonly Record<string, number>[]): InteractionTotals {
  const totals: InteractionTotals = { ...emptyTally(), channels: {}, variants: {} };
  for (const counters of counted)
    for (const [name, n] of Object.entries(counters)) {
      const parts = name.split("|");
      const [what, key] = parts.slice(-2) as [string, string];
      const tally = parts.length === 2 ? totals : tallyOf(totals, parts[0]!, parts[1]!);
      if (what === REPORTS) tally.interactions[key as Interaction] += n;
      else tally.recipients[key as Stage] += n;
    }
  return totals;
}

function tallyOf({ channels, variants }: InteractionTotals, by: string, name: string): Tally {
  const group = by === "c" ? channels : variants;
  group[name] ??= emptyTally();
  return group[name];
}
