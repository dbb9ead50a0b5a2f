// The one signer of dashboard tokens: RS256 by a KMS key whose public half is published in the table.
import { createHash, createPublicKey } from "node:crypto";
import { GetPublicKeyCommand, KMSClient, SignCommand } from "@aws-sdk/client-kms";
import { type Deps, perEnvironment, setting, settingAmong } from "../kernel/deps.ts";
import { tokenPart } from "../kernel/hmac.ts";
import { planNames } from "../rules/plans.ts";
import { storeWrite } from "../store/context.ts";
import { bytesFrom } from "../store/kms.ts";
import { type PublishedKey, SigningKeyItem } from "../store/platform-items.ts";
import { makeSecrets } from "../store/secrets.ts";
import { openPlatformTable } from "../store/table.ts";
import { ACCESS_TOKEN_SECONDS } from "./tokens.ts";

interface Signer {
  /** An access token of 15 minutes for a user in a workspace. */
  accessToken(subject: {
    user: string;
    tenant: string;
    role: string;
    readOnly?: boolean;
    agency?: string;
    session?: string;
  }): Promise<string>;
}

export const tokenSigner = /* @__PURE__ */ perEnvironment(
  "signer",
  {
    env: ["TABLE_NAME", "SIGNING_KEY_ID", "TOKEN_ISSUER", "TOKEN_AUDIENCE"],
    grants: [
      { actions: ["kms:Sign", "kms:GetPublicKey"], on: "signing-key" },
      { actions: ["dynamodb:PutItem"], on: "table" },
    ],
  },
  openSigner,
);

/** Makes the root secrets at the first registration, when there are none yet. */
export const secretsMaker = /* @__PURE__ */ perEnvironment(
  "secretsMaker",
  {
    env: ["TABLE_NAME", "ENCRYPTION_KEY_ID"],
    grants: [
      { actions: ["dynamodb:GetItem", "dynamodb:PutItem"], on: "table" },
      { actions: ["kms:Encrypt"], on: "encryption-key" },
    ],
  },
  (deps): { ensure(): Promise<void> } => {
    let made: Promise<void> | undefined;
    const ensure = () => {
      made ??= makeSecrets(deps).catch((error: unknown) => {
        made = undefined;
        throw error;
      });
      return made;
    };
    return { ensure };
  },
);

/** Writes into a workspace that is not the caller's: the one that a registration or an agency creates. */
export const anyStore = /* @__PURE__ */ perEnvironment(
  "storeOf",
  { env: storeWrite.env, grants: storeWrite.grants },
  (deps) => storeWrite.open(deps),
);

/** The plan of a newly registered workspace. */
export const defaultPlan = /* @__PURE__ */ perEnvironment("defaultPlan", { env: ["DEFAULT_PLAN"] }, (deps) =>
  settingAmong(deps, "DEFAULT_PLAN", planNames),
);

function openSigner(deps: Deps): Signer {
  const kms = deps.aws(KMSClient);
  const KeyId = setting(deps, "SIGNING_KEY_ID");
  const iss = setting(deps, "TOKEN_ISSUER");
  const aud = setting(deps, "TOKEN_AUDIENCE");
  let published: Promise<string> | undefined;

  const publish = async (): Promise<string> => {
    const { PublicKey } = await kms.send(new GetPublicKeyCommand({ KeyId }));
    const der = bytesFrom(PublicKey);
    const { n, e } = createPublicKey({ key: der, format: "der", type: "spki" }).export({ format: "jwk" });
    const kid = createHash("sha256").update(der).digest("base64url").slice(0, 16);
    const jwk: PublishedKey = { kty: "RSA", alg: "RS256", use: "sig", kid, n: String(n), e: String(e) };
    await openPlatformTable(deps, "JWK").put(SigningKeyItem, { kid }, { jwk });
    return kid;
  };

  return {
    accessToken: async ({ user, tenant, role, readOnly = false, agency, session }) => {
      published ??= publish().catch((error: unknown) => {
        published = undefined;
        throw error;
      });
      const kid = await published;
      const iat = Math.floor(deps.clock.now() / 1_000);
      const claims = {
        iss,
        aud,
        sub: user,
        tid: tenant,
        token_use: "access",
        role,
        ro: readOnly || role === "viewer",
        ...(readOnly && { narrowed: true }),
        ...(agency !== undefined && { agency }),
        ...(session !== undefined && { session }),
        jti: deps.ids.uuid(),
        iat,
        exp: iat + ACCESS_TOKEN_SECONDS,
      };
      const text = `${tokenPart({ alg: "RS256", typ: "JWT", kid })}.${tokenPart(claims)}`;
      const { Signature } = await kms.send(
        new SignCommand({
          KeyId,
          Message: Buffer.from(text),
          MessageType: "RAW",
          SigningAlgorithm: "RSASSA_PKCS1_V1_5_SHA_256",
        }),
      );
      return `${text}.${bytesFrom(Signature).toString("base64url")}`;
    },
  };
}
