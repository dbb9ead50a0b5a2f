// The rules of docs/architecture.md are lint errors: each violation, planted in a folder of its own, is reported.
// `npm run lint` checks the tree itself. The length of a file is checked here, since Biome has no rule for it.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const biome = join(root, "node_modules/@biomejs/biome/bin/biome");

interface Diagnostic {
  category: string;
  severity: string;
  message: string;
  location: { path: string };
}

function lint(folder: string): Diagnostic[] {
  const options = ["lint", "--reporter=json", "--max-diagnostics=none", "--vcs-enabled=false"];
  const { stdout } = spawnSync(process.execPath, [biome, ...options], { cwd: folder, encoding: "utf8" });
  return (JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics.filter(
    ({ severity }) => severity === "error",
  );
}

const use = (source: string) => `import { x } from "${source}";\nx();\n`;

const refused: [what: string, file: string, code: string][] = [
  ["shared → functions", "shared/a.ts", use("../functions/index.ts")],
  ["shared → functions, from a folder", "shared/store/a.ts", use("../../functions/api/auth/index.ts")],
  ["shared → local", "shared/b.ts", use("../local/local-service.ts")],
  ["shared → infra", "shared/c.ts", use("../infra/stack.ts")],
  ["shared → test", "shared/d.ts", use("../test/support/world.ts")],
  ["shared → local, as a re-export", "shared/e.ts", 'export { x } from "../local/local-service.ts";\n'],
  [
    "shared → local, as a type",
    "shared/f.ts",
    'import type { X } from "../local/local-service.ts";\nexport type Y = X;\n',
  ],
  ["shared → local, at run time", "shared/g.ts", 'export const x = () => import("../local/local-service.ts");\n'],
  ["rules → store", "shared/rules/a.ts", use("../store/table.ts")],
  ["rules → contract", "shared/rules/b.ts", use("../contract/schemas.ts")],
  ["kernel → rules", "shared/kernel/a.ts", use("../rules/predicates.ts")],
  ["contract → store", "shared/contract/a.ts", use("../store/table.ts")],
  [
    "contract → store, as a type",
    "shared/contract/b.ts",
    'import type { X } from "../store/item.ts";\nexport type Y = X;\n',
  ],
  ["store → http, from a folder", "shared/store/sends/jobs/a.ts", use("../../../http/serve.ts")],
  ["store → providers", "shared/store/b.ts", use("../providers/provider.ts")],
  ["egress → http", "shared/egress/a.ts", use("../http/serve.ts")],
  ["http → runtime", "shared/http/b.ts", use("../runtime/worker.ts")],
  ["a group → another group", "functions/api/lists/a.ts", use("../segments/index.ts")],
  ["a group → a worker", "functions/api/lists/b.ts", use("../../workers/react/index.ts")],
  ["a worker → another worker", "functions/workers/due/a.ts", use("../react/index.ts")],
  ["the stream → a group", "functions/stream/a.ts", use("../api/inbox/index.ts")],
  ["a group → local", "functions/api/lists/c.ts", use("../../../local/local-service.ts")],
  ["a group → test", "functions/api/lists/d.ts", use("../../../test/support/world.ts")],
  ["the contents page → local", "functions/index.ts", use("../local/local-service.ts")],
  ["the contents page → infra", "functions/b.ts", use("../infra/stack.ts")],
  ["local → test", "local/a.ts", use("../test/support/world.ts")],
  ["local → infra", "local/b.ts", use("../infra/stack.ts")],
  ["infra → local", "infra/a.ts", use("../local/local-service.ts")],
  ["local → a file of the embedded AWS", "local/f.ts", use("./aws/sqs.ts")],
  ["a provider → a file of the embedded AWS", "local/providers/a.ts", use("../aws/sqs/queues.ts")],
  ["test → a file of the embedded AWS", "test/b.ts", use("../local/aws/dynamodb/keys.ts")],
  ["the embedded AWS → shared", "local/aws/a.ts", use("../../shared/clock.ts")],
  ["the embedded AWS → local", "local/aws/sqs/a.ts", use("../../clock.ts")],
  ["a test of the embedded AWS → test", "local/aws/test/support/a.ts", use("../../../../test/support/world.ts")],
  ["the time of day", "shared/h.ts", "export const x = Date.now();\n"],
  ["the time of day as a function", "shared/rules/c.ts", "export const x = Date.now;\n"],
  ["a date of now", "functions/api/lists/e.ts", "export const x = new Date();\n"],
  ["the machine's time", "shared/i.ts", "export const x = performance.now();\n"],
  ["chance", "functions/workers/due/b.ts", "export const x = Math.random();\n"],
  ["an id out of nowhere", "shared/j.ts", "export const x = crypto.randomUUID();\n"],
  ["an id of node:crypto", "shared/k.ts", 'import { randomUUID } from "node:crypto";\nexport const x = randomUUID;\n'],
  ["bytes of node:crypto", "functions/api/lists/f.ts", 'import { randomBytes } from "node:crypto";\nrandomBytes(1);\n'],
  ["a timer", "shared/l.ts", "setTimeout(() => undefined, 1);\n"],
  ["a recurring timer", "functions/stream/b.ts", "setInterval(() => undefined, 1);\n"],
  ["a timer of node:timers", "shared/m.ts", 'import { setTimeout as wait } from "node:timers/promises";\nwait(1);\n'],
  ["a request out", "functions/workers/due/c.ts", 'fetch("https://example.com");\n'],
  ["an SDK client in shared", "shared/n.ts", "export const x = new DynamoDBClient({});\n"],
  ["an SDK client without settings", "functions/api/lists/g.ts", "export const x = new SQSClient();\n"],
  ["an SDK client in local", "local/c.ts", 'export const x = new KMSClient({ region: "x" });\n'],
  ["any", "shared/o.ts", "export const x = (y: any) => y;\n"],
  ["a default export", "shared/p.ts", "export default 1;\n"],
  ["a cycle of values", "shared/s.ts", 'import { t } from "./t.ts";\nexport const s = () => t;\n'],
  ["a cycle of values, from its other end", "shared/t.ts", 'import { s } from "./s.ts";\nexport const t = () => s;\n'],
  ["a spread that groups properties", "shared/u.ts", "export const x = { a: 1, ...{ b: 2 } };\n"],
  ["a function of 61 lines", "functions/workers/due/d.ts", `export function x() {\n${"  x();\n".repeat(61)}}\n`],
];

const fine: [what: string, file: string, code: string][] = [
  ["a group → shared", "functions/api/templates/a.ts", use("../../../shared/http/endpoint.ts")],
  ["a group → its own files", "functions/api/templates/b.ts", use("./input.ts")],
  ["a worker → shared", "functions/workers/deliver/a.ts", use("../../../shared/runtime/worker.ts")],
  ["the stream → shared", "functions/stream/c.ts", use("../../shared/kernel/clock.ts")],
  ["the contents page → a group", "functions/c.ts", use("./api/auth/index.ts")],
  ["shared → shared", "shared/http/a.ts", use("../store/table.ts")],
  ["rules → rules", "shared/rules/d.ts", use("./predicates.ts")],
  ["local → functions", "local/d.ts", use("../functions/index.ts")],
  ["local → the door of the embedded AWS", "local/g.ts", use("./aws/index.ts")],
  ["test → the door of the embedded AWS", "test/c.ts", use("../local/aws/index.ts")],
  ["the embedded AWS → itself", "local/aws/sqs/b.ts", use("../stand-in.ts")],
  ["a test of the embedded AWS → a file of it", "local/aws/test/support/b.ts", use("../../sqs/queues.ts")],
  ["local → the time of day", "local/e.ts", "export const x = Date.now();\n"],
  ["test → local", "test/a.ts", use("../local/local-service.ts")],
  ["rules → kernel", "shared/rules/e.ts", use("../kernel/errors.ts")],
  ["providers → store", "shared/providers/a.ts", use("../store/table.ts")],
  [
    "the machine's time itself",
    "shared/runtime/system.ts",
    "export const x = Date.now();\nsetTimeout(() => undefined, 1);\n",
  ],
  ["the maker of clients", "shared/runtime/aws.ts", "export const x = new DynamoDBClient({});\n"],
  ["a date of a given time", "shared/q.ts", "export const x = new Date(5);\n"],
  ["a cycle of types", "shared/v.ts", 'import type { B } from "./w.ts";\nexport interface A {\n  b: B;\n}\n'],
  [
    "a cycle of types, from its other end",
    "shared/w.ts",
    'import type { A } from "./v.ts";\nexport interface B {\n  a: A;\n}\n',
  ],
  ["a spread under a condition", "shared/x.ts", "export const x = (a: boolean) => ({ b: 1, ...(a && { c: 2 }) });\n"],
  ["a function of 60 lines", "functions/workers/due/e.ts", `export function x() {\n${"  x();\n".repeat(60)}}\n`],
  ["a hash", "shared/r.ts", 'import { createHash } from "node:crypto";\nexport const x = createHash;\n'],
];

let folder: string;
let found: Map<string, Diagnostic[]>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "architecture-"));
  cpSync(join(root, "biome.json"), join(folder, "biome.json"));
  cpSync(join(root, "lint"), join(folder, "lint"), { recursive: true });
  for (const [, file, code] of [...refused, ...fine]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), code);
  }
  found = Map.groupBy(lint(folder), ({ location }) => location.path);
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each(refused)("%s is refused (%s)", (_, file) => {
  expect(found.get(file)).toBeDefined();
});

test.each(fine)("%s is fine (%s)", (_, file) => {
  expect(found.get(file)).toBeUndefined();
});

const MAX_LINES = 300;
const FOLDERS = "bench console docs/generate functions infra local sdk/src shared test tools".split(" ");
const isWritten = (path: string) =>
  /\.(?:ts|tsx|mjs|js|css)$/.test(path) && !/\.gen\.ts$|(?:^|\/)(?:node_modules|dist|cdk\.out)\//.test(path);

test("no file that is written by hand has more than 300 lines", () => {
  const files = FOLDERS.flatMap((name) =>
    readdirSync(join(root, name), { recursive: true, encoding: "utf8" }).map((file) =>
      `${name}/${file}`.replaceAll("\\", "/"),
    ),
  ).filter(isWritten);
  expect(files.length).toBeGreaterThan(2_000);

  const linesOf = (path: string) => readFileSync(join(root, path), "utf8").split("\n").length - 1;
  expect(files.filter((path) => linesOf(path) > MAX_LINES)).toEqual([]);
});
