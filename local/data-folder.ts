// The folder with all stored data. One process at a time may claim it, and a folder of another program is rejected.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openDatabase } from "./aws/index.ts";
import { startRefused } from "./settings.ts";
import { openState } from "./state.ts";

export interface DataFolder {
  /** The SQLite file, or `:memory:`. */
  file: string;
  /** How far service time was ahead of the wall clock, in milliseconds. */
  offset: number;
  /** Whether there is no demo workspace in it yet. */
  isNew: boolean;
  release(): void;
}

/** Marks a SQLite file as ours ("EMS1"). */
const APPLICATION_ID = 0x454d5331;
/** Only the owner may read the folder, because it holds the keys that encrypt and sign. */
const OWNER_ALONE = 0o700;
/** Time for a previous process to end. */
const LOCK_WAIT_MS = 2_000;

/** Claims the folder. The claim ends with the process, even after a crash. @throws a `StartRefused`. */
export function openDataFolder(folder: string): DataFolder {
  if (folder === ":memory:") return { file: folder, offset: 0, isNew: true, release: () => undefined };
  const file = join(folder, "service.sqlite");
  try {
    mkdirSync(folder, { recursive: true, mode: OWNER_ALONE });
  } catch (error) {
    throw startRefused(`DATA_DIR ${folder} cannot be used: ${(error as Error).message}.`);
  }
  const lock = claim(folder);
  try {
    checkOwner(file);
    const database = openDatabase(file);
    const state = openState(database);
    const offset = state.read<number>("offset") ?? 0;
    const isNew = state.read("demo") === undefined;
    database.close();
    return { file, offset, isNew, release: () => lock.close() };
  } catch (error) {
    lock.close();
    const reason = (error as Error).message;
    throw startRefused(`${file} cannot be used: ${reason}. Set DATA_DIR to another folder.`);
  }
}

function claim(folder: string): DatabaseSync {
  try {
    const lock = new DatabaseSync(join(folder, "lock"), { timeout: LOCK_WAIT_MS });
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    const { errcode, message } = error as Error & { errcode?: number };
    const reason = errcode === 5 ? "another process uses it" : message;
    throw startRefused(`DATA_DIR ${folder} cannot be used: ${reason}. Stop that process, or set DATA_DIR.`);
  }
}

function checkOwner(file: string): void {
  const database = new DatabaseSync(file, { timeout: LOCK_WAIT_MS });
  try {
    const { application_id } = database.prepare("PRAGMA application_id").get() as { application_id: number };
    const { tables } = database.prepare("SELECT count(*) AS tables FROM sqlite_master").get() as { tables: number };
    if (application_id === APPLICATION_ID) return;
    if (application_id !== 0 || tables > 0) throw new Error("it belongs to another program");
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  } finally {
    database.close();
  }
}
