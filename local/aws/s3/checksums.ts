// Checksums of objects: a client's checksum is compared with the received bytes, and stored with the object.
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { type AwsFailure, awsFailure, type Wire } from "../stand-in.ts";

export const algorithms = ["CRC32", "SHA256"] as const;
export type Algorithm = (typeof algorithms)[number];

export interface Checksum {
  algorithm: Algorithm;
  /** Base64; that of parts ends in `-<number of parts>`. */
  value: string;
}

function fourBytes(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const digests: Record<Algorithm, (bytes: Uint8Array) => Buffer> = {
  CRC32: (bytes) => fourBytes(crc32(bytes)),
  SHA256: (bytes) => createHash("sha256").update(bytes).digest(),
};

export const checksumOf = (algorithm: Algorithm, bytes: Uint8Array): string =>
  digests[algorithm](bytes).toString("base64");

/** The checksum of an object made of parts is that of the checksums of its parts. */
export const compositeOf = (algorithm: Algorithm, parts: readonly string[]): string =>
  `${checksumOf(algorithm, Buffer.concat(parts.map((part) => Buffer.from(part, "base64"))))}-${parts.length}`;

export const md5 = (bytes: Uint8Array): Buffer => createHash("md5").update(bytes).digest();

/** The member that carries a checksum, `ChecksumCRC32` … */
export const memberOf = (algorithm: Algorithm): string => `Checksum${algorithm}`;

/**
 * Compares every checksum of the request with the bytes.
 * @returns the one to store: the given one, or that of the requested algorithm.
 */
export function verify(input: Wire, bytes: Uint8Array): Checksum | undefined {
  if (input.ContentMD5 !== undefined) {
    const given = Buffer.from(String(input.ContentMD5), "base64");
    if (given.length !== 16) throw awsFailure("InvalidDigest", "The Content-MD5 you specified was invalid.");
    if (!md5(bytes).equals(given))
      throw awsFailure("BadDigest", "The Content-MD5 you specified did not match what we received.");
  }
  const given = algorithms.filter((algorithm) => input[memberOf(algorithm)] !== undefined);
  if (given.length > 1)
    throw awsFailure(
      "InvalidRequest",
      "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.",
    );
  const [algorithm] = given;
  if (algorithm) {
    const value = checksumOf(algorithm, bytes);
    if (input[memberOf(algorithm)] !== value) throw wrongChecksum(algorithm);
    return { algorithm, value };
  }
  const wanted = algorithmIn(input.ChecksumAlgorithm);
  return wanted && { algorithm: wanted, value: checksumOf(wanted, bytes) };
}

export function algorithmIn(name: unknown): Algorithm | undefined {
  if (name === undefined) return undefined;
  const found = algorithms.find((algorithm) => algorithm === String(name).toUpperCase());
  if (!found)
    throw awsFailure("NotImplemented", `The embedded S3 does not know the checksum ${name}.`, { status: 501 });
  return found;
}

export const wrongChecksum = (algorithm: Algorithm): AwsFailure =>
  awsFailure("BadDigest", `The ${algorithm} you specified did not match the calculated checksum.`);
