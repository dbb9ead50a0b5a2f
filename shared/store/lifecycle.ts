// Moves of things that have states: the table `action → from, to` is the condition of the write, the message that
// names the current status, and the diagram of the reference.
import { all, oneOf } from "./conditions.ts";
import type { Store } from "./context.ts";
import type { AnyItem, ChangeOf, ConditionOf, Declaration, ItemWrite, KeyOf, RowOf } from "./item.ts";
import { type ChangeResult, changed } from "./refusals.ts";

export type Lifecycle<Status extends string> = Record<string, { from: readonly Status[]; to: Status }>;

/** An item that a lifecycle moves from one status to another. */
// biome-ignore lint/suspicious/noExplicitAny: any item that has a status
type Movable = Declaration<any, any, any, "workspace"> & { readonly types?: { row: { status: string } } };

interface Transition<D, L extends Lifecycle<string> = Lifecycle<string>> {
  lifecycle: L;
  action: keyof L & string;
  change?: ChangeOf<D>;
  when?: ConditionOf<D>;
}

export const moveWrite = <D extends Movable, L extends Lifecycle<string>>(
  item: D,
  key: KeyOf<D>,
  transition: Transition<D, L>,
): ItemWrite<"workspace"> => ({ item, key, write: writeOf(transition) });

/**
 * Takes an action if the entity is in a status that allows it, in one conditional write.
 * @returns the row after the move, or as it is (undefined if there is none) where the condition failed.
 */
export function move<D extends Movable, L extends Lifecycle<string>>(
  store: Store,
  item: D,
  key: KeyOf<D>,
  transition: Transition<D, L>,
): Promise<ChangeResult<RowOf<D>>> {
  const { change, when } = writeOf(transition);
  return changed(item, store.change<AnyItem<"workspace">>(item, key as object, change, when));
}

function writeOf({ lifecycle, action, change = {}, when }: Transition<AnyItem>) {
  const { from, to } = lifecycle[action] ?? { from: [], to: "" };
  const inPlace = oneOf("status", from);
  const moving = { ...change, set: { ...change.set, status: to } };
  return { kind: "change" as const, change: moving, when: when ? all(inPlace, when) : inPlace };
}
