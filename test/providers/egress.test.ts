// The egress client on the wire: redirects, limits, pools, names whose addresses change, and receivers on loopback.
import { once } from "node:events";
import { createSecureServer, type Http2SecureServer } from "node:http2";
import { createServer } from "node:https";
import { createServer as createTcp } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { HANGS, type SinkRequest } from "../../local/providers/sink.ts";
import { openEgress } from "../../shared/egress/egress.ts";
import { MAX_READ_BYTES } from "../../shared/egress/http1.ts";
import { connectSocket, type Network, systemNetwork } from "../../shared/egress/network.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { openSmtp } from "../../shared/providers/smtp.ts";
import { egress as capability } from "../../shared/runtime/resources.ts";
import { systemClock } from "../../shared/runtime/system.ts";
import { listenOnLoopback } from "../support/loopback.ts";
import { answeringNetwork, clientOn, countedNetwork, onLines } from "../support/networks.ts";
import { selfSigned } from "../support/self-signed.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const purpose = "webhook";
const url = "https://hooks.example.com/in?a=1";
const PUBLIC = "93.184.215.14";

describe("answers", () => {
  it.each([300, 301, 302, 303, 307, 308])("never follows a redirect (%i) (T4)", async (status) => {
    const asked: SinkRequest[] = [];
    const network = answeringNetwork((request) => {
      asked.push(request);
      return { status, headers: { location: "https://169.254.169.254/latest/meta-data/" }, body: "" };
    });
    expect(await clientOn(network).request({ purpose, url })).toMatchObject({ kind: "answered", status });
    expect([asked.length, network.connects]).toEqual([1, ["hooks.example.com"]]);
  });

  it.each([false, true])("the egress sends a request and reads the answer (HTTP/2: %s)", async (http2) => {
    const asked: SinkRequest[] = [];
    const network = answeringNetwork((request) => {
      asked.push(request);
      return { status: 418, headers: { "x-tea": "green" }, body: { short: true } };
    });
    const exchange = await clientOn(network).request({
      purpose,
      url,
      http2,
      method: "PUT",
      headers: { "x-a": "b" },
      body: "hällo",
    });
    expect(exchange).toMatchObject({ kind: "answered", status: 418, body: '{"short":true}' });
    expect(exchange).toMatchObject({ headers: { "x-tea": "green" } });
    expect(asked[0]).toMatchObject({ method: "PUT", host: "hooks.example.com", path: "/in" });
    expect([asked[0]?.headers["x-a"], asked[0]?.body.toString()]).toEqual(["b", "hällo"]);
  });

  it.each([false, true])("the egress reads at most 64 KB (HTTP/2: %s) (T4)", async (http2) => {
    const network = answeringNetwork(() => ({ status: 200, body: "x".repeat(10 * MAX_READ_BYTES) }));
    const exchange = await clientOn(network).request({ purpose, url, http2 });
    expect(exchange).toMatchObject({ kind: "answered", status: 200 });
    expect(exchange.kind === "answered" && exchange.body.length).toBe(MAX_READ_BYTES);
  });

  it("the egress ignores proxies of the environment (T4)", async () => {
    const names = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "NODE_USE_ENV_PROXY"];
    for (const name of names) process.env[name] = "http://127.0.0.1:9";
    const network = answeringNetwork(() => ({ status: 200 }));
    expect(await clientOn(network).request({ purpose, url })).toMatchObject({ kind: "answered" });
    for (const name of names) delete process.env[name];
    expect(network.connects).toEqual(["hooks.example.com"]);
  });
});

describe("outcomes", () => {
  const saying = (text: string) => (line: Duplex) => line.once("data", () => (text ? line.end(text) : line.destroy()));

  it.each<[string, Network, object]>([
    ["a refused connection", countedNetwork(async () => [PUBLIC]), { kind: "not_sent", isRefused: false }],
    ["a cut after the request", onLines(saying("")), { kind: "unknown" }],
    ["an end without an answer", onLines(saying("HTTP")), { kind: "unknown" }],
    ["what is no HTTP", onLines(saying("220 hi\r\n\r\n")), { kind: "unknown" }],
    [
      "a cut within the body",
      onLines(saying("HTTP/1.1 202 Ok\r\ncontent-length: 9\r\n\r\nhalf")),
      { kind: "answered", status: 202, body: "half" },
    ],
  ])("%s (T4)", async (_, network, expected) => {
    expect(await clientOn(network).request({ purpose, url })).toMatchObject(expected);
  });

  it("the egress has a limit of 10 seconds of service time in each phase (T4)", async () => {
    const world = await fresh();
    const never = new Promise<never>(() => undefined);
    const waits: [string, Network, string][] = [
      ["for a name", countedNetwork(() => never), "not_sent"],
      ["for an answer", answeringNetwork(() => HANGS), "unknown"],
    ];
    for (const [, network, kind] of waits) {
      const asking = openEgress({ clock: world.clock, network }).request({ purpose, url });
      await world.advance(10_000);
      expect(await asking).toMatchObject({ kind });
    }
  });
});

