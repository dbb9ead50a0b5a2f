// The only build of the console: hashed ES modules and the documents that load them. Nothing built is committed.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import {
  CONSOLE_DOCUMENT,
  CONSOLE_PATH,
  commonHeaders,
  consolePolicy,
  HASHED_PATH,
  IMMUTABLE,
  letterPolicy,
  REVALIDATED,
} from "./policy.ts";

const require = createRequire(import.meta.url);
const HERE = fileURLToPath(new URL(".", import.meta.url));
const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** It goes with the typeface, as its licence asks. */
const TYPEFACE_LICENCE = join(dirname(require.resolve("@fontsource-variable/geist")), "LICENSE");

interface ConsoleFile {
  content: Buffer;
  headers: Record<string, string>;
}

/** Path of the address → file. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

const TYPES: Record<string, string> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
  woff2: "font/woff2",
};

const typeOf = (path: string): string => TYPES[path.slice(path.lastIndexOf(".") + 1)] ?? "application/octet-stream";

/** Nobody calls in a browser what takes the key of a server alone. */
const ofBrowsers: Plugin = {
  name: "routes of browsers",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/sdk\/src\/routes\.gen\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace(/^.*"credentials":\[("sdk",)?"server"\].*\n/gm, ""),
      loader: "ts",
    })),
};

/** Not written, and named by what they hold. */
const bundled = () =>
  build({
    entryPoints: { main: "console/app/main.tsx", theme: "console/static/theme.js", style: "console/styles/index.css" },
    absWorkingDir: ROOT,
    outdir: join(ROOT, "console", "a"),
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    loader: { ".woff2": "file" },
    bundle: true,
    plugins: [ofBrowsers],
    splitting: true,
    format: "esm",
    target: "es2022",
    minify: true,
    write: false,
    metafile: true,
    jsx: "automatic",
    jsxImportSource: "preact",
    alias: { react: "preact/compat", "react-dom": "preact/compat", "react/jsx-runtime": "preact/jsx-runtime" },
    legalComments: "none",
    logLevel: "warning",
  });

/** The files of packages that the console is made of, as paths from the root. */
export async function consolePackaged(): Promise<string[]> {
  const { metafile } = await bundled();
  return Object.keys(metafile.inputs).filter((file) => file.includes("node_modules/"));
}

export async function buildConsole(): Promise<ConsoleFiles> {
  const { outputFiles, metafile } = await bundled();
  const files = new Map<string, ConsoleFile>();
  const add = (path: string, content: Uint8Array, cache: string, policy = consolePolicy()) =>
    files.set(path, {
      content: Buffer.from(content),
      headers: {
        ...commonHeaders,
        "content-type": typeOf(path),
        "cache-control": cache,
        "content-security-policy": policy,
      },
    });
  for (const { path, contents } of outputFiles) add(HASHED_PATH + nameOf(path), contents, IMMUTABLE);
  const entries = Object.entries(metafile.outputs);
  const entry = (source: string) => {
    const [path] = entries.find(([, { entryPoint }]) => entryPoint === source) ?? [];
    if (!path) throw new Error(`The build has no entry ${source}.`);
    return HASHED_PATH + nameOf(path);
  };
  const imported = entries
    .find(([, { entryPoint }]) => entryPoint === "console/app/main.tsx")![1]
    .imports.filter(({ kind }) => kind === "import-statement")
    .map(({ path }) => HASHED_PATH + nameOf(path));
  const page = documentWith({
    theme: entry("console/static/theme.js"),
    style: entry("console/styles/index.css"),
    main: entry("console/app/main.tsx"),
    imported,
  });
  add(CONSOLE_DOCUMENT, Buffer.from(page), REVALIDATED);
  add(`${CONSOLE_PATH}/icon.svg`, readFileSync(join(HERE, "static", "icon.svg")), REVALIDATED);
  add(`${CONSOLE_PATH}/typeface.txt`, readFileSync(TYPEFACE_LICENCE), REVALIDATED);
  for (const { path, page, policy } of letters()) add(path, Buffer.from(page), REVALIDATED, policy);
  return files;
}

/** The document of mails, and its variant that loads remote images, each with its content policy. */
export function letters(): { path: string; page: string; policy: string }[] {
  const script = readFileSync(join(HERE, "static", "letter.js"), "utf8");
  const hash = `sha256-${createHash("sha256").update(script).digest("base64")}`;
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Mail</title><body><script>${script}</script>`;
  return [
    { path: `${CONSOLE_PATH}/letter.html`, page, policy: letterPolicy(hash, "data:") },
    { path: `${CONSOLE_PATH}/letter-images.html`, page, policy: letterPolicy(hash, "data: https: 'self'") },
  ];
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

interface Entries {
  theme: string;
  style: string;
  main: string;
  imported: readonly string[];
}

const documentWith = ({ theme, style, main, imported }: Entries): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Console</title>
<link rel="icon" href="${CONSOLE_PATH}/icon.svg" type="image/svg+xml">
<script src="${theme}"></script>
<link rel="stylesheet" href="${style}">
${imported.map((path) => `<link rel="modulepreload" href="${path}">\n`).join("")}<script type="module" src="${main}"></script>
<body>
<div id="app"></div>
<noscript>The console needs JavaScript.</noscript>
`;

/** When the sources of the console last changed, in milliseconds of the machine's clock. */
export function consoleChangedAt(): number {
  let newest = 0;
  for (const entry of readdirSync(HERE, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) newest = Math.max(newest, statSync(join(entry.parentPath, entry.name)).mtimeMs);
  return newest;
}
