// What the chat app's provider calls back: verdicts on a template, and messages of those who want no more of it. It
// repeats a callback until it is taken, and sends some twice.
import { createHmac } from "node:crypto";
import { MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { chatAppTemplateId } from "../../shared/store/channels/chat-app-templates.ts";
import { ChatAppTemplateItem } from "../../shared/store/channels/items.ts";
import { insist } from "./actors.ts";
import type { Tenant } from "./tenants.ts";
import type { SimWorld } from "./world.ts";

const ACCOUNT = { app_secret: "secret", waba_id: "waba", phone_number_id: "sender" };
const TEMPLATE = { name: "greeting", language: "en_US", category: "UTILITY", body: "Hello {{1}}" } as const;
const PROVIDER_ID = "1234";
const ROUTE = "POST /v1/inbound/chat-app/{channelId}";

export interface ChatAppBook {
  tenant: Tenant;
  channel: string;
  template: string;
  /** `at`: seconds of the provider's clock, in their order. `doneAt`: acknowledged; infinite until then. */
  verdicts: { isApproved: boolean; at: number; from: number; doneAt: number }[];
  /** Phone numbers by subscriber. */
  phones: Map<string, string>;
  /** By phone number, when its first opt-out was acknowledged; infinite until then. */
  optOuts: Map<string, number>;
}

const books = new WeakMap<SimWorld, ChatAppBook>();

export const chatAppBook = (world: SimWorld): ChatAppBook | undefined => books.get(world);

/** A chat-app channel with a template that is approved or still under review. */
export async function openChatApp(world: SimWorld, tenant: Tenant, isApproved: boolean): Promise<ChatAppBook> {
  const { store } = tenant;
  const channel = await tenant.addChannel("chat_app", ACCOUNT);
  const template = chatAppTemplateId(channel, TEMPLATE.name, TEMPLATE.language);
  const now = timestamp(store.clock.now());
  await store.put(
    ChatAppTemplateItem,
    { channel, id: template },
    {
      ...TEMPLATE,
      ...{ id: template, channel_id: channel, provider_template_id: PROVIDER_ID },
      status: isApproved ? "approved" : "pending",
      ...{ created_at: now, updated_at: now },
    },
  );
  // It was so before anything happened.
  const verdicts = [{ isApproved, at: 0, from: 0, doneAt: Number.NEGATIVE_INFINITY }];
  const book: ChatAppBook = { tenant, channel, template, verdicts, phones: new Map(), optOuts: new Map() };
  books.set(world, book);
  return book;
}

/** The provider decides on the template. */
export async function decide(world: SimWorld, { channel, tenant, verdicts }: ChatAppBook): Promise<void> {
  const { random, kernel } = world;
  const from = kernel.now();
  const at = Math.max(Math.floor(from / SECOND), ...verdicts.map((one) => one.at + 1));
  const verdict = { isApproved: random.chance(0.5), at, from, doneAt: Number.POSITIVE_INFINITY };
  verdicts.push(verdict);
  const value = {
    ...{ message_template_id: PROVIDER_ID, message_template_name: TEMPLATE.name },
    message_template_language: TEMPLATE.language,
    event: verdict.isApproved ? random.pick(["APPROVED", "REINSTATED"]) : random.pick(["PAUSED", "DISABLED"]),
  };
  await callBack(world, tenant, channel, { time: at, change: { field: "message_template_status_update", value } });
  verdict.doneAt = kernel.now();
}

/** Somebody writes to the sender. */
export async function write(world: SimWorld, book: ChatAppBook, phone: string, text: string): Promise<void> {
  const { kernel, random } = world;
  const { channel, tenant, optOuts } = book;
  const isOptOut = text === "STOP";
  if (isOptOut && !optOuts.has(phone)) optOuts.set(phone, Number.POSITIVE_INFINITY);
  const message = {
    id: `wamid.${random.bytes(6).toString("hex")}`,
    from: phone.slice(1),
    timestamp: String(Math.floor(kernel.now() / SECOND)),
    text: { body: text },
  };
  const value = { metadata: { phone_number_id: ACCOUNT.phone_number_id }, messages: [message] };
  await callBack(world, tenant, channel, { time: 0, change: { field: "messages", value } });
  if (isOptOut) optOuts.set(phone, Math.min(optOuts.get(phone)!, kernel.now()));
}

async function callBack(
  world: SimWorld,
  tenant: Tenant,
  channelId: string,
  { time, change }: { time: number; change: object },
): Promise<void> {
  const { random } = world;
  const raw = Buffer.from(JSON.stringify({ entry: [{ id: ACCOUNT.waba_id, time, changes: [change] }] }));
  const signature = createHmac("sha256", ACCOUNT.app_secret).update(raw).digest("hex");
  const headers = { "content-type": "application/json", "x-hub-signature-256": `sha256=${signature}` };
  const post = async () => void (await insist(world, tenant, "sdk", ROUTE, { params: { channelId }, headers, raw }));
  if (random.chance(0.3)) world.act(random.between(0, 3 * MINUTE), post);
  await post();
}
