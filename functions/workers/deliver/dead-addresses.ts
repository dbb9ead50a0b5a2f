// Addresses that their provider reported dead. They are marked after all else, so that no outcome depends on it: an
// address that could not be marked is reported dead again by the next send to it.
import { SECOND } from "../../../shared/kernel/clock.ts";
import { errorFields } from "../../../shared/kernel/log.ts";
import type { SendOutcome } from "../../../shared/rules/progress.ts";
import type { ChunkRef } from "../../../shared/store/sends/ledger/touches.ts";
import { markInvalid } from "../../../shared/store/subscribers/devices.ts";
import { suppress } from "../../../shared/store/subscribers/mail-consents.ts";
import type { Prepared } from "./prepare.ts";
import type { WorkerContext } from "./rounds.ts";

/** No mark begins after this much of a worker's minute: other chunks of the same invocation may be in progress. */
const MARKING_MS = 45 * SECOND;

export interface DeadAddresses {
  note(message: Prepared, outcome: SendOutcome): void;
  /** Marks the noted addresses, so that they are not used again. Never throws. */
  mark(): Promise<void>;
}

export function createDeadAddresses({ store, clock, log }: WorkerContext, chunkRef: ChunkRef): DeadAddresses {
  const until = clock.now() + MARKING_MS;
  const dead: Prepared[] = [];

  const markOne = async ({ subscriber, device, email }: Prepared): Promise<void> => {
    if (clock.now() >= until) throw new Error("The worker's time is over.");
    if (device) await markInvalid(store, device);
    else if (email !== undefined) await suppress(store, subscriber, { email, source: "provider" });
  };

  return {
    note: (message, outcome) => {
      if (outcome.status === "rejected" && outcome.addressDead) dead.push(message);
    },
    mark: async () => {
      for (const message of dead) {
        const { subscriber, channel, device } = message;
        await markOne(message).catch((error) =>
          log({
            level: "warn",
            message: "a dead address was not marked",
            ...chunkRef,
            subscriber,
            channel,
            device: device?.id,
            ...errorFields(error),
          }),
        );
      }
    },
  };
}
