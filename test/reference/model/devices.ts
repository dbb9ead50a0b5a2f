// Devices (D-DEV): push tokens and browser subscriptions of a subscriber.
import { type Operation, ok, read } from "./access.ts";
import { optionalOneOf } from "./checks.ts";
import { type Body, invalid, iso, isRecord, notFound, type Request, Unordered } from "./kit.ts";
import { createSubscriber, tellCreated } from "./people.ts";
import type { Device } from "./records/people.ts";
import { subscriberChanged } from "./segments.ts";
import { existing, found, newId, type World } from "./world.ts";

const MAX_DEVICES = 20;
const VERSIONS = ["os_version", "app_version", "sdk_version"];
const PLAIN = ["model", "locale", "timezone", "environment"];

/** NTF-16: `"17.4.1"` or its three parts. */
function version(value: Body, field: string): Body {
  if (value === undefined || value === null) return null;
  if (isRecord(value)) return { major: value.major, minor: value.minor ?? 0, patch: value.patch ?? 0 };
  const parts = typeof value === "string" ? /^(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(value) : null;
  if (!parts) return invalid(field);
  return { major: Number(parts[1]), minor: Number(parts[2] ?? 0), patch: Number(parts[3] ?? 0) };
}

/** The token is never returned. */
export const deviceRecord = (device: Device): Body => ({
  ...{ id: device.id, subscriber_id: device.subscriber_id, platform: device.platform, device_id: device.device_id },
  ...device.fields,
  ...{ push_enabled: device.push_enabled, status: device.status },
  ...{ created_at: iso(device.created_at), updated_at: iso(device.updated_at) },
});

function check(body: Body): void {
  const { subscriber_id, external_id, platform, token, subscription } = body;
  if ((subscriber_id === undefined) === (external_id === undefined)) invalid();
  if (platform === undefined) invalid("platform");
  optionalOneOf(body, "platform", ["ios", "android", "web"]);
  if (platform !== "web" && (typeof token !== "string" || token.length < 1 || token.length > 4096)) invalid("token");
  if (platform === "web" && !isRecord(subscription)) invalid("subscription");
}

/** 201 new, 200 known. A token presented for another subscriber moves there. */
function register(world: World, { body }: Request) {
  check(body);
  const fields: Record<string, Body> = {};
  for (const field of VERSIONS) fields[field] = version(body[field], field);
  for (const field of PLAIN) fields[field] = body[field] ?? null;

  const byId = found(world.subscribers, body.subscriber_id);
  if (body.subscriber_id !== undefined && !byId) invalid("subscriber_id");
  const known = byId ?? world.subscribers.find(({ external_id }) => external_id === body.external_id);
  const subscriber = known ?? createSubscriber(world, body.external_id);
  if (!known) tellCreated(world, subscriber);

  // One of Apple is a number in hexadecimal digits, in whichever case an app writes them.
  const isNumber = body.platform === "ios" && /^[0-9a-f]+$/i.test(body.token);
  const token = (isNumber ? body.token.toLowerCase() : body.token) ?? body.subscription.endpoint;
  const byDevice = world.devices.find(({ device_id }) => device_id !== null && device_id === body.device_id);
  const byToken = world.devices.find((other) => other.token === token);
  const device =
    byDevice ?? (byToken && (body.device_id === undefined || byToken.device_id === null) ? byToken : undefined);

  // What is not named stays as it is.
  const push_enabled = body.push_enabled ?? device?.push_enabled ?? true;
  for (const name of [...VERSIONS, ...PLAIN])
    if (body[name] === undefined && device) fields[name] = device.fields[name];

  // The old link of the token is removed, and one device_id holds at most one live token.
  world.devices = world.devices.filter((other) => other === device || other.token !== token);
  const written = {
    ...{
      subscriber_id: subscriber.id,
      platform: body.platform,
      token,
      fields,
      status: push_enabled ? "active" : "disabled",
    },
    ...{ device_id: body.device_id ?? device?.device_id ?? null, push_enabled },
    updated_at: world.now,
  };
  if (device) Object.assign(device, written);
  const row: Device = device ?? { ...written, id: newId(world, "device"), created_at: world.now };
  if (!device) world.devices.push(row);
  evictOldest(world, subscriber.id, row);
  subscriberChanged(world, subscriber, known ? { keys: [] } : "all");
  return { status: device ? 200 : 201, body: deviceRecord(row) };
}

function evictOldest(world: World, subscriber: string, newest: Device): void {
  const own = world.devices.filter(({ subscriber_id }) => subscriber_id === subscriber);
  if (own.length <= MAX_DEVICES) return;
  const oldest = own.filter((device) => device !== newest).toSorted((a, b) => a.updated_at - b.updated_at)[0];
  world.devices = world.devices.filter((device) => device !== oldest);
}

/** AMB-74: 204 with `subscriber_id` as query. */
function remove(world: World, { query }: Request, { id }: Record<string, string>) {
  if (query.subscriber_id === undefined) invalid("subscriber_id");
  const device = found(world.devices, id);
  if (!device || device.subscriber_id !== query.subscriber_id) notFound();
  world.devices = world.devices.filter((other) => other !== device);
  return { status: 204 };
}

function list(world: World, _: Request, { id }: Record<string, string>) {
  existing(world.subscribers, id);
  const own = world.devices.filter(({ subscriber_id }) => subscriber_id === id);
  return ok({ items: new Unordered(own.map(deviceRecord)) });
}

export const deviceOperations: Operation[] = [
  { route: "POST /api/v1/devices", who: ["sdk"], run: register },
  {
    route: "DELETE /api/v1/devices/:id",
    who: ["sdk", "dashboard"],
    permission: "subscribers:write",
    write: true,
    run: remove,
  },
  read("GET /api/v1/subscribers/:id/devices", list),
];
