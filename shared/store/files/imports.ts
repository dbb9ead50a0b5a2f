// Uploaded import files and files of rejected rows, as objects of S3 that expire after a week. An upload is deleted when
// its import ends.
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { createPresignedPost, type PresignedPostOptions } from "@aws-sdk/s3-presigned-post";
import { MINUTE, SECOND } from "../../kernel/clock.ts";
import type { Capability } from "../../kernel/deps.ts";
import type { TenantId } from "../../kernel/ids.ts";
import type { ProblemKind } from "../subscribers/import-problems.ts";
import { bucketOf, bucketUse, exportFolder } from "./exports.ts";
import { removeSomeOf } from "./removal.ts";

const UPLOAD_SECONDS = (15 * MINUTE) / SECOND;

const EXTENSION = ".csv";
const FOLDERS = { uploads: "imports", rejected: "rejected" };
const folder = (tenant: TenantId, name: keyof typeof FOLDERS) => `${FOLDERS[name]}/${tenant}/`;
const uploadKey = (tenant: TenantId, id: string) => `${folder(tenant, "uploads")}${id}${EXTENSION}`;
export const rejectedKey = (tenant: TenantId, id: string) => `${folder(tenant, "rejected")}${id}${EXTENSION}`;
export const warningsKey = (tenant: TenantId, id: string) => `${folder(tenant, "rejected")}${id}-warnings${EXTENSION}`;

interface ImportUploads {
  /** Stores a file that was in the request. */
  put(id: string, bytes: Buffer): Promise<void>;
  /** A form with which a browser or server uploads a file of at most `maxBytes` (ARC-1). */
  form(id: string, maxBytes: number): Promise<{ url: string; fields: Record<string, string>; expires_in: number }>;
  /** The size of an uploaded file in bytes; undefined if there is none. */
  sizeOf(id: string): Promise<number | undefined>;
}

interface ImportReading {
  /** The file from a byte on; undefined if there is no file. */
  read(id: string, from: number): Promise<AsyncIterable<Uint8Array> | undefined>;
  putProblems(kind: ProblemKind, id: string, csv: string): Promise<void>;
  /** Succeeds if there is no such file. */
  removeUpload(id: string): Promise<void>;
  /** Removes the warnings too. Succeeds if there is no such file. */
  removeRejected(id: string): Promise<void>;
}

export interface ImportErasing extends Pick<ImportReading, "read" | "removeUpload" | "removeRejected"> {
  uploads(): Promise<string[]>;
}

const isMissing = (error: unknown) =>
  error instanceof Error && ["NoSuchKey", "NotFound", "NoSuchBucket"].includes(error.name);

type TenantBucket = ReturnType<typeof bucketOf> & { tenant: TenantId };

const removal = ({ client, Bucket, tenant }: TenantBucket) => ({
  removeUpload: async (id: string) => {
    await client.send(new DeleteObjectCommand({ Bucket, Key: uploadKey(tenant, id) }));
  },
  removeRejected: async (id: string) => {
    for (const Key of [rejectedKey(tenant, id), warningsKey(tenant, id)])
      await client.send(new DeleteObjectCommand({ Bucket, Key }));
  },
});

const reading = ({ client, Bucket, tenant }: TenantBucket) => ({
  read: async (id: string, from: number): Promise<AsyncIterable<Uint8Array> | undefined> => {
    try {
      const Range = from > 0 ? `bytes=${from}-` : undefined;
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: uploadKey(tenant, id), Range }));
      return Body as AsyncIterable<Uint8Array>;
    } catch (error) {
      if (isMissing(error)) return undefined;
      // The position is after the last byte: the whole file was read.
      if (error instanceof Error && error.name === "InvalidRange") return nothing();
      throw error;
    }
  },
});

export const importUploads: Capability<"uploads", ImportUploads> = {
  as: "uploads",
  ...bucketUse("s3:PutObject", "s3:GetObject"),
  open: (deps) => {
    const { client, Bucket } = bucketOf(deps);
    return (tenant) => ({
      put: async (id, bytes) => {
        const object = { Bucket, Key: uploadKey(tenant, id), Body: bytes, ContentType: "text/csv" };
        await client.send(new PutObjectCommand(object));
      },
      form: async (id, maxBytes) => {
        const Conditions: PresignedPostOptions["Conditions"] = [["content-length-range", 0, maxBytes]];
        const post = { Bucket, Key: uploadKey(tenant, id), Conditions, Expires: UPLOAD_SECONDS };
        return { ...(await createPresignedPost(client as S3Client, post)), expires_in: UPLOAD_SECONDS };
      },
      sizeOf: async (id) => {
        try {
          const { ContentLength } = await client.send(new HeadObjectCommand({ Bucket, Key: uploadKey(tenant, id) }));
          return ContentLength;
        } catch (error) {
          if (isMissing(error)) return undefined;
          throw error;
        }
      },
    });
  },
};

export const importReading: Capability<"files", ImportReading> = {
  as: "files",
  ...bucketUse("s3:PutObject", "s3:GetObject", "s3:DeleteObject"),
  open: (deps) => {
    const { client, Bucket } = bucketOf(deps);
    return (tenant) => ({
      ...reading({ client, Bucket, tenant }),
      ...removal({ client, Bucket, tenant }),
      putProblems: async (kind, id, csv) => {
        const Key = kind === "rejected" ? rejectedKey(tenant, id) : warningsKey(tenant, id);
        const object = { Bucket, Key, Body: csv, ContentType: "text/csv; charset=utf-8" };
        await client.send(new PutObjectCommand(object));
      },
    });
  },
};

/** For the erasure of a subscriber. */
export const importErasing: Capability<"files", ImportErasing> = {
  as: "files",
  ...bucketUse("s3:GetObject", "s3:DeleteObject"),
  open: (deps) => {
    const { client, Bucket } = bucketOf(deps);
    return (tenant) => ({
      ...reading({ client, Bucket, tenant }),
      ...removal({ client, Bucket, tenant }),
      uploads: async () => {
        const Prefix = folder(tenant, "uploads");
        const ids: string[] = [];
        let ContinuationToken: string | undefined;
        do {
          const page = await client.send(new ListObjectsV2Command({ Bucket, Prefix, ContinuationToken }));
          for (const { Key } of page.Contents ?? []) if (Key) ids.push(Key.slice(Prefix.length, -EXTENSION.length));
          ContinuationToken = page.NextContinuationToken;
        } while (ContinuationToken !== undefined);
        return ids;
      },
    });
  },
};

/** For the purge of a workspace, whose files may not have expired yet. */
export const importRemoval: Capability<"importFiles", { removeSome(): Promise<number> }> = {
  as: "importFiles",
  ...bucketUse("s3:DeleteObject"),
  open: (deps) => {
    const bucket = bucketOf(deps);
    return (tenant) => ({
      /** Removes up to a thousand objects of each folder. @returns how many there were */
      removeSome: async () => {
        const folders = [folder(tenant, "uploads"), folder(tenant, "rejected"), exportFolder(tenant)];
        let count = 0;
        for (const name of folders) count += await removeSomeOf(bucket, name);
        return count;
      },
    });
  },
};

async function* nothing(): AsyncGenerator<Uint8Array> {
  // Empty.
}
