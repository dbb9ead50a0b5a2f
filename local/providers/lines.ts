// A connection that never leaves the process: two ends of one stream that behave like sockets.
import { type Duplex, duplexPair } from "node:stream";

/** Methods that a connection pool calls on a socket and that do nothing here. */
const manners = {
  setKeepAlive: () => undefined,
  setNoDelay: () => undefined,
  setTimeout: () => undefined,
  ref: () => undefined,
  unref: () => undefined,
};

/** @param notify called for every chunk, so that the process does not count as idle meanwhile. */
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
