// From an HTTP request to an operation of S3 and its members.
import { createHash } from "node:crypto";
import { type AwsRequest, awsFailure, type Wire } from "../stand-in.ts";
import { algorithms, memberOf } from "./checksums.ts";
import { malformed, notImplemented } from "./errors.ts";
import { keptHeaders } from "./objects.ts";
import { readXml, textOf, type XmlElement } from "./xml.ts";

const MODE = "x-amz-content-sha256";

/** Headers that are members of an operation. */
const headerMembers: Record<string, string> = {
  ...keptHeaders,
  "content-md5": "ContentMD5",
  range: "Range",
  "if-match": "IfMatch",
  "if-none-match": "IfNoneMatch",
  "if-modified-since": "IfModifiedSince",
  "if-unmodified-since": "IfUnmodifiedSince",
  "x-amz-tagging": "Tagging",
  "x-amz-checksum-mode": "ChecksumMode",
  "x-amz-checksum-algorithm": "ChecksumAlgorithm",
  "x-amz-sdk-checksum-algorithm": "ChecksumAlgorithm",
  ...Object.fromEntries(
    algorithms.map((algorithm) => [`x-amz-checksum-${algorithm.toLowerCase()}`, memberOf(algorithm)]),
  ),
};
/** Headers of the protocol itself, or without effect here. */
const understood = new Set([
  MODE,
  "x-amz-date",
  "x-amz-security-token",
  "x-amz-user-agent",
  "x-amz-decoded-content-length",
  "x-amz-trailer",
  "x-amz-expected-bucket-owner",
  "x-amz-mp-object-size",
]);
const SIGNING = new Set(
  ["algorithm", "credential", "date", "expires", "signedheaders", "signature", "security-token", "content-sha256"].map(
    (name) => `x-amz-${name}`,
  ),
);
const CHECKSUM_OF_BODY = /^x-amz-(?:checksum-(?!mode$)|sdk-checksum-algorithm$)/;
const STORAGE_CLASS = "x-amz-storage-class";
const METADATA = "x-amz-meta-";

const queryMembers: Record<string, string> = {
  prefix: "Prefix",
  delimiter: "Delimiter",
  "max-keys": "MaxKeys",
  "continuation-token": "ContinuationToken",
  "start-after": "StartAfter",
  "encoding-type": "EncodingType",
  uploadId: "UploadId",
  partNumber: "PartNumber",
  ...Object.fromEntries(Object.entries(keptHeaders).map(([name, member]) => [`response-${name}`, `Response${member}`])),
};
/** Parameters that choose the operation, or have no effect. */
const choosing = new Set(["list-type", "uploads", "delete", "tagging", "x-id", "fetch-owner"]);

/** `bucket.s3.…`, `bucket.localhost`, `bucket.127.0.0.1`; otherwise the bucket is the first part of the path. */
const virtualHost = /^(.+?)\.(?:s3[.-].*|s3|localhost|127\.0\.0\.1)(?::\d+)?$/;

interface S3Operation {
  operation: string;
  input: Wire;
}

export const isFormUpload = ({ method, headers }: AwsRequest): boolean =>
  method === "POST" && (headers["content-type"] ?? "").startsWith("multipart/form-data");

export function locate({ path, headers }: AwsRequest): { bucket: string | undefined; key: string | undefined } {
  const virtual = virtualHost.exec(headers.host ?? "")?.[1];
  const rest = path.replace(/^\//, "");
  const [first = "", ...others] = rest.split("/");
  const [bucket, key] = virtual === undefined ? [first, others.join("/")] : [virtual, rest];
  return { bucket: decodeURIComponent(bucket) || undefined, key: decodeURIComponent(key) || undefined };
}

export function queryOf({ query = {} }: AwsRequest): [name: string, value: string][] {
  return Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one ?? ""]),
  );
}

/**
 * Headers that a presigned URL carries in its query; those of the signature itself are not among them. S3 ignores a
 * checksum there: the SDK puts that of an empty body into a URL for a body that it does not know.
 */
const hoisted = (query: ReadonlyMap<string, string>): Record<string, string> =>
  Object.fromEntries(
    [...query]
      .map(([name, value]): [string, string] => [name.toLowerCase(), value])
      .filter(([name]) => name.startsWith("x-amz-") && !SIGNING.has(name) && !CHECKSUM_OF_BODY.test(name)),
  );

/** The requested operation. @throws 501 for an unsupported parameter. */
export function readRequest(request: AwsRequest, body: Buffer): S3Operation {
  const query = new Map(queryOf(request));
  const { bucket, key } = locate(request);
  const { bytes, headers } = readBody({ ...request, headers: { ...request.headers, ...hoisted(query) } }, body);
  const input: Wire = {
    ...membersIn(headers),
    ...(bucket !== undefined && { Bucket: bucket }),
    ...(key && { Key: key }),
  };
  for (const [name, value] of query)
    if (queryMembers[name]) input[queryMembers[name]] = value;
    else if (!choosing.has(name) && !/^x-amz-/i.test(name)) throw notImplemented(`the parameter ${name}`);
  const operation = operationOf(request.method, query, { bucket, key });
  if (operation === "DeleteObjects") return { operation, input: { ...input, Delete: readDeletions(bytes) } };
  if (operation === "CompleteMultipartUpload")
    return { operation, input: { ...input, MultipartUpload: { Parts: readParts(bytes) } } };
  return { operation, input: ["PutObject", "UploadPart"].includes(operation) ? { ...input, Body: bytes } : input };
}

