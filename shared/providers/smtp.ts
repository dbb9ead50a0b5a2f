// Email by any SMTP server. The client is our own, because it must know at which byte a message may have been accepted
// (docs/decisions/0111).
import type { CredentialsFor } from "../contract/credentials.ts";
import type { Egress } from "../egress/egress.ts";
import { type Clock, SECOND } from "../kernel/clock.ts";
import { withTimeLimit } from "../kernel/time-limit.ts";
import { accepted, type Outcome, retryable, unverified, type Verification } from "./provider.ts";
import type { Ask } from "./smtp-dialogue.ts";
import { expectReply, isStop, openSessions, type Session, SUBMISSION_PORT } from "./smtp-sessions.ts";

type Email = CredentialsFor<"email">;

const TIMEOUT_MS = 20 * SECOND;

export interface Smtp {
  send(credentials: Email, to: string, source: string): Promise<Outcome>;
  verify(credentials: Email): Promise<Verification>;
}

/** Why the service never connects to an SMTP server, by field; undefined if it may, or if the mail goes through SES. */
export function smtpRefusal(
  { provider, host = "", port = SUBMISSION_PORT }: Pick<Email, "provider" | "host" | "port">,
  egress: Egress,
): Record<string, string> | undefined {
  const reason = provider === "smtp" ? egress.serverRefusal(host, port, "smtp") : undefined;
  if (reason === undefined) return undefined;
  return { [reason.startsWith("must use port") ? "port" : "host"]: reason };
}

/** The progress of a mail: not begun, its sender sent, its sender accepted, or possibly accepted. */
type Progress = "idle" | "begun" | "sender_taken" | "may_be_accepted";

/** A task in a session. It reports its progress before it goes on. */
type Task = (ask: Ask, reached: (progress: Progress) => void) => Promise<Outcome>;

type Attempt =
  | { kind: "decided"; outcome: Outcome }
  /** The server closed an idle session before it accepted anything. */
  | { kind: "closed_before" };

/**
 * Mails by a workspace's own SMTP server. An idle session is used again, and a mail is tried once more if the server had
 * closed it.
 */
export function openSmtp({ egress, clock }: { egress: Egress; clock: Clock }): Smtp {
  const sessions = openSessions({ egress, clock });

  const openFor = async (credentials: Email, task: Task, signal: AbortSignal): Promise<Outcome> => {
    try {
      const session = await sessions.open(credentials, signal);
      const attempt = await attemptIn(session, task, signal);
      return attempt.kind === "decided" ? attempt.outcome : retryable("the connection broke off");
    } catch (error) {
      return isStop(error) ? error.outcome : retryable(brokenOff(signal));
    }
  };

  return {
    send: async (credentials, to, source) => {
      const outcome = await withTimeLimit(clock, TIMEOUT_MS, async (signal) => {
        const task = sendingTo(credentials, to, source);
        const idle = sessions.idle(credentials);
        const attempt = idle && (await attemptIn(idle, task, signal));
        return attempt?.kind === "decided" ? attempt.outcome : openFor(credentials, task, signal);
      });
      return outcome.kind === "accepted" ? outcome : { ...outcome, reason: countable(outcome.reason) };
    },
    verify: async (credentials) => {
      const outcome = await withTimeLimit(clock, TIMEOUT_MS, (signal) =>
        openFor(credentials, askingFor(credentials), signal),
      );
      if (outcome.kind === "accepted") return { kind: "verified" };
      // The text of a reply without its codes.
      const error = outcome.reason.replace(/^\d{3} (?:\d\.\d{1,3}\.\d{1,3} )?/, "");
      return unverified(error, { isTemporary: outcome.kind !== "rejected" });
    },
  };
}

const sendingTo =
  ({ from_email }: Email, to: string, source: string): Task =>
  async (ask, reached) => {
    reached("begun");
    expectReply(await ask(`MAIL FROM:<${from_email}>`), 250);
    reached("sender_taken");
    expectReply(await ask(`RCPT TO:<${to}>`), 250, 251);
    expectReply(await ask("DATA"), 354);
    const stuffed = source.replaceAll(/^\./gm, "..");
    reached("may_be_accepted");
    const { text } = expectReply(await ask(`${stuffed}${stuffed.endsWith("\r\n") ? "" : "\r\n"}.`), 250);
    return { kind: "accepted", providerId: text.slice(0, 200) };
  };

/** Whether the server would accept the sender. */
const askingFor =
  ({ from_email }: Email): Task =>
  async (ask, reached) => {
    reached("begun");
    expectReply(await ask(`MAIL FROM:<${from_email}>`), 250);
    expectReply(await ask("RSET"), 250);
    return accepted();
  };

const REPLY = /^(\d{3}(?: \d\.\d{1,3}\.\d{1,3}(?!\S))?)(.*)$/s;
const NAMES_ITS_OWN = /[\d@<>/]|^\P{L}*$/u;

/**
 * A reply without the addresses, ids, times and links in which replies about many mails differ. A send counts its
 * failures by these reasons, and keeps them after an erasure.
 */
function countable(reason: string): string {
  const [, codes = "", text = reason] = REPLY.exec(reason) ?? [];
  if (codes === "") return reason;
  return [codes, ...text.split(/\s+/).filter((word) => !NAMES_ITS_OWN.test(word))].join(" ");
}

const brokenOff = (signal: AbortSignal) => (signal.aborted ? "no answer in time" : "the connection broke off");

/** Runs a task in a session, and keeps the session if it can take another. */
async function attemptIn(session: Session, task: Task, signal: AbortSignal): Promise<Attempt> {
  const state: { progress: Progress } = { progress: "idle" };
  const giveUp = () => session.fail(new Error("no answer in time"));
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    // A mail that was refused half-way is still the server's current one.
    if (session.isBegun) expectReply(await session.ask("RSET"), 250);
    session.isBegun = true;
    const outcome = await task(session.ask, (progress) => {
      state.progress = progress;
    });
    session.isBegun = false;
    session.keep();
    return { kind: "decided", outcome };
  } catch (error) {
    const { progress } = state;
    const mayGoOn = isStop(error) && error.isOpen && progress !== "idle";
    if (mayGoOn) session.keep();
    else session.end();

    const isUntouched = progress === "idle" || progress === "begun";
    const wasClosedBefore = session.isReused && isUntouched && !mayGoOn;
    if (wasClosedBefore && !signal.aborted) return { kind: "closed_before" };
    if (isStop(error)) return { kind: "decided", outcome: error.outcome };
    const reason = brokenOff(signal);
    const outcome: Outcome = progress === "may_be_accepted" ? { kind: "unknown", reason } : retryable(reason);
    return { kind: "decided", outcome };
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}
