// Messages lie in one table; `visible` is the instant from which a message may be received (again).
import type { Database, Row } from "../database.ts";
import { awsFailure, type Parts, type Wire } from "../stand-in.ts";
import { type Attributes, md5, md5OfAttributes, read, selectAttributes } from "./contents.ts";
import { arnOf, numberOf, type Queue, type Redrive } from "./queues.ts";

export const schema = `
  CREATE TABLE IF NOT EXISTS sqs_queues (name TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS sqs_messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL, visible INTEGER NOT NULL, sent INTEGER NOT NULL,
    received INTEGER NOT NULL DEFAULT 0, first_received INTEGER, id TEXT NOT NULL, body TEXT NOT NULL,
    attributes TEXT, group_id TEXT, trace TEXT, source TEXT);
  CREATE INDEX IF NOT EXISTS sqs_visible ON sqs_messages (queue, visible, seq, sent, received);
  CREATE TABLE IF NOT EXISTS sqs_moves (seq INTEGER PRIMARY KEY, source TEXT NOT NULL, state TEXT NOT NULL);
`;

export interface Draft {
  body: string;
  attributes: Attributes;
  group: string | undefined;
  trace: string | undefined;
  delaySeconds: number | undefined;
}

export interface Take {
  limit: number;
  /** How long what is taken stays hidden. */
  seconds: number;
  newestFirst: boolean;
  redrive: Redrive | undefined;
}

export interface Selection {
  system: string[];
  attributes: string[];
}

interface Held {
  queue: string;
  seq: number;
  /** How often the message had been received: a later receive makes the handle stale. */
  received: number;
}

export interface Depth {
  visible: number;
  delayed: number;
  inFlight: number;
}

export type Messages = ReturnType<typeof createMessages>;

export function createMessages({ clock, ids }: Parts, prepared: () => Database) {
  /** By queue, the earliest instant at which something hidden shows, as long as that lies ahead. */
  const shows = new Map<string, number>();
  const hide = (queue: string, until: number) => {
    const known = shows.get(queue);
    if (known !== undefined && until < known) shows.set(queue, until);
  };

  const retainedFrom = (queue: Queue) => clock.now() - numberOf(queue, "MessageRetentionPeriod") * 1000;

  function insert(queue: Queue, draft: Draft, id = ids.uuid()): string {
    const now = clock.now();
    const { body, attributes, group, trace } = draft;
    const visible = now + (draft.delaySeconds ?? numberOf(queue, "DelaySeconds")) * 1000;
    if (visible > now) hide(queue.name, visible);
    prepared().run(
      "INSERT INTO sqs_messages (queue, visible, sent, id, body, attributes, group_id, trace) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      queue.name,
      visible,
      now,
      id,
      body,
      Object.keys(attributes).length > 0 ? JSON.stringify(attributes) : null,
      group ?? null,
      trace ?? null,
    );
    return id;
  }

  /**
   * Up to `limit` visible messages, now hidden for `seconds`. What is too old is dropped and what was received too
   * often moves to the dead-letter queue, which `moved` then counts.
   */
  function receive(queue: Queue, { limit, seconds, newestFirst, redrive }: Take): { taken: Row[]; moved: number } {
    const database = prepared();
    const now = clock.now();
    let moved = 0;
    const order = newestFirst ? "visible DESC, seq DESC" : "visible, seq";
    const taken: Row[] = [];
    while (taken.length < limit) {
      const found = database.all(
        `SELECT * FROM sqs_messages WHERE queue = ? AND visible <= ? ORDER BY ${order} LIMIT ?`,
        queue.name,
        now,
        limit - taken.length,
      );
      for (const row of found) {
        const { seq } = row;
        if (Number(row.sent) <= retainedFrom(queue)) {
          database.run("DELETE FROM sqs_messages WHERE seq = ?", seq!);
        } else if (redrive && Number(row.received) >= redrive.maxReceiveCount) {
          const source = arnOf(queue.name);
          const to = "UPDATE sqs_messages SET queue = ?, source = ?, visible = ? WHERE seq = ?";
          database.run(to, redrive.queue, source, now, seq!);
          moved++;
        } else {
          row.received = Number(row.received) + 1;
          row.first_received ??= now;
          const sql = "UPDATE sqs_messages SET received = ?, first_received = ?, visible = ? WHERE seq = ?";
          database.run(sql, row.received, row.first_received, now + seconds * 1000, seq!);
          hide(queue.name, now + seconds * 1000);
          taken.push(row);
        }
      }
      // With a visibility timeout of 0 the same messages would be found again.
      if (found.length === 0 || taken.length > 0) break;
    }
    return { taken, moved };
  }

  function count(queue: Queue, condition: string): number {
    const sql = `SELECT count(*) AS n FROM sqs_messages WHERE queue = ? AND sent > ? AND ${condition}`;
    return Number(prepared().first(sql, queue.name, retainedFrom(queue), clock.now())!.n);
  }

  return {
    insert,
    receive,

    remove: ({ queue, seq, received }: Held): void => {
      shows.delete(queue);
      const sql = "DELETE FROM sqs_messages WHERE seq = ? AND queue = ? AND received = ?";
      prepared().run(sql, seq, queue, received);
    },

    changeVisibility: ({ queue, seq, received }: Held, handle: string, seconds: number): void => {
      const now = clock.now();
      const row = prepared().first("SELECT visible, received, queue FROM sqs_messages WHERE seq = ?", seq);
      if (!row || row.queue !== queue || row.received !== received) {
        throw read.refuse(
          `Value ${handle} for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.`,
        );
      }
      if (Number(row.visible) <= now)
        throw awsFailure("MessageNotInflight", "The message referred to isn't in flight.");
      shows.delete(queue);
      prepared().run("UPDATE sqs_messages SET visible = ? WHERE seq = ?", now + seconds * 1000, seq);
    },

    purge: (queue: Queue): void => {
      shows.delete(queue.name);
      prepared().run("DELETE FROM sqs_messages WHERE queue = ?", queue.name);
    },

    /** Messages that could be received now, counted up to 1,000. */
    ready: (queue: Queue): number => {
      const sql =
        "SELECT count(*) AS n FROM (SELECT 1 FROM sqs_messages WHERE queue = ? AND visible <= ? AND sent > ? LIMIT 1000)";
      return Number(prepared().first(sql, queue.name, clock.now(), retainedFrom(queue))!.n);
    },

    nextVisible: (queue: Queue): number | undefined => {
      const now = clock.now();
      const known = shows.get(queue.name) ?? 0;
      if (known > now) return known === Number.POSITIVE_INFINITY ? undefined : known;
      const sql = "SELECT visible FROM sqs_messages WHERE queue = ? AND visible > ? ORDER BY visible LIMIT 1";
      const row = prepared().first(sql, queue.name, now);
      shows.set(queue.name, row ? Number(row.visible) : Number.POSITIVE_INFINITY);
      return row && Number(row.visible);
    },

    depth: (queue: Queue): Depth => ({
      visible: count(queue, "visible <= ?"),
      delayed: count(queue, "visible > ? AND received = 0"),
      inFlight: count(queue, "visible > ? AND received > 0"),
    }),

    /**
     * Moves what a dead-letter queue holds visibly, as new messages, to `to` or to where each came from.
     * What came from nowhere that still exists stays, and is counted under "".
     */
    moveAll: (from: Queue, to: string | undefined, exists: (queue: string) => boolean): Map<string, number> => {
      const now = clock.now();
      const moved = new Map<string, number>();
      const sql = "SELECT seq, source FROM sqs_messages WHERE queue = ? AND visible <= ? AND sent > ?";
      for (const { seq, source } of prepared().all(sql, from.name, now, retainedFrom(from))) {
        const origin = String(source ?? "");
        const wanted = to ?? origin.slice(origin.lastIndexOf(":") + 1);
        const target = exists(wanted) ? wanted : "";
        moved.set(target, (moved.get(target) ?? 0) + 1);
        if (!target) continue;
        prepared().run(
          `UPDATE sqs_messages SET queue = ?, id = ?, sent = ?, visible = ?, received = 0, first_received = NULL, source = NULL
           WHERE seq = ?`,
          ...[target, ids.uuid(), now, now, seq!],
        );
      }
      return moved;
    },
  };
}

