// Writes: one at a time, their error kept for the form, and the reads that they make stale.
import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { ServiceError } from "../../sdk/src/errors.ts";
import { type AnswerOf, type ArgumentsOf, call, type Operation } from "./api.ts";
import { invalidate } from "./query.ts";

interface Options {
  /** Operations that are stale afterwards, by prefix; without it those of the same group. */
  stale?: readonly string[] | undefined;
}

export interface Action<O extends Operation> {
  operation: O;
  isBusy: boolean;
  error: ServiceError | undefined;
  /** Undefined if the call was refused; `error` says why. */
  run(...given: ArgumentsOf<O>): Promise<{ answer: AnswerOf<O> } | undefined>;
}

export type Running = Pick<Action<Operation>, "operation" | "isBusy" | "error">;

/** Follows from nearly all that can be written: consents, attributes, lists, settings, other sends. */
const WHO_GETS_IT = "recipients.preview";

export function useAction<O extends Operation>(operation: O, { stale }: Options = {}): Action<O> {
  const state = useMemo(() => signal<{ isBusy: boolean; error?: ServiceError }>({ isBusy: false }), []);
  const run = async (...given: ArgumentsOf<O>) => {
    if (state.value.isBusy) return undefined;
    state.value = { isBusy: true };
    const refresh = () => invalidate(...(stale ?? [`${operation.split(".")[0]}.`]), WHO_GETS_IT);
    try {
      const answer = await call(operation, given);
      state.value = { isBusy: false };
      refresh();
      return { answer };
    } catch (cause) {
      if (!(cause instanceof ServiceError)) throw cause;
      state.value = { isBusy: false, error: cause };
      // Its state is another one than what is shown; where the answer was lost, perhaps.
      if (cause.status === 409 || cause.status === 0) refresh();
      return undefined;
    }
  };
  return {
    operation,
    run,
    isBusy: state.value.isBusy,
    // Of the last run, also for whoever waited for it.
    get error() {
      return state.value.error;
    },
  };
}
