// Signatures over a digest that the caller made. Node signs only together with its own hashing.
import {
  constants,
  createHash,
  createPublicKey,
  type KeyObject,
  privateEncrypt,
  publicDecrypt,
  randomBytes,
} from "node:crypto";

const HASH_BYTES = 32;
const RSA_BYTES = 256;
/** DigestInfo of SHA-256, RFC 8017 section 9.2. */
const SHA256_INFO = Buffer.from("3031300d060960864801650304020105000420", "hex");

const sha256 = (...parts: Buffer[]): Buffer => createHash("sha256").update(Buffer.concat(parts)).digest();

/** @param algorithm one of the key's, for SHA-256. */
export function signDigest(key: KeyObject, algorithm: string, digest: Buffer): Buffer {
  if (algorithm.startsWith("ECDSA")) return signOnCurve(key, digest);
  if (algorithm.includes("PSS"))
    return privateEncrypt({ key, padding: constants.RSA_NO_PADDING }, pssOf(digest, randomBytes(HASH_BYTES)));
  return privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, Buffer.concat([SHA256_INFO, digest]));
}

export function verifyDigest(privateKey: KeyObject, algorithm: string, digest: Buffer, signature: Buffer): boolean {
  const key = createPublicKey(privateKey);
  if (algorithm.startsWith("ECDSA")) return verifyOnCurve(key, digest, signature);
  try {
    if (algorithm.includes("PSS"))
      return isPssOf(publicDecrypt({ key, padding: constants.RSA_NO_PADDING }, signature), digest);
    const opened = publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature);
    return opened.equals(Buffer.concat([SHA256_INFO, digest]));
  } catch {
    // A signature that the key cannot open is not its own.
    return false;
  }
}

/** The mask generation function of RFC 8017, MGF1 with SHA-256. */
function mask(seed: Buffer, length: number): Buffer {
  const blocks: Buffer[] = [];
  for (let counter = 0; blocks.length * HASH_BYTES < length; counter++) {
    const at = Buffer.alloc(4);
    at.writeUInt32BE(counter);
    blocks.push(sha256(seed, at));
  }
  return Buffer.concat(blocks).subarray(0, length);
}

const xor = (a: Buffer, b: Buffer): Buffer => Buffer.from(a.map((byte, at) => byte ^ b[at]!));

/** EMSA-PSS of RFC 8017, the salt as long as the hash. */
function pssOf(digest: Buffer, salt: Buffer): Buffer {
  const hash = sha256(Buffer.alloc(8), digest, salt);
  const length = RSA_BYTES - HASH_BYTES - 1;
  const plain = Buffer.concat([Buffer.alloc(length - HASH_BYTES - 1), Buffer.from([1]), salt]);
  const masked = xor(plain, mask(hash, length));
  masked[0]! &= 0x7f;
  return Buffer.concat([masked, hash, Buffer.from([0xbc])]);
}

function isPssOf(encoded: Buffer, digest: Buffer): boolean {
  const length = RSA_BYTES - HASH_BYTES - 1;
  const hash = encoded.subarray(length, length + HASH_BYTES);
  const plain = xor(encoded.subarray(0, length), mask(hash, length));
  return pssOf(digest, plain.subarray(length - HASH_BYTES)).equals(encoded);
}

/** The curve P-256 (FIPS 186). */
const P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const G: Point = {
  x: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
  y: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
};

/** A point of the curve; undefined is the point at infinity. */
type Point = { x: bigint; y: bigint } | undefined;

const modulo = (n: bigint, m: bigint): bigint => ((n % m) + m) % m;

function inverse(n: bigint, m: bigint): bigint {
  let [a, b, u, v] = [modulo(n, m), m, 1n, 0n];
  while (a !== 0n) [a, b, u, v] = [b % a, a, v - (b / a) * u, u];
  return modulo(v, m);
}

function add(one: Point, two: Point): Point {
  if (!one || !two) return one ?? two;
  if (one.x === two.x && one.y !== two.y) return undefined;
  const slope =
    one.x === two.x ? (3n * one.x * one.x - 3n) * inverse(2n * one.y, P) : (two.y - one.y) * inverse(two.x - one.x, P);
  const x = modulo(slope * slope - one.x - two.x, P);
  return { x, y: modulo(slope * (one.x - x) - one.y, P) };
}

function times(scalar: bigint, point: Point): Point {
  let sum: Point;
  for (let left = scalar, power = point; left > 0n; left >>= 1n, power = add(power, power))
    if (left & 1n) sum = add(sum, power);
  return sum;
}

const numberOf = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString("hex") || "0"}`);
const coordinate = (text: string | undefined): bigint => numberOf(Buffer.from(text ?? "", "base64url"));

function signOnCurve(key: KeyObject, digest: Buffer): Buffer {
  const secret = coordinate(key.export({ format: "jwk" }).d);
  for (;;) {
    const once = modulo(numberOf(randomBytes(HASH_BYTES + 8)), N - 1n) + 1n;
    const r = modulo(times(once, G)!.x, N);
    const s = modulo(inverse(once, N) * (numberOf(digest) + r * secret), N);
    if (r !== 0n && s !== 0n) return derOf(r, s);
  }
}

function verifyOnCurve(key: KeyObject, digest: Buffer, signature: Buffer): boolean {
  const { x, y } = key.export({ format: "jwk" });
  const numbers = readDer(signature);
  if (!numbers) return false;
  const [r, s] = numbers;
  if (r <= 0n || r >= N || s <= 0n || s >= N) return false;
  const w = inverse(s, N);
  const owner = { x: coordinate(x), y: coordinate(y) };
  const point = add(times(modulo(numberOf(digest) * w, N), G), times(modulo(r * w, N), owner));
  return point !== undefined && modulo(point.x, N) === r;
}

const derOf = (...numbers: bigint[]): Buffer => {
  const parts = numbers.map((number) => {
    const hex = number.toString(16);
    const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, "hex");
    const positive = bytes[0]! & 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
    return Buffer.concat([Buffer.from([2, positive.length]), positive]);
  });
  const inner = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([0x30, inner.length]), inner]);
};

function readDer(signature: Buffer): [r: bigint, s: bigint] | undefined {
  const length = signature[3] ?? 0;
  const second = 4 + length;
  const isPair = signature[0] === 0x30 && signature[2] === 2 && signature[second] === 2;
  if (!isPair || signature[1] !== signature.length - 2) return undefined;
  return [numberOf(signature.subarray(4, second)), numberOf(signature.subarray(second + 2))];
}
