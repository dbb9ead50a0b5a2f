// The key of a topic, as requests name it (TPC-1).
import * as v from "valibot";
import { said } from "./schemas.ts";

const KEY = /^[a-z0-9][a-z0-9_-]{0,63}$/;
/** Preferences are an object by topic, and bodies may not have these keys. */
const UNNAMEABLE = ["constructor", "prototype"];

export const TopicKey = v.pipe(
  v.string(),
  v.regex(KEY, "must be 1 to 64 of a-z, 0-9, _ and -, beginning with a letter or digit"),
  v.check((key) => !UNNAMEABLE.includes(key), `must not be ${UNNAMEABLE.join(" or ")}`),
);

export const TopicOfSend = said(
  "The key of a topic: subscribers who are not in it are skipped, whatever the category",
  v.optional(TopicKey),
);
