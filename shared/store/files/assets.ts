// Uploaded images as S3 objects: written once under a random key, public through CloudFront.
import { DeleteObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { perEnvironment, setting } from "../../kernel/deps.ts";

/** The path of assets under the base URL; without its first slash, the prefix of every object key. */
export const ASSETS_PATH = "/assets/";

/** The bytes of a key never change, but the object may be deleted: caches keep it for a minute (AMB-118). */
const CACHE_CONTROL = "public, max-age=60, immutable";

/** Headers that the edge adds to every asset. Any site may embed an asset. */
export const assetHeaders = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; sandbox",
  "cross-origin-resource-policy": "cross-origin",
} as const;

const keyOf = (name: string) => `${ASSETS_PATH.slice(1)}${name}`;

export interface AssetWriting {
  /** The public URL of an asset. */
  urlOf(name: string): string;
  put(name: string, bytes: Buffer, contentType: string): Promise<void>;
}

export const assetWriting = /* @__PURE__ */ perEnvironment(
  "assetFiles",
  { env: ["ASSETS_BUCKET", "BASE_URL"], grants: [{ actions: ["s3:PutObject"], on: "assets" }] },
  (deps): AssetWriting => {
    const client = deps.aws(S3Client);
    const Bucket = setting(deps, "ASSETS_BUCKET");
    return {
      urlOf: (name) => `${setting(deps, "BASE_URL")}${ASSETS_PATH}${name}`,
      put: async (name, bytes, contentType) => {
        await client.send(
          new PutObjectCommand({
            Bucket,
            Key: keyOf(name),
            Body: bytes,
            ContentType: contentType,
            CacheControl: CACHE_CONTROL,
          }),
        );
      },
    };
  },
);

export interface ObjectRemoval {
  /** Succeeds if there is no such object. */
  remove(name: string): Promise<void>;
}

export const assetRemoval = /* @__PURE__ */ perEnvironment(
  "assetFiles",
  { env: ["ASSETS_BUCKET"], grants: [{ actions: ["s3:DeleteObject"], on: "assets" }] },
  (deps): ObjectRemoval => {
    const client = deps.aws(S3Client);
    const Bucket = setting(deps, "ASSETS_BUCKET");
    return {
      remove: async (name) => {
        await client.send(new DeleteObjectCommand({ Bucket, Key: keyOf(name) }));
      },
    };
  },
);
