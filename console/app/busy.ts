// Several calls as one action of the user: busy until the last, with the error of a refused one.
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
