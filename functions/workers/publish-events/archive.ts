// The archive: objects of gzipped JSON lines in a bucket of the account, by workspace and hour, for Athena.
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { timestamp } from "../../../shared/kernel/clock.ts";
import type { Capability, Deps } from "../../../shared/kernel/deps.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import type { ArchivedRecord } from "./records.ts";

const gzipped = promisify(gzip);

const OBJECTS_AT_ONCE = 10;
/** `2026-11-20T12` */
const HOUR_CHARACTERS = 13;

export interface Archive {
  /** Stores records durably: the same records again under the same names. @throws if the bucket refuses any */
  store(records: readonly ArchivedRecord[]): Promise<void>;
}

/** Undefined where the deployment has no archive. */
export const archive: Capability<"archive", Archive | undefined> = {
  as: "archive",
  env: ["ARCHIVE_BUCKET"],
  grants: [{ actions: ["s3:PutObject", "s3:PutObjectTagging"], on: "archive" }],
  open: (deps) => {
    const { ARCHIVE_BUCKET: name } = deps.env;
    const opened = name ? openArchive(deps, name) : undefined;
    return () => opened;
  },
};

function openArchive({ aws }: Pick<Deps, "aws">, Bucket: string): Archive {
  const client = aws(S3Client);
  const put = async ([folder, records]: [string, ArchivedRecord[]]) => {
    const text = records.map(({ record }) => `${JSON.stringify(record)}\n`).join("");
    const name = createHash("sha256").update(text).digest("hex").slice(0, 32);
    await client.send(
      new PutObjectCommand({
        Bucket,
        Key: `${folder}/${name}.jsonl.gz`,
        Body: await gzipped(text),
        ContentType: "application/gzip",
        Tagging: `workspace=${records[0]?.origin.tenant ?? ""}`,
      }),
    );
  };
  return {
    store: async (records) => {
      const folders = [...Map.groupBy(records, folderOf)];
      for (const some of chunksOf(folders, OBJECTS_AT_ONCE)) await Promise.all(some.map(put));
    },
  };
}

/** By the hour in which it was written: an hour that is over gets no more, apart from what was delayed. */
const folderOf = ({ origin: { tenant, at } }: ArchivedRecord): string =>
  `records/workspace=${tenant}/hour=${timestamp(at).slice(0, HOUR_CHARACTERS).replace("T", "-")}`;
