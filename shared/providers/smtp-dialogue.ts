// The lines of an SMTP session: a command, then its reply.
import type { Duplex } from "node:stream";

export interface Reply {
  code: number;
  text: string;
  lines: string[];
}

/** Sends a line, if any, and returns the reply that follows. */
export type Ask = (line?: string) => Promise<Reply>;

const MAX_REPLY_BYTES = 16_384;

/** Lines are read byte by byte; a server may answer in UTF-8 (RFC 6531). */
const textOf = (bytes: string): string => Buffer.from(bytes, "latin1").toString();

export interface Dialogue {
  ask: Ask;
  /** Rejects each wait for a reply, now and later, with this error. */
  fail(error: Error): void;
  /** Stops reading. */
  detach(): void;
}

/** Reads and writes lines of a socket. */
export function openDialogue(socket: Duplex): Dialogue {
  let received = "";
  let waiting: { resolve(reply: Reply): void; reject(error: Error): void } | undefined;
  let failure: Error | undefined;
  const fail = (error: Error) => {
    failure ??= error;
    waiting?.reject(failure);
    waiting = undefined;
  };
  const readReply = () => {
    const end = /^\d{3}(?: [^\n]*)?\r?\n/m.exec(received);
    if (!end || !waiting) {
      if (received.length > MAX_REPLY_BYTES) fail(new Error("the reply is too long"));
      return;
    }
    const reply = received.slice(0, end.index + end[0].length);
    received = received.slice(reply.length);
    const lines = reply
      .trimEnd()
      .split(/\r?\n/)
      .map((line) => textOf(line.slice(4)));
    const { resolve } = waiting;
    waiting = undefined;
    resolve({ code: Number(end[0].slice(0, 3)), text: lines.at(-1) ?? "", lines });
  };
  const receive = (chunk: Buffer) => {
    received += chunk.toString("latin1");
    readReply();
  };
  socket.on("data", receive);
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("the connection was closed")));

  const ask: Ask = (line) =>
    new Promise((resolve, reject) => {
      if (failure) return reject(failure);
      waiting = { resolve, reject };
      if (line !== undefined) socket.write(`${line}\r\n`);
      readReply();
    });
  return { ask, fail, detach: () => socket.removeListener("data", receive) };
}
