// A connection that never leaves the process: two ends of one stream, with the manners of a socket.
import { type Duplex, duplexPair } from "node:stream";

/** What a pool of connections asks of a socket, and what there is nothing to do for here. */
const manners = {
  setKeepAlive: () => undefined,
  setNoDelay: () => undefined,
  setTimeout: () => undefined,
  ref: () => undefined,
  unref: () => undefined,
};

/** @param notify told of every piece that crosses, so that nobody takes the process for idle meanwhile. */
export function openLine(notify: () => void): [near: Duplex, far: Duplex] {
  const [near, far] = duplexPair();
  for (const side of [near, far]) {
    const write = side._write;
    Object.assign(side, manners, {
      _write: (...piece: Parameters<Duplex["_write"]>) => {
        notify();
        write.apply(side, piece);
      },
    });
    side.on("error", () => undefined);
  }
  near.once("close", () => far.destroy());
  far.once("close", () => near.destroy());
  return [near, far];
}
