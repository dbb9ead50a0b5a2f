// Subscribers for tests: many at once without HTTP, with devices, and reads of their inboxes.
import { createHash } from "node:crypto";
import { inflateRawSync } from "node:zlib";
import { sendThrough } from "../../local/aws/index.ts";
import { timestamp } from "../../shared/kernel/clock.ts";
import type { Client, ClientClass, Deps } from "../../shared/kernel/deps.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { secrets } from "../../shared/store/capabilities.ts";
import { platformWrite, type Store, storeWrite } from "../../shared/store/context.ts";
import { type MailKeeping, mailKeeping } from "../../shared/store/files/mails.ts";
import type { NewRowOf } from "../../shared/store/item.ts";
import { Message } from "../../shared/store/sends/inbox/inbox-items.ts";
import { DeviceItem } from "../../shared/store/subscribers/device-items.ts";
import type { SubscriberInput } from "../../shared/store/subscribers/profile-changes.ts";
import { upsertSubscriber } from "../../shared/store/subscribers/subscribers.ts";
import { changeWorkspace } from "../../shared/store/workspaces/workspaces.ts";
import { scan } from "./crash.ts";
import type { Tenant, TestWorld } from "./world.ts";

const AT_ONCE = 100;
const nobody = "" as TenantId;

/** The deps of a function whose SDK calls skip the wire: for making much quickly. */
export function quickDeps(world: TestWorld): Deps {
  const send = sendThrough(world) as Client["send"];
  return { ...world.depsFor("test"), aws: <C extends Client>(_: ClientClass<C>) => ({ send }) as C };
}

export const quickStore = (world: TestWorld, tenant: Tenant): Store => storeWrite.open(quickDeps(world))(tenant.id);

export const quickMails = (world: TestWorld, tenant: Tenant): MailKeeping =>
  mailKeeping.open(quickDeps(world))(tenant.id);

/** Creates subscribers `p0`, `p1`, … (or as `inputOf` says) and lets the reactions run. @returns their ids in order. */
export async function addPeople(
  world: TestWorld,
  tenant: Tenant,
  count: number,
  inputOf: (n: number) => Partial<SubscriberInput> = () => ({}),
): Promise<string[]> {
  const deps = quickDeps(world);
  const store = storeWrite.open(deps)(tenant.id);
  const root = await secrets.open(deps)(nobody).root();
  const ids: string[] = [];
  for (let from = 0; from < count; from += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => from + i);
    const made = await Promise.all(
      batch.map((n) => upsertSubscriber(store, root, { external_id: `p${n}`, ...inputOf(n) })),
    );
    ids.push(...made.map(({ id }) => id));
  }
  await world.settle();
  return ids;
}

/** The row of a device as the devices endpoint writes it. @param token by default one that no other device has. */
export function deviceRow(
  subscriber: string,
  device: string,
  { at, ...attributes }: Partial<NewRowOf<typeof DeviceItem>> & { at: number },
): NewRowOf<typeof DeviceItem> {
  const { platform = "ios", token = createHash("sha256").update(`${subscriber} ${device}`).digest("hex") } = attributes;
  const time = timestamp(at);
  return {
    id: device,
    subscriber_id: subscriber,
    platform,
    token,
    push_enabled: true,
    status: "active",
    rev: 1,
    created_at: time,
    updated_at: time,
    last_seen_at: time,
    ...attributes,
  };
}

/** Puts a device without its endpoint. */
export const addDevice = (
  world: TestWorld,
  tenant: Tenant,
  subscriber: string,
  device: string,
  attributes: Partial<NewRowOf<typeof DeviceItem>> = {},
): Promise<void> =>
  quickStore(world, tenant).put(
    DeviceItem,
    { subscriber, device },
    { ...deviceRow(subscriber, device, { ...attributes, at: world.clock.now() }), ...attributes },
  );

/** What the operator does to a workspace. */
export async function operate(
  world: TestWorld,
  tenant: Pick<Tenant, "id">,
  change: Parameters<typeof changeWorkspace>[2],
): Promise<void> {
  await changeWorkspace(platformWrite.open(quickDeps(world))(nobody), tenant.id, change);
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever JSON came back
type Json = any;

/** The inbox of a subscriber, newest first. */
export async function inboxOf(world: TestWorld, tenant: Tenant, subscriber: string, query = ""): Promise<Json[]> {
  const { body } = await world.call(`GET /v1/in-app/messages?subscriber_id=${subscriber}${query}`, { as: tenant.sdk });
  return body.messages;
}

/** Which of these subscribers have something in their inbox, of one job or of any. */
export async function reachedOf(
  world: TestWorld,
  tenant: Tenant,
  ids: readonly string[],
  job?: string,
): Promise<string[]> {
  const store = quickStore(world, tenant);
  const found = await Promise.all(ids.map((id) => store.query(Message, { subscriber: id })));
  return ids.filter((_, i) => found[i]?.items.some((row) => job === undefined || row.job === job));
}

/** Sends as the owner and runs what follows. @returns the answer, and the job once everything has come to rest. */
export async function send(world: TestWorld, tenant: Tenant, body: object): Promise<{ answer: Json; job: Json }> {
  const message = { title: "Hello", body: "World", ...body };
  const created = await tenant.call("POST /api/v1/notifications", message);
  if (created.status !== 201) throw new Error(`The send was refused: ${JSON.stringify(created.body)}`);
  await world.settle();
  const { body: job } = await tenant.call(`GET /api/v1/notifications/${created.body.id}`);
  return { answer: created.body, job };
}

/** Without the audit trail, which keeps the ids of what is gone. */
export const outsideAudit = (items: readonly Record<string, Json>[]) =>
  items.filter(({ pk }) => !/#AUDIT(?:HEADS$|#)/.test(pk.S));

/** Every item of the table, as the service stores it; of packed events also the text. */
export async function wholeTable(world: TestWorld): Promise<Record<string, Json>[]> {
  const items: Record<string, Json>[] = await scan((input) => world.dynamodb.operate("Scan", input));
  return items.map((item) =>
    item.events?.B === undefined
      ? item
      : { ...item, text: inflateRawSync(Buffer.from(item.events.B, "base64")).toString() },
  );
}
