// Responses of KMS.

/** The bytes in a response of KMS: the SDK types each of its fields as optional. */
export function bytesFrom(field: Uint8Array | undefined): Buffer {
  if (!field) throw new Error("KMS returned no bytes.");
  return Buffer.from(field);
}
