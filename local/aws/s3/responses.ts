// From the output of an operation to an HTTP response of S3.
import type { AwsFailure, AwsResponse, Wire } from "../stand-in.ts";
import { algorithms, memberOf } from "./checksums.ts";
import { keptHeaders } from "./objects.ts";
import type { StoredObject } from "./storage.ts";
import { type Xml, xmlOf } from "./xml.ts";

const NO_CONTENT = new Set(["DeleteObject", "AbortMultipartUpload"]);
/** Operations whose output is a document, and the name of its root. */
const documents: Record<string, string> = {
  ListBuckets: "ListAllMyBucketsResult",
  ListObjectsV2: "ListBucketResult",
  DeleteObjects: "DeleteResult",
  CreateMultipartUpload: "InitiateMultipartUploadResult",
  CompleteMultipartUpload: "CompleteMultipartUploadResult",
  GetObjectTagging: "Tagging",
};

const headerMembers: Record<string, string> = {
  ...Object.fromEntries(Object.entries(keptHeaders).map(([name, member]) => [member, name])),
  AcceptRanges: "accept-ranges",
  ContentLength: "content-length",
  ContentRange: "content-range",
  ETag: "etag",
  LastModified: "last-modified",
  Location: "location",
  ChecksumType: "x-amz-checksum-type",
  TagCount: "x-amz-tagging-count",
  ...Object.fromEntries(
    algorithms.map((algorithm) => [memberOf(algorithm), `x-amz-checksum-${algorithm.toLowerCase()}`]),
  ),
};

export function respond(operation: string, input: Wire, output: Wire): AwsResponse {
  const root = documents[operation];
  if (root) return document(200, root, shapes[operation]?.(input, output) ?? (output as Record<string, Xml>));
  const headers: Record<string, string> = {};
  for (const [member, name] of Object.entries(headerMembers))
    if (output[member] !== undefined) headers[name] = String(output[member]);
  for (const [name, value] of Object.entries((output.Metadata ?? {}) as Record<string, string>))
    headers[`x-amz-meta-${name}`] = value;
  const ofContent = output.ContentRange === undefined ? 200 : 206;
  const status = NO_CONTENT.has(operation) ? 204 : ofContent;
  return { status, headers, body: (output.Body as Uint8Array | undefined) ?? "" };
}

/** Keys as a listing shows them. */
const textIn =
  ({ EncodingType }: Wire) =>
  (value: unknown): string =>
    EncodingType === "url" ? encodeURIComponent(String(value)).replaceAll("%2F", "/") : String(value);

/** Differences between the document and the members of the output. */
const shapes: Record<string, (input: Wire, output: Wire) => Record<string, Xml>> = {
  ListBuckets: (_, { Buckets }) => ({
    Owner: { ID: "local", DisplayName: "local" },
    Buckets: { Bucket: Buckets as Xml[] },
  }),
  ListObjectsV2: (input, output) => {
    const text = textIn(input);
    return {
      Name: String(input.Bucket),
      Prefix: text(input.Prefix ?? ""),
      Delimiter: input.Delimiter === undefined ? undefined : text(input.Delimiter),
      EncodingType: input.EncodingType === "url" ? "url" : undefined,
      MaxKeys: output.MaxKeys as number,
      IsTruncated: output.IsTruncated as boolean,
      Contents: (output.Contents as StoredObject[]).map(({ key, etag, size, modified, about }) => ({
        Key: text(key),
        LastModified: new Date(modified).toISOString(),
        ETag: etag,
        Size: size,
        ChecksumAlgorithm: about.checksum?.algorithm,
        StorageClass: "STANDARD",
      })),
      CommonPrefixes: (output.CommonPrefixes as string[]).map((prefix) => ({ Prefix: text(prefix) })),
      StartAfter: input.StartAfter === undefined ? undefined : text(input.StartAfter),
      ContinuationToken: input.ContinuationToken as string | undefined,
      NextContinuationToken: output.NextContinuationToken as string | undefined,
      KeyCount: output.KeyCount as number,
    };
  },
  GetObjectTagging: (_, { TagSet }) => ({ TagSet: { Tag: TagSet as Xml[] } }),
  DeleteObjects: (_, { Deleted, Errors }) => ({ Deleted: Deleted as Xml[], Error: Errors as Xml[] }),
};

export function document(status: number, root: string, content: Xml): AwsResponse {
  return { status, headers: { "content-type": "application/xml" }, body: xmlOf(root, content) };
}

/** An error; a response to HEAD or 304 has no body. */
export function refuse({ name, message, status, fields }: AwsFailure, method: string): AwsResponse {
  if (status === 304) return { status, headers: fields.ETag ? { etag: String(fields.ETag) } : {}, body: "" };
  if (method === "HEAD") return { status, headers: {}, body: "" };
  const content = { Code: name, Message: message, ...(fields as Record<string, Xml>), RequestId: "local" };
  const body = xmlOf("Error", content, { namespace: false });
  return { status, headers: { "content-type": "application/xml" }, body };
}
