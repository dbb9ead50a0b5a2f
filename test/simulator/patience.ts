// Requests of the scenario itself: they meet the writes of the others, but no faults of their own.
import type { sendThrough } from "../../local/aws/index.ts";
import type { Kernel } from "./kernel.ts";

const PATIENCE_MS = 50;
const PASSING = /Throttling|TransactionConflict|ProvisionedThroughput/;
type Send = ReturnType<typeof sendThrough>;

/** What the scenario itself does meets the writes of the others, but has no faults of its own. */
export function patiently(kernel: Kernel, send: Send): Send {
  const sendPatiently = async (command: Parameters<Send>[0]): Promise<unknown> => {
    try {
      return await send(command);
    } catch (error) {
      if (!PASSING.test(`${(error as Error).name} ${(error as Error).message}`)) throw error;
      await kernel.sleep(PATIENCE_MS);
      return sendPatiently(command);
    }
  };
  // What a command is answered with does not depend on how often it was sent.
  return sendPatiently as Send;
}
