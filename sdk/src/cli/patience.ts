// Commands that wait or follow go on when the service is back.
import { ServiceError } from "../errors.ts";
import type { Io } from "./io.ts";

const PAUSE_MS = 2_000;

const isPassing = ({ status }: ServiceError) => status === 0 || status === 429 || status >= 500;

/**
 * Asks again while the service cannot be reached or cannot answer.
 * @returns undefined after Ctrl-C
 * @throws ServiceError if it refuses
 */
export async function patiently<T>(io: Io, ask: () => Promise<T>): Promise<T | undefined> {
  for (let isFirst = true; !io.signal.aborted; isFirst = false) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ServiceError && isPassing(error))) throw error;
      if (isFirst) io.note(`${error.message} Trying again.`);
      await io.pause(PAUSE_MS);
    }
  }
  return undefined;
}
