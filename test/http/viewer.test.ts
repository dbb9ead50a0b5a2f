// The caller's address: that of the edge with the origin secret, else the connection's.
import { expect, it } from "vitest";
import { viewerAddress } from "../../shared/http/serving.ts";

const event = (headers: Record<string, string>) => ({ headers, requestContext: { http: { sourceIp: "192.0.2.1" } } });
const edge = { "x-viewer-ip": "198.51.100.9", "x-origin-secret": "right" };

it.each([
  ["the edge, with its secret", edge, "right", "198.51.100.9"],
  ["a client that only claims an address", { "x-viewer-ip": "198.51.100.9" }, "right", "192.0.2.1"],
  ["a client with a wrong secret", { ...edge, "x-origin-secret": "wrong" }, "right", "192.0.2.1"],
  ["a client where there is no edge", edge, undefined, "192.0.2.1"],
  ["a client that forwards", { "x-forwarded-for": "198.51.100.9" }, "right", "192.0.2.1"],
])("%s (LIM-4)", (_, headers, secret, address) => {
  expect(viewerAddress(event(headers as Record<string, string>), secret)).toBe(address);
});
