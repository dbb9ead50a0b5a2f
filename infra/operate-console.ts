// The operator page of the console on loopback: its files, and one call, which is given to the operator function.
import { randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { buildConsole } from "../console/build.ts";
import { commonHeaders, documentOf, isConsole } from "../console/policy.ts";
import type { Invoke } from "./redrive-records.ts";

const HOST = "127.0.0.1";
const KEY_BYTES = 24;

interface OperateConsole {
  /** The address with the key in its fragment, which no server receives. */
  url: string;
  close(): Promise<void>;
}

/** Serves until it is closed. The key keeps out other users of the machine and other sites in the browser. */
export async function serveOperateConsole(operate: Invoke, port: number): Promise<OperateConsole> {
  const files = await buildConsole();
  const key = randomBytes(KEY_BYTES).toString("base64url");
  const answer = (response: ServerResponse, status: number, body: object) =>
    response.writeHead(status, { ...commonHeaders, "content-type": "application/json" }).end(JSON.stringify(body));
  const invoke = async (request: IncomingMessage, response: ServerResponse) => {
    if (!isSame(String(request.headers["x-operate-key"]), key))
      return answer(response, 403, { code: "FORBIDDEN", message: "Open the address that the terminal printed." });
    try {
      answer(response, 200, Object(await operate(Object(await json(request)))));
    } catch (error) {
      answer(response, 502, {
        code: "OPERATOR_FAILED",
        message: error instanceof Error ? error.message : String(error),
      });
    }
  };
  const server = createServer((request, response) => {
    // The path is not parsed as a URL, because a page of another site may ask for an invalid one, such as `//[`.
    const [pathname = "/"] = (request.url ?? "/").split("?", 1);
    if (request.method === "POST" && pathname === "/_local/operator") return void invoke(request, response);
    const file = isConsole(pathname) && request.method === "GET" ? files.get(documentOf(pathname)) : undefined;
    if (!file) return answer(response, 404, { code: "NOT_FOUND", message: "Not Found" });
    response.writeHead(200, file.headers).end(file.content);
  });
  await once(server.listen(port, HOST), "listening");
  // A server that listens on a port has an address with it, hence the cast.
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://${HOST}:${bound}/console/operate#${key}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function isSame(candidate: string, key: string): boolean {
  const [left, right] = [Buffer.from(candidate), Buffer.from(key)];
  return left.length === right.length && timingSafeEqual(left, right);
}
