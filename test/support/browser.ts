// A Chromium for the tests of the console: CHROMIUM, the system's, or the one of tools/install-browser.sh.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Browser, chromium } from "playwright-core";

/** Where tools/unpack-browser.mjs puts the browser, its libraries and its fonts. */
const PACKED = fileURLToPath(new URL("../../.tools/browser/run", import.meta.url));
const SYSTEM = "/usr/bin/chromium";

const packed = existsSync(`${PACKED}/fonts.conf`);

/** Without one, tests are skipped at a desk and fail in CI. */
export const hasBrowser = process.env.CHROMIUM !== undefined || existsSync(SYSTEM) || packed || !!process.env.CI;

interface Binary {
  executablePath: string;
  env?: Record<string, string>;
}

export async function launchBrowser(): Promise<Browser> {
  const { executablePath, env } = findBinary();
  // Not the arguments of the packed Chromium: they turn off what the policy tests test.
  return chromium.launch({ executablePath, args: ["--no-sandbox"], ...(env && { env: { ...process.env, ...env } }) });
}

function findBinary(): Binary {
  if (process.env.CHROMIUM) return { executablePath: process.env.CHROMIUM };
  if (existsSync(SYSTEM)) return { executablePath: SYSTEM };
  if (!packed) throw new Error("There is no browser: run tools/install-browser.sh, or set CHROMIUM.");
  return {
    executablePath: `${PACKED}/chromium`,
    env: { LD_LIBRARY_PATH: `${PACKED}/al2023/lib`, FONTCONFIG_FILE: `${PACKED}/fonts.conf`, TMPDIR: PACKED },
  };
}
