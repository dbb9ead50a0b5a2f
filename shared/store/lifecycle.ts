// Moves of things that have states: the table `action → from, to` is the condition of the write, the message that
// names the current status, and the diagram of the reference.
import type { Store } from "../resources.ts";
import { all, type Condition, oneOf } from "./conditions.ts";
import type { Change } from "./expressions.ts";
import type { Item, Key } from "./model.ts";
import { onConditionFailed } from "./refusals.ts";

export type Lifecycle<Status extends string> = Record<string, { from: readonly Status[]; to: Status }>;

export type Moved = { item: Item } | { current: Item | undefined };

interface MoveOptions {
  change?: Change;
  when?: Condition;
}

/** A move as a step of a transaction. */
export function moveWrite<L extends Lifecycle<string>>(
  key: Key,
  lifecycle: L,
  action: keyof L & string,
  { change = {}, when }: MoveOptions = {},
): { update: Key; change: Change; when: Condition } {
  const { from, to } = lifecycle[action]!;
  const inPlace = oneOf("status", from);
  const moving = { ...change, set: { ...change.set, status: to } };
  return { update: key, change: moving, when: when ? all(inPlace, when) : inPlace };
}

/**
 * Takes an action if the thing is where the action begins, in one conditional write.
 * @returns the item after the move, or as it is (undefined if there is none) where the move was refused.
 */
export function move<L extends Lifecycle<string>>(
  store: Store,
  key: Key,
  lifecycle: L,
  action: keyof L & string,
  options: MoveOptions = {},
): Promise<Moved> {
  const { change, when } = moveWrite(key, lifecycle, action, options);
  return store.update(key, change, when).then(
    (item): Moved => ({ item }),
    onConditionFailed((current): Moved => ({ current })),
  );
}
