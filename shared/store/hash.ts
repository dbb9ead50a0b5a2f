// Texts that keys must not show: addresses and secrets are stored as their hash.
import { createHash } from "node:crypto";
import { uuidOf } from "../kernel/ids.ts";

/** SHA-256 of a text, in hex. */
export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A UUIDv8 that the same text always gives. */
export const uuidOfText = (text: string): string => uuidOf(createHash("sha256").update(text).digest(), 8);
