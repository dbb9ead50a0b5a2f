// The HTML and the design of large mails, as objects of S3 named by the workspace and the hash of both. They are put before
// the row that names them, never change, and go with the workspace (docs/decisions/0104).
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { type Capability, type Deps, setting } from "../../kernel/deps.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { hashesIn, joined, type SaysByChannel, split } from "../sends/content/apart.ts";

/** Under the bucket of assets, beside the folder that is public. */
export const MAILS_FOLDER = "mails/";
const folder = (tenant: TenantId): string => `${MAILS_FOLDER}${tenant}/`;
const keyOf = (tenant: TenantId, hash: string): string => `${folder(tenant)}${hash}.json`;

export interface MailReading {
  /** Contents with the HTML and the design of their mails; those that are stored apart are read once. */
  whole<T extends SaysByChannel>(said: readonly T[]): Promise<T[]>;
}

export interface MailKeeping extends MailReading {
  /** Contents as one row keeps them. What is too large for it is stored first. */
  keep<T extends SaysByChannel>(said: readonly T[]): Promise<T[]>;
}

/** Texts that were read last: a text never changes under its hash. */
const MAX_CACHED = 8;

function reading({ client, Bucket }: ReturnType<typeof bucketOf>) {
  const cache = new Map<string, Promise<string>>();
  const read = async (Key: string): Promise<string> => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    if (!Body) throw new Error(`The object ${Key} has no body.`);
    return Body.transformToString();
  };
  const cached = (key: string): Promise<string> => {
    const known = cache.get(key);
    if (known) return known;
    const found = read(key).catch((error: unknown) => {
      cache.delete(key);
      throw error;
    });
    const [oldest] = cache.keys();
    if (cache.size >= MAX_CACHED && oldest !== undefined) cache.delete(oldest);
    cache.set(key, found);
    return found;
  };
  return (tenant: TenantId): MailReading => ({
    whole: async (said) => {
      const hashes = hashesIn(said);
      if (hashes.length === 0) return [...said];
      const texts = await Promise.all(hashes.map(async (hash) => [hash, await cached(keyOf(tenant, hash))] as const));
      return said.map((one) => joined(one, new Map(texts)));
    },
  });
}

const bucketOf = (deps: Deps) => ({ client: deps.aws(S3Client), Bucket: setting(deps, "ASSETS_BUCKET") });

/** For what shows or sends mails. */
export const mailReading: Capability<"mails", MailReading> = {
  as: "mails",
  env: ["ASSETS_BUCKET"],
  grants: [{ actions: ["s3:GetObject"], on: "mails" }],
  open: (deps) => reading(bucketOf(deps)),
};

/** For what takes contents. */
export const mailKeeping: Capability<"mails", MailKeeping> = {
  as: "mails",
  env: ["ASSETS_BUCKET"],
  grants: [{ actions: ["s3:GetObject", "s3:PutObject"], on: "mails" }],
  open: (deps) => {
    const { client, Bucket } = bucketOf(deps);
    const read = reading({ client, Bucket });
    return (tenant) => ({
      ...read(tenant),
      keep: async (said) => {
        const { kept, texts } = split(said);
        const puts = [...texts].map(([hash, Body]) => {
          const object = { Bucket, Key: keyOf(tenant, hash), Body, ContentType: "application/json" };
          return client.send(new PutObjectCommand(object));
        });
        await Promise.all(puts);
        return kept;
      },
    });
  },
};

/** For the purge of a workspace. */
export const mailRemoval: Capability<"mailFiles", { removeSome(): Promise<number> }> = {
  as: "mailFiles",
  env: ["ASSETS_BUCKET"],
  grants: [
    { actions: ["s3:DeleteObject"], on: "mails" },
    { actions: ["s3:ListBucket"], on: "assets-bucket" },
  ],
  open: (deps) => {
    const { client, Bucket } = bucketOf(deps);
    return (tenant) => ({
      /** Removes up to a thousand. @returns how many there were */
      removeSome: async () => {
        const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket, Prefix: folder(tenant) }));
        const Objects = Contents.flatMap(({ Key }) => (Key === undefined ? [] : [{ Key }]));
        if (Objects.length > 0)
          await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
        return Objects.length;
      },
    });
  },
};
