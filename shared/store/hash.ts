// Texts that keys must not show: addresses and secrets are stored as their hash.
import { createHash } from "node:crypto";

/** SHA-256 of a text, in hex. */
export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
