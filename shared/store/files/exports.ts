// Files of exports as objects of S3: uploaded at once, or in parts if they are large. They expire with the import
// files.
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { type Capability, type Deps, setting } from "../../kernel/deps.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { removeObjects } from "./removal.ts";

const TYPE = "text/csv; charset=utf-8";

export const exportFolder = (tenant: TenantId): string => `exports/${tenant}/`;
export const exportKey = (tenant: TenantId, id: string): string => `${exportFolder(tenant)}${id}.csv`;
/** The key of the text that is not yet a part of the file. */
const restKey = (tenant: TenantId, id: string): string => `${exportFolder(tenant)}${id}.rest`;

export interface ExportErasing {
  /** Deletes a file and the remains of making it. Succeeds if there is none. */
  removeExport(id: string): Promise<void>;
}

/** The text that is not yet a part of a file, and the number of rows read for it. */
interface UnwrittenRows {
  text: string;
  rows: number;
}

interface ExportWriting extends ExportErasing {
  put(id: string, text: string): Promise<void>;
  /** Begins an upload in parts. @returns the id of the upload */
  begin(id: string): Promise<string>;
  /** Uploads a part, from 1 on; a repeat replaces it. @returns its tag, with its checksum */
  putPart(id: string, upload: string, n: number, text: string): Promise<string>;
  complete(id: string, upload: string, tags: readonly string[]): Promise<void>;
  /** Succeeds if there is no such upload. */
  abort(id: string, upload: string): Promise<void>;
  putRest(id: string, rest: UnwrittenRows): Promise<void>;
  rest(id: string): Promise<UnwrittenRows>;
  /** Succeeds if there is none. */
  removeRest(id: string): Promise<void>;
}

/** The bucket of imports and exports. */
export const bucketOf = (deps: Deps) => ({ client: deps.aws(S3Client), Bucket: setting(deps, "IMPORTS_BUCKET") });

/** The grant for these actions on the bucket's objects. */
export const bucketUse = (...actions: string[]) => ({
  env: ["IMPORTS_BUCKET"],
  grants: [
    { actions, on: "imports" },
    { actions: ["s3:ListBucket"], on: "imports-bucket" },
  ],
});

const removal = ({ client, Bucket, tenant }: ReturnType<typeof bucketOf> & { tenant: TenantId }): ExportErasing => ({
  removeExport: (id) => removeObjects({ client, Bucket }, [exportKey(tenant, id), restKey(tenant, id)]),
});

/** For the worker that makes the files. */
export const exportWriting: Capability<"exportFiles", ExportWriting> = {
  as: "exportFiles",
  ...bucketUse("s3:PutObject", "s3:GetObject", "s3:DeleteObject", "s3:AbortMultipartUpload"),
  open: (deps) => {
    const { client, Bucket } = bucketOf(deps);
    return (tenant) => {
      const file = (id: string) => ({ Bucket, Key: exportKey(tenant, id) });
      return {
        ...removal({ client, Bucket, tenant }),
        put: async (id, text) => {
          await client.send(new PutObjectCommand({ ...file(id), Body: text, ContentType: TYPE }));
        },
        begin: async (id) => {
          // Each part has this checksum, which S3 accepts only if the upload announced it.
          const upload = { ...file(id), ContentType: TYPE, ChecksumAlgorithm: "CRC32" } as const;
          const { UploadId } = await client.send(new CreateMultipartUploadCommand(upload));
          if (UploadId === undefined) throw new Error("S3 named no upload.");
          return UploadId;
        },
        putPart: async (id, UploadId, PartNumber, text) => {
          const part = { ...file(id), UploadId, PartNumber, Body: text };
          const { ETag, ChecksumCRC32 } = await client.send(new UploadPartCommand(part));
          if (ETag === undefined || ChecksumCRC32 === undefined) throw new Error("S3 named no tag of a part.");
          return `${ETag} ${ChecksumCRC32}`;
        },
        complete: async (id, UploadId, tags) => {
          const Parts = tags.map((tag, i) => {
            const [ETag, ChecksumCRC32] = tag.split(" ");
            return { ETag, ChecksumCRC32, PartNumber: i + 1 };
          });
          await client.send(new CompleteMultipartUploadCommand({ ...file(id), UploadId, MultipartUpload: { Parts } }));
        },
        abort: async (id, UploadId) => {
          await client.send(new AbortMultipartUploadCommand({ ...file(id), UploadId })).catch((error: Error) => {
            if (error.name !== "NoSuchUpload") throw error;
          });
        },
        putRest: async (id, { text, rows }) => {
          const Body = `${rows}\n${text}`;
          await client.send(new PutObjectCommand({ Bucket, Key: restKey(tenant, id), Body, ContentType: TYPE }));
        },
        removeRest: async (id) => {
          await client.send(new DeleteObjectCommand({ Bucket, Key: restKey(tenant, id) }));
        },
        rest: async (id) => {
          const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: restKey(tenant, id) }));
          const [rows = "", ...lines] = ((await Body?.transformToString()) ?? "").split("\n");
          return { text: lines.join("\n"), rows: Number(rows) };
        },
      };
    };
  },
};

/** For the erasure of a subscriber. */
export const exportErasing: Capability<"exportFiles", ExportErasing> = {
  as: "exportFiles",
  env: ["IMPORTS_BUCKET"],
  grants: [{ actions: ["s3:DeleteObject"], on: "imports" }],
  open: (deps) => {
    const { client, Bucket } = bucketOf(deps);
    return (tenant) => removal({ client, Bucket, tenant });
  },
};