function operationOf(
  method: string,
  query: ReadonlyMap<string, string>,
  { bucket, key }: ReturnType<typeof locate>,
): string {
  const chosen = ["uploads", "delete", "tagging", "uploadId", "list-type"].find((name) => query.has(name)) ?? "";
  const inBucket = key === undefined ? "bucket" : "object";
  const level = bucket === undefined ? "service" : inBucket;
  const operation = operations[`${method} ${level} ${chosen}`.trim()];
  if (!operation) throw notImplemented(`${method} of a ${level}${chosen && ` with ${chosen}`}`);
  return operation;
}

const operations: Record<string, string> = {
  "GET service": "ListBuckets",
  "PUT bucket": "CreateBucket",
  "GET bucket list-type": "ListObjectsV2",
  "POST bucket delete": "DeleteObjects",
  "GET object tagging": "GetObjectTagging",
  "PUT object": "PutObject",
  "GET object": "GetObject",
  "HEAD object": "HeadObject",
  "DELETE object": "DeleteObject",
  "POST object uploads": "CreateMultipartUpload",
  "PUT object uploadId": "UploadPart",
  "POST object uploadId": "CompleteMultipartUpload",
  "DELETE object uploadId": "AbortMultipartUpload",
};

/** The decoded bytes, and the headers together with the trailers. */
function readBody({ headers }: AwsRequest, body: Buffer): { bytes: Buffer; headers: Record<string, string> } {
  const mode = headers[MODE] ?? "";
  if (/^[0-9a-f]{64}$/.test(mode) && createHash("sha256").update(body).digest("hex") !== mode)
    throw awsFailure(
      "XAmzContentSHA256Mismatch",
      "The provided 'x-amz-content-sha256' header does not match what was computed.",
    );
  if (!mode.startsWith("STREAMING-")) return { bytes: body, headers };
  const { bytes, trailers } = readChunked(body);
  const length = headers["x-amz-decoded-content-length"];
  if (length !== undefined && Number(length) !== bytes.length)
    throw awsFailure(
      "IncompleteBody",
      "You did not provide the number of bytes specified by x-amz-decoded-content-length.",
    );
  const { "content-encoding": encoding, ...rest } = headers;
  const left = (encoding ?? "")
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word && word !== "aws-chunked");
  return { bytes, headers: { ...rest, ...(left.length > 0 && { "content-encoding": left.join(",") }), ...trailers } };
}

function membersIn(headers: Record<string, string>): Wire {
  const members: Wire = {};
  const Metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith(METADATA)) Metadata[name.slice(METADATA.length)] = value;
    else if (headerMembers[name]) members[headerMembers[name]] = value;
    else if (name.startsWith("x-amz-") && !understood.has(name) && !(name === STORAGE_CLASS && value === "STANDARD"))
      throw notImplemented(`the header ${name}`);
  return { ...members, Metadata };
}

function parse(bytes: Buffer): XmlElement {
  try {
    return readXml(bytes.toString("utf8"));
  } catch {
    throw malformed();
  }
}

function readDeletions(bytes: Buffer): Wire {
  const root = parse(bytes);
  const Objects = root.children
    .filter(({ name }) => name === "Object")
    .map((object) => ({ Key: textOf(object, "Key") ?? "", ETag: textOf(object, "ETag") }));
  return { Objects, Quiet: textOf(root, "Quiet") === "true" };
}

function readParts(bytes: Buffer): Wire[] {
  return parse(bytes).children.map((part) => {
    const sums = algorithms.map((algorithm) => [memberOf(algorithm), textOf(part, memberOf(algorithm))]);
    return {
      PartNumber: Number(textOf(part, "PartNumber")),
      ETag: textOf(part, "ETag") ?? "",
      ...Object.fromEntries(sums),
    };
  });
}

interface DecodedBody {
  bytes: Buffer;
  /** Names in lower case. */
  trailers: Record<string, string>;
}

const LINE = "\r\n";

/** Signatures of single chunks are not checked: the whole request was signed, and the checksum is verified. */
function readChunked(body: Buffer): DecodedBody {
  const chunks: Buffer[] = [];
  let at = 0;
  const line = (): string => {
    const end = body.indexOf(LINE, at);
    if (end < 0) throw incomplete();
    const text = body.toString("latin1", at, end);
    at = end + LINE.length;
    return text;
  };
  for (;;) {
    const [size = ""] = line().split(";");
    if (!/^[0-9a-fA-F]+$/.test(size)) throw incomplete();
    const length = Number.parseInt(size, 16);
    if (length === 0) break;
    if (at + length + LINE.length > body.length) throw incomplete();
    chunks.push(body.subarray(at, at + length));
    at += length;
    if (line() !== "") throw incomplete();
  }
  const trailers: Record<string, string> = {};
  while (at < body.length) {
    const text = line();
    const colon = text.indexOf(":");
    if (colon > 0) trailers[text.slice(0, colon).trim().toLowerCase()] = text.slice(colon + 1).trim();
  }
  return { bytes: Buffer.concat(chunks), trailers };
}

const incomplete = () =>
  awsFailure("IncompleteBody", "You did not provide the number of bytes specified by the Content-Length HTTP header.");
