// Messages in memory: per queue a list by (visible, seq), with an undo step for each change.
import type { Undo } from "../database.ts";
import { firstWhere } from "../first-where.ts";
import type { MessageRow, MessageRows } from "./message-rows.ts";

export function memoryMessages(undo: Undo): MessageRows {
  const messages = new Map<number, MessageRow>();
  const queues = new Map<string, MessageRow[]>();
  let newest = 0;

  const listOf = (queue: string): MessageRow[] => {
    let list = queues.get(queue);
    if (!list) {
      list = [];
      queues.set(queue, list);
    }
    return list;
  };

  const set = (message: MessageRow) => {
    const list = listOf(message.queue);
    list.splice(firstBehind(list, message.visible, message.seq - 1), 0, message);
    messages.set(message.seq, message);
  };
  const take = (message: MessageRow) => {
    const list = listOf(message.queue);
    list.splice(firstBehind(list, message.visible, message.seq - 1), 1);
    messages.delete(message.seq);
  };
  const put = (message: MessageRow) => {
    set(message);
    undo(() => take(message));
  };
  const drop = (message: MessageRow) => {
    take(message);
    undo(() => set(message));
  };
  /** How many of a queue are visible. */
  const shown = (list: readonly MessageRow[], now: number) => firstBehind(list, now, Number.POSITIVE_INFINITY);

  return {
    add: (arrival) => put({ ...arrival, seq: ++newest, received: 0, first_received: null, source: null }),
    at: (seq) => messages.get(seq),
    change: (seq, change) => {
      const before = messages.get(seq);
      if (!before) return;
      drop(before);
      put({ ...before, ...change });
    },
    remove: (seq) => {
      const message = messages.get(seq);
      if (message) drop(message);
    },
    visible: (queue, now, { limit, newestFirst }) => {
      const list = listOf(queue);
      const count = shown(list, now);
      return newestFirst
        ? list.slice(Math.max(0, count - limit), count).reverse()
        : list.slice(0, Math.min(count, limit));
    },
    nextVisible: (queue, now) => {
      const list = listOf(queue);
      return list[shown(list, now)]?.visible;
    },
    ready: (queue, now, sentAfter, max) => {
      const list = listOf(queue);
      const count = shown(list, now);
      let ready = 0;
      for (let at = 0; at < count && ready < max; at++) if (list[at]!.sent > sentAfter) ready++;
      return ready;
    },
    depth: (queue, now, sentAfter) => {
      const depth = { visible: 0, delayed: 0, inFlight: 0 };
      for (const { visible, received, sent } of listOf(queue)) {
        if (sent <= sentAfter) continue;
        if (visible <= now) depth.visible++;
        else if (received === 0) depth.delayed++;
        else depth.inFlight++;
      }
      return depth;
    },
    oldest: (queue, sentAfter) => {
      const sent = listOf(queue).flatMap((message) => (message.sent > sentAfter ? [message.sent] : []));
      return sent.length === 0 ? undefined : sent.reduce((first, at) => Math.min(first, at));
    },
  };
}

/** The first position after (visible, seq). */
function firstBehind(list: readonly MessageRow[], visible: number, seq: number): number {
  return firstWhere(list, (message) => message.visible > visible || (message.visible === visible && message.seq > seq));
}
