// Forwards the deliveries of a webhook endpoint to an address of this machine, as they are logged.
import { createHash, createHmac, randomBytes } from "node:crypto";
import type { WebhooksWebhook as Delivery } from "../../types.gen.ts";
import { type Call, CommandError, command, EXIT, usageError } from "../command.ts";
import { type Connection, withConnection } from "../connection.ts";
import type { Io } from "../io.ts";
import { patiently } from "../patience.ts";

const POLL_MS = 2_000;
const MINUTE_MS = 60_000;
const units: Record<string, number> = { m: MINUTE_MS, h: 60 * MINUTE_MS, d: 1_440 * MINUTE_MS };

/** Milliseconds of `30m`, `2h` or `7d`. */
function periodOf(text: string): number {
  const [, count, unit = ""] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? [];
  if (count === undefined) throw usageError(`${text} is not a period such as 30m, 2h or 7d.`);
  return Number(count) * units[unit]!;
}

async function webhookOf({ client }: Connection, wanted: string | undefined): Promise<string> {
  const { items } = await client.webhooks.list();
  const found =
    wanted === undefined
      ? items
      : items.filter((item) => [item.id, item.target_url, item.description].includes(wanted));
  const [webhook, ...more] = found;
  if (!webhook)
    throw new CommandError(
      wanted === undefined
        ? "The workspace has no webhook endpoint. Create one first: its deliveries are what is forwarded."
        : `There is no webhook endpoint ${wanted}.`,
    );
  if (more.length > 0)
    throw usageError(
      `--webhook is required, one of: ${found.map(({ id, target_url }) => `${id} (${target_url})`).join(", ")}`,
    );
  return webhook.id;
}

/** Deliveries that are newer than the last one that was seen, oldest first. */
async function newDeliveries(
  { client }: Connection,
  webhook: string,
  isKnown: (delivery: Delivery) => boolean,
  since: number,
): Promise<Delivery[]> {
  const found: Delivery[] = [];
  for (let cursor = ""; ; ) {
    const page = await client.webhooks.listDeliveries(webhook, { limit: 100, ...(cursor && { cursor }) });
    const fresh = page.items.filter((item) => Date.parse(item.created_at) >= since && !isKnown(item));
    found.push(...fresh);
    cursor = page.next_cursor;
    if (fresh.length < page.items.length || cursor === "") break;
  }
  return found.reverse();
}

const signatureOf = (secret: string, body: string) =>
  `sha256=${createHmac("sha256", createHash("sha256").update(secret).digest("hex")).update(body).digest("hex")}`;

/** The signature of Standard Webhooks, whose secret is base64 behind `whsec_`. */
const standardSignatureOf = (secret: string, text: string) =>
  `v1,${createHmac("sha256", Buffer.from(secret.replace(/^whsec_/, ""), "base64"))
    .update(text)
    .digest("base64")}`;

/** The headers of a delivery, so that the receiver can verify the copy as well. */
function headersOf({ id, event_type, sequence }: Delivery, secret: string, body: string, now: number) {
  const signature = signatureOf(secret, body);
  const seconds = String(Math.floor(now / 1_000));
  return {
    "content-type": "application/json",
    "x-service-event": event_type,
    "x-service-delivery": id,
    "x-service-signature": signature,
    "x-signature-256": signature,
    ...(sequence !== null && { "x-service-sequence": String(sequence) }),
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": standardSignatureOf(secret, `${id}.${seconds}.${body}`),
  };
}

/** Posts a delivery. @returns the status, or why there was no answer */
async function forward(io: Io, target: string, secret: string, delivery: Delivery): Promise<number | string> {
  const body = JSON.stringify(delivery.payload);
  try {
    const { status } = await io.fetch(target, {
      method: "POST",
      headers: headersOf(delivery, secret, body, io.now()),
      body,
      signal: AbortSignal.timeout(10_000),
    });
    return status;
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    return cause?.code ?? (error as Error).message;
  }
}

const options = {
  to: { type: "string", value: "<address>", about: "Where to forward to, such as http://localhost:4000/hooks" },
  webhook: { type: "string", value: "<id>", about: "The endpoint: its id, address or description" },
  since: { type: "string", value: "<period>", about: "Begin with the deliveries of this period: 30m, 2h, 7d" },
  secret: { type: "string", value: "<text>", about: "Signs what is forwarded (default: a new one, which is printed)" },
  once: { type: "boolean", about: "Forward what is there and end" },
} as const;

async function follow(call: Call<typeof options>, connection: Connection, webhook: string, secret: string) {
  const { io, options } = call;
  const known = new Set<string>();
  let since = io.now() - (options.since === undefined ? 0 : periodOf(options.since));
  if (options.since === undefined) {
    // Deliveries after the newest one are new. Times do not decide, because the clocks of the two machines may differ.
    const { items } = await connection.client.webhooks.listDeliveries(webhook, { limit: 100 });
    for (const { id } of items) known.add(id);
    since = items[0] ? Date.parse(items[0].created_at) : 0;
  }
  let failures = 0;
  const read = () => newDeliveries(connection, webhook, ({ id }) => known.has(id), since);
  while (!io.signal.aborted) {
    for (const delivery of (options.once ? await read() : await patiently(io, read)) ?? []) {
      if (io.signal.aborted) break;
      known.add(delivery.id);
      if (delivery.payload === null) continue;
      const result = await forward(io, options.to!, secret, delivery);
      const isTaken = typeof result === "number" && result >= 200 && result < 300;
      if (!isTaken) failures++;
      const { id, event_type, sequence } = delivery;
      if (options.json) io.out(JSON.stringify({ id, event_type, sequence, result }));
      else io.out(`${delivery.created_at}  ${event_type}  #${sequence ?? "-"}  → ${result}`);
    }
    if (options.once) break;
    await io.pause(POLL_MS);
  }
  return failures;
}

export const listen = command({
  name: "listen",
  args: "",
  summary: "Forward the deliveries of a webhook endpoint to this machine",
  about:
    "The endpoint goes on delivering to its own address; this forwards a copy of each delivery from its log. The copy is\n" +
    "signed with a secret of this command alone. With --since, deliveries that were logged before are replayed first.",
  options,
  run: async (call) => {
    const { io, options } = call;
    if (!/^https?:/.test(options.to ?? "") || !URL.canParse(options.to ?? ""))
      throw usageError("--to is required: an address such as http://localhost:4000/hooks.");
    if (options.since !== undefined) periodOf(options.since);
    return withConnection(io, options, async (connection) => {
      const webhook = await webhookOf(connection, options.webhook);
      const secret = options.secret ?? `whsec_${randomBytes(24).toString("base64")}`;
      if (options.secret === undefined) io.note(`Signed with the secret ${secret}`);
      io.note(`Forwarding to ${options.to}. Ctrl-C ends it.`);
      const failures = await follow(call, connection, webhook, secret);
      return failures > 0 && options.once ? EXIT.failed : EXIT.ok;
    });
  },
});
