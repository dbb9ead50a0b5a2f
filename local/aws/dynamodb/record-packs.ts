// Stream records that every reader has passed, a thousand to a row and deflated: as rows of their own they were half of
// the file. They stay readable for as long as any record.
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Database, Row } from "../database.ts";

/** A record as it is stored in a row of its own. */
export interface RecordRow {
  sequence: number;
  at: number;
  /** The change, as JSON. */
  record: string;
}

interface RecordPacks {
  /** Packs records up to a sequence number, the oldest first; fewer than a pack holds stay as they are. */
  pack(until: number): void;
  /** Packed records of a stream after a sequence number, oldest first, of one pack at least if there are any. */
  read(stream: string, after: number, limit: number): RecordRow[];
  /** Deletes packs of which every record is at most this old a time and this sequence number. */
  trim(oldest: number, done: number): void;
}

const PACK = 1_000;
/** The texts are alike, so the fastest level packs them to a tenth. */
const LEVEL = 1;

export function openRecordPacks(database: Database): RecordPacks {
  database.exec(
    "CREATE TABLE IF NOT EXISTS dynamodb_record_packs (stream TEXT, last INTEGER, newest INTEGER, records BLOB, PRIMARY KEY (stream, last))",
  );

  const packOf = (stream: string, until: number): boolean => {
    const rows = database.all(
      "SELECT sequence, at, record FROM dynamodb_records WHERE stream = ? AND sequence <= ? ORDER BY sequence LIMIT ?",
      stream,
      until,
      PACK,
    );
    if (rows.length < PACK) return false;
    const records = rows.map(recordIn);
    const last = records.at(-1)!.sequence;
    database.run(
      "INSERT INTO dynamodb_record_packs (stream, last, newest, records) VALUES (?, ?, ?, ?)",
      stream,
      last,
      Math.max(...records.map(({ at }) => at)),
      deflateRawSync(JSON.stringify(records), { level: LEVEL }),
    );
    database.run("DELETE FROM dynamodb_records WHERE stream = ? AND sequence <= ?", stream, last);
    return true;
  };

  return {
    pack: (until) =>
      database.transaction(() => {
        const streams = database
          .all("SELECT DISTINCT stream FROM dynamodb_records")
          .map(({ stream }) => String(stream));
        for (const stream of streams) {
          let isPacked = true;
          while (isPacked) isPacked = packOf(stream, until);
        }
      }),
    read: (stream, after, limit) => {
      const found: RecordRow[] = [];
      const packs = database.iterate(
        "SELECT records FROM dynamodb_record_packs WHERE stream = ? AND last > ? ORDER BY last",
        stream,
        after,
      );
      for (const { records } of packs) {
        const unpacked = JSON.parse(inflateRawSync(records as Uint8Array).toString()) as RecordRow[];
        found.push(...unpacked.filter(({ sequence }) => sequence > after));
        if (found.length >= limit) break;
      }
      return found;
    },
    trim: (oldest, done) => {
      database.run("DELETE FROM dynamodb_record_packs WHERE newest <= ? AND last <= ?", oldest, done);
    },
  };
}

export const recordIn = ({ sequence, at, record }: Row): RecordRow => ({
  sequence: Number(sequence),
  at: Number(at),
  record: String(record),
});
