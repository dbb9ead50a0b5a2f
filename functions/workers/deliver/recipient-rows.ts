// The profiles, addresses and devices of a chunk's recipients, read for a window of addresses at once.
import type { Unit } from "../../../shared/rules/progress.ts";
import { type Addresses, addressesOf, askable } from "../../../shared/store/subscribers/addresses.ts";
import { DeviceItem, type DeviceRow } from "../../../shared/store/subscribers/device-items.ts";
import { getProfiles, type LivingProfile } from "../../../shared/store/subscribers/subscribers.ts";
import { isOld } from "./send-gates.ts";
import { deviceName, recipientOf, targetOf, type Work } from "./work.ts";

/** Addresses whose profiles and devices are read at once. */
const WINDOW = 100;

export interface RecipientRows {
  /** Reads the rows that a group and the groups after it need. `needsProfile` tells which addresses need a profile. */
  load(units: readonly Unit[], group: readonly Unit[], needsProfile: (unit: Unit) => boolean): Promise<void>;
  /** The profile; undefined also if it was not read. */
  profileOf(subscriber: string): LivingProfile | undefined;
  /** The state of its addresses on the channels of the send. */
  addressesOf(subscriber: string): Addresses;
  /** The profile was read, and the subscriber is deleted. */
  isGone(subscriber: string): boolean;
  deviceOf(unit: Unit): DeviceRow | undefined;
}

/** Rows of devices are used until they are too old to hand anything over on them. */
export function createRecipientRows(work: Work): RecipientRows {
  const { store, job, chunk, known } = work;
  /** By subscriber and device: a recipient whose devices are in two windows is read twice. */
  let loaded = new Set<string>();
  let profiles = new Map<string, LivingProfile | undefined>();
  let addresses = new Map<string, Addresses>();
  let devices = new Map<string, DeviceRow | undefined>();
  const subscriberOf = (unit: Unit) => recipientOf(chunk, unit).subscriber;
  const nameOf = (unit: Unit) => `${subscriberOf(unit)}:${targetOf(chunk, unit).device}`;

  return {
    load: async (units, group, needsProfile) => {
      const [start] = group;
      if (!start || group.every((unit) => loaded.has(nameOf(unit)))) return;
      const first = units.indexOf(start);
      const window = units.slice(first, Math.max(first + group.length, first + WINDOW));
      const ids = [...new Set(window.filter(needsProfile).map(subscriberOf))];
      const withDevice = window.flatMap((unit) => {
        const { device } = targetOf(chunk, unit);
        return device === undefined ? [] : [{ unit, key: { subscriber: subscriberOf(unit), device } }];
      });

      const fresh = known && !isOld(work, known.at) ? known.devices : new Map<string, DeviceRow | undefined>();
      const unread = withDevice.filter(({ key }) => !fresh.has(deviceName(key))).map(({ key }) => key);
      const [foundProfiles, foundDevices] = await Promise.all([
        getProfiles(store, ids),
        store.getAll(DeviceItem, unread, { eventual: true }),
      ]);
      const found = new Map([...fresh, ...unread.map((key, i) => [deviceName(key), foundDevices[i]] as const)]);
      const channels = [...new Set(window.map((unit) => targetOf(chunk, unit).channel))];
      const foundAddresses = await addressesOf(store, foundProfiles, channels);

      loaded = new Set(window.map(nameOf));
      addresses = new Map(
        ids.map((id, i) => [id, (job.confirms ? askable(foundAddresses[i] ?? {}) : foundAddresses[i]) ?? {}]),
      );
      profiles = new Map(ids.map((id, i) => [id, foundProfiles[i]]));
      devices = new Map(withDevice.map(({ unit, key }) => [nameOf(unit), found.get(deviceName(key))]));
    },
    profileOf: (subscriber) => profiles.get(subscriber),
    addressesOf: (subscriber) => addresses.get(subscriber) ?? {},
    isGone: (subscriber) => profiles.has(subscriber) && !profiles.get(subscriber),
    deviceOf: (unit) => devices.get(nameOf(unit)),
  };
}
