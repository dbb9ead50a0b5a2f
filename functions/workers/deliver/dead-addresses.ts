// Addresses that their provider reported dead. They are marked after all else, so that no outcome depends on it: an
// address that could not be marked is reported dead again by the next send to it.
import { SECOND } from "../../../shared/kernel/clock.ts";
import { errorFields } from "../../../shared/kernel/log.ts";
import { normalizedAddress } from "../../../shared/rules/addresses.ts";
import { suppressAddress } from "../../../shared/store/subscribers/addresses.ts";
import { markInvalid } from "../../../shared/store/subscribers/devices.ts";

import type { Prepared, Work } from "./work.ts";

/** No mark begins after this much of a worker's minute: other chunks of the same invocation may be in progress. */
const MARKING_MS = 45 * SECOND;

/** Marks the addresses of a chunk, so that they are not used again. Never throws. @param started when the worker was */
export async function markDeadAddresses(work: Work, started: number): Promise<void> {
  const { log, chunkRef, dead } = work;
  for (const message of dead)
    await markOne(work, message, started + MARKING_MS).catch((error) => {
      const { subscriber, channel, device } = message;
      const whose = { ...chunkRef, subscriber, channel, device: device?.id };
      log({ level: "warn", message: "a dead address was not marked", ...whose, ...errorFields(error) });
    });
}

async function markOne({ store, clock }: Work, { device, email }: Prepared, until: number): Promise<void> {
  if (clock.now() >= until) throw new Error("The worker's time is over.");
  if (device) await markInvalid(store, device);
  const address = normalizedAddress("email", email);
  if (address !== undefined)
    await suppressAddress(store, { kind: "email", address, reason: "bounce", source: "provider" });
}
