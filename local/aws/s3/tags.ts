// Tags of objects: what they may be, and how a header carries them.
import { awsFailure } from "../stand-in.ts";
import { invalidArgument } from "./errors.ts";

export type Tags = Record<string, string>;

const MAX_TAGS = 10;
const MAX_KEY = 128;
const MAX_VALUE = 256;
const ALLOWED = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;
const invalidTag = (message: string) => awsFailure("InvalidTag", message);

/** @throws S3's errors for what cannot be tags */
function tagsOf(pairs: readonly (readonly [key: string, value: string])[]): Tags {
  if (pairs.length > MAX_TAGS) throw awsFailure("BadRequest", "Object tags cannot be greater than 10");
  const tags: Tags = Object.fromEntries(pairs);
  if (Object.keys(tags).length < pairs.length) throw invalidTag("Cannot provide multiple Tags with the same key");
  for (const [key, value] of pairs) {
    if (key === "" || key.length > MAX_KEY || key.startsWith("aws:") || !ALLOWED.test(key))
      throw invalidTag("The TagKey you have provided is invalid");
    if (value.length > MAX_VALUE || !ALLOWED.test(value)) throw invalidTag("The TagValue you have provided is invalid");
  }
  return tags;
}

/** The tags of the header `x-amz-tagging`, which is written as a query. */
export function tagsOfHeader(header: unknown): Tags {
  const pairs = [...new URLSearchParams(String(header))];
  if (new Set(pairs.map(([key]) => key)).size < pairs.length)
    throw invalidArgument(
      "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.",
    );
  return tagsOf(pairs);
}
