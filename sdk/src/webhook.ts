// Verifies that a webhook came from the service (WHK-12, WHK-13).
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/**
 * Compares in constant time.
 * @param secret the webhook's secret, as returned when it was created
 * @param rawBody the body as received, before any parsing
 * @param signatureHeader the header `X-Service-Signature`: `sha256=<hex>`
 */
export function verifyWebhook(
  secret: string,
  rawBody: string | Uint8Array,
  signatureHeader: string | null | undefined,
): boolean {
  // The hex text itself is the key, not the bytes that it encodes.
  const key = createHash("sha256").update(secret).digest("hex");
  const expected = Buffer.from(`sha256=${createHmac("sha256", key).update(rawBody).digest("hex")}`);
  const received = Buffer.from(signatureHeader ?? "");
  return received.length === expected.length && timingSafeEqual(received, expected);
}
