// Messages that the embedded providers received, stored in the data file.
import * as v from "valibot";
import { limit } from "../shared/contract/paging.ts";
import { type ProvidedChannel, providedChannels } from "../shared/rules/channel-types.ts";
import type { Database } from "./aws/index.ts";

/** One request that a provider accepted, or would have been sent. */
export interface OutboxItem {
  id: string;
  channel: ProvidedChannel;
  to: string;
  subscriber_id: string | null;
  job_id: string | null;
  title: string | null;
  body: string | null;
  /** The provider's own request: APNs JSON, FCM message, SMS form, chat message, MIME source. */
  payload: unknown;
  headers: Record<string, string>;
  at: string;
}

const MAX_LISTED = 1_000_000;

export const OutboxQuery = v.object({
  channel: v.optional(v.picklist(providedChannels, `must be one of ${providedChannels.join(", ")}`)),
  job_id: v.optional(v.string()),
  subscriber_id: v.optional(v.string()),
  limit: limit(1_000, MAX_LISTED),
  order: v.optional(v.picklist(["oldest", "newest"], "must be oldest or newest")),
});
type OutboxFilter = v.InferOutput<typeof OutboxQuery>;

export interface Outbox {
  add(item: OutboxItem): void;
  list(filter: OutboxFilter): OutboxItem[];
  clear(): void;
}

const schema = `CREATE TABLE IF NOT EXISTS outbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, channel TEXT NOT NULL, job_id TEXT, subscriber_id TEXT, item TEXT NOT NULL
) STRICT`;

export function openOutbox(database: Database): Outbox {
  let isMade = false;
  // The table is made with the first message, because most services of tests send none.
  const make = () => {
    if (!isMade) database.exec(schema);
    isMade = true;
  };
  return {
    add: (item) => {
      make();
      const { channel, job_id, subscriber_id } = item;
      const row = [channel, job_id, subscriber_id, JSON.stringify(item)];
      database.run("INSERT INTO outbox (channel, job_id, subscriber_id, item) VALUES (?, ?, ?, ?)", ...row);
    },
    list: ({ limit, order = "oldest", ...filter }) => {
      make();
      const wanted = Object.entries(filter).filter((entry): entry is [string, string] => entry[1] !== undefined);
      const where = wanted.map(([column]) => `${column} = ?`).join(" AND ") || "1";
      const sql = `SELECT item FROM outbox WHERE ${where} ORDER BY seq ${order === "newest" ? "DESC" : ""} LIMIT ?`;
      const rows = database.all(sql, ...wanted.map(([, value]) => value), limit);
      return rows.map(({ item }) => JSON.parse(String(item)) as OutboxItem);
    },
    clear: () => {
      make();
      database.run("DELETE FROM outbox");
    },
  };
}
