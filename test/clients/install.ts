// Installs what the checks use into their own folder, by their own lockfile.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { FOLDER } from "./claims.ts";
import { run } from "./run.ts";

const LOCKFILE = new URL("package-lock.json", FOLDER);
/** Holds the digest of the lockfile that was installed last. */
const MARKER = new URL("node_modules/.installed", FOLDER);

/** Does nothing where this lockfile is installed already. @throws where `npm ci` fails */
export async function install(tell: (progress: string) => void): Promise<void> {
  const digest = createHash("sha256").update(readFileSync(LOCKFILE)).digest("hex");
  if (existsSync(MARKER) && readFileSync(MARKER, "utf8") === digest) return;

  tell("installing the software of others into test/clients");
  // By this Node: some packages refuse older ones.
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ""}`;
  await run("npm", ["ci", "--loglevel=error"], { env: { PATH } });
  writeFileSync(MARKER, digest);
}
