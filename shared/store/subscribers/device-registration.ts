// Registration of devices (D-DEV): one transaction with the rows that point to the device; a refresh is one write.
import type * as v from "valibot";
import { timestamp } from "../../kernel/clock.ts";
import { withoutUndefined } from "../../kernel/objects.ts";
import { byText } from "../../kernel/order.ts";
import { absent, all, is } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { type ConditionOf, type ItemWrite, type KeyOf, putItem, type RowOf, removeItem } from "../item.ts";
import { toJson } from "../json-text.ts";
import { busy, contended, done, happened, untilUncontended } from "../refusals.ts";
import {
  addressOf,
  DeviceItem,
  DevicePointer,
  type DeviceRow,
  type deviceDetails,
  type PushSubscription,
} from "./device-items.ts";
import { type Device, type DeviceRecord, deviceOf, deviceRows, keyOfDevice, pointersOf, pointsAt } from "./devices.ts";
import { Profile } from "./items.ts";
import { isLiving } from "./subscribers.ts";

/** D-DEV: one more removes the device that was seen longest ago. */
export const MAX_DEVICES = 20;

type DeviceDetails = { [N in keyof typeof deviceDetails]?: v.InferOutput<(typeof deviceDetails)[N]> | undefined };

/** The input of a registration; omitted fields keep the stored values of the device. */
export interface DeviceInput extends DeviceDetails {
  subscriber_id: string;
  platform: Device["platform"];
  push_enabled?: boolean | undefined;
  /** APNs or FCM token; absent for a browser. */
  token?: string | undefined;
  subscription?: PushSubscription | undefined;
}

type Pointer = RowOf<typeof DevicePointer>;
type PointerKey = KeyOf<typeof DevicePointer>;
type PointerCondition = ConditionOf<typeof DevicePointer>;

/**
 * Registers a device under its device_id, else under its token (D-DEV). A device_id or a token that is known moves to
 * this subscriber; beyond 20 devices the oldest is removed.
 * @returns undefined if the subscriber does not exist any more.
 */
export async function registerDevice(
  store: Store,
  { token, ...about }: DeviceInput,
): Promise<{ device: Device; isNew: boolean } | undefined> {
  const input = { ...about, token: token && about.platform === "ios" ? withoutCase(token) : token };
  let isFirst = true;
  return untilUncontended(busy.unavailable("This device is being registered by others just now."), async () => {
    const eventual = isFirst;
    isFirst = false;
    const existing = await findExisting(store, input);
    const row = registrationOf(store, input, existing.device);
    const outcome =
      existing.device && isInPlace(existing.device, row) && existing.token?.device === row.id
        ? await refresh(store, row, existing.device)
        : await applyRegistration(store, row, existing, { eventual });
    if (outcome === "gone") return done(undefined);
    if (outcome === "done") return done({ device: deviceOf(row), isNew: !existing.device });
    return contended;
  });
}

const addressIn = (input: DeviceInput): string =>
  addressOf({ ...input, subscription: input.subscription && toJson(input.subscription) });

/** A token of Apple is a number in hexadecimal digits, which apps write in either case. */
const withoutCase = (token: string): string => (/^[\da-f]+$/i.test(token) ? token.toLowerCase() : token);

interface ExistingDevice {
  /** The registration has a device_id. */
  isNamed: boolean;
  /** The rows that point from the device_id and from the address to a device. */
  name: Pointer | undefined;
  token: Pointer | undefined;
  device: DeviceRow | undefined;
  /** Another device that has had this address until now. */
  former: DeviceRow | undefined;
}

async function findExisting(store: StoreReader, input: DeviceInput): Promise<ExistingDevice> {
  const byToken = { by: "token", text: addressIn(input) } as const;
  const byName = input.device_id === undefined ? byToken : ({ by: "name", text: input.device_id } as const);
  const [found, token] = await store.getAll(DevicePointer, [byName, byToken]);
  const name = input.device_id === undefined ? undefined : found;
  const [pointer, other] = name ? [name, token] : [token, undefined];
  const pointers = [pointer, other].filter((row) => row !== undefined);
  const rows = await store.getAll(DeviceItem, pointers);
  const device = pointer && rows[0];
  const former = other && rows[1];
  const isNamed = input.device_id !== undefined;
  return { isNamed, name, token, device, former: former?.id === device?.id ? undefined : former };
}

