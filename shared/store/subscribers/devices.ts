// Devices: rows beside their subscriber's profile, and for each device_id and each token one row that says whose it is.
import { timestamp } from "../../clock.ts";
import { ApiError } from "../../http/errors.ts";
import type { Store, StoreReader } from "../../resources.ts";
import type { Version } from "../../rules/versions.ts";
import { absent, all, any, type Condition, is, present } from "../conditions.ts";
import { keys } from "../keys.ts";
import type { Item, Key, TenantId, Value } from "../model.ts";
import { onConditionFailed, onTransactionCanceled } from "../refusals.ts";
import type { TransactItem } from "../table.ts";

/** D-DEV: the oldest goes when one more comes. */
export const MAX_DEVICES = 20;
/** How often a registration is begun anew because another one came first. */
const MAX_ATTEMPTS = 10;

export const devicePlatforms = ["ios", "android", "web"] as const;
export type DevicePlatform = (typeof devicePlatforms)[number];

/** The browser's PushSubscription. */
export interface PushSubscription {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

interface DeviceFields {
  device_id?: string | undefined;
  model?: string | undefined;
  os_version?: Version | undefined;
  app_version?: Version | undefined;
  sdk_version?: Version | undefined;
  locale?: string | undefined;
  timezone?: string | undefined;
  push_enabled?: boolean | undefined;
  environment?: "sandbox" | "production" | undefined;
}

/** What a client registers; fields left out keep what is known of the device. */
export interface DeviceInput extends DeviceFields {
  subscriber_id: string;
  platform: DevicePlatform;
  /** APNs or FCM token; absent for a browser. */
  token?: string | undefined;
  subscription?: PushSubscription | undefined;
}

export interface Device {
  id: string;
  subscriber_id: string;
  platform: DevicePlatform;
  device_id: string | null;
  model: string | null;
  os_version: Version | null;
  app_version: Version | null;
  sdk_version: Version | null;
  locale: string | null;
  timezone: string | null;
  push_enabled: boolean;
  environment: "sandbox" | "production" | null;
  status: "active" | "invalid" | "disabled";
  created_at: string;
  updated_at: string;
  last_seen_at: string;
}

/**
 * Registers a device under its device_id, else under its token (D-DEV). A device_id or a token that is known moves to
 * this subscriber; the oldest beyond 20 goes.
 * @returns undefined if the subscriber is not there any more.
 */
export async function registerDevice(
  store: Store,
  input: DeviceInput,
): Promise<{ device: Device; isNew: boolean } | undefined> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const existing = await findExisting(store, input);
    const row = rowOf(store, input, existing.device);
    const isInPlace = existing.device && isSamePlace(existing.device, row) && existing.token?.device === row.id;
    const outcome = isInPlace
      ? await refresh(store, row, existing.device!)
      : await applyRegistration(store, row, existing);
    if (outcome === "gone") return undefined;
    if (outcome === "done") return { device: deviceOf(row), isNew: !existing.device };
  }
  throw new ApiError("SERVICE_UNAVAILABLE", "This device is being registered by others just now.");
}

interface ExistingDevice {
  /** The registration has a device_id. */
  isNamed: boolean;
  /** The rows that say whose the device_id and the token are. */
  name: Item | undefined;
  token: Item | undefined;
  /** The device that this registration is of. */
  device: Item | undefined;
  /** Another device that has had this token until now. */
  former: Item | undefined;
}

async function findExisting(store: StoreReader, input: DeviceInput): Promise<ExistingDevice> {
  const { tenant } = store;
  const byToken = keys.deviceBy(tenant, "token", addressOf(input));
  const byName = input.device_id === undefined ? byToken : keys.deviceBy(tenant, "name", input.device_id);
  const [found, token] = await store.getAll([byName, byToken]);
  const name = input.device_id === undefined ? undefined : found;
  const place = (pointer: Item) => keys.device(tenant, String(pointer.subscriber), String(pointer.device));
  const [pointer, other] = name ? [name, token] : [token, undefined];
  const rows = await store.getAll([pointer, other].flatMap((one) => (one ? [place(one)] : [])));
  const device = pointer && rows[0];
  const former = other && rows[1];
  const isNamed = input.device_id !== undefined;
  return { isNamed, name, token, device, former: former?.id === device?.id ? undefined : former };
}

