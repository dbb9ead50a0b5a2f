// Web Push: the test vector of RFC 8291, the package web-push as a reference, and the requests to a push service.
import { createDecipheriv, createECDH, type ECDH, hkdfSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import webPush from "web-push";
import { openProviders } from "../../shared/providers/providers.ts";
import { encryptPush, MAX_PLAINTEXT_BYTES } from "../../shared/providers/web-push-encryption.ts";
import { browser, JOB, SUBSCRIBER, sendBy, verifyBy } from "../support/provider-messages.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

/** Decryption in the browser, implemented from RFC 8291 and RFC 8188. */
function decrypt(message: Buffer, keys: ECDH, auth: Buffer): string {
  const [salt, sender] = [message.subarray(0, 16), message.subarray(21, 86)];
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), keys.getPublicKey(), sender]);
  const secret = Buffer.from(hkdfSync("sha256", keys.computeSecret(sender), auth, info, 32));
  const derive = (name: string, length: number) =>
    Buffer.from(hkdfSync("sha256", secret, salt, Buffer.from(`Content-Encoding: ${name}\0`), length));
  const decipher = createDecipheriv("aes-128-gcm", derive("aes128gcm", 16), derive("nonce", 12));
  decipher.setAuthTag(message.subarray(-16));
  const record = Buffer.concat([decipher.update(message.subarray(86, -16)), decipher.final()]);
  expect(record.at(-1)).toBe(2);
  return record.subarray(0, -1).toString();
}
const auth = Buffer.from(browser.auth, "base64url");
const keys = { p256dh: browser.keys.getPublicKey("base64url"), auth: browser.auth };

describe("encryption", () => {
  it("the encryption of Web Push gives the bytes of RFC 8291, appendix A (D-PUSH)", () => {
    const drawn = ["yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw", "DGv6ra1nlYgDCS1FRnbzlw"];
    const sealed = encryptPush(
      Buffer.from("When I grow up, I want to be a watermelon"),
      {
        p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        auth: "BTBZMqHH6r4Tts7J_aSIgg",
      },
      () => Buffer.from(drawn.shift()!, "base64url"),
    );
    expect(sealed.toString("base64url")).toBe(
      "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
    );
  });

  it("an encrypted push can be decrypted by a browser, like messages of web-push (D-PUSH)", async () => {
    const { ids } = await fresh();
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 900, unit: "binary" }), (text) => {
        const plain = Buffer.from(text).toString();
        expect(decrypt(encryptPush(Buffer.from(text), keys, ids.bytes), browser.keys, auth)).toBe(plain);
        const theirs = webPush.encrypt(keys.p256dh, keys.auth, plain, "aes128gcm").cipherText;
        expect(decrypt(theirs, browser.keys, auth)).toBe(plain);
      }),
      { numRuns: 10 },
    );
  });

  it("fits the 4,096 bytes that every push service takes (D-PUSH)", async () => {
    const { ids } = await fresh();
    const max = Buffer.alloc(MAX_PLAINTEXT_BYTES, "a");
    expect(encryptPush(max, keys, ids.bytes)).toHaveLength(4_096);
  });

  it.each([
    ["no point", { p256dh: Buffer.alloc(65, 4).toString("base64url"), auth: keys.auth }],
    ["a short point", { p256dh: "BA", auth: keys.auth }],
    ["a short secret", { p256dh: keys.p256dh, auth: "AAAA" }],
  ])("a subscription with %s is dead (D-DEV)", async (_, wrong) => {
    const world = await fresh();
    const address = { endpoint: "https://push.example.com/x", keys: wrong };
    expect(await sendBy(openProviders(world.depsFor("test")), "web_push", { address })).toEqual({
      kind: "rejected",
      reason: "invalid_subscription_keys",
      addressDead: true,
    });
  });
});

describe("requests", () => {
  it("one message a job: topic, time to live, urgency, signature, and data for the app (D-PUSH)", async () => {
    const world = await fresh();
    const providers = openProviders(world.depsFor("test"));
    await sendBy(providers, "web_push", { data: { screen: "sale" }, variant: "b" });
    const [item] = (await world.call("GET /_local/outbox")).body.items;
    expect(item.to).toBe("https://push.example.com/send/abc");
    expect(item.headers).toMatchObject({
      topic: expect.stringMatching(/^[\w-]{32}$/),
      ttl: "2419200",
      urgency: "normal",
      "content-encoding": "aes128gcm",
      authorization: expect.stringMatching(/^vapid \[redacted [0-9a-f]{8}\]$/),
    });
    expect(JSON.parse(decrypt(Buffer.from(item.payload.encrypted, "base64url"), browser.keys, auth))).toEqual({
      title: "Hello Ada",
      body: "The sale begins – today.",
      tag: JOB,
      data: { screen: "sale", notification_id: JOB, subscriber_id: SUBSCRIBER, variant_id: "b" },
    });
  });

  it.each([
    ["a host that a page named", "https://push.example.com/send/abc", 3_000],
    ["the push service of a browser", "https://updates.push.services.mozilla.com/wpush/v2/abc", 10_000],
  ])("%s is waited for as long as a group may wait for it (D-PUSH, D-PROV)", async (_, endpoint, limit) => {
    const world = await fresh();
    await world.call("POST /_local/faults", { body: { channel: "web_push", outcome: "timeout" } });
    const address = { endpoint, keys };
    const ends: number[] = [];
    const sending = sendBy(openProviders(world.depsFor("test")), "web_push", { address }).then((outcome) => {
      ends.push(world.clock.now() - START);
      return outcome;
    });

    for (let second = 0; second < 12; second++) await world.advance(1_000);

    expect(await sending).toEqual({ kind: "unknown", reason: "no answer in time" });
    expect(ends).toEqual([limit]);
  });

  it("a message that is too large beside its text is refused before it is sent (D-PUSH)", async () => {
    const world = await fresh();
    const sent = await sendBy(openProviders(world.depsFor("test")), "web_push", { data: { long: "a".repeat(4_000) } });
    expect(sent).toEqual({ kind: "rejected", reason: "payload_too_large" });
  });

  it("Web Push accepts keys of web-push, and refuses keys that are not a pair (CRD-5)", async () => {
    const world = await fresh();
    const providers = openProviders(world.depsFor("test"));
    const { publicKey: public_key, privateKey: private_key } = webPush.generateVAPIDKeys();
    expect(await verifyBy(providers, "web_push", { public_key, private_key })).toEqual({ kind: "verified" });
    expect(await verifyBy(providers, "web_push", { public_key })).toEqual({
      kind: "refused",
      error: "The public key does not belong to the private key",
    });
    const other = createECDH("prime256v1");
    other.generateKeys();
    // A push service checks the signature, which another key than the named one made.
    expect(await sendBy(providers, "web_push", {}, { public_key: other.getPublicKey("base64url") })).toMatchObject({
      kind: "rejected",
    });
  });
});
