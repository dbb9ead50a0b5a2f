// `aws-chunked` bodies: chunks with their length, with optional checksums as trailers.
import { awsFailure } from "../stand-in.ts";

export interface Unchunked {
  bytes: Buffer;
  /** Names in lower case. */
  trailers: Record<string, string>;
}

const LINE = "\r\n";

/** Signatures of single chunks are not checked: the whole request was signed, and the checksum is verified. */
export function readChunked(body: Buffer): Unchunked {
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
