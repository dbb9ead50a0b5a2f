// SMTP: sessions that are interrupted, refused and used again.
import type { Duplex } from "node:stream";
import { describe, expect, it } from "vitest";
import type { Network } from "../../shared/egress/network.ts";
import { openProviders } from "../../shared/providers/providers.ts";
import { onLines } from "../support/networks.ts";
import { sendBy, verifyBy } from "../support/provider-messages.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

/** A server that answers each line with the next one of a script; a function ends the connection. */
function scripted(...script: (string | ((line: Duplex) => void))[]) {
  const heard: string[] = [];
  const network = onLines((line) => {
    const next = () => {
      const step = script.shift();
      if (typeof step === "function") step(line);
      else if (step !== undefined) line.write(`${step}\r\n`);
    };
    line.on("data", (chunk: Buffer) => {
      heard.push(chunk.toString());
      if (chunk.toString().endsWith("\r\n") && !chunk.toString().startsWith("QUIT")) next();
    });
    next();
  });
  return { network, heard };
}
const cut = (line: Duplex) => void line.destroy();
const hello = ["220 hi", "250-me\r\n250-STARTTLS\r\n250 AUTH PLAIN", "220 go", "250-me\r\n250 AUTH PLAIN"];
const smtp = { provider: "smtp", host: "smtp.example.com" } as const;

const taken = ["250 ok", "250 ok", "354 go", "250 2.0.0 queued"];

/** Sends mails one after another by the same providers. */
async function sender(network: Network) {
  const world = await fresh();
  const providers = openProviders({ ...world.depsFor("test"), network });
  return (own: object = {}) => sendBy(providers, "email", {}, { ...smtp, ...own });
}

async function talk(script: (string | ((line: Duplex) => void))[], own: object = {}) {
  const world = await fresh();
  const { network, heard } = scripted(...script);
  const providers = openProviders({ ...world.depsFor("test"), network });
  return { outcome: await sendBy(providers, "email", {}, { ...smtp, ...own }), heard };
}

