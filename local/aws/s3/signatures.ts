// Signature version 4, as S3 checks it: in the header, in the query of a presigned URL, on a POST policy.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { awsFailure } from "../stand-in.ts";
import { SECOND } from "../time.ts";
import { accessDenied } from "./errors.ts";

interface SignedRequest {
  method: string;
  /** Still encoded. */
  path: string;
  query: [name: string, value: string][];
  /** Names in lower case. */
  headers: Record<string, string>;
}

/** Secrets by access key. Headers signed with another key are accepted unchecked. */
export type Keys = ReadonlyMap<string, string>;

const ALGORITHM = "AWS4-HMAC-SHA256";
const WEEK_SECONDS = 7 * 86_400;
/** How far ahead of service time a signature may be dated. */
const AHEAD_MS = 15 * 60 * SECOND;

const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Encoded by RFC 3986; a path keeps its slashes. */
const encode = (text: string, slash = "%2F") =>
  encodeURIComponent(text)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%2F", slash);

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

interface Scope {
  accessKey: string;
  /** `date/region/s3/aws4_request` */
  scope: string;
}

export function scopeOf(credential: string): Scope {
  const [accessKey = "", ...scope] = credential.split("/");
  const [date = "", , service, end] = scope;
  if (!/^\d{8}$/.test(date) || service !== "s3" || end !== "aws4_request" || scope.length !== 4)
    throw awsFailure("AuthorizationQueryParametersError", "Error parsing the X-Amz-Credential parameter.");
  return { accessKey, scope: scope.join("/") };
}

export function sign(secret: string, scope: string, text: string): string {
  const [date = "", region = "", service = "", end = ""] = scope.split("/");
  return hmac(hmac(hmac(hmac(hmac(`AWS4${secret}`, date), region), service), end), text).toString("hex");
}

export function stringToSign(
  request: SignedRequest,
  signedHeaders: string,
  payload: string,
  date: string,
  scope: string,
): string {
  const query = request.query
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .sort(([a, x], [b, y]) => (a < b || (a === b && x < y) ? -1 : 1));
  const names = signedHeaders.split(";");
  const canonical = [
    request.method,
    encode(decode(request.path), "/"),
    query.map((pair) => pair.join("=")).join("&"),
    ...names.map((name) => `${name}:${(request.headers[name] ?? "").trim().replace(/ +/g, " ")}`),
    "",
    signedHeaders,
    payload,
  ].join("\n");
  return [ALGORITHM, date, scope, sha256(canonical)].join("\n");
}

/** `20261120T120000Z` in milliseconds. */
function timeOf(text: string): number {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? [];
  const [year, month, ...rest] = parts.map(Number);
  if (year === undefined) throw accessDenied("X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"");
  return Date.UTC(year, month! - 1, ...rest);
}

const mismatch = () =>
  awsFailure(
    "SignatureDoesNotMatch",
    "The request signature we calculated does not match the signature you provided. Check your key and signing method.",
    { status: 403 },
  );

export const unknownKey = () =>
  awsFailure("InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.", {
    status: 403,
  });

export function requireSame(expected: string, given: string): void {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  if (a.length !== b.length || !timingSafeEqual(a, b)) throw mismatch();
}

/** Accepts a request with a valid signature in its URL or header. @throws 403. */
export function authenticate(request: SignedRequest, keys: Keys, now: number): void {
  const query = new Map(request.query);
  if (query.has("AWSAccessKeyId"))
    throw awsFailure(
      "InvalidRequest",
      `The authorization mechanism you have provided is not supported. Please use ${ALGORITHM}.`,
    );
  if (query.has("X-Amz-Signature")) checkPresigned(request, query, keys, now);
  else checkHeader(request, keys);
}

function checkHeader(request: SignedRequest, keys: Keys): void {
  const header = request.headers.authorization ?? "";
  if (!header.startsWith(`${ALGORITHM} `)) throw accessDenied();
  const part = (name: string) => new RegExp(`${name}=([^,\\s]+)`).exec(header)?.[1] ?? "";
  const { accessKey, scope } = scopeOf(part("Credential"));
  const secret = keys.get(accessKey);
  if (secret === undefined) return;
  const payload = request.headers["x-amz-content-sha256"] ?? "UNSIGNED-PAYLOAD";
  const text = stringToSign(request, part("SignedHeaders"), payload, request.headers["x-amz-date"] ?? "", scope);
  requireSame(sign(secret, scope, text), part("Signature"));
}

function checkPresigned(request: SignedRequest, query: ReadonlyMap<string, string>, keys: Keys, now: number): void {
  const value = (name: string) => query.get(name) ?? "";
  if (value("X-Amz-Algorithm") !== ALGORITHM)
    throw awsFailure("AuthorizationQueryParametersError", `X-Amz-Algorithm only supports "${ALGORITHM}"`);
  const { accessKey, scope } = scopeOf(value("X-Amz-Credential"));
  const seconds = Number(value("X-Amz-Expires"));
  if (!/^\d+$/.test(value("X-Amz-Expires")) || seconds < 1 || seconds > WEEK_SECONDS)
    throw awsFailure("AuthorizationQueryParametersError", "X-Amz-Expires must be between 1 and 604800 seconds");
  const secret = keys.get(accessKey);
  if (secret === undefined) throw unknownKey();
  const begin = timeOf(value("X-Amz-Date"));
  if (now > begin + seconds * SECOND) throw accessDenied("Request has expired");
  if (now < begin - AHEAD_MS) throw accessDenied("Request is not valid yet");
  const payload = query.get("X-Amz-Content-Sha256") ?? "UNSIGNED-PAYLOAD";
  const text = stringToSign(request, value("X-Amz-SignedHeaders"), payload, value("X-Amz-Date"), scope);
  requireSame(sign(secret, scope, text), value("X-Amz-Signature"));
}
