// Saved logins: a file that only its owner may read.
import { chmodSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { CommandError } from "./command.ts";
import { makeFolder } from "./folders.ts";
import type { Io } from "./io.ts";
import { isObject, parsed } from "./resource.ts";

export interface Login {
  url: string;
  email: string;
  workspace: string;
  access_token: string;
  refresh_token: string;
  /** Milliseconds since 1970. */
  expires_at: number;
}

type Logins = Record<string, Login>;

const texts = ["url", "access_token", "refresh_token"] as const;

export function loginsFile({ env }: Io): string {
  const folder =
    env.ENGAGEMENT_CONFIG ?? join(env.XDG_CONFIG_HOME ?? join(env.HOME ?? homedir(), ".config"), "engagement");
  return join(folder, "credentials.json");
}

/** @throws CommandError for a file that this command did not write. */
export function readLogins(io: Io): Logins {
  const file = loginsFile(io);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
  const logins = parsed(text);
  if (!isLogins(logins)) throw new CommandError(`${file} is damaged. Remove it and log in again.`);
  return logins;
}

function isLogins(value: unknown): value is Logins {
  if (!isObject(value)) return false;
  return Object.values(value).every(
    (login) => isObject(login) && texts.every((field) => typeof login[field] === "string"),
  );
}

/** Replaces or removes the login of a profile. Other processes see the old file or the new one, never a part. */
export function saveLogin(io: Io, profile: string, login: Login | undefined): void {
  const { [profile]: _, ...others } = readLogins(io);
  const file = loginsFile(io);
  makeFolder(join(file, ".."), 0o700);
  const next = `${file}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify({ ...others, ...(login && { [profile]: login }) }, null, 2)}\n`, {
    mode: 0o600,
  });
  chmodSync(next, 0o600);
  renameSync(next, file);
}
