// A provider is never called twice for a send, unless it said that it had not taken the message.
import type { Invariant } from "../invariant.ts";

export const providerCalledOnce: Invariant = {
  name: "provider-called-once",
  watch: (world, broken) => {
    const taken = new Set<string>();
    world.onProviderCall(({ job, subscriber, target, isRefusedForNow }) => {
      const send = `${job} ${subscriber} ${target}`;
      if (taken.has(send)) broken(`the provider was called again for ${subscriber} of job ${job}`, job, subscriber);
      if (isRefusedForNow) return void world.ledger.putOff.add(job);
      taken.add(send);
      world.ledger.pushed.set(job, (world.ledger.pushed.get(job) ?? new Set()).add(subscriber));
    });
    return {};
  },
};
