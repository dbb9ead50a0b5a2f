// Stores in buckets of the account: the archive, as gzipped JSON lines by workspace and hour, for Athena; and records
// whose entries the bus refuses permanently. These are put where Lambda puts records that it gives up, so that the
// other records continue.
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import type { DynamoDBRecord } from "aws-lambda";
import { timestamp } from "../../../shared/kernel/clock.ts";
import { type Deps, perEnvironment, setting } from "../../../shared/kernel/deps.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import type { ArchivedRecord } from "./records.ts";

const gzipped = promisify(gzip);

/** A name from the content, so that a repeated object replaces itself. */
const nameOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);

const OBJECTS_AT_ONCE = 10;
/** `2026-11-20T12` */
const HOUR_CHARACTERS = 13;

interface Archive {
  /**
   * Stores records durably. The same records have the same names when they come again.
   * @throws if the bucket refuses any
   */
  store(records: readonly ArchivedRecord[]): Promise<void>;
}

/** Undefined if the deployment has no archive. */
export const archive = /* @__PURE__ */ perEnvironment(
  "archive",
  { env: ["ARCHIVE_BUCKET"], grants: [{ actions: ["s3:PutObject", "s3:PutObjectTagging"], on: "archive" }] },
  (deps): Archive | undefined => {
    const { ARCHIVE_BUCKET: name } = deps.env;
    return name ? openArchive(deps, name) : undefined;
  },
);

function openArchive({ aws }: Pick<Deps, "aws">, Bucket: string): Archive {
  const client = aws(S3Client);
  const put = async ([folder, records]: [string, ArchivedRecord[]]) => {
    const text = records.map(({ record }) => `${JSON.stringify(record)}\n`).join("");
    const name = nameOf(text);
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
      for (const batch of chunksOf(folders, OBJECTS_AT_ONCE)) await Promise.all(batch.map(put));
    },
  };
}

/** The folder of the hour in which a record was written: after the hour, only delayed records are added. */
const folderOf = ({ origin: { tenant, at } }: ArchivedRecord): string =>
  `records/workspace=${tenant}/hour=${timestamp(at).slice(0, HOUR_CHARACTERS).replace("T", "-")}`;

interface SetAside {
  /** Stores records for `operate redrive`; an alarm reports it. @throws if the bucket refuses them */
  store(records: readonly DynamoDBRecord[]): Promise<void>;
}

export const setAside = /* @__PURE__ */ perEnvironment(
  "setAside",
  { env: ["PUBLISH_FAILURES"], grants: [{ actions: ["s3:PutObject"], on: "publish-failures" }] },
  openSetAside,
);

function openSetAside(deps: Deps): SetAside {
  const client = deps.aws(S3Client);
  return {
    store: async (records) => {
      if (records.length === 0) return;
      // The form in which Lambda stores a batch that it gives up.
      const Body = JSON.stringify({ payload: { Records: records } });
      const name = nameOf(Body);
      const Bucket = setting(deps, "PUBLISH_FAILURES");
      await client.send(
        new PutObjectCommand({ Bucket, Key: `refused/${name}.json`, Body, ContentType: "application/json" }),
      );
    },
  };
}
