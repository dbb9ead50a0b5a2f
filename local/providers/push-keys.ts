// Decrypts Web Push messages that were encrypted in this process, so that the outbox can show their content.
import { createDecipheriv } from "node:crypto";
import { keyLog, type LoggedKey } from "../../shared/providers/web-push-encryption.ts";

const SALT_BYTES = 16;
const TAG_BYTES = 16;
const HEADER_BYTES = 86;
const MAX_KEPT = 1_024;

/** By salt; the oldest are dropped first. */
const byKey = new Map<string, LoggedKey>();

keyLog.subscribe((logged) => {
  const found = logged as LoggedKey;
  byKey.set(found.salt.toString("hex"), found);
  for (const oldest of byKey.keys()) {
    if (byKey.size <= MAX_KEPT) return;
    byKey.delete(oldest);
  }
});

/** The text of a message; undefined if another process encrypted it. */
export function openPush(message: Buffer): Buffer | undefined {
  const keys = byKey.get(message.subarray(0, SALT_BYTES).toString("hex"));
  if (!keys || message.length <= HEADER_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv("aes-128-gcm", keys.key, keys.nonce);
  decipher.setAuthTag(message.subarray(-TAG_BYTES));
  try {
    const opened = Buffer.concat([decipher.update(message.subarray(HEADER_BYTES, -TAG_BYTES)), decipher.final()]);
    // The text ends at the last byte that is not padding.
    return opened.subarray(0, opened.lastIndexOf(2));
  } catch {
    return undefined;
  }
}
