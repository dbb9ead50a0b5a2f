// A login at the identity provider of a workspace: the browser comes back to a port of this machine (RFC 8252).
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "../client.ts";
import type { Session } from "../types.gen.ts";
import { CommandError } from "./command.ts";
import type { Io } from "./io.ts";

const HOST = "127.0.0.1";
/** As long as the service remembers a sign-in. */
const PATIENCE_MS = 600_000;

interface Back {
  code: string;
  iss?: string;
}

/** Begins a session by the provider. @throws CommandError if nobody signs in, or the provider refuses */
export async function loginAtProvider(
  io: Io,
  baseUrl: string,
  input: { email?: string; tenant_id?: string },
): Promise<Session> {
  const { auth } = createClient({ baseUrl, fetch: io.fetch });
  const server = createServer();
  server.listen(0, HOST);
  await once(server, "listening");
  try {
    // A server that listens on a port has an address with it, hence the cast.
    const { port } = server.address() as AddressInfo;
    const { url, state, binding } = await auth.beginSignIn({ ...input, redirect_port: port });
    const redirect_uri = new URL(url).searchParams.get("redirect_uri") ?? "";
    const signal = AbortSignal.any([io.signal, AbortSignal.timeout(PATIENCE_MS)]);
    const coming = comingBack(server, { state, redirect_uri }, signal);
    io.note(`Open this address in a browser of this machine:\n\n  ${url}\n`);
    return await auth.finishSignIn({ state, binding, redirect_uri, ...(await coming) });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Waits for the browser to come back with a code. Requests that do not belong to this sign-in are refused. */
function comingBack(
  server: ReturnType<typeof createServer>,
  { state, redirect_uri }: { state: string; redirect_uri: string },
  signal: AbortSignal,
): Promise<Back> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new CommandError("Nobody signed in. Run the login again."));
    signal.addEventListener("abort", giveUp, { once: true });
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      const { origin, pathname, searchParams } = new URL(request.url ?? "/", redirect_uri);
      const isOurs = `${origin}${pathname}` === redirect_uri && searchParams.get("state") === state;
      response.writeHead(isOurs ? 200 : 404, { "content-type": "text/plain", connection: "close" });
      response.end(isOurs ? "You may close this page and go back to the terminal.\n" : "Not found.\n");
      if (!isOurs) return;

      const code = searchParams.get("code");
      const iss = searchParams.get("iss");
      const refusal = `The identity provider refused: ${searchParams.get("error") ?? "it sent no code"}.`;
      // The promise settles only after the browser has received the page.
      response.once("close", () => (code ? resolve({ code, ...(iss && { iss }) }) : reject(new CommandError(refusal))));
    });
  });
}
