// The version of this checkout: of package.json, and the commit that Git knows.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const root = new URL("../", import.meta.url);

let version: string | undefined;

export function versionOf(): string {
  version ??= (JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as { version: string }).version;
  return version;
}

/** `unknown` outside a Git repository; with `-changed` where files differ from the commit. */
export function commitOf(): string {
  const git = (...words: string[]) =>
    execFileSync("git", words, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    const isChanged = git("status", "--porcelain", "--untracked-files=no") !== "";
    return git("rev-parse", "HEAD") + (isChanged ? "-changed" : "");
  } catch {
    return UNKNOWN_COMMIT;
  }
}

export const UNKNOWN_COMMIT = "unknown";
