// Sessions with SMTP servers, always over TLS. A session that sent a mail is kept for the next mail of the same sender.
import { createHash } from "node:crypto";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { CredentialsFor } from "../contract/credentials.ts";
import type { Egress } from "../egress/egress.ts";
import { type Clock, SECOND } from "../kernel/clock.ts";
import { type Outcome, rejected, retryable, throttled } from "./provider.ts";
import { type Ask, type Dialogue, openDialogue, type Reply } from "./smtp-dialogue.ts";

type Email = CredentialsFor<"email">;

export const SUBMISSION_PORT = 587;
const TLS_PORT = 465;
/** Servers limit how many mails they take in a session; the common limits begin at 100. */
const MAX_MAILS = 50;
/** The server, or a proxy in between, may have closed a session that was idle for longer. */
const IDLE_MS = 10 * SECOND;
/** The address is refused: the mailbox does not exist or accepts no mail (RFC 3463). */
const DEAD = /^\d{3}[ -]5\.1\.[1236]\b/;
/** SES: its sending rate or daily quota is exceeded. */
const THROTTLED = /^454 .*(throttling failure|quota exceeded)/i;
/** The server closes the session with this reply. */
const CLOSING = 421;

/** The outcome of a mail that ends its session early. */
interface Stop extends Error {
  outcome: Outcome;
  /** Whether the server expects another command. */
  isOpen: boolean;
}
const stop = (outcome: Outcome, { isOpen = false } = {}): Stop =>
  Object.assign(new Error("The session ended."), { outcome, isOpen });
export const isStop = (error: unknown): error is Stop => error instanceof Error && Object.hasOwn(error, "outcome");

/** The reply, if its code is one of those expected. @throws a `Stop` */
export function expectReply(reply: Reply, ...codes: number[]): Reply {
  if (codes.includes(reply.code)) return reply;
  const reason = `${reply.code} ${reply.text}`.slice(0, 200);
  if (reply.code >= 500)
    throw stop(rejected(reason, { addressDead: DEAD.test(`${reply.code} ${reply.text}`) }), { isOpen: true });
  throw stop(THROTTLED.test(reason) ? throttled(reason) : retryable(reason), { isOpen: reply.code !== CLOSING });
}

export interface Session {
  ask: Ask;
  /** Rejects the wait for a reply with this error. */
  fail(error: Error): void;
  /** Whether it was opened for an earlier mail. */
  isReused: boolean;
  /** Whether a mail was begun and not finished. */
  isBegun: boolean;
  /** Keeps it for the next mail, if it may take more. */
  keep(): void;
  end(): void;
}

interface Sessions {
  /** An idle session with the server and the login of these credentials. */
  idle(credentials: Email): Session | undefined;
  /** Connects, starts TLS and logs in. @throws a `Stop`, or an error of the connection */
  open(credentials: Email, signal: AbortSignal): Promise<Session>;
}

interface IdleSession {
  session: Session;
  socket: Duplex;
  key: string;
  since: number;
}

/** The sessions of an environment, of which idle ones are kept for the next mail. */
export function openSessions({ egress, clock }: { egress: Egress; clock: Clock }): Sessions {
  let kept: IdleSession[] = [];

  const closeOld = () => {
    const isOld = ({ since }: IdleSession) => clock.now() - since > IDLE_MS;
    for (const old of kept.filter(isOld)) old.session.end();
    kept = kept.filter((session) => !isOld(session));
  };

  return {
    idle: (credentials) => {
      closeOld();
      const key = keyOf(credentials);
      const found = kept.findLast((session) => session.key === key);
      if (!found) return undefined;

      kept = kept.filter((session) => session !== found);
      found.session.isReused = true;
      if (found.socket instanceof Socket) found.socket.ref();
      return found.session;
    },
    open: async (credentials, signal) => {
      const { socket, dialogue } = await logInAt(egress, credentials, signal);
      let mails = 0;
      const session: Session = {
        ask: dialogue.ask,
        fail: dialogue.fail,
        isReused: false,
        isBegun: false,
        keep: () => {
          mails++;
          if (mails >= MAX_MAILS) return session.end();
          kept.push({ session, socket, key: keyOf(credentials), since: clock.now() });
          // A session that waits for a mail does not keep the process alive.
          if (socket instanceof Socket) socket.unref();
        },
        end: () => {
          socket.end("QUIT\r\n");
        },
      };
      return session;
    },
  };
}

/** Names the server and the login. It is kept in memory, so that it is a hash. */
const keyOf = ({ host, port, username, password, from_email }: Email): string =>
  createHash("sha256")
    .update(JSON.stringify([host, port, username, password, domainOf(from_email)]))
    .digest("base64");

const domainOf = (address: string) => address.slice(address.lastIndexOf("@") + 1);

interface LoggedIn {
  socket: Duplex;
  dialogue: Dialogue;
}

async function logInAt(egress: Egress, credentials: Email, signal: AbortSignal): Promise<LoggedIn> {
  const { host = "", port = SUBMISSION_PORT, username, password = "" } = credentials;
  const isTls = port === TLS_PORT;
  const connection = await egress.connect({ purpose: "smtp", host, port, tls: isTls }, signal);
  if (connection.kind === "not_sent")
    throw stop(connection.isRefused ? rejected(connection.reason) : retryable(connection.reason));

  let { socket } = connection;
  let dialogue = openDialogue(socket);
  const giveUp = () => dialogue.fail(new Error("no answer in time"));
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    expectReply(await dialogue.ask(), 220);
    const hello = `EHLO ${domainOf(credentials.from_email)}`;
    let greeting = expectReply(await dialogue.ask(hello), 250);
    if (!isTls) {
      if (!greeting.lines.some((offer) => /^STARTTLS$/i.test(offer))) throw stop(rejected("the server offers no TLS"));
      expectReply(await dialogue.ask("STARTTLS"), 220);
      // Replies that were received before TLS must not count after it.
      dialogue.detach();
      socket = await connection.secure();
      dialogue = openDialogue(socket);
      greeting = expectReply(await dialogue.ask(hello), 250);
    }
    if (username !== undefined) await logIn(dialogue.ask, greeting, username, password);
    return { socket, dialogue };
  } catch (error) {
    socket.end();
    throw error;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

async function logIn(ask: Ask, greeting: Reply, username: string, password: string): Promise<void> {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const mechanisms = greeting.lines.find((offer) => /^AUTH[ =]/i.test(offer))?.toUpperCase() ?? "";
  if (mechanisms.includes("PLAIN")) {
    expectReply(await ask(`AUTH PLAIN ${base64(`\0${username}\0${password}`)}`), 235);
  } else if (mechanisms.includes("LOGIN")) {
    expectReply(await ask("AUTH LOGIN"), 334);
    expectReply(await ask(base64(username)), 334);
    expectReply(await ask(base64(password)), 235);
  } else throw stop(rejected("the server offers no way to log in"));
}
