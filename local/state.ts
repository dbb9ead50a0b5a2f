// The local service's own state, stored beside the product's data: the demo's credentials, the offset of the clock.
import type { Database } from "./aws/index.ts";

/** With another DynamoDB, the demo is stored there and the table may have another name. */
export type StateName = "demo" | "offset" | "remote-demo" | "remote-table" | "subscriptions";

export interface State {
  read<T>(name: StateName): T | undefined;
  write(name: StateName, value: unknown): void;
}

export function openState(database: Database): State {
  database.exec("CREATE TABLE IF NOT EXISTS local_state (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT");
  return {
    read: (name) => {
      const row = database.first("SELECT value FROM local_state WHERE name = ?", name);
      return row && JSON.parse(String(row.value));
    },
    write: (name, value) => {
      database.run("INSERT OR REPLACE INTO local_state (name, value) VALUES (?, ?)", name, JSON.stringify(value));
    },
  };
}

/** Stores how far service time is ahead of the wall clock. It only grows, so that a restart never goes back. */
export function rememberOffset(state: State, offset: number): void {
  if (offset > (state.read<number>("offset") ?? 0)) state.write("offset", offset);
}
