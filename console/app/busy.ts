// Several calls that are one act of the user: busy until the last, and the error of the one that was refused.
import { useState } from "preact/hooks";
import { ServiceError } from "../../sdk/src/errors.ts";

/** @returns how to run it; a refusal is kept in `error`, any other cause is thrown */
export function useBusy(act: () => Promise<void>) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ServiceError>();
  const run = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await act();
    } catch (cause) {
      if (!(cause instanceof ServiceError)) throw cause;
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, error, run };
}