describe("names", () => {
  const answers: [string, readonly (readonly string[] | Error)[], number][] = [
    ["public", [[PUBLIC]], 1],
    ["public, twice", [[PUBLIC, "1.1.1.1"]], 1],
    ["IPv6", [["2606:4700:4700::1111"]], 1],
    ["inside", [["10.0.0.1"]], 0],
    ["public and inside", [[PUBLIC, "10.0.0.1"]], 0],
    ["inside and public", [["10.0.0.1", PUBLIC]], 0],
    ["mapped", [["::ffff:10.0.0.1"]], 0],
    ["translated", [["64:ff9b::a00:1"]], 0],
    ["with a zone", [["fe80::1%eth0"]], 0],
    ["none", [[]], 0],
    ["no such name", [Object.assign(new Error("no"), { code: "ENOTFOUND" })], 0],
    ["an answer that is no address", [["evil.example.com"]], 0],
    ["public first, inside when asked again", [[PUBLIC], ["127.0.0.1"]], 1],
  ];
  it.each(answers)("a name that resolves to %s (T4)", async (_, script, connects) => {
    let asked = 0;
    const network = countedNetwork(async () => {
      const answer = script[Math.min(asked++, script.length - 1)]!;
      if (answer instanceof Error) throw answer;
      return answer;
    });
    const client = clientOn(network);
    await client.request({ purpose, url });
    expect(network.connects.filter((address) => script.flat().includes(address)).length).toBeGreaterThanOrEqual(
      connects,
    );
    // A name is resolved once per connection, which goes to the checked address.
    expect(asked).toBe(1);
    await client.request({ purpose, url });
    expect(network.connects.every((address) => [PUBLIC, "1.1.1.1", "2606:4700:4700::1111"].includes(address))).toBe(
      true,
    );
    if (connects === 0) expect(network.connects).toEqual([]);
  });

  it("a pooled connection has a checked address, and is kept only briefly (T4)", async () => {
    const world = await fresh();
    const network = answeringNetwork(() => ({ status: 200, body: "" }));
    const client = openEgress({ clock: world.clock, network });
    for (const name of ["a", "a", "b"]) await client.request({ purpose, url: `https://${name}.example.com/` });
    expect(network.connects).toEqual(["a.example.com", "b.example.com"]);
    // Not shared between purposes.
    await client.request({ purpose: "sms", url: "https://a.example.com/" });
    expect(network.connects).toHaveLength(3);
    await world.advance(5_000);
    await client.request({ purpose, url: "https://a.example.com/" });
    expect(network.connects).toHaveLength(4);
  });
});

describe("real connections", () => {
  const onLoopback = (verify: boolean): Network => ({
    resolve: async () => ["127.0.0.1"],
    exempts: () => true,
    connect: (input, signal) => connectSocket(input, signal, { verify }),
    secure: systemNetwork.secure,
  });
  const listening = async (server: ReturnType<typeof createServer> | Http2SecureServer) =>
    `https://localhost:${await listenOnLoopback(server)}/`;

  it("the egress sends nothing to a host with an untrusted certificate (T4)", async () => {
    let heard = 0;
    const server = createServer(selfSigned, (_, response) => {
      heard++;
      response.end();
    });
    const target = await listening(server);
    const exchange = await clientOn(onLoopback(true)).request({ purpose, url: target });
    expect([exchange, heard]).toMatchObject([{ kind: "not_sent", isRefused: false }, 0]);
    server.close();
  });

  it("the egress uses HTTP/2 over TLS, and reports a refused connection", async () => {
    const server = createSecureServer(selfSigned, (request, response) => response.end(request.httpVersion));
    const target = await listening(server);
    const client = clientOn(onLoopback(false));
    expect(await client.request({ purpose: "ios", url: target, http2: true })).toMatchObject({
      status: 200,
      body: "2.0",
    });
    server.close();
    expect(await clientOn(onLoopback(false)).request({ purpose, url: "https://localhost:1/" })).toEqual({
      kind: "not_sent",
      isRefused: false,
      reason: "the connection failed (ECONNREFUSED)",
    });
  });

  it("a mail is not sent after STARTTLS with an untrusted certificate (D-EMAIL)", async () => {
    const heard: string[] = [];
    const server = createTcp((socket) => {
      socket.write("220 hi\r\n");
      socket.on("error", () => undefined);
      socket.on("data", (chunk) => {
        const line = chunk.toString("latin1");
        heard.push(line.slice(0, 4));
        if (line.startsWith("EHLO")) socket.write("250-me\r\n250 STARTTLS\r\n");
        else if (line.startsWith("STARTTLS")) {
          socket.write("220 go\r\n");
          socket.removeAllListeners("data");
          new TLSSocket(socket, { isServer: true, ...selfSigned }).on("error", () => undefined);
        }
      });
    });
    const port = await listenOnLoopback(server);
    const { egress, clock } = { egress: clientOn(onLoopback(true)), clock: systemClock };
    const smtp = { type: "email", provider: "smtp", from_email: "a@example.com", host: "localhost", port } as const;
    expect(await openSmtp({ egress, clock }).send(smtp, "b@example.com", "x")).toMatchObject({ kind: "retryable" });
    expect(heard).toEqual(["EHLO", "STAR"]);
    server.close();
  });
});

