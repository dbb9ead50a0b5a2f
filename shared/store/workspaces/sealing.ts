// Secrets of users and workspaces that are sealed by KMS, each for one purpose and one owner.
import { DecryptCommand, EncryptCommand, KMSClient } from "@aws-sdk/client-kms";
import { type Deps, setting } from "../../kernel/deps.ts";
import { bytesFrom } from "../kms.ts";

export interface Sealer {
  /** Seals a secret. @returns base64 */
  seal(secret: Buffer): Promise<string>;
  /** Opens a secret. @throws if it was sealed in another context */
  open(sealed: string): Promise<Buffer>;
}

/** Seals and opens secrets in one encryption context. */
export function sealingBy(deps: Deps, EncryptionContext: Record<string, string>): Sealer {
  const kms = deps.aws(KMSClient);
  return {
    seal: async (Plaintext) => {
      const KeyId = setting(deps, "ENCRYPTION_KEY_ID");
      const { CiphertextBlob } = await kms.send(new EncryptCommand({ KeyId, Plaintext, EncryptionContext }));
      return bytesFrom(CiphertextBlob).toString("base64");
    },
    open: async (sealed) => {
      const input = { CiphertextBlob: Buffer.from(sealed, "base64"), EncryptionContext };
      const { Plaintext } = await kms.send(new DecryptCommand(input));
      return bytesFrom(Plaintext);
    },
  };
}
