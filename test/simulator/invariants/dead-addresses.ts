// A device that its provider reported gone is marked at once, so that it is not sent to again.
import { isReachableDevice } from "../../../shared/rules/reach.ts";
import { fullKey, rowOf } from "../../../shared/store/item.ts";
import { DeviceItem } from "../../../shared/store/subscribers/device-items.ts";
import { deviceOf } from "../../../shared/store/subscribers/devices.ts";
import type { Invariant } from "../invariant.ts";
import { providerBook } from "../provider-book.ts";
import type { Call } from "../providers.ts";

export const deadAddresses: Invariant = {
  name: "dead-addresses",
  watch: (world, broken) => {
    const { ledger, mirror } = world;
    const book = providerBook(world);
    const calls: Call[] = [];
    world.onProviderCall((call) => void calls.push(call));
    return {
      end: () => {
        for (const call of calls) {
          const { told, message, subscriber, target, job } = call;
          // A worker that dies or fails may leave it to the next send.
          if (book.isLost(call)) continue;
          if (told?.status !== "rejected" || !told.addressDead) continue;
          if (ledger.people.get(subscriber)?.erasingSince !== undefined) continue;
          const { pk, sk } = fullKey(DeviceItem, { subscriber, device: target }, `T#${message.tenant}#`);
          const row = mirror.get(pk, sk);
          if (row && isReachableDevice(deviceOf(rowOf(DeviceItem, row))))
            broken(`device ${target} is gone and stays a device`, subscriber, job);
        }
      },
    };
  },
};