describe("SMTP", () => {
  it.each<[string, (string | ((line: Duplex) => void))[], object]>([
    ["no greeting", [cut], { kind: "retryable" }],
    ["a busy server", ["421 later"], { kind: "retryable" }],
    ["a server that refuses", ["554 no"], { kind: "rejected" }],
    ["no TLS", ["220 hi", "250 me"], { kind: "rejected", reason: "the server offers no TLS" }],
    ["TLS that does not come", ["220 hi", "250-me\r\n250 STARTTLS", "454 later"], { kind: "retryable" }],
    ["a sender it refuses", [...hello, "550 5.7.1 no"], { kind: "rejected" }],
    ["a mailbox that is not there", [...hello, "250 ok", "550 5.1.1 unknown"], { addressDead: true }],
    ["a mailbox that is full", [...hello, "250 ok", "452 4.2.2 full"], { kind: "retryable" }],
    ["a cut after the recipient", [...hello, "250 ok", cut], { kind: "retryable" }],
    ["no DATA", [...hello, "250 ok", "250 ok", "451 later"], { kind: "retryable" }],
    ["a cut before the mail", [...hello, "250 ok", "250 ok", cut], { kind: "retryable" }],
    ["a cut after the mail", [...hello, "250 ok", "250 ok", "354 go", cut], { kind: "unknown" }],
    ["a refusal of the mail", [...hello, "250 ok", "250 ok", "354 go", "554 spam"], { kind: "rejected" }],
    ["a later of the mail", [...hello, "250 ok", "250 ok", "354 go", "451 later"], { kind: "retryable" }],
    ["a mail that is taken", [...hello, "250 ok", "250 ok", "354 go", "250 2.0.0 queued"], { kind: "accepted" }],
  ])("SMTP answers %s with what is known of the mail (D-EMAIL)", async (_, script, expected) => {
    const { outcome } = await talk(script);
    expect(outcome).toMatchObject(expected);
  });

  it.each([
    [
      "550 5.1.1 <ada@example.org>: Recipient address rejected: User unknown",
      "550 5.1.1 Recipient address rejected: User unknown",
    ],
    ["451 4.7.1 Greylisted, try again in 00:04:32", "451 4.7.1 Greylisted, try again in"],
    ["554 Spam, see https://example.com/why?id=1 a1-20020a17si123 - gsmtp", "554 Spam, see gsmtp"],
    ["550 5.7.1", "550 5.7.1"],
  ])("the reason of the reply %s says nothing of its mail alone (D-EMAIL)", async (reply, reason) => {
    const { outcome } = await talk([...hello, "250 ok", reply]);
    expect(outcome).toMatchObject({ reason });
  });

  it("SMTP logs in only under TLS, and doubles the dot of a line (D-EMAIL)", async () => {
    const own = { username: "u", password: "p" };
    const { outcome, heard } = await talk([...hello, "235 ok", ...taken], own);
    expect(outcome.kind).toBe("accepted");
    const login = `AUTH PLAIN ${Buffer.from("\0u\0p").toString("base64")}\r\n`;
    expect(heard.slice(0, 6)).toEqual([
      ...["EHLO example.com\r\n", "STARTTLS\r\n", "EHLO example.com\r\n", login],
      ...["MAIL FROM:<news@example.com>\r\n", "RCPT TO:<ada@example.org>\r\n"],
    ]);
    const refused = await talk([...hello, "535 5.7.8 wrong"], own);
    expect(refused.outcome).toEqual({ kind: "rejected", reason: "535 5.7.8 wrong" });
    const world = await fresh();
    await sendBy(openProviders(world.depsFor("test")), "email", { body: ".dot\n..two\n." }, smtp);
    expect((await world.call("GET /_local/outbox")).body.items[0].body).toBe(".dot\n..two\n.");
  });

  it("SMTP logs in by LOGIN where the server offers no PLAIN (D-EMAIL)", async () => {
    const script = hello.map((line) => line.replace("AUTH PLAIN", "AUTH LOGIN CRAM-MD5"));
    const asked = [...script, "334 VXNlcm5hbWU6", "334 UGFzc3dvcmQ6", "235 ok"];

    const { outcome, heard } = await talk([...asked, ...taken], { username: "u", password: "p" });

    expect(outcome.kind).toBe("accepted");
    expect(heard.slice(3, 6)).toEqual(["AUTH LOGIN\r\n", `${btoa("u")}\r\n`, `${btoa("p")}\r\n`]);
  });

  it("SMTP refuses a server that offers no way to log in (D-EMAIL)", async () => {
    const script = hello.map((line) => line.replace("AUTH PLAIN", "AUTH CRAM-MD5"));

    const { outcome } = await talk(script, { username: "u", password: "p" });

    expect(outcome).toEqual({ kind: "rejected", reason: "the server offers no way to log in" });
  });

  it("SMTP takes a second mail in the session of the first, without another handshake (D-EMAIL)", async () => {
    const { network, heard } = scripted(...hello, ...taken, ...taken);
    const send = await sender(network);
    expect([(await send()).kind, (await send()).kind]).toEqual(["accepted", "accepted"]);
    expect([network.connects.length, heard.filter((line) => line.startsWith("MAIL FROM")).length]).toEqual([1, 2]);
  });

  it("SMTP opens a new session after fifty mails (D-EMAIL)", async () => {
    const { network } = scripted(...hello, ...Array.from({ length: 51 }, () => taken).flat());
    const send = await sender(network);
    for (let n = 0; n < 50; n++) await send();
    expect(network.connects).toHaveLength(1);
    await send();
    expect(network.connects).toHaveLength(2);
  });

  it("clears a refused mail before the next one of its session (D-EMAIL)", async () => {
    const { network, heard } = scripted(...hello, "250 ok", "550 5.1.1 unknown", "250 cleared", ...taken);
    const send = await sender(network);
    expect([(await send()).kind, (await send()).kind]).toEqual(["rejected", "accepted"]);
    expect([network.connects.length, heard.includes("RSET\r\n")]).toEqual([1, true]);
  });

  it.each<[string, string | ((line: Duplex) => void)]>([
    ["was cut", cut],
    ["says that it closes", "421 too long idle"],
  ])("SMTP sends once by a new session where the idle one %s (D-EMAIL)", async (_, ending) => {
    const { network, heard } = scripted(...hello, ...taken, ending, ...hello, ...taken);
    const send = await sender(network);
    expect([(await send()).kind, (await send()).kind]).toEqual(["accepted", "accepted"]);
    expect([network.connects.length, heard.filter((line) => line === "DATA\r\n").length]).toEqual([2, 2]);
  });

  it("SMTP does not send again where a reused session is cut after the mail (D-EMAIL)", async () => {
    const { network } = scripted(...hello, ...taken, ...taken.slice(0, -1), cut, ...hello, ...taken);
    const send = await sender(network);
    expect([(await send()).kind, (await send()).kind]).toEqual(["accepted", "unknown"]);
    expect(network.connects).toHaveLength(1);
  });

  it("SMTP keeps the sessions of two logins apart (D-EMAIL)", async () => {
    const login = [...hello, "235 ok"];
    const { network } = scripted(...login, ...taken, ...login, ...taken);
    const send = await sender(network);
    const outcomes = [await send({ username: "a", password: "p" }), await send({ username: "b", password: "p" })];
    expect([outcomes.map(({ kind: status }) => status), network.connects.length]).toEqual([
      ["accepted", "accepted"],
      2,
    ]);
  });

  it("SMTP returns the server's message of a refusal (CRD-8)", async () => {
    const world = await fresh();
    const { network } = scripted(...hello, "535 5.7.8 Wrong password");
    const providers = openProviders({ ...world.depsFor("test"), network });
    expect(await verifyBy(providers, "email", { ...smtp, username: "u", password: "p" })).toEqual({
      kind: "refused",
      error: "Wrong password",
    });
  });

  it("SMTP reads the server's message as UTF-8, wherever its bytes were cut (D-EMAIL, CHN-7)", async () => {
    const world = await fresh();
    const bytes = Buffer.from("535 5.7.8 密码错误 ✗\r\n");
    const inPieces = (line: Duplex) => {
      for (const byte of bytes) line.write(Buffer.of(byte));
    };
    const { network } = scripted(...hello, inPieces);
    const providers = openProviders({ ...world.depsFor("test"), network });
    expect(await verifyBy(providers, "email", { ...smtp, username: "u", password: "p" })).toEqual({
      kind: "refused",
      error: "密码错误 ✗",
    });
  });

  it("a mail server inside a network is never connected to (T4)", async () => {
    const world = await fresh();
    for (const host of ["localhost", "127.0.0.1", "[::1]", "10.0.0.5", "mail.internal", "169.254.169.254"]) {
      const outcome = await sendBy(openProviders(world.depsFor("test")), "email", {}, { ...smtp, host });
      expect(outcome).toMatchObject({ kind: "rejected" });
    }
    expect(await sendBy(openProviders(world.depsFor("test")), "email", {}, { ...smtp, port: 6379 })).toMatchObject({
      kind: "rejected",
      reason: "the host must use port 25 or 465 or 587 or 2525",
    });
    expect((await world.call("GET /_local/meter")).body.providers.requests).toBe(0);
  });
});
