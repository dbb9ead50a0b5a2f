// The streamed response of a function: the local twin of `awslambda.HttpResponseStream`.
import { Writable } from "node:stream";

export type ResponseStream = Writable & { setContentType(type: string): void };

/** The receiver of a streamed response. */
export interface StreamOut {
  start(status: number, headers: Record<string, string | string[]>): void;
  /** `false` when the client has disconnected: later writes are discarded. */
  write(chunk: Buffer): boolean;
  /** `failed`: the function failed, so the response is incomplete. */
  end(failed?: boolean): void;
}

interface Prelude {
  statusCode?: number;
  headers?: Record<string, string>;
  cookies?: string[];
}

const preludes = new WeakMap<Writable, Prelude>();

/** The global `awslambda` of the Lambda runtime. */
export const awslambda = {
  streamifyResponse: <T>(handler: T): T => handler,
  HttpResponseStream: {
    /** Sets status, headers and cookies; they must come before the first write. */
    from<T extends Writable>(stream: T, metadata: Record<string, unknown>): T {
      const prelude = preludes.get(stream);
      if (!prelude) throw new TypeError("The response has begun, or this is not a response stream.");
      Object.assign(prelude, metadata);
      return stream;
    },
  },
};

/** A stream for the handler over `out`. A client that disconnects causes no error in the handler. */
export function responseStream(out: StreamOut) {
  let open = true;

  const begin = () => {
    const prelude = preludes.get(stream);
    if (!prelude) return;
    preludes.delete(stream);
    const headers: Record<string, string | string[]> = { ...prelude.headers };
    if (prelude.cookies?.length) headers["set-cookie"] = prelude.cookies;
    out.start(prelude.statusCode ?? 200, headers);
  };

  /** Amazon's client sends the prelude at the first call of `write`; a body passed to `end` bypasses it. */
  const beginWithoutPrelude = () => {
    if (preludes.delete(stream)) out.start(200, { "content-type": "application/octet-stream" });
  };

  const writable = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      beginWithoutPrelude();
      if (open) open = out.write(chunk);
      done();
    },
    final: (done) => {
      begin();
      if (open) out.end();
      open = false;
      done();
    },
  });
  const write = writable.write.bind(writable);
  const stream: ResponseStream = Object.assign(writable, {
    write: ((...given: Parameters<typeof write>) => {
      begin();
      return write(...given);
    }) as typeof write,
    setContentType: (type: string) => {
      const prelude = preludes.get(writable);
      if (prelude) prelude.headers = { ...prelude.headers, "content-type": type };
    },
  });
  preludes.set(stream, { headers: { "content-type": "application/octet-stream" } });

  const finished = new Promise<void>((resolve, reject) => {
    stream.once("close", resolve);
    stream.once("error", reject);
  });
  finished.catch(() => undefined);

  const fail = () => {
    if (open && preludes.delete(stream)) {
      out.start(502, { "content-type": "application/json" });
      out.write(Buffer.from(JSON.stringify({ Message: "Internal Server Error" })));
      out.end();
    } else if (open) out.end(true);
    open = false;
    stream.destroy();
  };

  return { stream, finished, fail };
}
