// The life of messages: stored, invisible while they are processed, dropped when too old, moved to a dead-letter queue.
import { awsFailure, type Deps, type Wire } from "../stand-in.ts";
import { type Attributes, md5, md5OfAttributes, read, selectAttributes } from "./contents.ts";
import type { Depth, MessageChange, MessageRow, MessageRows } from "./message-rows.ts";
import { arnOf, numberOf, type Queue, type Redrive } from "./queues.ts";

export interface Draft {
  body: string;
  attributes: Attributes;
  group: string | undefined;
  trace: string | undefined;
  delaySeconds: number | undefined;
}

interface TakeOptions {
  limit: number;
  /** How long received messages stay invisible. */
  seconds: number;
  newestFirst: boolean;
  redrive: Redrive | undefined;
}

interface Selection {
  system: string[];
  attributes: string[];
}

interface ReceiptState {
  queue: string;
  seq: number;
  /** How often the message had been received: a later receive makes the handle stale. */
  received: number;
}

export type Messages = ReturnType<typeof createMessages>;

export function createMessages({ clock, ids }: Deps, rows: MessageRows) {
  /** Queue → the earliest future instant at which an invisible message becomes visible. */
  const shows = new Map<string, number>();
  /** Queue without a visible message → until when it has none. Workers poll all queues all the time. */
  const empty = new Map<string, number>();
  const hide = (queue: string, until: number) => {
    for (const known of [shows, empty]) {
      const found = known.get(queue);
      if (found !== undefined && until < found) known.set(queue, until);
    }
  };

  const retainedFrom = (queue: Queue) => clock.now() - numberOf(queue, "MessageRetentionPeriod") * 1000;

  function nextVisible(queue: Queue): number | undefined {
    const now = clock.now();
    const found = shows.get(queue.name) ?? 0;
    if (found > now) return found === Number.POSITIVE_INFINITY ? undefined : found;
    const next = rows.nextVisible(queue.name, now);
    shows.set(queue.name, next ?? Number.POSITIVE_INFINITY);
    return next;
  }

  function insert(queue: Queue, draft: Draft, id = ids.uuid()): string {
    const now = clock.now();
    const { body, attributes, group, trace } = draft;
    const visible = now + (draft.delaySeconds ?? numberOf(queue, "DelaySeconds")) * 1000;
    if (visible > now) hide(queue.name, visible);
    else empty.delete(queue.name);
    rows.add({
      queue: queue.name,
      visible,
      sent: now,
      id,
      body,
      attributes: Object.keys(attributes).length > 0 ? JSON.stringify(attributes) : null,
      group_id: group ?? null,
      trace: trace ?? null,
    });
    return id;
  }

  /**
   * Returns up to `limit` visible messages and hides them for `seconds`. Messages that are too old are dropped. Those
   * that were received too often move to the dead-letter queue and are counted in `moved`.
   */
  function receive(queue: Queue, take: TakeOptions): { taken: MessageRow[]; moved: number } {
    const { limit, seconds, newestFirst, redrive } = take;
    const now = clock.now();
    const taken: MessageRow[] = [];
    let moved = 0;
    while (taken.length < limit) {
      const found = rows.visible(queue.name, now, { limit: limit - taken.length, newestFirst });
      for (const message of found) {
        const { seq } = message;
        if (message.sent <= retainedFrom(queue)) {
          rows.remove(seq);
        } else if (redrive && message.received >= redrive.maxReceiveCount) {
          rows.change(seq, { queue: redrive.queue, source: arnOf(queue.name), visible: now });
          empty.delete(redrive.queue);
          moved++;
        } else {
          const visible = now + seconds * 1000;
          const first_received = message.first_received ?? now;
          const change: MessageChange = { received: message.received + 1, first_received, visible };
          rows.change(seq, change);
          hide(queue.name, visible);
          taken.push({ ...message, ...change });
        }
      }
      // With a visibility timeout of 0 the same messages would be found again.
      if (found.length === 0 || taken.length > 0) break;
    }
    return { taken, moved };
  }

  return {
    insert,
    receive,

    remove: ({ queue, seq, received }: ReceiptState): void => {
      shows.delete(queue);
      const message = rows.at(seq);
      if (message?.queue === queue && message.received === received) rows.remove(seq);
    },

    changeVisibility: ({ queue, seq, received }: ReceiptState, handle: string, seconds: number): void => {
      const now = clock.now();
      const message = rows.at(seq);
      if (!message || message.queue !== queue || message.received !== received) {
        throw read.refuse(
          `Value ${handle} for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.`,
        );
      }
      if (message.visible <= now) throw awsFailure("MessageNotInflight", "The message referred to isn't in flight.");
      shows.delete(queue);
      empty.delete(queue);
      rows.change(seq, { visible: now + seconds * 1000 });
    },

    /** Messages that could be received now, counted up to 1,000. */
    ready: (queue: Queue): number => {
      const now = clock.now();
      if (now < (empty.get(queue.name) ?? 0)) return 0;
      const count = rows.ready(queue.name, now, retainedFrom(queue), MAX_READY);
      if (count === 0) empty.set(queue.name, nextVisible(queue) ?? Number.POSITIVE_INFINITY);
      return count;
    },

    nextVisible,

    oldest: (queue: Queue) => rows.oldest(queue.name, retainedFrom(queue)),
    depth: (queue: Queue): Depth => rows.depth(queue.name, clock.now(), retainedFrom(queue)),

    /**
     * Moves the visible messages of a dead-letter queue, as new messages, to `to` or to the source queue of each.
     * A message without an existing source queue stays. @returns the queues that have got some.
     */
    moveAll: (from: Queue, to: string | undefined, exists: (queue: string) => boolean): Set<string> => {
      const now = clock.now();
      const moved = new Set<string>();
      const all = { limit: Number.MAX_SAFE_INTEGER, newestFirst: false };
      for (const { seq, source, sent } of rows.visible(from.name, now, all)) {
        if (sent <= retainedFrom(from)) continue;
        const origin = source ?? "";
        const target = to ?? origin.slice(origin.lastIndexOf(":") + 1);
        if (!exists(target)) continue;
        moved.add(target);
        const renewed = { id: ids.uuid(), sent: now, visible: now, received: 0, first_received: null, source: null };
        rows.change(seq, { queue: target, ...renewed });
        empty.delete(target);
      }
      return moved;
    },
  };
}

