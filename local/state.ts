// What the local service itself keeps beside the product's data: the demo's credentials, how far time was moved.
import type { Database } from "./aws/database.ts";

/** Beside another DynamoDB than ours, the demo lives there and the table may have another name. */
export type StateName = "demo" | "offset" | "remote-demo" | "remote-table";

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

/** Keeps how far service time is ahead of the wall clock; only ever further, so that a restart never goes back. */
export function rememberOffset(state: State, offset: number): void {
  if (offset > (state.read<number>("offset") ?? 0)) state.write("offset", offset);
}
