// A Chromium for the tests of the console: CHROMIUM, the system's, or the one of tools/install-browser.sh.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { type Browser, chromium } from "playwright-core";

/** Where tools/unpack-browser.mjs puts the browser, its libraries and its fonts. */
const PACKED = fileURLToPath(new URL("../../.tools/browser/run", import.meta.url));
const SYSTEM = "/usr/bin/chromium";

const packed = existsSync(`${PACKED}/fonts.conf`);

/** Without one, tests are skipped at a desk and fail in CI. */
export const hasBrowser = process.env.CHROMIUM !== undefined || existsSync(SYSTEM) || packed || !!process.env.CI;

/**
 * Of suites of stories: in CI one that failed is tried once more, and the report names it. The machine there is shared, and
 * a browser that stood still for seconds says nothing about the console.
 */
export const STORIES = { retry: process.env.CI ? 1 : 0 };

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

/** Where tools/install-firefox.sh puts the playwright-core that speaks with Firefox. */
const SPEAKER = fileURLToPath(new URL("../../.tools/firefox/", import.meta.url));
const FIREFOX = process.env.FIREFOX ?? "/usr/bin/firefox-esr";

/** Without one, the stories in Firefox are skipped. */
export const hasFirefox = existsSync(FIREFOX) && existsSync(`${SPEAKER}node_modules/playwright-core`);

/** A Firefox over WebDriver BiDi. */
export async function launchFirefox(): Promise<Browser> {
  // Another release of the same package, hence the cast.
  const { firefox } = createRequire(SPEAKER)("playwright-core") as typeof import("playwright-core");
  return firefox.launch({
    channel: "moz-firefox",
    executablePath: FIREFOX,
    env: { ...process.env, HOME: SPEAKER },
    // The panel that opens with a download takes the keys from the page.
    firefoxUserPrefs: { "browser.download.alwaysOpenPanel": false },
  });
}
