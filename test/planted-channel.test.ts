// Adding a channel takes four files (CONTRIBUTING.md, "Add a channel"). As long as one is not finished it does not compile, which
// a copy of the product shows; then it is created, verified and sends, and all that is derived knows it.
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { plantedChannel } from "./support/planted-channel.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const copy = mkdtempSync(join(tmpdir(), "channel-"));
afterAll(() => rmSync(copy, { recursive: true, maxRetries: 5 }));

for (const name of ["functions", "local", "shared", "package.json", "tsconfig.json"])
  cpSync(join(root, name), join(copy, name), {
    recursive: true,
    filter: (source) => basename(source) !== "node_modules",
  });
symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));

/** @throws where the text before which it goes is not there once. */
function insert(text: string, [before, added]: readonly [before: string, added: string]): string {
  const [head, tail, ...more] = text.split(before);
  if (tail === undefined || more.length > 0) throw new Error(`It is not there once: ${before}`);
  return head + added + before + tail;
}

function plant(file: string): void {
  const path = join(copy, file);
  const change = plantedChannel[file]!;
  const text = typeof change === "string" ? change : change.reduce(insert, readFileSync(path, "utf8"));
  writeFileSync(path, text);
}

/** Runs a script of Node. @returns its output. */
const run = (cwd: string, args: string[], more: Record<string, string> = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    const env = { ...process.env, NODE_COMPILE_CACHE: join(root, "node_modules/.cache/compile"), ...more };
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], { cwd, env });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.once("error", reject);
    child.once("close", () => resolve(Buffer.concat(chunks).toString()));
  });

/** Several checkers each check what they share anew, which two cores pay for, as they do for a small heap. */
const FRUGAL = ["--singleThreaded"];

/** @returns the files that do not compile. */
async function faulty(): Promise<string[]> {
  const args = ["node_modules/typescript/bin/tsc", "-p", "tsconfig.planted.json", "--pretty", "false", ...FRUGAL];
  const output = await run(copy, args, { GOGC: "400" });
  return [...new Set([...output.matchAll(/^(\S+)\(\d+,\d+\): error/gm)].map(([, file = ""]) => file))].sort();
}

it("a new channel with its row alone does not compile: the errors name the places that are missing", async () => {
  // What is exhaustive over channels: the whole tree takes four times as long.
  const files = ["shared/providers/providers.ts", "local/providers/network.ts", "functions/api/channels/index.ts"];
  const config = { extends: "./tsconfig.json", include: [], files };
  writeFileSync(join(copy, "tsconfig.planted.json"), JSON.stringify(config));
  const [row, ...others] = Object.keys(plantedChannel);
  plant(row!);
  expect(await faulty()).toEqual(["local/providers/network.ts", "shared/providers/providers.ts"]);
  for (const file of others) plant(file);
  expect(await faulty()).toEqual([]);
}, 120_000);

it("a new channel with its four files is created, verified, delivered and reported, and published", async () => {
  const plants = Object.entries(plantedChannel).flatMap(([file, change]) =>
    typeof change === "string" ? [[file, "", change]] : change.map(([before, added]) => [file, before, added + before]),
  );
  const args = ["--import", "./test/support/plant.ts", "test/support/planted-story.ts"];
  const output = await run(root, args, { PLANT: JSON.stringify(plants), NODE_OPTIONS: "" });
  expect(JSON.parse(output.split("\n").at(-2)!)).toEqual({
    credentials: { status: 200, type: "rcs" },
    channel: { type: "rcs", status: "active", settings: { agent_id: "shop-agent" } },
    outbox: [{ channel: "rcs", to: "+4915112345678", title: null, body: "Hello Ada\nIt works." }],
    recipients: [{ state: "delivered", channel: "rcs" }],
    report: { status: "completed", delivered_by_channel: { rcs: 1 } },
    refused: { status: 422, fields: ["content.by_channel.rcs.body"] },
    consents: ["email", "sms", "chat_app", "rcs"],
    published: {
      path: "Store the credentials of a channel of the type rcs",
      form: true,
      content: "#/components/schemas/SmsContent",
    },
  });
}, 120_000);