/** The address that a push goes to, which only one device can have. */
const addressOf = ({ platform, token, subscription }: Pick<DeviceInput, "platform" | "token" | "subscription">) =>
  `${platform}:${token ?? subscription?.endpoint ?? ""}`;

function rowOf({ tenant, clock, ids }: Store, input: DeviceInput, existing: Item | undefined): Item {
  const { subscriber_id, token, subscription, ...fields } = input;
  const now = timestamp(clock.now());
  const id = existing ? String(existing.id) : ids.uuidAt(clock.now());
  const kept = { ...existing, token: undefined, subscription: undefined };
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return {
    push_enabled: true,
    created_at: now,
    ...kept,
    ...(given as Record<string, Value>),
    ...keys.device(tenant, subscriber_id, id),
    id,
    subscriber_id,
    address: addressOf(input),
    ...(token !== undefined && { token }),
    ...(subscription && { subscription: JSON.stringify(subscription) }),
    status: "active",
    updated_at: now,
    last_seen_at: now,
    rev: Number(existing?.rev ?? 0) + 1,
  };
}

const isSamePlace = (existing: Item, row: Item): boolean =>
  existing.sk === row.sk && existing.address === row.address && existing.device_id === row.device_id;

type Outcome = "done" | "gone" | "again";

/** Nothing moved: one write of the row itself. */
const refresh = (store: Store, row: Item, existing: Item): Promise<Outcome> =>
  store.put(row, is("rev", existing.rev!)).then(
    () => "done" as const,
    onConditionFailed(() => "again" as const),
  );

/** The row, the rows that point at it, and what must go for it: all or nothing. */
async function applyRegistration(store: Store, row: Item, existing: ExistingDevice): Promise<Outcome> {
  const { tenant } = store;
  const subscriber = String(row.subscriber_id);
  const pointer = { subscriber, device: String(row.id) };
  const asRead = (item: Item | undefined) =>
    item ? all(is("subscriber", item.subscriber!), is("device", item.device!)) : absent();
  const isSame = existing.device?.sk === row.sk;
  const crowd = isSame ? [] : await surplusOf(store, subscriber, existing);
  const leaving = [
    ...(existing.device && !isSame ? [existing.device] : []),
    ...(existing.former ? [existing.former] : []),
    ...crowd,
  ];
  const byToken = keys.deviceBy(tenant, "token", String(row.address));
  const pointers: { key: Key; when: Condition }[] = [{ key: byToken, when: asRead(existing.token) }];
  if (row.device_id !== undefined) {
    const key = keys.deviceBy(tenant, "name", String(row.device_id));
    pointers.push({ key, when: existing.isNamed ? asRead(existing.name) : ours(row) });
  }
  const kept = new Set(pointers.map(({ key }) => key.pk));
  const stale = [...leaving, ...(isSame ? [existing.device!] : [])].flatMap((item) => pointersOf(tenant, item));
  const writes: TransactItem[] = [
    { check: keys.subscriber(tenant, subscriber), when: all(present("external_id"), absent("erased_at")) },
    { put: row, when: isSame ? is("rev", existing.device!.rev!) : absent() },
    ...pointers.map(({ key, when }) => ({ put: { ...key, ...pointer }, when })),
    ...leaving.map((item) => ({ remove: { pk: item.pk, sk: item.sk }, when: is("rev", item.rev ?? 0) })),
    ...stale.filter(({ key }) => !kept.has(key.pk)).map(({ key, when }) => ({ remove: key, when })),
  ];
  return store.transact(writes).then(
    () => "done" as const,
    onTransactionCanceled(([person]) => (person ? ("gone" as const) : ("again" as const))),
  );
}

/** A row that points at this device, or at nothing. */
const ours = ({ id }: Item): Condition => any(absent("device"), is("device", String(id)));

