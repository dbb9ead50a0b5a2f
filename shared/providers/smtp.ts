// E-mail by any SMTP server, always over TLS. Our own client, because it must know at which byte a message may have been
// accepted.

import type { CredentialsFor } from "../contract/credentials.ts";
import type { Egress } from "../egress/egress.ts";
import { withTimeLimit } from "../egress/time-limit.ts";
import { type Clock, SECOND } from "../kernel/clock.ts";
import { accepted, type Outcome, rejected, retryable, throttled, unverified, type Verification } from "./provider.ts";
import { type Ask, openDialogue, type Reply } from "./smtp-dialogue.ts";

type Email = CredentialsFor<"email">;

const TIMEOUT_MS = 20 * SECOND;
const SUBMISSION_PORT = 587;
const TLS_PORT = 465;
/** The address is refused: the mailbox does not exist or accepts no mail (RFC 3463). */
const DEAD = /^\d{3}[ -]5\.1\.[1236]\b/;

/** Ends a session before the message may have been accepted. */
interface Stop extends Error {
  outcome: Outcome;
}
const stop = (outcome: Outcome): Stop => Object.assign(new Error("The session ended."), { outcome });
const isStop = (error: unknown): error is Stop => error instanceof Error && "outcome" in error;

export interface Smtp {
  send(credentials: Email, to: string, source: string): Promise<Outcome>;
  verify(credentials: Email): Promise<Verification>;
}

/** Why an SMTP server is never connected to, by field; undefined if it may be, or if the mail goes through SES. */
export function smtpRefusal(
  { provider, host = "", port = SUBMISSION_PORT }: Pick<Email, "provider" | "host" | "port">,
  egress: Egress,
): Record<string, string> | undefined {
  const reason = provider === "smtp" ? egress.serverRefusal(host, port, "smtp") : undefined;
  if (reason === undefined) return undefined;
  return { [reason.startsWith("must use port") ? "port" : "host"]: reason };
}

/** What is done in a session. `commit` is called before the first byte with which a message may be accepted. */
type Task = (ask: Ask, commit: () => void) => Promise<Outcome>;

export function openSmtp({ egress, clock }: { egress: Egress; clock: Clock }): Smtp {
  const runSession = (credentials: Email, task: Task): Promise<Outcome> =>
    withTimeLimit(clock, TIMEOUT_MS, async (signal) => {
      let mayBeAccepted = false;
      let close = () => {};
      try {
        const session = await openSession(egress, credentials, signal, (end) => {
          close = end;
        });
        const outcome = await task(session.ask, () => {
          mayBeAccepted = true;
        });
        session.quit();
        return outcome;
      } catch (error) {
        if (isStop(error)) return error.outcome;
        const reason = signal.aborted ? "no answer in time" : "the connection broke off";
        return mayBeAccepted ? { status: "unknown", reason } : retryable(reason);
      } finally {
        close();
      }
    });

  return {
    send: (credentials, to, source) =>
      runSession(credentials, async (ask, commit) => {
        expect(await ask(`MAIL FROM:<${credentials.from_email}>`), 250);
        expect(await ask(`RCPT TO:<${to}>`), 250, 251);
        expect(await ask("DATA"), 354);
        const stuffed = source.replaceAll(/^\./gm, "..");
        commit();
        const { text } = expect(await ask(`${stuffed}${stuffed.endsWith("\r\n") ? "" : "\r\n"}.`), 250);
        return { status: "accepted", providerId: text.slice(0, 200) };
      }),
    verify: async (credentials) => {
      const outcome = await runSession(credentials, async (ask) => {
        expect(await ask(`MAIL FROM:<${credentials.from_email}>`), 250);
        expect(await ask("RSET"), 250);
        return accepted();
      });
      if (outcome.status === "accepted") return { ok: true };
      // Without the codes before the text.
      const error = outcome.reason.replace(/^\d{3} (?:\d\.\d{1,3}\.\d{1,3} )?/, "");
      return unverified(error, outcome.status !== "rejected");
    },
  };
}

interface Session {
  ask: Ask;
  quit(): void;
}

/** Connects, starts TLS and logs in. `onSocket` receives what closes the connection, as soon as there is one. */
async function openSession(
  egress: Egress,
  credentials: Email,
  signal: AbortSignal,
  onSocket: (close: () => void) => void,
): Promise<Session> {
  const { host = "", port = SUBMISSION_PORT, username, password = "" } = credentials;
  const isTls = port === TLS_PORT;
  const connection = await egress.connect({ purpose: "smtp", host, port, tls: isTls }, signal);
  if (connection.outcome === "not_sent")
    throw stop(connection.isRefused ? rejected(connection.reason) : retryable(connection.reason));
  let { socket } = connection;
  onSocket(() => socket.end());
  let dialogue = openDialogue(socket, signal);
  expect(await dialogue.ask(), 220);
  const hello = `EHLO ${credentials.from_email.slice(credentials.from_email.lastIndexOf("@") + 1)}`;
  let greeting = expect(await dialogue.ask(hello), 250);
  if (!isTls) {
    if (!greeting.lines.some((offer) => /^STARTTLS$/i.test(offer))) throw stop(rejected("the server offers no TLS"));
    expect(await dialogue.ask("STARTTLS"), 220);
    // Replies that were received before TLS must not count after it.
    dialogue.detach();
    socket = await connection.secure();
    dialogue = openDialogue(socket, signal);
    greeting = expect(await dialogue.ask(hello), 250);
  }
  if (username !== undefined) await logIn(dialogue.ask, greeting, username, password);
  return { ask: dialogue.ask, quit: () => socket.write("QUIT\r\n") };
}

/** How SES says that its sending rate or its quota of a day is exceeded. */
const THROTTLED = /^454 .*(throttling failure|quota exceeded)/i;

/** The reply, if its code is one of those expected. */
function expect(reply: Reply, ...codes: number[]): Reply {
  if (codes.includes(reply.code)) return reply;
  const reason = `${reply.code} ${reply.text}`.slice(0, 200);
  if (reply.code >= 500) throw stop(rejected(reason, DEAD.test(`${reply.code} ${reply.text}`)));
  throw stop(THROTTLED.test(reason) ? throttled(reason) : retryable(reason));
}

async function logIn(ask: Ask, greeting: Reply, username: string, password: string): Promise<void> {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const mechanisms = greeting.lines.find((offer) => /^AUTH[ =]/i.test(offer))?.toUpperCase() ?? "";
  if (mechanisms.includes("PLAIN")) {
    expect(await ask(`AUTH PLAIN ${base64(`\0${username}\0${password}`)}`), 235);
  } else if (mechanisms.includes("LOGIN")) {
    expect(await ask("AUTH LOGIN"), 334);
    expect(await ask(base64(username)), 334);
    expect(await ask(base64(password)), 235);
  } else throw stop(rejected("the server offers no way to log in"));
}
