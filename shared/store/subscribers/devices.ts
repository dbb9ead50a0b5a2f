// Devices: rows beside their subscriber's profile, and for each device_id and each address one row that points to its
// device. How they are registered: device-registration.ts.
import * as v from "valibot";
import { personal } from "../../contract/personal.ts";
import { absent, all, any, is, present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { type ConditionOf, fieldsOrNull, type KeyOf, type NewRowOf, removeItem } from "../item.ts";
import type { Key } from "../model.ts";
import { busy, contended, done, transacted, untilUncontended, whereItHolds } from "../refusals.ts";
import {
  addressOf,
  type DeviceAddress,
  DeviceItem,
  DevicePointer,
  type DeviceRow,
  deviceDetails,
  deviceFields,
  devicesBySubscriber,
} from "./device-items.ts";

export const Device = v.object({
  id: deviceFields.id,
  subscriber_id: deviceFields.subscriber_id,
  platform: deviceFields.platform,
  device_id: personal(v.nullable(deviceDetails.device_id)),
  model: v.nullable(deviceDetails.model),
  os_version: v.nullable(deviceDetails.os_version),
  app_version: v.nullable(deviceDetails.app_version),
  sdk_version: v.nullable(deviceDetails.sdk_version),
  locale: v.nullable(deviceDetails.locale),
  timezone: v.nullable(deviceDetails.timezone),
  push_enabled: deviceFields.push_enabled,
  environment: v.nullable(deviceDetails.environment),
  status: v.picklist(["active", "invalid", "disabled"]),
  created_at: deviceFields.created_at,
  updated_at: deviceFields.updated_at,
  last_seen_at: deviceFields.last_seen_at,
});
export type Device = v.InferOutput<typeof Device>;

/** A device row, as read or as it will be written. */
export type DeviceRecord = NewRowOf<typeof DeviceItem>;
type PointerKey = KeyOf<typeof DevicePointer>;

export const keyOfDevice = ({ subscriber_id, id }: Pick<DeviceRecord, "subscriber_id" | "id">) => ({
  subscriber: subscriber_id,
  device: id,
});

/** The pointer points to this device, or does not exist. */
export const pointsAt = ({ id }: Pick<DeviceRow, "id">): ConditionOf<typeof DevicePointer> =>
  any(absent("device"), is("device", id));

export const pointersOf = (device: DeviceAddress & Pick<DeviceRow, "device_id">): PointerKey[] => [
  { by: "token", text: addressOf(device) },
  ...(device.device_id === undefined ? [] : [{ by: "name" as const, text: device.device_id }]),
];

export const deviceRows = async (
  store: StoreReader,
  subscriber: string,
  options?: { eventual?: boolean },
): Promise<DeviceRow[]> =>
  (await store.query(DeviceItem, { subscriber }, { ...devicesBySubscriber(subscriber), ...options })).items;

/** A subscriber's devices, oldest first. */
export const devicesOf = async (store: StoreReader, subscriber: string): Promise<Device[]> =>
  (await deviceRows(store, subscriber)).map(deviceOf);

/** Removes a device and its pointers. @returns false if the subscriber has no such device. */
export async function removeDevice(store: Store, subscriber: string, id: string): Promise<boolean> {
  const key = { subscriber, device: id };
  return untilUncontended(busy.unavailable("This device is being registered just now."), async () => {
    const row = await store.get(DeviceItem, key);
    if (!row) return done(false);
    const pointers = pointersOf(row).map((pointer) => removeItem(DevicePointer, pointer, pointsAt(row)));
    const isRemoved = await transacted(store, [removeItem(DeviceItem, key, is("rev", row.rev)), ...pointers]);
    return isRemoved ? done(true) : contended;
  });
}

/** The device has the address that was read. */
const isAddressOf = ({ platform, token, subscription }: DeviceRow): ConditionOf<typeof DeviceItem> =>
  all(is("platform", platform), is(token === undefined ? "subscription" : "token", token ?? subscription ?? ""));

/** A device whose address the provider rejects is not used again, unless it has been given a new address since. */
export async function markInvalid(store: Store, device: DeviceRow): Promise<void> {
  const isThis = all(present("id"), isAddressOf(device));
  await whereItHolds(store.change(DeviceItem, keyOfDevice(device), { set: { status: "invalid" } }, isThis));
}

/**
 * The keys that an erasure must remove for a subscriber's devices: first the pointers, then, once they are gone, the
 * devices. After a crash in between, the devices still lead to their pointers.
 */
export async function deviceTraces(store: StoreReader, subscriber: string): Promise<Key[]> {
  const rows = await deviceRows(store, subscriber);
  const pointers = (await store.getAll(DevicePointer, rows.flatMap(pointersOf))).filter((row) => row !== undefined);
  const ofSubscriber = pointers.filter((pointer) => pointer.subscriber === subscriber);
  return ofSubscriber.length > 0 ? ofSubscriber : rows;
}

/** A device as the API returns it, without its token. */
export const deviceOf = (row: DeviceRecord): Device => ({
  ...fieldsOrNull(Device.entries, row),
  status: row.status === "active" && !row.push_enabled ? "disabled" : row.status,
});
