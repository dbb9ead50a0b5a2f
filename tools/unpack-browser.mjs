// Unpacks the Chromium of tools/install-browser.sh, with its libraries and fonts, into .tools/browser/run.
// A process of its own does it, before any test: a file that any thread still writes cannot be executed (ETXTBSY).
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const browser = fileURLToPath(new URL("../.tools/browser/", import.meta.url));
const run = `${browser}run`;
mkdirSync(run, { recursive: true });
// The package unpacks its libraries only where it believes to run on Lambda, and into the temporary folder.
process.env.AWS_EXECUTION_ENV = "AWS_Lambda_nodejs24.x";
process.env.TMPDIR = run;
const { default: chromium } = await import(pathToFileURL(createRequire(browser).resolve("@sparticuz/chromium")).href);
await chromium.executablePath();
writeFileSync(
  `${run}/fonts.conf`,
  `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${run}/fonts</dir><dir>/usr/share/fonts</dir><cachedir>${run}/fonts-cache</cachedir></fontconfig>`,
);
