// Follows the newest sends: each recipient with its outcome.
import type { ActivityEntry } from "../../types.gen.ts";
import { command, EXIT, usageError } from "../command.ts";
import { withConnection } from "../connection.ts";
import { patiently } from "../patience.ts";

const POLL_MS = 2_000;
const MAX_KNOWN = 20_000;
const MAX_PAGES = 20;

const keyOf = ({ notification_id, subscriber_id, at }: ActivityEntry) => `${notification_id} ${subscriber_id ?? at}`;

const lineOf = ({ at, state, channel, external_id, subscriber_id, reason, notification }: ActivityEntry) =>
  [
    at ?? "-",
    state.padEnd(9),
    (channel ?? "-").padEnd(8),
    external_id ?? subscriber_id ?? "erased",
    ...(reason ? [`(${reason})`] : []),
    notification.name ?? notification.id,
  ].join("  ");

export const tail = command({
  name: "tail",
  args: "",
  summary: "Follow the recipients of sends, and what becomes of each",
  about: "Begins with the newest. A recipient is shown again when its state changes. Ctrl-C ends it.",
  options: {
    lines: { type: "string", value: "<n>", about: "Recipients to begin with (default: 20)" },
    once: { type: "boolean", about: "Show them and end" },
  },
  run: async ({ io, options }) => {
    const size = Number(options.lines ?? 20);
    if (!Number.isInteger(size) || size < 0 || size > 1_000) throw usageError("--lines must be from 0 to 1000.");
    return withConnection(io, options, async (connection) => {
      const known = new Map<string, string>();
      /** New or changed entries, oldest first; a page that brings nothing new ends the search. */
      const read = async (isFirst: boolean): Promise<ActivityEntry[]> => {
        const fresh: ActivityEntry[] = [];
        let after: string | undefined;
        for (let page = 0; page < MAX_PAGES; page++) {
          const query = { limit: 100, ...(after !== undefined && { after }) };
          const { items, next_cursor } = await connection.client.recipients.getActivity(query);
          const lastKnown = items.findLastIndex((entry) => known.has(keyOf(entry)));
          // Entries after the last known one are older than the beginning of this command.
          const isEnd = !isFirst && lastKnown >= 0 && lastKnown < items.length - 1;
          const seen = isEnd ? items.slice(0, lastKnown + 1) : items;
          const changed = seen.filter((entry) => known.get(keyOf(entry)) !== entry.state);
          fresh.push(...changed);
          const isEnough = isFirst ? fresh.length >= size : changed.length === 0;
          if (isEnd || isEnough || next_cursor === "") break;
          after = next_cursor;
        }
        for (const entry of fresh) known.set(keyOf(entry), entry.state);
        for (const key of known.keys()) if (known.size > MAX_KNOWN) known.delete(key);
        return (isFirst ? fresh.slice(0, size) : fresh).reverse();
      };
      for (let isFirst = true; ; isFirst = false) {
        const entries = isFirst ? await read(true) : await patiently(io, () => read(false));
        for (const entry of entries ?? []) io.out(options.json ? JSON.stringify(entry) : lineOf(entry));
        if (options.once || io.signal.aborted) return EXIT.ok;
        await io.pause(POLL_MS);
        if (io.signal.aborted) return EXIT.ok;
      }
    });
  },
});
