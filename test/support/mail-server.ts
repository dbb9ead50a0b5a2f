// A mail server on this machine: STARTTLS with a certificate of its own, and as slow as wanted.
import { createServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { listenOnLoopback } from "./loopback.ts";
import { selfSigned } from "./self-signed.ts";

export interface MailServer {
  port: number;
  /** The sources of the mails that it took. */
  mails: string[];
  /** How many connections there were. */
  connections(): number;
  close(): void;
}

/** @param delayMs how long it takes to accept each mail */
export async function mailServer(delayMs: number): Promise<MailServer> {
  const mails: string[] = [];
  const open = new Set<Socket>();
  let connections = 0;

  const converse = (line: Duplex, startTls?: () => void) => {
    let received = "";
    let source: string[] | undefined;
    const say = (text: string) => line.write(`${text}\r\n`);
    const take = (text: string) => {
      if (source === undefined) return answer(text);
      if (text !== ".") return void source.push(text);
      mails.push(source.join("\r\n"));
      source = undefined;
      setTimeout(() => say("250 2.0.0 queued"), delayMs);
    };
    const answer = (text: string) => {
      if (text.startsWith("EHLO")) return say(startTls ? "250-here\r\n250 STARTTLS" : "250-here\r\n250 AUTH PLAIN");
      if (text === "STARTTLS") {
        say("220 go");
        return startTls?.();
      }
      if (text.startsWith("AUTH")) return say("235 ok");
      if (text === "DATA") {
        source = [];
        return say("354 go");
      }
      return say("250 ok");
    };
    line.on("error", () => undefined);
    line.on("data", (chunk: Buffer) => {
      received += chunk.toString("latin1");
      for (let end = received.indexOf("\r\n"); end >= 0; end = received.indexOf("\r\n")) {
        const text = received.slice(0, end);
        received = received.slice(end + 2);
        take(text);
      }
    });
  };

  const server = createServer((socket) => {
    connections++;
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    const secure = () => {
      socket.removeAllListeners("data");
      converse(new TLSSocket(socket, { isServer: true, ...selfSigned }));
    };
    converse(socket, secure);
    socket.write("220 here\r\n");
  });
  const port = await listenOnLoopback(server);
  return {
    port,
    mails,
    connections: () => connections,
    close: () => {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}
