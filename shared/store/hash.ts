// Hashes of texts that keys must not show, such as addresses and secrets.
import { createHash } from "node:crypto";
import { uuidOf } from "../kernel/ids.ts";

/** SHA-256 of a text, in hex. */
export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A UUIDv8 derived from a text. */
export const uuidOfText = (text: string): string => uuidOf(createHash("sha256").update(text).digest(), 8);
