// Schedules and groups as stored in the database.
import type { Database, Row } from "../database.ts";
import type { Wire } from "../stand-in.ts";

export interface Schedule {
  group: string;
  name: string;
  input: Wire;
  createdAt: number;
  /** When it fires next; undefined when it is over. */
  nextAt: number | undefined;
  recurring: boolean;
}

export interface Group {
  name: string;
  createdAt: number;
}

/** A firing that could not be delivered yet. */
export interface Retry {
  id: string;
  arn: string;
  input: string;
  deadLetterArn: string | undefined;
  dueAt: number;
  attempt: number;
  maxAttempts: number;
  givesUpAt: number;
  nextAt: number;
}

export function openSchedules(database: Database) {
  let ready = false;
  const db = (): Database => {
    if (!ready) {
      ready = true;
      database.exec(
        "CREATE TABLE IF NOT EXISTS schedules (group_name TEXT, name TEXT, input TEXT NOT NULL, created_at INTEGER, next_at INTEGER, recurring INTEGER, PRIMARY KEY (group_name, name));" +
          "CREATE INDEX IF NOT EXISTS schedules_due ON schedules (next_at) WHERE next_at IS NOT NULL;" +
          "CREATE TABLE IF NOT EXISTS schedule_groups (name TEXT PRIMARY KEY, created_at INTEGER);" +
          "CREATE TABLE IF NOT EXISTS schedule_retries (id TEXT PRIMARY KEY, retry TEXT NOT NULL, next_at INTEGER NOT NULL);",
      );
    }
    return database;
  };

  /** When the first of a kind is due: asked far more often than it changes. */
  const instants = new Map<string, number | undefined>();
  const firstAt = (kind: string, sql: string): number | undefined => {
    if (!instants.has(kind)) {
      const row = db().first(sql);
      instants.set(kind, row?.next == null ? undefined : Number(row.next));
    }
    return instants.get(kind);
  };
  const isDue = (at: number | undefined, now: number) => at !== undefined && at <= now;
  const next = (recurring: boolean) =>
    recurring
      ? firstAt("all", "SELECT MIN(next_at) AS next FROM schedules WHERE next_at IS NOT NULL")
      : firstAt("once", "SELECT MIN(next_at) AS next FROM schedules WHERE next_at IS NOT NULL AND recurring = 0");
  const nextRetry = () => firstAt("retry", "SELECT MIN(next_at) AS next FROM schedule_retries");
  const changed = (sql: string, ...values: (string | number | null)[]): number => {
    instants.clear();
    return db().run(sql, ...values);
  };

  const scheduleOf = (row: Row): Schedule => ({
    group: String(row.group_name),
    name: String(row.name),
    input: JSON.parse(String(row.input)),
    createdAt: Number(row.created_at),
    nextAt: row.next_at === null ? undefined : Number(row.next_at),
    recurring: row.recurring === 1,
  });

  const groupOf = (row: Row): Group => ({ name: String(row.name), createdAt: Number(row.created_at) });

  return {
    transaction: <T>(work: () => T): T => db().transaction(work),
    find: (group: string, name: string): Schedule | undefined => {
      const row = db().first("SELECT * FROM schedules WHERE group_name = ? AND name = ?", group, name);
      return row && scheduleOf(row);
    },
    list: (group: string | undefined): Schedule[] =>
      (group === undefined
        ? db().all("SELECT * FROM schedules ORDER BY group_name, name")
        : db().all("SELECT * FROM schedules WHERE group_name = ? ORDER BY name", group)
      ).map(scheduleOf),
    save: (schedule: Schedule): void => {
      const { group, name, input, createdAt, nextAt = null, recurring } = schedule;
      changed(
        "INSERT OR REPLACE INTO schedules VALUES (?, ?, ?, ?, ?, ?)",
        group,
        name,
        JSON.stringify(input),
        createdAt,
        nextAt,
        recurring ? 1 : 0,
      );
    },
    remove: (group: string, name: string): boolean =>
      changed("DELETE FROM schedules WHERE group_name = ? AND name = ?", group, name) > 0,
    firstDue: (now: number, recurring: boolean): Schedule | undefined => {
      if (!isDue(next(recurring), now)) return undefined;
      const row = db().first(
        "SELECT * FROM schedules WHERE next_at <= ? AND recurring <= ? ORDER BY next_at, group_name, name LIMIT 1",
        now,
        recurring ? 1 : 0,
      );
      return row && scheduleOf(row);
    },
    next,
    group: (name: string): Group | undefined => {
      const row = db().first("SELECT * FROM schedule_groups WHERE name = ?", name);
      return row && groupOf(row);
    },
    groups: (): Group[] => db().all("SELECT * FROM schedule_groups").map(groupOf),
    addGroup: ({ name, createdAt }: Group): void => {
      db().run("INSERT INTO schedule_groups VALUES (?, ?)", name, createdAt);
    },
    firstRetry: (now: number): Retry | undefined => {
      if (!isDue(nextRetry(), now)) return undefined;
      const row = db().first("SELECT retry FROM schedule_retries WHERE next_at <= ? ORDER BY next_at, id LIMIT 1", now);
      return row && (JSON.parse(String(row.retry)) as Retry);
    },
    nextRetry,
    saveRetry: (retry: Retry): void => {
      changed(
        "INSERT OR REPLACE INTO schedule_retries VALUES (?, ?, ?)",
        retry.id,
        JSON.stringify(retry),
        retry.nextAt,
      );
    },
    removeRetry: (id: string): void => {
      changed("DELETE FROM schedule_retries WHERE id = ?", id);
    },
  };
}