describe("the local service", () => {
  const listen = async () => {
    const server = createServer(selfSigned, (request, response) => response.end(`heard ${request.url}`));
    const port = await listenOnLoopback(server);
    const close = () => {
      server.closeAllConnections();
      server.close();
    };
    return { port, close };
  };
  const clientOf = (world: Awaited<ReturnType<typeof fresh>>) => capability.open(world.depsFor("test"))("" as TenantId);

  it("the egress of the local service reaches receivers on loopback if allowed, without a check of certificates (D-PROV)", async () => {
    const { port, close } = await listen();
    const world = await fresh({ env: { WEBHOOK_ALLOW_LOOPBACK: "1" } });
    const client = clientOf(world);
    for (const host of ["localhost", "127.0.0.1"]) {
      const target = `https://${host}:${port}/x`;
      expect(client.refusal(target, purpose)).toBeUndefined();
      expect(await client.request({ purpose, url: target })).toMatchObject({ status: 200, body: "heard /x" });
    }
    const refused = ["https://127.0.0.2/", "https://[::1]/", "https://10.0.0.1/", `http://localhost:${port}/`];
    for (const target of refused)
      expect(await client.request({ purpose, url: target })).toMatchObject({ kind: "not_sent", isRefused: true });
    expect(client.refusal(`https://localhost:${port}/`, "web_push")).toBeTypeOf("string");
    close();
  });

  it("the egress of the local service reaches mail servers and web-push endpoints on loopback if allowed, by TLS that starts later (D-PROV)", async () => {
    const server = createTcp((socket) => {
      socket.write("220 ready\r\n");
      socket.once("data", (command) => {
        socket.write("220 go on\r\n");
        new TLSSocket(socket, { isServer: true, ...selfSigned }).end(`heard ${command}`);
      });
    });
    const port = await listenOnLoopback(server);
    const web = await listen();
    const client = clientOf(await fresh({ env: { PROVIDERS_ALLOW_LOOPBACK: "1" } }));
    const { signal } = new AbortController();
    const connection = await client.connect({ purpose: "smtp", host: "localhost", port, tls: false }, signal);
    if (connection.kind !== "connected") throw new Error(connection.reason);
    const [greeting] = await once(connection.socket, "data");
    connection.socket.write("STARTTLS");
    await once(connection.socket, "data");
    const secured = await connection.secure();
    expect([String(greeting), String((await once(secured, "data"))[0])]).toEqual(["220 ready\r\n", "heard STARTTLS"]);
    const push = { purpose: "web_push", url: `https://127.0.0.1:${web.port}/x` } as const;
    expect(await client.request(push)).toMatchObject({ status: 200, body: "heard /x" });
    for (const host of ["10.0.0.1", "[::1]"])
      expect(client.serverRefusal(host, 587, "smtp"), host).toBeTypeOf("string");
    expect(client.refusal(`https://localhost:${port}/`, "webhook")).toBeTypeOf("string");
    web.close();
    server.close();
  });

  it("the egress of the local service reaches loopback only if allowed, and never another machine (T4)", async () => {
    const { port, close } = await listen();
    const client = clientOf(await fresh());
    expect(await client.request({ purpose, url: `https://localhost:${port}/` })).toMatchObject({ isRefused: true });
    expect(await client.request({ purpose, url: "https://example.com/" })).toEqual({
      kind: "not_sent",
      isRefused: false,
      reason: "the local service sends nothing to other machines",
    });
    close();
  });
});
