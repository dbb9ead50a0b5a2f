// What a sandbox records instead of sending it is a call of a provider that accepts everything.
import type { ServiceName, Wire } from "../../local/aws/index.ts";
import type { ProvidedChannel } from "../../shared/rules/channel-types.ts";
import { rowOf } from "../../shared/store/item.ts";
import { OutboxItem } from "../../shared/store/sandbox/items.ts";
import { placeOf } from "./entities.ts";
import type { Process } from "./fleet.ts";
import type { Kernel } from "./kernel.ts";
import type { Commit } from "./mirror.ts";
import type { Call } from "./providers.ts";
import { keysOf } from "./requests.ts";

const OUTBOX = "OUTBOX";

export function watchOutboxes(kernel: Kernel, told: (call: Call) => void) {
  /** Who records an entry. */
  const writers = new Map<string, Process>();
  return {
    request: (process: Process, service: ServiceName, operation: string, input: Wire): undefined => {
      if (service === "dynamodb" && operation === "PutItem")
        for (const { pk, sk } of keysOf(operation, input)) if (placeOf(pk)?.kind === OUTBOX) writers.set(sk, process);
    },
    commit: ({ pk, sk, before, after }: Commit): void => {
      const place = placeOf(pk);
      const by = writers.get(sk);
      if (place?.kind !== OUTBOX || before || !after || !by) return;
      const { channel, to, job_id: job, subscriber_id: subscriber, title, body } = rowOf(OutboxItem, after);
      if (channel === "webhook" || job === null || subscriber === null) return;
      const target: ProvidedChannel = channel;
      told({
        ...{ channel, job, subscriber, target, by, at: kernel.now(), toldAt: kernel.now() },
        message: {
          ...{ tenant: place.tenant, job, subscriber, target, body, title: title ?? "" },
          address: { email: to },
        },
        ...{ isRefusedForNow: false, isThrottled: false, isRecorded: true },
        told: { kind: "accepted", providerId: sk },
      });
    },
  };
}
