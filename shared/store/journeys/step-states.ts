// The states of the steps of a journey that have a brake (F21), without their figures.
import type { Halt } from "../../rules/brake.ts";
import { LANES } from "../../rules/step-brake.ts";
import type { Store, StoreReader } from "../context.ts";
import type { RowOf } from "../item.ts";
import { fromJson } from "../json-text.ts";
import { StepLane, StepSignal, StepState } from "./step-brake-items.ts";

type StateRow = RowOf<typeof StepState>;

export const lanes = Array.from({ length: LANES }, (_, lane) => lane);

/** The steps of a journey that halted, were canceled or began with a canary. */
export const stepStates = (store: StoreReader, journey: string): Promise<StateRow[]> =>
  store.queryAll(StepState, { journey });

/** Why a step halted, unless it was resumed. */
export const haltOfStep = ({ halted }: Pick<StateRow, "halted">): Halt | undefined =>
  halted === undefined ? undefined : fromJson(halted);

/** Why the steps halted at which runs wait, in the order of the runs. */
export async function haltsOf(
  store: StoreReader,
  runs: readonly { journey: string; version: number; step: string; isWaiting: boolean }[],
): Promise<(Halt | undefined)[]> {
  const waiting = runs.filter(({ isWaiting }) => isWaiting);
  const states = await store.getAll(StepState, waiting, { eventual: true });
  const found = states.values();
  return runs.map(({ isWaiting }) => {
    const state = isWaiting ? found.next().value : undefined;
    return state && !state.canceled ? haltOfStep(state) : undefined;
  });
}

/** Removes the states of the steps of a deleted journey. */
export async function clearSteps(store: Store, journey: string): Promise<void> {
  await store.removeRows(await stepStates(store, journey));
  for (const lane of lanes) {
    await store.removeRows(await store.queryAll(StepLane, { journey, lane }));
    await store.removeRows(await store.queryAll(StepSignal, { journey, lane }));
  }
}
