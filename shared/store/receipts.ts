// Signs receipts: statements of the service that anyone can verify by a published key. The key derives from a root
// secret that never rotates, so that old receipts stay valid; it signs nothing that a route takes as a credential.
import { createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from "node:crypto";
import type { RootSecrets } from "./secrets.ts";

/** An Ed25519 private key in PKCS #8 is this, followed by its 32 bytes. */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const SEED_BYTES = 32;

function signingKey({ idKey }: RootSecrets): KeyObject {
  const seed = Buffer.from(hkdfSync("sha256", idKey, "", "receipts", SEED_BYTES));
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: "der", type: "pkcs8" });
}

/** The public key as a JWK of a key set (RFC 8037). */
export function receiptKey(secrets: RootSecrets) {
  const { x } = createPublicKey(signingKey(secrets)).export({ format: "jwk" });
  const kid = createHash("sha256").update(String(x)).digest("base64url").slice(0, 16);
  return { kty: "OKP", crv: "Ed25519", alg: "EdDSA", use: "sig", kid, x: String(x) };
}

/** A JWT (EdDSA) of the claims. */
export function signReceipt(secrets: RootSecrets, claims: object): string {
  const { kid } = receiptKey(secrets);
  const text = `${encode({ alg: "EdDSA", typ: "receipt+jwt", kid })}.${encode(claims)}`;
  return `${text}.${sign(null, Buffer.from(text), signingKey(secrets)).toString("base64url")}`;
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
