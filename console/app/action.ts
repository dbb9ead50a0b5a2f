// Writes: one at a time, their error kept for the form, and the reads that they make stale.
import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { ServiceError } from "../../sdk/src/errors.ts";
import { type AnswerOf, type ArgumentsOf, call, type Operation } from "./api.ts";
import { invalidate } from "./query.ts";

interface Options {
  /** Operations that are stale afterwards, by prefix; without it those of the same group. */
  stale?: readonly string[] | undefined;
  /** The caller sees to it that a repeat makes no second one. */
  isOnce?: boolean;
}

export interface Action<O extends Operation> {
  operation: O;
  isBusy: boolean;
  error: ServiceError | undefined;
  /** Undefined if the call was refused; `error` says why. */
  run(...given: ArgumentsOf<O>): Promise<{ answer: AnswerOf<O> } | undefined>;
}

export type RunningAction = Pick<Action<Operation>, "operation" | "isBusy" | "error">;

/** The code of a creation whose answer was lost: the service may have done it. */
export const ANSWER_LOST = "ANSWER_LOST";

/** Done twice, it makes two; of secrets the one before the last signs no more. */
const MAKES = /\.(create|duplicate|import|rotate)/;

/** There was no answer, or not the service's own. */
const UNANSWERED: ReadonlySet<number> = new Set([0, 502, 504]);

/** Follows from nearly all that can be written: consents, attributes, lists, settings, other sends. */
const WHO_GETS_IT = "recipients.preview";

export function useAction<O extends Operation>(operation: O, { stale, isOnce }: Options = {}): Action<O> {
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
      const isLost = UNANSWERED.has(cause.status);
      const isTwice = isLost && !isOnce && MAKES.test(operation);
      const error = isTwice ? new ServiceError(cause.message, { ...cause, code: ANSWER_LOST }) : cause;
      state.value = { isBusy: false, error };
      // Its state is another one than what is shown; where the answer was lost, perhaps.
      if (cause.status === 409 || isLost) refresh();
      return undefined;
    }
  };
  return {
    operation,
    run,
    isBusy: state.value.isBusy,
    // Of the last run, also for a caller that waited for it.
    get error() {
      return state.value.error;
    },
  };
}
