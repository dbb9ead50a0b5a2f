// Requests to the embedded S3 as a client makes them: signed in the header, presigned, or from a browser's form.
import { createHash } from "node:crypto";
import { expect } from "vitest";
import { openDatabase } from "../../database.ts";
import { sign, stringToSign } from "../../s3/signatures.ts";
import { createS3 } from "../../s3.ts";
import { type FrozenClock, frozenClock, ids } from "./clock.ts";
import { onlyWith } from "./services.ts";

export const MB = 1_048_576;
export const START = Date.UTC(2026, 0, 1, 12);
const HOST = "127.0.0.1:8000";
const DATE = "20260101";
export const SCOPE = `${DATE}/us-east-1/s3/aws4_request`;
export const SIGNED_AT = `${DATE}T120000Z`;

export interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string;
  bytes: Buffer;
}

export interface Options {
  headers?: Record<string, string>;
  query?: Record<string, string>;
  body?: string | Uint8Array;
  /** Left out, the request is signed as the client with the registered key does. */
  unsigned?: boolean;
}

export function s3World(file = ":memory:") {
  const database = openDatabase(file);
  const clock: FrozenClock = frozenClock(START);
  const s3 = createS3({ clock, ids, database });

  const call = async (
    route: string,
    { headers = {}, query = {}, body, unsigned = false }: Options = {},
  ): Promise<Answer> => {
    const [method = "GET", path = "/"] = route.split(" ");
    const request = { method, path, query, headers: { host: HOST, ...headers }, body };
    const sent = unsigned ? request : { ...request, headers: signed(method, path, query, request.headers, body) };
    const answer = await s3.handle(sent);
    const bytes = Buffer.from(answer.body as string);
    return { status: answer.status, headers: answer.headers, bytes, text: bytes.toString() };
  };
  return { s3, clock, database, call };
}

/** The embedded S3 with a bucket, `box`. @param file where it is kept; default: in memory */
export async function withBucket(file?: string) {
  const world = s3World(file);
  expect((await world.call("PUT /box")).status).toBe(200);
  return world;
}

/** The error code of an answer. */
export const codeOf = ({ text }: Answer): string | undefined => /<Code>(.*)<\/Code>/.exec(text)?.[1];

/** All texts of an element of an answer. */
export const textsOf = (name: string, { text }: Answer): string[] =>
  [...text.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, value = ""]) => value);

export const etagOf = (body: string | Buffer): string => `"${createHash("md5").update(body).digest("hex")}"`;

/** The services of an account whose only one in use is S3. */
export function servicesWithS3() {
  const { s3, clock } = s3World();
  return { services: onlyWith({ s3 }), s3, clock };
}

function signed(
  method: string,
  path: string,
  query: Record<string, string>,
  given: Record<string, string>,
  body: Options["body"],
): Record<string, string> {
  const hash = createHash("sha256")
    .update(body ?? "")
    .digest("hex");
  const headers = { "x-amz-date": SIGNED_AT, "x-amz-content-sha256": hash, ...given };
  const names = Object.keys(headers).sort().join(";");
  const pairs = Object.entries(query);
  const text = stringToSign(
    { method, path, query: pairs, headers },
    names,
    headers["x-amz-content-sha256"],
    SIGNED_AT,
    SCOPE,
  );
  const signature = sign("local", SCOPE, text);
  const authorization = `AWS4-HMAC-SHA256 Credential=local/${SCOPE}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...headers, authorization };
}

/** The query of a presigned URL; `hoisted` headers travel in it. */
export function presigned(
  method: string,
  path: string,
  seconds: number,
  headers: Record<string, string> = {},
  hoisted: Record<string, string> = {},
): Record<string, string> {
  const all: Record<string, string> = { host: HOST, ...headers };
  const names = Object.keys(all).sort().join(";");
  const query: Record<string, string> = {
    ...hoisted,
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": `local/${SCOPE}`,
    "X-Amz-Date": SIGNED_AT,
    "X-Amz-Expires": String(seconds),
    "X-Amz-SignedHeaders": names,
  };
  const request = { method, path, query: Object.entries(query), headers: all };
  const text = stringToSign(request, names, "UNSIGNED-PAYLOAD", SIGNED_AT, SCOPE);
  return { ...query, "X-Amz-Signature": sign("local", SCOPE, text) };
}

/** A form with a policy that allows what `conditions` say until `expiration`. */
export function form(
  fields: Record<string, string>,
  file: string,
  { conditions, expiration = "2026-01-01T13:00:00Z" }: { conditions: unknown[]; expiration?: string },
) {
  const policy = Buffer.from(JSON.stringify({ expiration, conditions })).toString("base64");
  const all = { ...fields, policy, "x-amz-signature": sign("local", SCOPE, policy) };
  const boundary = "----boundary";
  const part = (name: string, value: string, more = "") =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
  const parts = Object.entries(all).map(([name, value]) => part(name, value));
  const body = `${parts.join("")}${part("file", file, '; filename="photo.png"')}--${boundary}--\r\n`;
  return { headers: { "content-type": `multipart/form-data; boundary=${boundary}` }, body, unsigned: true };
}

/** A body in chunks, with trailers. */
export function chunked(text: string, trailers: Record<string, string>): Options {
  const size = 4;
  let body = "";
  for (let at = 0; at < text.length; at += size) {
    const chunk = text.slice(at, at + size);
    body += `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
  }
  body += "0\r\n";
  for (const [name, value] of Object.entries(trailers)) body += `${name}:${value}\r\n`;
  const headers = {
    "content-encoding": "aws-chunked",
    "x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
    "x-amz-decoded-content-length": String(text.length),
    "x-amz-trailer": Object.keys(trailers).join(","),
  };
  return { headers, body: `${body}\r\n` };
}
