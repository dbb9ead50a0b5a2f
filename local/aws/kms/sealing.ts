// Ciphertexts of the embedded KMS: AES-256-GCM under the key, with the encryption context as associated data.
import { createCipheriv, createDecipheriv } from "node:crypto";
import { awsFailure } from "../stand-in.ts";
import { type Key, SECRET_BYTES } from "./keys.ts";

const IV_BYTES = 12;
const TAG_BYTES = 16;
const ID_CHARACTERS = 36;

/** The context in canonical form: the order of its members does not matter. */
const associated = (context: Record<string, string>) =>
  Buffer.from(JSON.stringify(Object.entries(context).sort(([a], [b]) => (a < b ? -1 : 1))));

/** key id, iv, tag, text: a ciphertext names its key, as in the real service. */
export function seal(key: Key, iv: Buffer, plaintext: Buffer, context: Record<string, string>): Buffer {
  const cipher = createCipheriv("aes-256-gcm", secretOf(key), iv).setAAD(associated(context));
  const text = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([Buffer.from(key.id), iv, cipher.getAuthTag(), text]);
}

export function keyIdOf(ciphertext: Buffer): string {
  if (ciphertext.length < ID_CHARACTERS + IV_BYTES + TAG_BYTES) throw invalidCiphertext();
  return ciphertext.subarray(0, ID_CHARACTERS).toString("latin1");
}

/** @throws InvalidCiphertextException if the text, its key or its context differs. */
export function unseal(key: Key, ciphertext: Buffer, context: Record<string, string>): Buffer {
  const iv = ciphertext.subarray(ID_CHARACTERS, ID_CHARACTERS + IV_BYTES);
  const tag = ciphertext.subarray(ID_CHARACTERS + IV_BYTES, ID_CHARACTERS + IV_BYTES + TAG_BYTES);
  const text = ciphertext.subarray(ID_CHARACTERS + IV_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv("aes-256-gcm", secretOf(key), iv).setAAD(associated(context)).setAuthTag(tag);
    return Buffer.concat([decipher.update(text), decipher.final()]);
  } catch {
    throw invalidCiphertext();
  }
}

export const invalidCiphertext = () => awsFailure("InvalidCiphertextException", "");

export const newIv = (bytes: (length: number) => Buffer): Buffer => bytes(IV_BYTES);

function secretOf(key: Key): Buffer {
  const secret = Buffer.from(key.material, "base64");
  if (secret.length !== SECRET_BYTES) throw new Error(`The key ${key.id} is no secret key.`);
  return secret;
}
