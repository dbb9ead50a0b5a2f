// Channels and their credentials (CHN, CRD, D-INAPP-CH).
import { created, type Operation, ok, read, write } from "./access.ts";
import { requiredText } from "./checks.ts";
import { ABSENT, ANY, type Body, invalid, iso, notFound, type Request, Unordered, Unpromised } from "./kit.ts";
import { needChannelType } from "./plans.ts";
import type { Channel } from "./records/sends.ts";
import { at, existing, type Fault, newId, type World } from "./world.ts";

const TYPES = ["ios", "android", "web_push", "email", "in_app", "sms", "chat_app"];
/** AMB-19: credentials of the wrong kind are 422. */
const KIND: Record<string, { type: string; short: string }> = {
  "ios-push": { type: "ios", short: "ios_push" },
  "android-push": { type: "android", short: "android_push" },
  vapid: { type: "web_push", short: "vapid" },
  sms: { type: "sms", short: "sms" },
  chat_app: { type: "chat_app", short: "chat_app" },
  email: { type: "email", short: "email" },
};

/** CHN-6, CHN-7: what has not happened is left out. */
const record = (channel: Channel): Body => ({
  ...{ id: channel.id, type: channel.type, name: channel.name, active: channel.active, status: channel.status },
  verified_at: channel.verified_at === null ? ABSENT : iso(channel.verified_at),
  verification_error: channel.verification_error ?? ABSENT,
  created_at: iso(channel.created_at),
});
export function addChannel(world: World, type: string, name: string, status = "pending"): Channel {
  const verified_at = status === "active" ? world.now : null;
  const rest = { active: true, status, verified_at, verification_error: null, credentials: false };
  const channel = { id: newId(world, "channel"), type, name, ...rest, created_at: world.now };
  world.channels.push(channel);
  return channel;
}

/**
 * The outcome that a provider gives now; it uses up one of the times of its fault. Which of two sends of one instant meets
 * the last one is open.
 */
export function takeFault(world: World, channel: string, subscriber?: string, job?: string) {
  const concerns = (other: Fault) => other.channel === channel && [undefined, subscriber].includes(other.subscriber_id);
  const fault = world.faults.find(concerns);
  const isMissed = ({ fault, at, by }: World["usedFaults"][number]) =>
    concerns(fault) && at === world.now && by !== job;
  if (!fault && world.usedFaults.some(isMissed))
    throw new Unpromised("sends of one instant meet a fault in some order");
  if (fault?.times === undefined) return fault;
  fault.times--;
  if (fault.times > 0) return fault;
  world.faults.splice(world.faults.indexOf(fault), 1);
  world.usedFaults.push({ fault, at: world.now, by: job });
  return fault;
}

/** CHN-9 to CHN-11. */
function verify(world: World, channel: Channel): void {
  at(world, world.now, () => {
    const fault = channel.type === "in_app" ? undefined : takeFault(world, `verify:${channel.type}`);
    if (fault) Object.assign(channel, { status: "invalid", verification_error: "refused" });
    else Object.assign(channel, { status: "active", verified_at: world.now, verification_error: null });
  });
}

/** AMB-18: a name that is taken is 422. D-INAPP-CH: an in-app channel needs no credentials. */
function create(world: World, { body }: Request) {
  requiredText(body, "type");
  if (!TYPES.includes(body.type)) invalid("type");
  requiredText(body, "name", 128);
  needChannelType(world, body.type);
  if (world.channels.some(({ name }) => name === body.name)) invalid("name");
  const channel = addChannel(world, body.type, body.name);
  const answer = created(record(channel));
  if (channel.type === "in_app") verify(world, channel);
  return answer;
}

function patch(world: World, { body }: Request, { id }: Record<string, string>) {
  if (body.name !== undefined) requiredText(body, "name", 128);
  const channel = existing(world.channels, id);
  if (world.channels.some((other) => other !== channel && other.name === body.name)) invalid("name");
  if (body.name !== undefined) channel.name = body.name;
  if (body.active !== undefined && body.active !== channel.active)
    Object.assign(channel, { active: body.active, changed_at: world.now });
  return ok(record(channel));
}

function upload(world: World, { path }: Request, { id }: Record<string, string>) {
  const { type, short } = KIND[path.split("/").at(-1)!]!;
  const channel = existing(world.channels, id);
  if (channel.type !== type) invalid();
  Object.assign(channel, { credentials: true, changed_at: world.now, uploaded_at: world.now });
  verify(world, channel);
  return ok({ channel_id: id, type: short, ...(short === "vapid" && { vapid_public_key: ANY }) });
}

/** CHN-18: 404 without credentials. */
function verifyAgain(world: World, _: Request, { id }: Record<string, string>) {
  const channel = existing(world.channels, id);
  if (!channel.credentials && channel.type !== "in_app") notFound();
  verify(world, channel);
  return { status: 202, body: { status: "queued" } };
}

export const channelOperations: Operation[] = [
  write("POST /api/v1/channels", "channels:write", create),
  read("GET /api/v1/channels", (world) => ok({ channels: new Unordered(world.channels.map(record)) })),
  read("GET /api/v1/channels/:id", (world, _, { id }) => ok(record(existing(world.channels, id)))),
  write("PATCH /api/v1/channels/:id", "channels:write", patch),
  write("POST /api/v1/channels/:id/verify", "channels:write", verifyAgain),
  ...Object.keys(KIND).map((kind) =>
    write(`POST /api/v1/channels/:id/credentials/${kind}`, "credentials:manage", upload),
  ),
];
