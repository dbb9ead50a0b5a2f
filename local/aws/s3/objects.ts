// Objects: put, get with ranges and conditions, copy, delete, list.
import { awsFailure, type Deps, isAwsFailure, type Wire } from "../stand-in.ts";
import { SECOND } from "../time.ts";
import { md5, memberOf, verify } from "./checksums.ts";
import * as errors from "./errors.ts";
import type { About, S3Storage, StoredObject } from "./storage.ts";

/** Headers kept with an object, and the members that carry them. */
export const keptHeaders: Record<string, string> = {
  "cache-control": "CacheControl",
  "content-disposition": "ContentDisposition",
  "content-encoding": "ContentEncoding",
  "content-language": "ContentLanguage",
  "content-type": "ContentType",
  expires: "Expires",
};
const DEFAULT_TYPE = "binary/octet-stream";
const MAX_KEY_BYTES = 1_024;
const MAX_METADATA_BYTES = 2_048;
const MAX_DELETED = 1_000;
const MAX_LISTED = 1_000;

type Operation = (input: Wire) => Wire;

export function aboutOf(input: Wire): About {
  const headers: About["headers"] = { "content-type": DEFAULT_TYPE };
  for (const [name, member] of Object.entries(keptHeaders))
    if (input[member] !== undefined) headers[name] = String(input[member]);
  const metadata = (input.Metadata ?? {}) as Record<string, string>;
  const size = Object.entries(metadata).reduce((sum, pair) => sum + Buffer.byteLength(pair.join("")), 0);
  if (size > MAX_METADATA_BYTES)
    throw awsFailure("MetadataTooLarge", "Your metadata headers exceed the maximum allowed metadata size");
  return { headers, metadata, ...(input.Tagging !== undefined && { tags: tagsOfHeader(input.Tagging) }) };
}

/** The key and the bucket of a call. @throws if the bucket does not exist or the key is too long. */
export function placeOf(storage: S3Storage, input: Wire): { bucket: string; key: string } {
  const [bucket, key] = [String(input.Bucket), String(input.Key)];
  if (!storage.hasBucket(bucket)) throw errors.noSuchBucket({ BucketName: bucket });
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) throw awsFailure("KeyTooLongError", "Your key is too long");
  return { bucket, key };
}

/** Conditional writes: only if no object exists, or only over the object with the given entity tag. */
export function checkWrite({ IfMatch, IfNoneMatch }: Wire, existing: StoredObject | undefined): void {
  if (IfNoneMatch !== undefined && IfNoneMatch !== "*") throw errors.notImplemented("If-None-Match with an entity tag");
  if (IfNoneMatch === "*" && existing) throw errors.preconditionFailed({ Condition: "If-None-Match" });
  if (IfMatch === undefined) return;
  if (!existing) throw errors.noSuchKey();
  if (!matches(IfMatch, existing)) throw errors.preconditionFailed({ Condition: "If-Match" });
}

const unquoted = (etag: string) => etag.trim().replace(/^"|"$/g, "");
const matches = (condition: unknown, { etag }: StoredObject): boolean =>
  condition === "*" || String(condition).split(",").map(unquoted).includes(unquoted(etag));

/** Conditions of a read; an entity tag decides before a date. Dates count whole seconds. */
function checkRead(input: Wire, object: StoredObject): void {
  const { IfMatch, IfNoneMatch, IfModifiedSince, IfUnmodifiedSince } = input;
  const modified = Math.floor(object.modified / SECOND) * SECOND;
  const later = (than: unknown) => modified > Date.parse(String(than));
  if (IfMatch !== undefined ? !matches(IfMatch, object) : IfUnmodifiedSince !== undefined && later(IfUnmodifiedSince))
    throw errors.preconditionFailed({ Condition: IfMatch === undefined ? "If-Unmodified-Since" : "If-Match" });
  if (
    IfNoneMatch !== undefined ? matches(IfNoneMatch, object) : IfModifiedSince !== undefined && !later(IfModifiedSince)
  )
    throw errors.notModified({ ETag: object.etag });
}

/** `bytes=from-to`, `bytes=from-`, `bytes=-last`; other forms are ignored. */
function rangeOf(range: unknown, size: number): [from: number, to: number] | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(String(range ?? "")) ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return undefined;
  const from = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const to = first === "" || last === "" ? size : Math.min(size, Number(last) + 1);
  if (first !== "" && last !== "" && Number(last) < Number(first)) return undefined;
  if (from >= size || to <= from)
    throw errors.invalidRange({ ActualObjectSize: String(size), RangeRequested: String(range) });
  return [from, to];
}