const MAX_READY = 1_000;

const handleOf = (row: MessageRow, queue: string): string =>
  Buffer.from(`${row.seq} ${row.received} ${queue} ${row.id}`).toString("base64");

/** The receive that a receipt handle identifies. */
export function heldBy(handle: string, queue: Queue): ReceiptState {
  const [seq, received, name, id] = Buffer.from(handle, "base64").toString("utf8").split(" ");
  if (!/^\d+$/.test(seq ?? "") || !/^\d+$/.test(received ?? "") || name !== queue.name || !id) {
    throw awsFailure("ReceiptHandleIsInvalid", `The input receipt handle "${handle}" is not a valid receipt handle.`, {
      status: 404,
    });
  }
  return { queue: name, seq: Number(seq), received: Number(received) };
}

/** The attributes that a receiver may request, including those of FIFO queues, which are never present. */
export const systemNames: ReadonlySet<string> = new Set([
  "All",
  "SenderId",
  "SentTimestamp",
  "ApproximateReceiveCount",
  "ApproximateFirstReceiveTimestamp",
  "MessageGroupId",
  "AWSTraceHeader",
  "DeadLetterQueueSourceArn",
  "SequenceNumber",
  "MessageDeduplicationId",
]);

/** A received row in the form of `ReceiveMessage`. */
export function messageOf(row: MessageRow, queue: string, { system, attributes }: Selection): Wire {
  const found: Wire = {
    SenderId: "AIDAEMBEDDEDSQSSENDER",
    SentTimestamp: String(row.sent),
    ApproximateReceiveCount: String(row.received),
    ApproximateFirstReceiveTimestamp: String(row.first_received),
    MessageGroupId: row.group_id ?? undefined,
    AWSTraceHeader: row.trace ?? undefined,
    DeadLetterQueueSourceArn: row.source ?? undefined,
  };
  const requested = Object.entries(found).filter(
    ([name, value]) => value !== undefined && (system.includes("All") || system.includes(name)),
  );
  const selected = row.attributes ? selectAttributes(JSON.parse(row.attributes), attributes) : {};
  return {
    MessageId: row.id,
    ReceiptHandle: handleOf(row, queue),
    MD5OfBody: md5(row.body),
    Body: row.body,
    ...(requested.length > 0 && { Attributes: Object.fromEntries(requested) }),
    ...(Object.keys(selected).length > 0 && {
      MessageAttributes: selected,
      MD5OfMessageAttributes: md5OfAttributes(selected),
    }),
  };
}
