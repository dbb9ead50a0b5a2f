// Each channel against its embedded provider: accepted messages, faults, timeouts and the verification of credentials.
import { describe, expect, it } from "vitest";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { providers as capability } from "../../shared/providers/providers.ts";
import { providedChannels } from "../../shared/rules/channel-types.ts";
import { addresses, JOB, SUBSCRIBER, sendBy, verifyBy } from "../support/provider-messages.ts";
import type { TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const providersOf = (world: TestWorld) => capability.open(world.depsFor("test"))("" as TenantId);
const outbox = async (world: TestWorld, query = "") => (await world.call(`GET /_local/outbox${query}`)).body.items;
const fault = (world: TestWorld, body: object) => world.call("POST /_local/faults", { body });

/** E-mail by both providers. */
const ways = [
  ...providedChannels.map((channel) => [channel, channel, {}] as const),
  ["email by SMTP", "email", { provider: "smtp", host: "smtp.example.com", username: "u", password: "p" }] as const,
  ["email by SMTP over TLS", "email", { provider: "smtp", host: "smtp.example.com", port: 465 }] as const,
];

describe.each(ways)("%s", (_, channel, own) => {
  it("delivers, and the outbox holds message and recipient (NTF-23, D-PROV)", async () => {
    const world = await fresh();
    expect(await sendBy(providersOf(world), channel, {}, own)).toMatchObject({ kind: "accepted" });
    const [item, more] = await outbox(world, `?channel=${channel}&job_id=${JOB}&subscriber_id=${SUBSCRIBER}`);
    expect(more).toBeUndefined();
    expect(item).toMatchObject({
      channel,
      subscriber_id: SUBSCRIBER,
      job_id: JOB,
      title: "Hello Ada",
      body: "The sale begins – today.",
      id: expect.any(String),
      at: "2026-11-20T12:00:00.000Z",
    });
    expect((await world.call("GET /_local/meter")).body.providers.requests).toBeGreaterThan(0);
  });

  it.each([
    ["permanent", "rejected"],
    ["invalid_token", "rejected"],
    ["transient", "retryable"],
  ])("a channel answers the fault %s: %s, and nothing is in the outbox (D-PROV)", async (outcome, kind) => {
    const world = await fresh();
    const providers = providersOf(world);
    await fault(world, { channel, outcome, times: 1, subscriber_id: SUBSCRIBER });
    expect(await sendBy(providers, channel, { subscriber: "somebody-else" }, own)).toMatchObject({
      kind: "accepted",
    });
    expect(await sendBy(providers, channel, {}, own)).toMatchObject({ kind, reason: expect.any(String) });
    expect(await outbox(world, `?subscriber_id=${SUBSCRIBER}`)).toEqual([]);
    expect(await sendBy(providers, channel, {}, own)).toMatchObject({ kind: "accepted" });
  });

  it("the outcome of a message without an answer is unknown, after the time limit in service time (D-PROV)", async () => {
    const world = await fresh();
    await fault(world, { channel, outcome: "timeout", times: 1 });
    const sending = sendBy(providersOf(world), channel, {}, own);
    await world.advance(30_000);
    expect(await sending).toEqual({ kind: "unknown", reason: "no answer in time" });
    expect(await outbox(world)).toEqual([]);
  });

  it("a channel verifies credentials by a request that sends nothing (CRD-8)", async () => {
    const world = await fresh();
    const providers = providersOf(world);
    expect(await verifyBy(providers, channel, own)).toEqual({ kind: "verified" });
    await fault(world, { channel: `verify:${channel}`, message: "The key was revoked", times: 1 });
    expect(await verifyBy(providers, channel, own)).toMatchObject({ kind: "refused", error: "The key was revoked" });
    await fault(world, { channel: `verify:${channel}`, outcome: "timeout", times: 1 });
    const verifying = verifyBy(providers, channel, own);
    await world.advance(30_000);
    expect(await verifying).toMatchObject({ kind: "undecided" });
    expect(await outbox(world)).toEqual([]);
  });
});

describe("dead addresses", () => {
  it.each(["ios", "android", "web_push", "sms"] as const)(
    "%s says when not to use it again (DEV-1)",
    async (channel) => {
      const world = await fresh();
      await fault(world, { channel, outcome: "invalid_token" });
      expect(await sendBy(providersOf(world), channel)).toMatchObject({ kind: "rejected", addressDead: true });
    },
  );

  it("an endpoint inside a network is dead without a request (D-DEV)", async () => {
    const world = await fresh();
    const address = { ...addresses.web_push, endpoint: "https://169.254.169.254/push" };
    expect(await sendBy(providersOf(world), "web_push", { address })).toMatchObject({
      kind: "rejected",
      addressDead: true,
    });
    expect((await world.call("GET /_local/meter")).body.providers.requests).toBe(0);
  });
});
