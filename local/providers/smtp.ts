// The embedded SMTP server: submission with STARTTLS and AUTH, one conversation per line.
import type { Duplex } from "node:stream";
import { itemOf } from "./mail.ts";
import { faultOf, HANGS, record, refusedCredentials, type SinkDeps } from "./sink.ts";

const MAX_SOURCE_BYTES = 26_214_400;

/** Replies name the recipient, as real servers do. */
const answersTo = (address: string) => ({
  permanent: `554 5.7.1 <${address}>: Message refused`,
  invalid_token: `550 5.1.1 <${address}>: No such mailbox`,
  transient: "451 4.3.0 Try again later",
  rate_limited: "454 4.7.0 Throttling failure: Maximum sending rate exceeded",
});

/** @param isTls TLS from the first byte on. Connections within the process do not actually use TLS. */
export function converse(deps: SinkDeps, line: Duplex, isTls: boolean): void {
  let received = "";
  let secured = isTls;
  let from: string | undefined;
  let to: string[] = [];
  let inData = false;
  let hangs = false;
  let loggingIn = 0;
  const say = (...lines: string[]) => line.write(lines.map((text) => `${text}\r\n`).join(""));

  const accept = (source: string) => {
    const unstuffed = source.replaceAll(/^\.\./gm, ".");
    for (const address of to) {
      const item = itemOf(unstuffed, address);
      const fault = faultOf(deps, "email", item.subscriber_id);
      if (fault === "timeout") {
        hangs = true;
        return;
      }
      if (fault) return say(answersTo(address)[fault]);
      record(deps, item);
    }
    say("250 2.0.0 Ok: queued");
  };

  const commands: Record<string, (rest: string) => unknown> = {
    EHLO: () => {
      say("250-local.test", "250-8BITMIME", `250-SIZE ${MAX_SOURCE_BYTES}`, ...(secured ? [] : ["250-STARTTLS"]));
      say("250 AUTH PLAIN LOGIN");
    },
    STARTTLS: () => {
      secured = true;
      say("220 2.0.0 Ready to start TLS");
    },
    AUTH: (rest) => {
      if (!secured) return say("538 5.7.11 Encryption required");
      if (/^PLAIN \S+$/i.test(rest)) return say("235 2.7.0 Accepted");
      if (!/^LOGIN$/i.test(rest)) return say("504 5.5.4 Unrecognized authentication type");
      loggingIn = 2;
      say("334 VXNlcm5hbWU6");
    },
    MAIL: (rest) => {
      from = /^FROM:<([^>]*)>/i.exec(rest)?.[1];
      to = [];
      say(from === undefined ? "501 5.5.4 Syntax: MAIL FROM:<address>" : "250 2.1.0 Ok");
    },
    RCPT: (rest) => {
      const address = /^TO:<([^>]+)>/i.exec(rest)?.[1];
      if (from === undefined) return say("503 5.5.1 Error: need MAIL command");
      if (!address) return say("501 5.5.4 Syntax: RCPT TO:<address>");
      to.push(address);
      say("250 2.1.5 Ok");
    },
    DATA: () => {
      if (to.length === 0) return say("503 5.5.1 Error: need RCPT command");
      inData = true;
      say("354 End data with <CR><LF>.<CR><LF>");
    },
    RSET: () => {
      const refused = refusedCredentials(deps, "email", "Authentication failed");
      if (refused === HANGS) hangs = true;
      else say(refused ? `535 5.7.8 ${refused.said}` : "250 2.0.0 Ok");
    },
    NOOP: () => say("250 2.0.0 Ok"),
    QUIT: () => {
      say("221 2.0.0 Bye");
      line.end();
    },
  };

  const hear = (text: string) => {
    if (loggingIn > 0) {
      loggingIn--;
      return say(loggingIn > 0 ? "334 UGFzc3dvcmQ6" : "235 2.7.0 Accepted");
    }
    const [, word = "", rest = ""] = /^([A-Za-z]+) ?(.*)$/.exec(text) ?? [];
    const command = commands[word.toUpperCase()];
    return command ? command(rest) : say("502 5.5.2 Error: command not recognized");
  };

  line.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
    while (!hangs) {
      const ending = inData ? "\r\n.\r\n" : "\r\n";
      const end = received.indexOf(ending);
      if (end < 0) return;
      const whole = received.slice(0, end);
      received = received.slice(end + ending.length);
      if (!inData) hear(whole);
      else {
        inData = false;
        accept(`${whole}\r\n`);
      }
    }
  });
  say("220 local.test ESMTP");
}
