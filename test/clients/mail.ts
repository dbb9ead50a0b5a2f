// Mails that a mail server of others took from this service, read by a parser of others.
import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type AddressObject, type ParsedMail, simpleParser } from "mailparser";
import { SMTPServer } from "smtp-server";
import { selfSigned } from "../support/self-signed.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { asOwner, asServer, type Claim, call, newWorkspace, settle, type Workspace } from "./claims.ts";

const SENDER = "Bücher & Grüße, „Zürich“";
const LOGIN = { username: "shop", password: "smtp-password-4711" };
const SUBJECT =
  "Größenänderung, 価格の改定, تخفيضات اليوم 🎉 – and words enough for more than one line of a header, as long subjects are";
const LONG_WORDS = "Ein Absatz mit sehr vielen Wörtern, der über jede Zeile hinausgeht. ".repeat(40);
const HTML = `<h1>Grüße 🎉</h1><p dir="auto">مرحبا {{ subscriber.first_name }}</p><p>${LONG_WORDS}</p><p>.</p><p><a href="https://shop.example.com/spring?a=1&amp;b=2">Look</a></p>`;

interface ReceivedMail {
  from: string;
  to: string[];
  mail: ParsedMail;
  source: string;
}

/** A server that asks for TLS and a login, as those of mail providers do. */
async function mailServer() {
  const taken: ReceivedMail[] = [];
  const server = new SMTPServer({
    ...selfSigned,
    logger: false,
    disableReverseLookup: true,
    // Sessions are kept for the next mail.
    closeTimeout: 100,
    authOptional: false,
    onAuth: ({ username, password }, _, done) =>
      username === LOGIN.username && password === LOGIN.password
        ? done(null, { user: "shop" })
        : done(new Error("Wrong login")),
    onData: (stream, { envelope }, done) => {
      text(stream)
        .then(async (source) => {
          const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
          const mail = await simpleParser(source);
          taken.push({ from, to: envelope.rcptTo.map(({ address }) => address), mail, source });
        })
        .then(() => done(), done);
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  return { port, taken, close: () => new Promise<void>((resolve) => server.close(resolve)) };
}

/** Sends one mail, marketing, to one person. */
async function send(service: ServiceProcess, workspace: Workspace, port: number): Promise<void> {
  const headers = asOwner(workspace);
  const owner = (route: string, body?: unknown) => call(service, route, { headers, body });
  await owner("PATCH /api/v1/workspace", { sender_name: "Bücher", postal_address: "Rämistrasse 1\nZürich" });
  const { id } = await owner("POST /api/v1/channels", { type: "email", name: "Mail" });
  await owner(`POST /api/v1/channels/${id}/credentials/email`, {
    provider: "smtp",
    from_email: "shop@example.com",
    from_name: SENDER,
    host: "127.0.0.1",
    port,
    ...LOGIN,
  });
  await settle(service);
  await call(service, "POST /v1/subscribers/upsert", {
    headers: asServer(workspace),
    body: { external_id: "ada", email: "ada@bücher.example", attributes: { first_name: "Žofie Ågård" } },
  });
  const email = { subject: SUBJECT, preheader: "Zwölf neue Dinge", html: HTML };
  const content = { title: "News", body: "News", by_channel: { email } };
  await owner("POST /api/v1/notifications", { target: { type: "all" }, channel_ids: [id], content });
  await settle(service);
}

async function proveMail(service: ServiceProcess): Promise<void> {
  const workspace = await newWorkspace(service);
  const { port, taken, close } = await mailServer();
  try {
    await send(service, workspace, port);
    const [one] = taken;
    assert.ok(one, "The server took no mail.");
    assert.equal(taken.length, 1);
    proveEnvelope(one);
    proveBodies(one.mail);
    proveHeaders(one.mail);
    // RFC 5322: no line has more than 998 characters; what is sent is ASCII, so that any server may pass it on.
    assert.ok(one.source.split("\r\n").every((line) => line.length <= 998 && /^[\t\x20-\x7e]*$/.test(line)));
  } finally {
    await close();
  }
}

function proveEnvelope({ from, to, mail }: ReceivedMail): void {
  assert.equal(from, "shop@example.com");
  // The server shows a domain as people write it; on the wire it is ASCII, as the whole source is.
  assert.deepEqual(to, ["ada@bücher.example"]);
  assert.deepEqual(mail.from?.value, [{ address: "shop@example.com", name: SENDER }]);
  assert.equal((mail.to as AddressObject).value[0]?.address, "ada@bücher.example");
  assert.equal(mail.subject, SUBJECT);
}

function proveBodies({ text: plain = "", html }: ParsedMail): void {
  assert.ok(typeof html === "string");
  for (const words of ["Grüße 🎉", "مرحبا Žofie Ågård", LONG_WORDS.trim(), "Zwölf neue Dinge", "Rämistrasse 1"])
    assert.ok(html.includes(words), `The HTML lacks ${words}`);
  for (const words of ["مرحبا Žofie Ågård", "Rämistrasse 1"])
    assert.ok(plain.includes(words), `The text lacks ${words}`);
  assert.ok(plain.replaceAll(/\s+/g, " ").includes(LONG_WORDS.trim()));
  assert.doesNotMatch(plain, /<\/?[a-z]/i);
  assert.match(plain, /^\.$/m);
}

function proveHeaders({ headers, messageId, date }: ParsedMail): void {
  assert.match(messageId ?? "", /^<[^@\s]+@[^@\s]+>$/);
  assert.ok(date && Math.abs(Date.now() - date.getTime()) < 600_000);
  const list = headers.get("list") as unknown as Record<string, { url?: string; id?: string }>;
  assert.match(list.unsubscribe?.url ?? "", /^https?:\/\//);
  assert.match(String(list["unsubscribe-post"] ? JSON.stringify(list["unsubscribe-post"]) : ""), /One-Click/);
}

export const claims: readonly Claim[] = [
  {
    says: "A mail by SMTP has its text, HTML, headers and international names as they were written",
    tool: "mailparser",
    prove: proveMail,
  },
];
