// T4: no request connects to an address that is not public, for any spelling or resolution of its target.
import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../../shared/egress/addresses.ts";
import { openEgress } from "../../shared/egress/egress.ts";
import type { Deps } from "../../shared/kernel/deps.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { egress } from "../../shared/runtime/resources.ts";
import { systemClock } from "../../shared/runtime/system.ts";
import { countedNetwork } from "../support/networks.ts";
import { publicHosts, publicSpellings, refusedAddresses, refusedSpellings } from "../support/ssrf-corpus.ts";

const purpose = "webhook";
const resolveTo =
  (...addresses: string[]) =>
  async () =>
    addresses;
const PUBLIC = "93.184.215.14";

async function send(url: string, resolve: () => Promise<readonly string[]>) {
  const network = countedNetwork(resolve);
  const client = openEgress({ clock: systemClock, network });
  const exchange = await client.request({ purpose, url });
  return { exchange, connects: network.connects, refusal: client.refusal(url, purpose) };
}

describe("targets of requests", () => {
  it("the guard of targets has a corpus of at least 150 spellings (T4)", () => {
    expect(new Set([...refusedSpellings, ...refusedAddresses]).size).toBeGreaterThanOrEqual(150);
    expect(publicSpellings.length + publicHosts.length).toBeGreaterThanOrEqual(20);
  });

  const literals = refusedAddresses.map((address) => (address.includes(":") ? `[${address}]` : address));

  it.each([...refusedSpellings, ...literals])(
    "the guard of targets refuses https://%s/ in settings and in requests (T4)",
    async (host) => {
      // For any resolver: a literal is checked without resolution, a name by all its addresses.
      const { exchange, connects, refusal } = await send(`https://${host}/`, resolveTo("127.0.0.1"));
      expect([connects, exchange]).toEqual([[], { kind: "not_sent", isRefused: true, reason: expect.any(String) }]);
      expect(refusal).toBeTypeOf("string");
      const judge = openEgress({ clock: systemClock, network: countedNetwork(resolveTo("127.0.0.1")) });
      expect(judge.serverRefusal(host, 587, "smtp")).toBeTypeOf("string");
    },
  );

  it.each(refusedAddresses)("the guard of targets refuses a name that resolves to %s (T4)", async (address) => {
    expect(isPublicAddress(address)).toBe(false);
    for (const answer of [resolveTo(address), resolveTo(PUBLIC, address), resolveTo(address, PUBLIC)]) {
      const { exchange, connects } = await send("https://rebind.attacker.com/", answer);
      expect([connects, exchange]).toMatchObject([[], { kind: "not_sent", isRefused: true }]);
    }
  });

  it.each(literals)("the guard of targets refuses %s where a name would be allowed (T4)", async (host) => {
    const { exchange, connects } = await send(`https://${host}/`, resolveTo(PUBLIC));
    expect([connects, exchange]).toMatchObject([[], { kind: "not_sent", isRefused: true }]);
  });

  it.each(publicSpellings)("the guard of targets allows https://%s/ (T4)", async (host) => {
    const address = new URL(`https://${host}/`).hostname.replace(/[[\]]/g, "");
    const { exchange, connects, refusal } = await send(`https://${host}/`, resolveTo(address));
    expect([connects, refusal]).toEqual([[address], undefined]);
    expect(exchange).toEqual({
      kind: "not_sent",
      isRefused: false,
      reason: expect.stringContaining("ECONNREFUSED"),
    });
  });

  it.each(publicHosts)("the guard of targets allows the name %s (T4)", async (host) => {
    const { connects, refusal } = await send(`https://${host}/`, resolveTo(PUBLIC, "2606:4700:4700::1111"));
    expect([connects, refusal]).toEqual([[PUBLIC, "2606:4700:4700::1111"], undefined]);
  });

  it.each([
    "http://example.com/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "gopher://example.com/",
    "https://example.com:8443/",
    "https://example.com:22/",
    "https://user:secret@example.com/",
    "https://user@example.com/",
    "//example.com/",
    "example.com",
    "",
    `https://example.com/${"a".repeat(2_048)}`,
  ])(
    "the guard of targets refuses %s: https on its own port, without credentials, and nothing else (T4)",
    async (url) => {
      const { exchange, connects } = await send(url, resolveTo(PUBLIC));
      expect([connects, exchange]).toMatchObject([[], { kind: "not_sent", isRefused: true }]);
    },
  );
});

describe("the egress capability", () => {
  it("the egress capability checks targets like every other client (T4)", async () => {
    const deps = { clock: systemClock, network: countedNetwork(resolveTo("10.0.0.1")) };
    const { request } = egress.open(deps as unknown as Deps)("" as TenantId);
    expect(await request({ purpose, url: "https://example.com/" })).toMatchObject({ isRefused: true });
  });
});
