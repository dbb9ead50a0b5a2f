// Publishable keys: made of the workspace's id and its signature, so that nothing is stored of them (ATH-1).
import { timingSafeEqual } from "node:crypto";
import { hmacUnder } from "../../kernel/hmac.ts";
import { noSecrets, type RootSecrets, type Secrets } from "../secrets.ts";

const SDK_KEY_PART = /^[A-Za-z0-9_-]{1,128}$/;
const SIGNATURE_CHARACTERS = 43;

const signatureOf = (root: Buffer, tenant: string) => hmacUnder(root).update(`sdk-key:v1:${tenant}`).digest();

/** `sk_<workspace id>.<signature>`, both base64url: the same for the whole life of the workspace (ATH-1). */
export function sdkKeyFor({ sdkKeyRoots: [root] }: RootSecrets, tenant: string): string {
  if (!root) throw new Error("The service has no root of SDK keys.");
  return `sk_${Buffer.from(tenant).toString("base64url")}.${signatureOf(root, tenant).toString("base64url")}`;
}

/** The workspace an SDK key names, if its signature is right and its encoding canonical. */
export async function tenantOfSdkKey(key: string, secrets: Secrets): Promise<string | undefined> {
  if (!key.startsWith("sk_") || key.length > 256) return undefined;
  const [encoded, signature, more] = key.slice(3).split(".");
  if (!encoded || !signature || more !== undefined || signature.length !== SIGNATURE_CHARACTERS) return undefined;
  if (!SDK_KEY_PART.test(encoded) || !SDK_KEY_PART.test(signature)) return undefined;
  const tenant = Buffer.from(encoded, "base64url").toString();
  const presented = Buffer.from(signature, "base64url");
  if (Buffer.from(tenant).toString("base64url") !== encoded || presented.toString("base64url") !== signature)
    return undefined;
  const { sdkKeyRoots = [] } = (await secrets.root().catch(noSecrets)) ?? {};
  return sdkKeyRoots.some((root) => timingSafeEqual(signatureOf(root, tenant), presented)) ? tenant : undefined;
}
