// Stores buckets, objects and unfinished uploads: rows for their metadata, blobs for their bytes.
import type { Database, Row } from "../database.ts";
import type { Checksum } from "./checksums.ts";

const schema = `
  CREATE TABLE IF NOT EXISTS s3_buckets (name TEXT PRIMARY KEY, created INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS s3_objects (
    bucket TEXT, key TEXT, blob TEXT NOT NULL, etag TEXT NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL,
    about TEXT NOT NULL, PRIMARY KEY (bucket, key)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS s3_uploads (
    id TEXT PRIMARY KEY, bucket TEXT NOT NULL, key TEXT NOT NULL, created INTEGER NOT NULL, about TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS s3_parts (
    upload TEXT, number INTEGER, blob TEXT NOT NULL, etag TEXT NOT NULL, size INTEGER NOT NULL,
    modified INTEGER NOT NULL, checksum TEXT, PRIMARY KEY (upload, number)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS s3_chunks (blob TEXT, start INTEGER, bytes BLOB NOT NULL, PRIMARY KEY (blob, start));
`;

const CHUNK = 1_048_576;

/** Stored beside an object's bytes: headers by their lower-case name, user metadata, its checksum, its tags. */
export interface About {
  headers: Record<string, string>;
  metadata: Record<string, string>;
  checksum?: Checksum | undefined;
  tags?: Record<string, string>;
}

export interface StoredObject {
  key: string;
  blob: string;
  etag: string;
  size: number;
  modified: number;
  about: About;
}

export interface Part extends Pick<StoredObject, "blob" | "etag" | "size" | "modified"> {
  number: number;
  checksum: Checksum | undefined;
}

export interface Upload {
  id: string;
  bucket: string;
  key: string;
  created: number;
  about: About;
}

export type S3Storage = ReturnType<typeof openS3Storage>;

export function openS3Storage(database: Database) {
  let open = false;
  const db = (): Database => {
    if (!open) database.exec(schema);
    open = true;
    return database;
  };

  const dropBlob = (blob: string) => void db().run("DELETE FROM s3_chunks WHERE blob = ?", blob);

  return {
    transaction: <T>(work: () => T): T => db().transaction(work),

    buckets: () =>
      db()
        .all("SELECT name, created FROM s3_buckets ORDER BY name")
        .map(({ name, created }) => ({ name: String(name), created: Number(created) })),
    hasBucket: (name: string): boolean => db().first("SELECT 1 FROM s3_buckets WHERE name = ?", name) !== undefined,
    addBucket: (name: string, created: number) =>
      db().run("INSERT OR IGNORE INTO s3_buckets (name, created) VALUES (?, ?)", name, created) > 0,

    putBlob: (blob: string, bytes: Uint8Array) => {
      for (let start = 0; start < bytes.length; start += CHUNK)
        db().run(
          "INSERT INTO s3_chunks (blob, start, bytes) VALUES (?, ?, ?)",
          blob,
          start,
          bytes.subarray(start, start + CHUNK),
        );
    },
    /** The bytes from `from` up to `to`, exclusive. */
    readBlob: (blob: string, from: number, to: number): Buffer => {
      const sql =
        "SELECT start, bytes FROM s3_chunks WHERE blob = ? AND start < ? AND start + length(bytes) > ? ORDER BY start";
      const pieces = db()
        .all(sql, blob, to, from)
        .map((row) => {
          const start = Number(row.start);
          return (row.bytes as Uint8Array).subarray(Math.max(0, from - start), to - start);
        });
      return Buffer.concat(pieces);
    },
    dropBlob,
    /** Appends the bytes of one blob to another. */
    moveBlob: (from: string, to: string, offset: number) =>
      void db().run("UPDATE s3_chunks SET blob = ?, start = start + ? WHERE blob = ?", to, offset, from),

    object: (bucket: string, key: string): StoredObject | undefined => {
      const row = db().first("SELECT * FROM s3_objects WHERE bucket = ? AND key = ?", bucket, key);
      return row && storedOf(row);
    },
    /** Stores the object and replaces one with the same key. */
    putObject: (bucket: string, { key, blob, etag, size, modified, about }: StoredObject) => {
      const old = db().first("SELECT blob FROM s3_objects WHERE bucket = ? AND key = ?", bucket, key);
      if (old) dropBlob(String(old.blob));
      db().run(
        "INSERT OR REPLACE INTO s3_objects (bucket, key, blob, etag, size, modified, about) VALUES (?, ?, ?, ?, ?, ?, ?)",
        bucket,
        key,
        blob,
        etag,
        size,
        modified,
        JSON.stringify(about),
      );
    },
    removeObject: (bucket: string, key: string) => {
      const old = db().first("SELECT blob FROM s3_objects WHERE bucket = ? AND key = ?", bucket, key);
      if (old) dropBlob(String(old.blob));
      db().run("DELETE FROM s3_objects WHERE bucket = ? AND key = ?", bucket, key);
    },
    /** Objects after a key whose key begins with `prefix`, in the order of the bytes of their keys. */
    after: (bucket: string, key: string, prefix: string, limit: number): StoredObject[] =>
      db()
        .all(
          "SELECT * FROM s3_objects WHERE bucket = ? AND key > ? AND substr(key, 1, ?) = ? ORDER BY key LIMIT ?",
          bucket,
          key,
          [...prefix].length,
          prefix,
          limit,
        )
        .map(storedOf),

    addUpload: ({ id, bucket, key, created, about }: Upload) =>
      void db().run(
        "INSERT INTO s3_uploads (id, bucket, key, created, about) VALUES (?, ?, ?, ?, ?)",
        id,
        bucket,
        key,
        created,
        JSON.stringify(about),
      ),
    uploads: (bucket: string): Upload[] =>
      db().all("SELECT * FROM s3_uploads WHERE bucket = ? ORDER BY key, created", bucket).map(uploadOf),
    parts: (upload: string): Part[] =>
      db().all("SELECT * FROM s3_parts WHERE upload = ? ORDER BY number", upload).map(partOf),
    putPart: (upload: string, { number, blob, etag, size, modified, checksum }: Part) =>
      void db().run(
        "INSERT OR REPLACE INTO s3_parts (upload, number, blob, etag, size, modified, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)",
        upload,
        number,
        blob,
        etag,
        size,
        modified,
        checksum ? JSON.stringify(checksum) : null,
      ),
    removeUpload: (upload: string) => {
      for (const { blob } of db().all("SELECT blob FROM s3_parts WHERE upload = ?", upload)) dropBlob(String(blob));
      db().run("DELETE FROM s3_parts WHERE upload = ?", upload);
      db().run("DELETE FROM s3_uploads WHERE id = ?", upload);
    },
  };
}

const storedOf = (row: Row): StoredObject => ({
  key: String(row.key),
  blob: String(row.blob),
  etag: String(row.etag),
  size: Number(row.size),
  modified: Number(row.modified),
  about: JSON.parse(String(row.about)),
});

const uploadOf = (row: Row): Upload => ({
  id: String(row.id),
  bucket: String(row.bucket),
  key: String(row.key),
  created: Number(row.created),
  about: JSON.parse(String(row.about)),
});

const partOf = (row: Row): Part => ({
  number: Number(row.number),
  blob: String(row.blob),
  etag: String(row.etag),
  size: Number(row.size),
  modified: Number(row.modified),
  checksum: row.checksum === null ? undefined : JSON.parse(String(row.checksum)),
});
