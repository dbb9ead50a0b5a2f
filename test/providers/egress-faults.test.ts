// Receivers that do not keep to HTTP, and headers that HTTP cannot carry.
import { expect, it } from "vitest";
import { serveHttp2 } from "../../local/providers/serving.ts";
import { HANGS } from "../../local/providers/sink.ts";
import { answeringNetwork, clientOn, onLines } from "../support/networks.ts";

const purpose = "webhook";
const url = "https://hooks.example.com/in";

it.each([false, true])(
  "the egress never throws, and connects for no header that cannot be sent (HTTP/2: %s) (T4)",
  async (http2) => {
    const network = answeringNetwork(() => ({ status: 200 }));
    for (const headers of [
      { "x-a": "a\r\nx-b: c" },
      { authorization: "€" },
      { "x-a": "\0" },
      { "x a": "b" },
      { "": "b" },
    ])
      expect(await clientOn(network).request({ purpose, url, http2, headers })).toMatchObject({
        kind: "not_sent",
        isRefused: true,
      });
    expect(network.connects).toEqual([]);
  },
);

it("a request knows the status of an answer whose body does not end in time (T4)", async () => {
  const network = onLines((line) =>
    line.once("data", () => line.write("HTTP/1.1 202 Ok\r\ncontent-length: 9\r\n\r\nhalf")),
  );
  expect(await clientOn(network).request({ purpose, url, timeoutMs: 200 })).toMatchObject({
    kind: "answered",
    status: 202,
    body: "half",
  });
});

it("an answer that changes the protocol ends the request (T4)", async () => {
  const network = onLines((line) =>
    line.once("data", () => line.write("HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n")),
  );
  expect(await clientOn(network).request({ purpose, url })).toEqual({
    kind: "unknown",
    reason: "the connection was closed",
  });
});

it("a connection of HTTP/2 on which a request waited in vain carries no other one (NTF-23)", async () => {
  const answers = [HANGS, { status: 200 }] as const;
  const network = onLines((line) => serveHttp2(line, () => answers[network.connects.length - 1] ?? HANGS));
  const client = clientOn(network);
  const push = () => client.request({ purpose: "ios", url, http2: true, timeoutMs: 200 });

  expect(await push()).toMatchObject({ kind: "unknown" });
  expect(await push()).toMatchObject({ kind: "answered", status: 200 });
});
