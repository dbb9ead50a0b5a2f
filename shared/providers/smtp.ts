// E-mail by any SMTP server, always over TLS. Own, because it must know at which byte a message may have been accepted.
import type { Duplex } from "node:stream";
import { type Clock, SECOND } from "../clock.ts";
import { DONE, type Egress } from "../egress/egress.ts";
import type { CredentialsFor, Outcome, Verification } from "./provider.ts";
import { rejected, retryable } from "./provider.ts";

type Email = CredentialsFor<"email">;

const TIMEOUT_MS = 20 * SECOND;
const SUBMISSION_PORT = 587;
const TLS_PORT = 465;
const MAX_REPLY_BYTES = 16_384;
/** The address itself is refused: no such mailbox, or none that takes mail (RFC 3463). */
const DEAD = /^\d{3}[ -]5\.1\.[1236]\b/;

interface Reply {
  code: number;
  text: string;
  lines: string[];
}

/** What ends a conversation before the message may have been accepted. */
type Stop = Error & { outcome: Outcome };
const stop = (outcome: Outcome): Stop => Object.assign(new Error("The conversation ended."), { outcome });

export interface Smtp {
  send(credentials: Email, to: string, source: string): Promise<Outcome>;
  verify(credentials: Email): Promise<Verification>;
}

export function openSmtp({ egress, clock }: { egress: Egress; clock: Clock }): Smtp {
  /** Runs a conversation after the greeting, TLS and AUTH; what breaks off before `commit` was not accepted. */
  const converse = async (
    credentials: Email,
    talk: (ask: Ask, commit: () => void) => Promise<Outcome>,
  ): Promise<Outcome> => {
    const [limit, done] = [new AbortController(), new AbortController()];
    clock.sleep(TIMEOUT_MS, done.signal).then(() => {
      if (!done.signal.aborted) limit.abort();
    });
    let mayBeAccepted = false;
    let socket: Duplex | undefined;
    try {
      const { host = "", port = SUBMISSION_PORT, username, password = "" } = credentials;
      const isTls = port === TLS_PORT;
      const line = await egress.connect({ purpose: "smtp", host, port, tls: isTls }, limit.signal);
      if (line.outcome === "not_sent") return line.isRefused ? rejected(line.reason) : retryable(line.reason);
      socket = line.socket;
      let { ask, leave } = openTalk(socket, limit.signal);
      expect(await ask(), 220);
      const hello = `EHLO ${credentials.from_email.slice(credentials.from_email.lastIndexOf("@") + 1)}`;
      let offers = expect(await ask(hello), 250);
      if (!isTls) {
        if (!offers.lines.some((offer) => /^STARTTLS$/i.test(offer))) throw stop(rejected("the server offers no TLS"));
        expect(await ask("STARTTLS"), 220);
        // What was said before TLS must not count after it.
        leave();
        socket = await line.secure();
        ask = openTalk(socket, limit.signal).ask;
        offers = expect(await ask(hello), 250);
      }
      if (username !== undefined) await logIn(ask, offers, username, password);
      const outcome = await talk(ask, () => {
        mayBeAccepted = true;
      });
      socket.write("QUIT\r\n");
      return outcome;
    } catch (error) {
      if (error instanceof Error && "outcome" in error) return (error as Stop).outcome;
      const reason = limit.signal.aborted ? "no answer in time" : "the connection broke off";
      return mayBeAccepted ? { status: "unknown", reason } : retryable(reason);
    } finally {
      done.abort(DONE);
      socket?.end();
    }
  };

  return {
    send: (credentials, to, source) =>
      converse(credentials, async (ask, commit) => {
        expect(await ask(`MAIL FROM:<${credentials.from_email}>`), 250);
        expect(await ask(`RCPT TO:<${to}>`), 250, 251);
        expect(await ask("DATA"), 354);
        const stuffed = source.replaceAll(/^\./gm, "..");
        commit();
        const { text } = expect(await ask(`${stuffed}${stuffed.endsWith("\r\n") ? "" : "\r\n"}.`), 250);
        return { status: "accepted", providerId: text.slice(0, 200) };
      }),
    verify: async (credentials) => {
      const outcome = await converse(credentials, async (ask) => {
        expect(await ask(`MAIL FROM:<${credentials.from_email}>`), 250);
        expect(await ask("RSET"), 250);
        return { status: "accepted" };
      });
      if (outcome.status === "accepted") return { ok: true };
      // Without the codes before it.
      const error = outcome.reason.replace(/^\d{3} (?:\d\.\d{1,3}\.\d{1,3} )?/, "");
      return outcome.status === "rejected" ? { ok: false, error } : { ok: false, error, mayPass: true };
    },
  };
}

/** The reply, if its code is one of those expected. */
function expect(reply: Reply, ...codes: number[]): Reply {
  if (codes.includes(reply.code)) return reply;
  const reason = `${reply.code} ${reply.text}`.slice(0, 200);
  if (reply.code >= 500) throw stop(rejected(reason, DEAD.test(`${reply.code} ${reply.text}`)));
  throw stop(retryable(reason));
}

async function logIn(ask: Ask, offers: Reply, username: string, password: string): Promise<void> {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const ways = offers.lines.find((offer) => /^AUTH[ =]/i.test(offer))?.toUpperCase() ?? "";
  if (ways.includes("PLAIN")) {
    expect(await ask(`AUTH PLAIN ${base64(`\0${username}\0${password}`)}`), 235);
  } else if (ways.includes("LOGIN")) {
    expect(await ask("AUTH LOGIN"), 334);
    expect(await ask(base64(username)), 334);
    expect(await ask(base64(password)), 235);
  } else throw stop(rejected("the server offers no way to log in"));
}

/** Sends a line, if any, and gives the reply that follows. */
type Ask = (line?: string) => Promise<Reply>;

function openTalk(socket: Duplex, signal: AbortSignal): { ask: Ask; leave(): void } {
  let received = "";
  let waiting: { resolve(reply: Reply): void; reject(error: Error): void } | undefined;
  let broken: Error | undefined;
  const breakOff = (error: Error) => {
    broken ??= error;
    waiting?.reject(broken);
    waiting = undefined;
  };
  const look = () => {
    const end = /^\d{3}(?: [^\n]*)?\r?\n/m.exec(received);
    if (!end || !waiting) {
      if (received.length > MAX_REPLY_BYTES) breakOff(new Error("the reply is too long"));
      return;
    }
    const whole = received.slice(0, end.index + end[0].length);
    received = received.slice(whole.length);
    const lines = whole
      .trimEnd()
      .split(/\r?\n/)
      .map((line) => line.slice(4));
    const { resolve } = waiting;
    waiting = undefined;
    resolve({ code: Number(end[0].slice(0, 3)), text: lines.at(-1) ?? "", lines });
  };
  const hear = (chunk: Buffer) => {
    received += chunk.toString("latin1");
    look();
  };
  socket.on("data", hear);
  socket.on("error", breakOff);
  socket.on("close", () => breakOff(new Error("the connection was closed")));
  signal.addEventListener("abort", () => breakOff(new Error("no answer in time")), { once: true });

  const ask: Ask = (line) =>
    new Promise((resolve, reject) => {
      if (broken) return reject(broken);
      waiting = { resolve, reject };
      if (line !== undefined) socket.write(`${line}\r\n`);
      look();
    });
  return { ask, leave: () => socket.removeListener("data", hear) };
}
