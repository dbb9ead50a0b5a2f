// Mails as their recipients get them: sent through the local service, parsed from their source, their links followed.
import { readMail } from "../../local/providers/mail.ts";
import { send } from "./people.ts";
import { ledgerOf, openChannels, outboxOf } from "./reached.ts";
import type { Answer, Headers, Tenant, TestWorld } from "./world.ts";

export const SHOP = "https://shop.example.com";
/** Two links that count, and two that do not. */
export const LINKED_BODY =
  `<p>Hi {{ subscriber.first_name }}</p><a href="${SHOP}/new?a=1&amp;b=2">New</a> <A class=x HREF='${SHOP}/old'>Old</A>` +
  `<a href="mailto:a@b.example">Write</a><a href="javascript:alert(1)">Run</a><img src="${SHOP}/x.png">`;

/** The browser of a human. */
export const BROWSER = {
  "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
};

/** SES sends what the default credentials of tests give to an SMTP server. */
export const SES = { provider: "ses", from_email: "shop@example.com", from_name: "Shop" };

/** The path of a link of the service. */
const pathOf = (url: string): string => new URL(url).pathname;

interface ReadMail {
  headers: Record<string, string>;
  text: string;
  html: string;
  /** Path of the one-click link; undefined in transactional mail. */
  unsubscribe: string | undefined;
  /** Empty in a mail whose opening is not counted. */
  pixel: string;
  /** Paths of the links that count. */
  clicks: string[];
}

const decoded = (part: string): string => {
  const [head = "", ...rest] = part.split("\r\n\r\n");
  const content = rest.join("\r\n\r\n").replace(/\r\n$/, "");
  const plain = /quoted-printable/.test(head)
    ? Buffer.from(
        content
          .replaceAll("=\r\n", "")
          .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
        "latin1",
      ).toString()
    : content;
  return plain.replaceAll("\r\n", "\n");
};

export function mailOf(source: string): ReadMail {
  const { headers } = readMail(source);
  const boundary = /boundary="([^"]+)"/.exec(source)![1]!;
  const [text = "", html = ""] = source
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => decoded(part.replace(/^\r\n/, "")));
  const pixel = /<img [^>]*src="([^"]*\/o\/[^"]*)"/.exec(html)?.[1];
  const listed = /^<(.*)>$/.exec(headers["List-Unsubscribe"] ?? "")?.[1];
  return {
    headers,
    text,
    html,
    unsubscribe: listed === undefined ? undefined : pathOf(listed),
    pixel: pixel === undefined ? "" : pathOf(pixel),
    clicks: [...html.matchAll(/href="([^"]*\/c\/[^"]*)"/gi)].map(([, url]) => pathOf(url!)),
  };
}

/** Every mail that was sent, oldest first. */
export const mailsOf = async (world: TestWorld, query = ""): Promise<(ReadMail & { to: string })[]> =>
  (await outboxOf(world, `?channel=email${query}`)).map(({ payload, to }) => ({ ...mailOf(String(payload)), to }));

/** A workspace with an e-mail channel by SES, and one subscriber. */
export async function mailing(world: TestWorld, tenant: Tenant, email = "ada@example.com") {
  const { email: channel } = await openChannels(world, tenant, "email");
  await tenant.call(`POST /api/v1/channels/${channel}/credentials/email`, SES);
  await world.settle();
  const body = { external_id: "ada", email, attributes: { first_name: "Ada" } };
  const id = await tenant.upsert(body);
  await world.settle();
  const mail = async (more: object = {}) => {
    const input = { target: { type: "all" }, channel_ids: [channel], ...more };
    const { job } = await send(world, tenant, input);
    return { job, mail: (await mailsOf(world, `&job_id=${job.id}`)).at(-1)! };
  };
  return { ada: String(id), channel: channel!, mail };
}

/** Follows a link without a credential, as a recipient does. */
export const follow = (world: TestWorld, method: "GET" | "POST" | "HEAD", path: string, headers: Headers = BROWSER) =>
  world.call(`${method} ${path}`, { headers });

export const consentsOf = async (tenant: Tenant, id: string): Promise<Answer["body"]> =>
  (await tenant.call(`GET /api/v1/subscribers/${id}/consents`)).body;

/** An event of SES about a mail that was sent. */
export const tellOfMail = async (world: TestWorld, detail: object) => {
  const { QueueUrl } = await world.sqs.operate("GetQueueUrl", { QueueName: "mail-event" });
  const MessageBody = JSON.stringify({ version: "0", source: "aws.ses", "detail-type": "Email Bounced", detail });
  await world.sqs.operate("SendMessage", { QueueUrl, MessageBody });
  await world.settle();
};

/** What SES is given with a mail, and gives back with its events. */
export async function tagsOf(tenant: Tenant, subscriber: string, job: string) {
  const [row] = await ledgerOf(tenant, subscriber);
  const at = String(Date.parse(String(row!.sk).split("#")[1]!));
  return { tenant: [tenant.id], job: [job], subscriber: [subscriber], at: [at] };
}
