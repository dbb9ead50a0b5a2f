// Temporary, until the whole stand-in is here.
// @ts-nocheck
import { createPublicKey, createPrivateKey, sign } from "node:crypto";
export function createKms(parts) {
  const aliases = new Map(); let n = 0;
  return { meter: () => ({requests:0}), resetMeter() {}, operate: async (op, input) => {
    const b = (x) => Buffer.from(x, "base64");
    if (op === "DescribeKey") { if (!aliases.has(input.KeyId)) throw Object.assign(new Error("nf"), { name: "NotFoundException", status: 400, fields: {} }); return { KeyMetadata: {} }; }
    if (op === "CreateKey") return { KeyMetadata: { KeyId: "k" + n++ } };
    if (op === "CreateAlias") { aliases.set(input.AliasName, 1); return {}; }
    if (op === "Encrypt") return { CiphertextBlob: input.Plaintext };
    if (op === "Decrypt") return { Plaintext: input.CiphertextBlob };
    if (op === "GetPublicKey") return { PublicKey: createPublicKey(createPrivateKey(parts.rsaKey())).export({ type: "spki", format: "der" }).toString("base64") };
    if (op === "Sign") return { Signature: sign("sha256", b(input.Message), createPrivateKey(parts.rsaKey())).toString("base64") };
    throw new Error(op);
  } };
}
