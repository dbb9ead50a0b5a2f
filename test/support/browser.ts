// A Chromium for the tests of the console: CHROMIUM, the system's, or the one of tools/install-browser.sh.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { type Browser, chromium } from "playwright-core";

const PACKED = fileURLToPath(new URL("../../.tools/browser/", import.meta.url));
const SYSTEM = "/usr/bin/chromium";

const packed = existsSync(`${PACKED}node_modules/@sparticuz/chromium`);

/** Without one, tests are skipped at a desk and fail in CI. */
export const hasBrowser = process.env.CHROMIUM !== undefined || existsSync(SYSTEM) || packed || !!process.env.CI;

interface Binary {
  executablePath: string;
  env?: Record<string, string>;
}

export async function launchBrowser(): Promise<Browser> {
  const { executablePath, env } = await findBinary();
  // Not the arguments of the packed Chromium: they turn off what the policy tests test.
  return chromium.launch({ executablePath, args: ["--no-sandbox"], ...(env && { env: { ...process.env, ...env } }) });
}

async function findBinary(): Promise<Binary> {
  if (process.env.CHROMIUM) return { executablePath: process.env.CHROMIUM };
  if (existsSync(SYSTEM)) return { executablePath: SYSTEM };
  if (!packed) throw new Error("There is no browser: run tools/install-browser.sh, or set CHROMIUM.");
  return unpack();
}

/** Unpacks the browser once, with its libraries and fonts, into a folder of its own. */
async function unpack(): Promise<Binary> {
  const folder = `${PACKED}run`;
  mkdirSync(folder, { recursive: true });
  const kept = { ...process.env };
  // The package unpacks its libraries only where it believes to run on Lambda, and into the temporary folder.
  process.env.AWS_EXECUTION_ENV = "AWS_Lambda_nodejs24.x";
  process.env.TMPDIR = folder;
  try {
    const path = createRequire(PACKED).resolve("@sparticuz/chromium");
    const module = (await import(path)) as { default: { executablePath(): Promise<string> } };
    const executablePath = await module.default.executablePath();
    const fonts = `${folder}/fonts.conf`;
    writeFileSync(
      fonts,
      `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${folder}/fonts</dir><dir>/usr/share/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>`,
    );
    const LD_LIBRARY_PATH = process.env.LD_LIBRARY_PATH ?? "";
    return { executablePath, env: { LD_LIBRARY_PATH, FONTCONFIG_FILE: fonts, TMPDIR: folder } };
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in kept)) delete process.env[name];
    Object.assign(process.env, kept);
  }
}
