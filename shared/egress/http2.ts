// HTTP/2: concurrent requests over one connection per host, whose address was checked when it was made.
import { type ClientHttp2Session, constants, connect as startSession } from "node:http2";
import { type Clock, MINUTE } from "../kernel/clock.ts";
import { type Connect, type Exchange, notSent, type OutgoingRequest, type Pool, reasonOf } from "./exchange.ts";
import { flat, hostHeader, MAX_READ_BYTES } from "./http1.ts";

/** A connection idle for longer may have been closed by the server while this environment was frozen. */
const IDLE_MS = MINUTE;

interface Open {
  session: Promise<ClientHttp2Session>;
  usedAt: number;
}

/** A pool of HTTP/2 sessions, one for each origin, that are dropped once they are idle for a minute. */
export function openHttp2(clock: Clock, connect: Connect): Pool {
  const sessions = new Map<string, Open>();

  const open = async (name: string, { target, signal }: OutgoingRequest): Promise<ClientHttp2Session> => {
    const forget = () => {
      if (sessions.get(name) === opened) sessions.delete(name);
    };
    const opened: Open = { usedAt: clock.now(), session: connect(target, ["h2"], signal).then(begin) };
    function begin(socket: Awaited<ReturnType<Connect>>): ClientHttp2Session {
      const session = startSession(`https://${name}`, { createConnection: () => socket });
      session.on("goaway", forget);
      session.on("close", forget);
      session.on("error", forget);
      return session;
    }
    sessions.set(name, opened);
    opened.session.catch(forget);
    return opened.session;
  };

  const sessionFor = async (request: OutgoingRequest): Promise<ClientHttp2Session> => {
    const name = `${request.target.host}:${request.target.port}`;
    const cached = sessions.get(name);
    if (cached && clock.now() - cached.usedAt > IDLE_MS) {
      sessions.delete(name);
      cached.session.then((session) => session.close()).catch(() => undefined);
    } else if (cached) {
      const session = await cached.session;
      if (!session.closed && !session.destroyed) {
        cached.usedAt = clock.now();
        return session;
      }
    }
    return open(name, request);
  };

  return async (request) => {
    try {
      const session = await sessionFor(request);
      const exchanged = await exchange(session, request);
      // The session may be dead without a sign from the network: its open requests may end, and the next request uses
      // another one.
      if (exchanged.kind === "unknown") session.close();
      return exchanged;
    } catch (error) {
      return notSent(error);
    }
  };
}

/** Rejects only if the session accepts no more requests. */
function exchange(
  session: ClientHttp2Session,
  { method, target, headers, body, signal }: OutgoingRequest,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const stream = session.request({
      ":method": method,
      ":authority": hostHeader(target),
      ":path": target.path,
      ...headers,
    });
    let status: number | undefined;
    let answerHeaders = {};
    const chunks: Buffer[] = [];
    let size = 0;
    const cancel = () => stream.close(constants.NGHTTP2_CANCEL);
    const finish = (error?: Error) => {
      signal.removeEventListener("abort", cancel);
      if (status !== undefined) {
        const text = Buffer.concat(chunks).subarray(0, MAX_READ_BYTES).toString();
        resolve({ kind: "answered", status, headers: answerHeaders, body: text });
      } else if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) {
        resolve({ kind: "not_sent", reason: "the stream was refused", isRefused: false });
      } else {
        const cause = signal.aborted ? new Error("no answer in time") : (error ?? new Error("the stream was closed"));
        resolve({ kind: "unknown", reason: reasonOf(cause) });
      }
    };
    signal.addEventListener("abort", cancel, { once: true });
    stream.on("response", (received) => {
      status = Number(received[":status"]);
      answerHeaders = flat(received);
    });
    stream.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_READ_BYTES) cancel();
    });
    stream.once("error", finish);
    stream.once("close", finish);
    if (signal.aborted) cancel();
    stream.end(body);
  });
}