function registrationOf(
  { clock, ids }: Pick<Store, "clock" | "ids">,
  input: DeviceInput,
  existing: DeviceRow | undefined,
): DeviceRecord {
  const { subscriber_id, platform, token, subscription, push_enabled = existing?.push_enabled ?? true } = input;
  const now = timestamp(clock.now());
  return {
    ...detailsOf(existing),
    ...detailsOf(input),
    id: existing ? existing.id : ids.uuidAt(clock.now()),
    subscriber_id,
    platform,
    push_enabled,
    token,
    subscription: subscription && toJson(subscription),
    status: "active",
    created_at: existing?.created_at ?? now,
    updated_at: now,
    last_seen_at: now,
    rev: (existing?.rev ?? 0) + 1,
  };
}

function detailsOf(source: DeviceDetails = {}): DeviceDetails {
  const { device_id, model, os_version, app_version, sdk_version, locale, timezone, environment } = source;
  return withoutUndefined({
    device_id,
    model,
    os_version,
    app_version,
    sdk_version,
    locale,
    timezone,
    environment,
  });
}

const isSame = (stored: DeviceRow | undefined, row: DeviceRecord): stored is DeviceRow =>
  stored?.id === row.id && stored.subscriber_id === row.subscriber_id;

const isInPlace = (existing: DeviceRow, row: DeviceRecord): boolean =>
  isSame(existing, row) && addressOf(existing) === addressOf(row) && existing.device_id === row.device_id;

type Outcome = "done" | "gone" | "again";

/** An unchanged place: one write of the row itself. */
const refresh = (store: Store, row: DeviceRecord, existing: DeviceRow): Promise<Outcome> =>
  doneBy(store.put(DeviceItem, keyOfDevice(row), row, is("rev", existing.rev)));

const doneBy = async (write: Promise<void>): Promise<Outcome> => ((await happened(write)) ? "done" : "again");

/**
 * The row, its pointers, and the rows that must be removed for it: all or nothing.
 * @param options.eventual the other devices are read at half the price: one that is missed is removed by the next
 * registration, and one that was changed meanwhile is found by its condition
 */
async function applyRegistration(
  store: Store,
  row: DeviceRecord,
  existing: ExistingDevice,
  options: { eventual: boolean },
): Promise<Outcome> {
  const subscriber = row.subscriber_id;
  const same = isSame(existing.device, row) ? existing.device : undefined;
  // Not a condition of the transaction, which costs 2 units for each KB of the profile. The second pass of an erasure
  // removes a device that is registered in the meantime.
  const [profile, surplus] = await Promise.all([
    store.get(Profile, { id: subscriber }),
    same ? [] : surplusOf(store, subscriber, existing, options),
  ]);
  if (!profile || !isLiving(profile)) return "gone";
  const moved = same ? undefined : existing.device;
  const leaving = [moved, existing.former, ...surplus].filter((device) => device !== undefined);
  const pointers: { key: PointerKey; when: PointerCondition }[] = [
    { key: { by: "token", text: addressOf(row) }, when: asRead(existing.token) },
  ];
  if (row.device_id !== undefined) {
    const when = existing.isNamed ? asRead(existing.name) : pointsAt(row);
    pointers.push({ key: { by: "name", text: row.device_id }, when });
  }
  const kept = new Set(pointers.map(({ key }) => DevicePointer.pk(key)));
  const stale = [...leaving, ...(same ? [same] : [])]
    .flatMap((device) => pointersOf(device).map((key) => ({ key, when: pointsAt(device) })))
    .filter(({ key }) => !kept.has(DevicePointer.pk(key)));
  const writes: ItemWrite<"workspace">[] = [
    putItem(DeviceItem, keyOfDevice(row), row, same ? is("rev", same.rev) : absent()),
    ...pointers.map(({ key, when }) => putItem(DevicePointer, key, { subscriber, device: row.id }, when)),
    ...leaving.map((device) => removeItem(DeviceItem, keyOfDevice(device), is("rev", device.rev))),
    ...stale.map(({ key, when }) => removeItem(DevicePointer, key, when)),
  ];
  return doneBy(store.transact(writes));
}

const asRead = (pointer: Pointer | undefined): PointerCondition =>
  pointer ? all(is("subscriber", pointer.subscriber), is("device", pointer.device)) : absent();

/** The devices to be removed so that one more has room: those seen longest ago. */
async function surplusOf(
  store: StoreReader,
  subscriber: string,
  { device, former }: ExistingDevice,
  options: { eventual: boolean },
): Promise<DeviceRow[]> {
  const gone = new Set([device?.sk, former?.sk]);
  const others = (await deviceRows(store, subscriber, options)).filter(({ sk }) => !gone.has(sk));
  const order = ({ last_seen_at, id }: DeviceRow) => `${last_seen_at}#${id}`;
  others.sort(byText(order));
  return others.slice(0, Math.max(0, others.length - (MAX_DEVICES - 1)));
}
