// HTTP/2: many requests at once over one judged connection per host.
import { type ClientHttp2Session, constants, connect as startSession } from "node:http2";
import { type Clock, MINUTE } from "../clock.ts";
import { type Connect, type Exchange, notSent, type Outgoing, reasonOf } from "./egress.ts";
import { flat, hostHeader, MAX_READ_BYTES } from "./http1.ts";

/** A connection left alone longer may have been closed by the other side while this environment was frozen. */
const IDLE_MS = MINUTE;

interface Open {
  session: Promise<ClientHttp2Session>;
  usedAt: number;
}

export function openHttp2(clock: Clock, connect: Connect): (request: Outgoing) => Promise<Exchange> {
  const sessions = new Map<string, Open>();

  const open = async (name: string, { target, signal }: Outgoing): Promise<ClientHttp2Session> => {
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

  const sessionFor = async (request: Outgoing): Promise<ClientHttp2Session> => {
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
      return await exchange(session, request);
    } catch (error) {
      return notSent(error);
    }
  };
}

/** Rejects only where the session takes no request any more. */
function exchange(session: ClientHttp2Session, { method, target, headers, body, signal }: Outgoing): Promise<Exchange> {
  return new Promise((resolve) => {
    const stream = session.request({
      ...{ ":method": method, ":authority": hostHeader(target), ":path": target.path },
      ...headers,
    });
    let status: number | undefined;
    let answerHeaders = {};
    const chunks: Buffer[] = [];
    let size = 0;
    const giveUp = () => stream.close(constants.NGHTTP2_CANCEL);
    const ended = (error?: Error) => {
      signal.removeEventListener("abort", giveUp);
      if (status !== undefined) {
        const text = Buffer.concat(chunks).subarray(0, MAX_READ_BYTES).toString();
        resolve({ outcome: "answered", status, headers: answerHeaders, body: text });
      } else if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) {
        resolve({ outcome: "not_sent", reason: "the stream was refused", isRefused: false });
      } else {
        const why = signal.aborted ? new Error("no answer in time") : (error ?? new Error("the stream was closed"));
        resolve({ outcome: "unknown", reason: reasonOf(why) });
      }
    };
    signal.addEventListener("abort", giveUp, { once: true });
    stream.on("response", (received) => {
      status = Number(received[":status"]);
      answerHeaders = flat(received as Parameters<typeof flat>[0]);
    });
    stream.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_READ_BYTES) giveUp();
    });
    stream.once("error", ended);
    stream.once("close", ended);
    if (signal.aborted) giveUp();
    stream.end(body);
  });
}
