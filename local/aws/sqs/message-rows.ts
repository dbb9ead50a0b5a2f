// Messages as rows of one table of the SQLite file, and the form of a row.
import type { Database, Row } from "../database.ts";

export const schema = `
  CREATE TABLE IF NOT EXISTS sqs_queues (name TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS sqs_messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL, visible INTEGER NOT NULL, sent INTEGER NOT NULL,
    received INTEGER NOT NULL DEFAULT 0, first_received INTEGER, id TEXT NOT NULL, body TEXT NOT NULL,
    attributes TEXT, group_id TEXT, trace TEXT, source TEXT);
  CREATE INDEX IF NOT EXISTS sqs_visible ON sqs_messages (queue, visible, seq, sent, received);
`;

/** Instants are milliseconds since the epoch. */
export interface MessageRow {
  readonly seq: number;
  queue: string;
  /** The instant from which it may be received (again). */
  visible: number;
  sent: number;
  /** How often the message was received. */
  received: number;
  first_received: number | null;
  id: string;
  readonly body: string;
  readonly attributes: string | null;
  readonly group_id: string | null;
  readonly trace: string | null;
  /** The ARN of the queue that it was dead-lettered from. */
  source: string | null;
}

type Arrival = Omit<MessageRow, "seq" | "received" | "first_received" | "source">;
export type MessageChange = Partial<Omit<MessageRow, "seq" | "body" | "attributes" | "group_id" | "trace">>;

interface Order {
  limit: number;
  newestFirst: boolean;
}

export interface Depth {
  visible: number;
  delayed: number;
  inFlight: number;
}

export interface MessageRows {
  add(message: Arrival): void;
  at(seq: number): MessageRow | undefined;
  change(seq: number, change: MessageChange): void;
  remove(seq: number): void;
  /** Messages that may be received at an instant, those that have waited longest first. */
  visible(queue: string, now: number, order: Order): MessageRow[];
  /** The earliest instant after `now` at which a message becomes visible. */
  nextVisible(queue: string, now: number): number | undefined;
  /** How many were sent after `sentAfter` and are visible, counted up to `most`. */
  ready(queue: string, now: number, sentAfter: number, max: number): number;
  depth(queue: string, now: number, sentAfter: number): Depth;
  /** When the oldest of those that were sent after `sentAfter` was sent. */
  oldest(queue: string, sentAfter: number): number | undefined;
}

export function sqlMessages(prepared: () => Database): MessageRows {
  const count = (queue: string, now: number, sentAfter: number, condition: string): number => {
    const sql = `SELECT count(*) AS n FROM sqs_messages WHERE queue = ? AND sent > ? AND ${condition}`;
    return Number(prepared().first(sql, queue, sentAfter, now)!.n);
  };
  return {
    add: ({ queue, visible, sent, id, body, attributes, group_id, trace }) => {
      prepared().run(
        "INSERT INTO sqs_messages (queue, visible, sent, id, body, attributes, group_id, trace) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        queue,
        visible,
        sent,
        id,
        body,
        attributes,
        group_id,
        trace,
      );
    },
    at: (seq) => rowOf(prepared().first("SELECT * FROM sqs_messages WHERE seq = ?", seq)),
    change: (seq, change) => {
      const columns = Object.keys(change).map((column) => `${column} = ?`);
      const sql = `UPDATE sqs_messages SET ${columns.join(", ")} WHERE seq = ?`;
      prepared().run(sql, ...Object.values(change), seq);
    },
    remove: (seq) => {
      prepared().run("DELETE FROM sqs_messages WHERE seq = ?", seq);
    },
    visible: (queue, now, { limit, newestFirst }) => {
      const order = newestFirst ? "visible DESC, seq DESC" : "visible, seq";
      const sql = `SELECT * FROM sqs_messages WHERE queue = ? AND visible <= ? ORDER BY ${order} LIMIT ?`;
      return prepared()
        .all(sql, queue, now, limit)
        .map((row) => rowOf(row)!);
    },
    nextVisible: (queue, now) => {
      const sql = "SELECT visible FROM sqs_messages WHERE queue = ? AND visible > ? ORDER BY visible LIMIT 1";
      const row = prepared().first(sql, queue, now);
      return row && Number(row.visible);
    },
    ready: (queue, now, sentAfter, max) => {
      const sql =
        "SELECT count(*) AS n FROM (SELECT 1 FROM sqs_messages WHERE queue = ? AND visible <= ? AND sent > ? LIMIT ?)";
      return Number(prepared().first(sql, queue, now, sentAfter, max)!.n);
    },
    depth: (queue, now, sentAfter) => ({
      visible: count(queue, now, sentAfter, "visible <= ?"),
      delayed: count(queue, now, sentAfter, "visible > ? AND received = 0"),
      inFlight: count(queue, now, sentAfter, "visible > ? AND received > 0"),
    }),
    oldest: (queue, sentAfter) => {
      const sql = "SELECT min(sent) AS sent FROM sqs_messages WHERE queue = ? AND sent > ?";
      return (prepared().first(sql, queue, sentAfter)?.sent as number | null) ?? undefined;
    },
  };
}

/** The columns of the table are the members of a message. */
const rowOf = (row: Row | undefined) => row as unknown as MessageRow | undefined;