export const handleOf = (row: Row, queue: string): string =>
  Buffer.from(`${row.seq} ${row.received} ${queue} ${row.id}`).toString("base64");

/** Which receive a receipt handle stands for. */
export function heldBy(handle: string, queue: Queue): Held {
  const [seq, received, name, id] = Buffer.from(handle, "base64").toString("utf8").split(" ");
  if (!/^\d+$/.test(seq ?? "") || !/^\d+$/.test(received ?? "") || name !== queue.name || !id) {
    throw awsFailure("ReceiptHandleIsInvalid", `The input receipt handle "${handle}" is not a valid receipt handle.`, {
      status: 404,
    });
  }
  return { queue: name, seq: Number(seq), received: Number(received) };
}

/** What a receiver may ask for, those of FIFO queues among them, which are never there. */
export const systemNames: ReadonlySet<string> = new Set([
  ...["All", "SenderId", "SentTimestamp", "ApproximateReceiveCount", "ApproximateFirstReceiveTimestamp"],
  ...["MessageGroupId", "AWSTraceHeader", "DeadLetterQueueSourceArn", "SequenceNumber", "MessageDeduplicationId"],
]);

/** A received row as the answer of `ReceiveMessage` shows it. */
export function messageOf(row: Row, queue: string, { system, attributes }: Selection): Wire {
  const known: Wire = {
    SenderId: "AIDAEMBEDDEDSQSSENDER",
    SentTimestamp: String(row.sent),
    ApproximateReceiveCount: String(row.received),
    ApproximateFirstReceiveTimestamp: String(row.first_received),
    MessageGroupId: row.group_id ?? undefined,
    AWSTraceHeader: row.trace ?? undefined,
    DeadLetterQueueSourceArn: row.source ?? undefined,
  };
  const told = Object.entries(known).filter(
    ([name, value]) => value !== undefined && (system.includes("All") || system.includes(name)),
  );
  const selected = row.attributes ? selectAttributes(JSON.parse(String(row.attributes)), attributes) : {};
  return {
    MessageId: row.id,
    ReceiptHandle: handleOf(row, queue),
    MD5OfBody: md5(String(row.body)),
    Body: row.body,
    ...(told.length > 0 && { Attributes: Object.fromEntries(told) }),
    ...(Object.keys(selected).length > 0 && {
      MessageAttributes: selected,
      MD5OfMessageAttributes: md5OfAttributes(selected),
    }),
  };
}
