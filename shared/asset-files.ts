// Uploaded images as objects of S3: written once under a random key, read by everybody through the edge.
import { DeleteObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { type Capability, setting } from "./deps.ts";

/** Where assets lie under the base URL; with the slash before it left out, the beginning of every object's key. */
export const ASSETS_PATH = "/assets/";

/** A key never gets other bytes: whoever has them need not ask again. */
const FOR_GOOD = "public, max-age=31536000, immutable";

/** What the edge says beside an asset, whatever its bytes turn out to be; any site may show it. */
export const assetHeaders = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; sandbox",
  "cross-origin-resource-policy": "cross-origin",
} as const;

const keyOf = (name: string) => `${ASSETS_PATH.slice(1)}${name}`;

export interface AssetWriting {
  /** Where an asset of this name is to be found. */
  urlOf(name: string): string;
  put(name: string, bytes: Buffer, contentType: string): Promise<void>;
}

export const assetWriting: Capability<"assetFiles", AssetWriting> = {
  as: "assetFiles",
  env: ["ASSETS_BUCKET", "BASE_URL"],
  grants: [{ actions: ["s3:PutObject"], on: "assets" }],
  open: (deps) => {
    const client = deps.aws(S3Client);
    const Bucket = setting(deps, "ASSETS_BUCKET");
    const files: AssetWriting = {
      urlOf: (name) => `${setting(deps, "BASE_URL")}${ASSETS_PATH}${name}`,
      put: async (name, bytes, contentType) => {
        const about = { ContentType: contentType, CacheControl: FOR_GOOD };
        await client.send(new PutObjectCommand({ Bucket, Key: keyOf(name), Body: bytes, ...about }));
      },
    };
    return () => files;
  },
};

export const assetRemoval: Capability<"assetFiles", { remove(name: string): Promise<void> }> = {
  as: "assetFiles",
  env: ["ASSETS_BUCKET"],
  grants: [{ actions: ["s3:DeleteObject"], on: "assets" }],
  open: (deps) => {
    const client = deps.aws(S3Client);
    const Bucket = setting(deps, "ASSETS_BUCKET");
    const files = {
      /** Gone already is gone. */
      remove: async (name: string) => {
        await client.send(new DeleteObjectCommand({ Bucket, Key: keyOf(name) }));
      },
    };
    return () => files;
  },
};