/** The rows that point at a device, to be removed as long as they do. */
function pointersOf(tenant: TenantId, device: Item) {
  const when = ours(device);
  const marks = [
    ...(device.address === undefined ? [] : [keys.deviceBy(tenant, "token", String(device.address))]),
    ...(device.device_id === undefined ? [] : [keys.deviceBy(tenant, "name", String(device.device_id))]),
  ];
  return marks.map((key) => ({ key, when }));
}

/** Whoever must go so that one more device has room: those seen longest ago. */
async function surplusOf(store: StoreReader, subscriber: string, { device, former }: ExistingDevice): Promise<Item[]> {
  const gone = new Set([device?.sk, former?.sk]);
  const others = (await deviceRows(store, subscriber)).filter(({ sk }) => !gone.has(sk));
  const order = ({ last_seen_at, id }: Item) => `${last_seen_at ?? ""}#${id}`;
  others.sort((a, b) => (order(a) < order(b) ? -1 : 1));
  return others.slice(0, Math.max(0, others.length - (MAX_DEVICES - 1)));
}

/** The device rows of a subscriber, as stored. */
export async function deviceRows(store: StoreReader, subscriber: string): Promise<Item[]> {
  const { pk, sk } = keys.device(store.tenant, subscriber, "");
  return (await store.query({ pk, prefix: sk })).items;
}

/** A subscriber's devices, oldest first. */
export const devicesOf = async (store: StoreReader, subscriber: string): Promise<Device[]> =>
  (await deviceRows(store, subscriber)).map(deviceOf);

/** Removes a device and what points at it. @returns false if the subscriber has no such device. */
export async function removeDevice(store: Store, subscriber: string, id: string): Promise<boolean> {
  const key = keys.device(store.tenant, subscriber, id);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const row = await store.get(key);
    if (!row) return false;
    const pointers = pointersOf(store.tenant, row).map(({ key: remove, when }) => ({ remove, when }));
    const isGone = await store.transact([{ remove: key, when: is("rev", row.rev ?? 0) }, ...pointers]).then(
      () => true,
      onTransactionCanceled(() => false),
    );
    if (isGone) return true;
  }
  throw new ApiError("SERVICE_UNAVAILABLE", "This device is being registered just now.");
}

/** What the provider knows nothing of any more is not used again, unless it has been given a new address since. */
export async function markInvalid(store: Store, { pk, sk, address }: Item): Promise<void> {
  await store.update({ pk, sk }, { set: { status: "invalid" } }, all(present("id"), is("address", address ?? ""))).then(
    () => undefined,
    onConditionFailed(() => undefined),
  );
}

/** What erasure must remove of a subscriber's devices: the pointers first, so that no crash loses sight of one. */
export async function deviceTraces(store: StoreReader, subscriber: string): Promise<Item[]> {
  const rows = await deviceRows(store, subscriber);
  const marks = rows.flatMap((row) => pointersOf(store.tenant, row).map(({ key }) => key));
  const pointers = (await store.getAll(marks)).filter((item) => item?.subscriber === subscriber);
  return pointers.length > 0 ? pointers.map((item) => item!) : rows;
}

export function deviceOf(row: Item): Device {
  const text = (name: string) => (row[name] === undefined ? null : String(row[name]));
  const version = (name: string) => (row[name] as Version | undefined) ?? null;
  return {
    id: String(row.id),
    subscriber_id: String(row.subscriber_id),
    platform: row.platform as DevicePlatform,
    device_id: text("device_id"),
    model: text("model"),
    os_version: version("os_version"),
    app_version: version("app_version"),
    sdk_version: version("sdk_version"),
    locale: text("locale"),
    timezone: text("timezone"),
    push_enabled: row.push_enabled !== false,
    environment: (row.environment as Device["environment"]) ?? null,
    status: row.status === "invalid" ? "invalid" : row.push_enabled === false ? "disabled" : "active",
    created_at: String(row.created_at),
    updated_at: String(row.updated_at),
    last_seen_at: String(row.last_seen_at),
  };
}