export function objectOperations(storage: S3Storage, { clock, ids }: Deps): Record<string, Operation> {
  const find = (input: Wire): StoredObject => {
    const { bucket, key } = placeOf(storage, input);
    const object = storage.object(bucket, key);
    if (!object) throw errors.noSuchKey({ Key: key });
    checkRead(input, object);
    return object;
  };

  const describe = ({ etag, size, modified, about }: StoredObject, input: Wire): Wire => {
    const { headers, metadata, checksum, tags = {} } = about;
    const tagged = Object.keys(tags).length;
    const shown = Object.entries(keptHeaders).map(([name, member]) => [
      member,
      input[`Response${member}`] ?? headers[name],
    ]);
    return {
      ...Object.fromEntries(shown),
      AcceptRanges: "bytes",
      ContentLength: size,
      ETag: etag,
      LastModified: new Date(modified).toUTCString(),
      Metadata: metadata,
      ...(tagged > 0 && { TagCount: tagged }),
      ...(checksum &&
        input.ChecksumMode === "ENABLED" &&
        input.Range === undefined && {
          [memberOf(checksum.algorithm)]: checksum.value,
          ChecksumType: checksum.value.includes("-") ? "COMPOSITE" : "FULL_OBJECT",
        }),
    };
  };

  const get = (input: Wire, withBody: boolean): Wire => {
    const object = find(input);
    const range = rangeOf(input.Range, object.size);
    const [from, to] = range ?? [0, object.size];
    return {
      ...describe(object, input),
      ...(range && { ContentLength: to - from, ContentRange: `bytes ${from}-${to - 1}/${object.size}` }),
      ...(withBody && { Body: storage.readBlob(object.blob, from, to) }),
    };
  };

  const put = (input: Wire): Wire => {
    const { bucket, key } = placeOf(storage, input);
    const body = input.Body as Uint8Array;
    const checksum = verify(input, body);
    const about = { ...aboutOf(input), checksum };
    const etag = `"${md5(body).toString("hex")}"`;
    checkWrite(input, storage.object(bucket, key));
    const blob = ids.uuid();
    storage.putBlob(blob, body);
    storage.putObject(bucket, { key, blob, etag, size: body.length, modified: clock.now(), about });
    return {
      ETag: etag,
      ...(checksum && { [memberOf(checksum.algorithm)]: checksum.value, ChecksumType: "FULL_OBJECT" }),
    };
  };

  /** Deleting a missing object succeeds. */
  const remove = (input: Wire): Wire => {
    const { bucket, key } = placeOf(storage, input);
    if (input.IfMatch !== undefined) checkWrite(input, storage.object(bucket, key));
    storage.removeObject(bucket, key);
    return {};
  };

  const removeAll = (input: Wire): Wire => {
    const { Objects, Quiet } = input.Delete as {
      Objects: { Key: string; ETag?: string | undefined }[];
      Quiet: boolean;
    };
    if (Objects.length === 0 || Objects.length > MAX_DELETED) throw errors.malformed();
    placeOf(storage, { ...input, Key: "" });
    const Deleted: Wire[] = [];
    const Errors: Wire[] = [];
    for (const { Key, ETag } of Objects)
      try {
        remove({ Bucket: input.Bucket, Key, IfMatch: ETag });
        Deleted.push({ Key });
      } catch (error) {
        if (!isAwsFailure(error)) throw error;
        Errors.push({ Key, Code: error.name, Message: error.message });
      }
    return { Deleted: Quiet ? [] : Deleted, Errors };
  };

  const list = (input: Wire): Wire => {
    const { bucket } = placeOf(storage, { ...input, Key: "" });
    const [prefix, delimiter] = [String(input.Prefix ?? ""), String(input.Delimiter ?? "")];
    const limit = Math.min(MAX_LISTED, Number(input.MaxKeys ?? MAX_LISTED));
    if (!Number.isInteger(limit) || limit < 0)
      throw errors.invalidArgument("Argument maxKeys must be an integer between 0 and 2147483647");
    let at =
      input.ContinuationToken === undefined ? String(input.StartAfter ?? "") : readToken(input.ContinuationToken);
    const Contents: StoredObject[] = [];
    const prefixes: string[] = [];
    const full = () => Contents.length + prefixes.length >= limit;
    let more = storage.after(bucket, at, prefix, limit + 1);
    while (more.length > 0 && !full()) {
      const object = more.shift()!;
      const end = delimiter === "" ? -1 : object.key.indexOf(delimiter, prefix.length);
      if (end < 0) {
        Contents.push(object);
        at = object.key;
      } else {
        const common = object.key.slice(0, end + delimiter.length);
        if (common > String(input.StartAfter ?? "")) prefixes.push(common);
        // Continues after every key with this prefix.
        at = `${common}\u{10ffff}`;
        more = [];
      }
      if (more.length === 0) more = storage.after(bucket, at, prefix, limit + 1);
    }
    const IsTruncated = more.length > 0 && limit > 0;
    return {
      Contents,
      CommonPrefixes: prefixes,
      IsTruncated,
      KeyCount: Contents.length + prefixes.length,
      MaxKeys: limit,
      ...(IsTruncated && { NextContinuationToken: Buffer.from(at).toString("base64url") }),
    };
  };

  return {
    PutObject: put,
    GetObject: (input) => get(input, true),
    HeadObject: (input) => get(input, false),
    DeleteObject: remove,
    DeleteObjects: removeAll,
    ListObjectsV2: list,
  };
}

const readToken = (token: unknown): string => Buffer.from(String(token), "base64url").toString();

const MAX_TAGS = 10;
const MAX_TAG_KEY = 128;
const MAX_TAG_VALUE = 256;
const TAG_CHARACTERS = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;
const invalidTag = (message: string) => awsFailure("InvalidTag", message);

/** The tags of the header `x-amz-tagging`, which is written as a query. @throws S3's errors for what cannot be tags */
function tagsOfHeader(header: unknown): Record<string, string> {
  const pairs = [...new URLSearchParams(String(header))];
  if (new Set(pairs.map(([key]) => key)).size < pairs.length)
    throw errors.invalidArgument(
      "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.",
    );
  if (pairs.length > MAX_TAGS) throw awsFailure("BadRequest", "Object tags cannot be greater than 10");
  for (const [key, value] of pairs) {
    if (key === "" || key.length > MAX_TAG_KEY || key.startsWith("aws:") || !TAG_CHARACTERS.test(key))
      throw invalidTag("The TagKey you have provided is invalid");
    if (value.length > MAX_TAG_VALUE || !TAG_CHARACTERS.test(value))
      throw invalidTag("The TagValue you have provided is invalid");
  }
  return Object.fromEntries(pairs);
}
