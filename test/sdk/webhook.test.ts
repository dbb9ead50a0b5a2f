// The SDK's check of a webhook's signature, with the vectors of the specification (WHK-12, WHK-13).
import { expect, it } from "vitest";
import { verifyWebhook } from "../../sdk/src/webhook.ts";

const secret = "whsec_test_0123456789abcdef";
const body = '{"id":"11111111-1111-4111-8111-111111111111","event_type":"subscriber.created"}';
const right = "sha256=beddf8b7d2a1d04e3535954125505627d06b883010dd3ead876ae079112f05d4";

it("verifyWebhook accepts the right signature, of text and of bytes (WHK-12)", () => {
  expect(verifyWebhook(secret, body, right)).toBe(true);
  expect(verifyWebhook(secret, Buffer.from(body), right)).toBe(true);
  expect(verifyWebhook(secret, new TextEncoder().encode(body), right)).toBe(true);
});

it.each([
  [
    "the signature of a build that decodes the key",
    "sha256=b2ded593c2ff603e75230eb68fca842dfa77fc719c3057f82ec061b7a98479bf",
  ],
  ["no prefix", right.slice("sha256=".length)],
  ["upper case", right.toUpperCase()],
  ["one letter less", right.slice(0, -1)],
  ["one letter more", `${right}0`],
  ["as many letters of two bytes each", "é".repeat(right.length)],
  ["an empty header", ""],
  ["no header", undefined],
  ["null", null],
])("verifyWebhook refuses %s (WHK-13)", (_, signature) => {
  expect(verifyWebhook(secret, body, signature)).toBe(false);
});

it("verifyWebhook refuses another body and another secret (WHK-13)", () => {
  expect(verifyWebhook(secret, `${body} `, right)).toBe(false);
  expect(verifyWebhook(`${secret}0`, body, right)).toBe(false);
});
