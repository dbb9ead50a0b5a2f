// The packed SDK, installed in a folder outside this tree, against the running local service; in a browser if there is one.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const tsc = join(root, "node_modules/typescript/bin/tsc");
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);
const PLAYWRIGHT = existsSync(join(root, "node_modules/playwright-core")) ? "playwright-core" : undefined;

let folder: string;
let service: ChildProcess;
let page = "";
const fact = (name: string) => new RegExp(`^ {2}${name} +(.*)$`, "m").exec(page)![1]!;

const run = (command: string, words: string[], cwd: string) => {
  const { status, stdout, stderr } = spawnSync(command, words, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${words.join(" ")}: ${stdout}${stderr}`);
  return stdout;
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sdk-"));
  run(process.execPath, [tsc, "-p", "sdk"], root);
  run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], join(root, "sdk"));
  const [archive = ""] = readdirSync(folder);
  const home = join(folder, "node_modules/engagement-sdk");
  mkdirSync(home, { recursive: true });
  run("tar", ["-xzf", join(folder, archive), "-C", home, "--strip-components=1"], folder);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');

  service = spawn(process.execPath, ["local/launch.mjs", "local/main.ts"], {
    cwd: root,
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH: process.env.PATH, PORT: "0", DATA_DIR: ":memory:" },
  });
  for await (const chunk of service.stdout!.iterator({ destroyOnReturn: false })) {
    page += chunk;
    if (page.includes("Stop with")) break;
  }
  service.stdout!.resume();
}, 60_000);

afterAll(async () => {
  if (service?.pid && service.exitCode === null) {
    const closed = once(service, "close");
    process.kill(-service.pid, "SIGKILL");
    await closed;
  }
  rmSync(folder, { recursive: true, force: true });
});

it("packs code, types, licence and nothing else", () => {
  const files = readdirSync(join(folder, "node_modules/engagement-sdk"));
  expect(files.toSorted()).toEqual(["LICENSE", "README.md", "dist", "package.json"]);
  const dist = readdirSync(join(folder, "node_modules/engagement-sdk/dist"));
  expect(dist.filter((file) => !/\.(js|d\.ts)$/.test(file))).toEqual([]);
});

it("a page of another origin may read what the client goes by", async () => {
  const { headers } = await fetch(`${fact("service")}/v1/in-app/messages`, { headers: { "x-sdk-key": "x" } });
  expect(headers.get("access-control-expose-headers")).toBe("date, retry-after, x-request-id");
});

it("a server and a reader work together through it", async () => {
  const script = `
    import { createClient } from "engagement-sdk";
    import { createBrowserClient } from "engagement-sdk/browser";
    import { ServiceError } from "engagement-sdk/errors";
    import { verifyWebhook } from "engagement-sdk/webhook";
    const [baseUrl, accessToken, serverKey, sdkKey] = process.argv.slice(2);
    const server = createClient({ baseUrl, accessToken, serverKey });
    const reader = createBrowserClient({ baseUrl, sdkKey });
    const { id } = await reader.subscribers.upsert({ external_id: "grace", attributes: { first_name: "Grace" } });
    const later = () => { let resolve; const promise = new Promise((done) => { resolve = done; }); return { promise, resolve }; };
    const [found, live] = [later(), later()];
    const stream = reader.stream(id, { onMessage: found.resolve, onState: (state) => state === "live" && live.resolve() });
    await live.promise;
    const { sent } = await server.notifications.create({ subscriberIds: [id], title: "Hello {{ subscriber.first_name }}", body: "It works." });
    const message = await found.promise;
    stream.close();
    await stream.closed;
    await reader.inbox.readMessage(message.id, { subscriber_id: id });
    const { messages } = await reader.inbox.listMessages({ subscriber_id: id, status: "read" });
    const refused = await server.templates.get("nothing").catch((error) => error);
    const { items } = await server.subscribers.listWithServerKey({ external_id: "grace" });
    console.log(JSON.stringify({
      sent, title: message.title, read: messages.map((one) => one.id === message.id), people: items.length,
      refused: [refused instanceof ServiceError, refused.status, refused.code, typeof refused.requestId],
      forged: verifyWebhook("secret", "{}", "sha256=00"),
    }));
  `;
  writeFileSync(join(folder, "try.js"), script);
  const words = ["try.js", fact("service"), fact("access token"), fact("server key"), fact("SDK key")];
  expect(JSON.parse(run(process.execPath, words, folder))).toEqual({
    ...{ sent: 1, title: "Hello Grace", read: [true], people: 1, forged: false },
    refused: [true, 404, "NOT_FOUND", "string"],
  });
}, 30_000);

it("its types hold in a strict project outside, and refuse what the service would", () => {
  const code = `
    import { createClient } from "engagement-sdk";
    import { createBrowserClient } from "engagement-sdk/browser";
    import { ServiceError } from "engagement-sdk/errors";
    import type { Template } from "engagement-sdk/types";
    import { verifyWebhook } from "engagement-sdk/webhook";
    export const good: boolean = verifyWebhook("s", new Uint8Array(), null);
    export const fieldsOf = (error: unknown) => (error instanceof ServiceError ? error.fields : undefined);
    const server = createClient({ baseUrl: "", accessToken: "" });
    export const template: Promise<Template> = server.templates.create({ name: "n", content: { title: "t", body: "b" } });
    // @ts-expect-error a template has a content
    server.templates.create({ name: "n" });
    // @ts-expect-error no such target
    server.notifications.create({ target: { type: "everyone" }, title: "t", body: "b" });
    // @ts-expect-error the SDK key does not open it
    createBrowserClient({ baseUrl: "", sdkKey: "" }).templates;
    createBrowserClient({ baseUrl: "", sdkKey: "" }).stream("id", { onMessage: ({ actions }) => void actions[0]?.label });
  `;
  writeFileSync(join(folder, "typed.ts"), code);
  const options = [
    "--strict",
    "--noEmit",
    "--module",
    "nodenext",
    "--target",
    "es2022",
    "--lib",
    "es2022,dom",
    "--types",
    "",
  ];
  expect(run(process.execPath, [tsc, ...options, "typed.ts"], folder)).toBe("");
}, 30_000);

it("the browser client is small and asks for nothing of Node", async () => {
  const { outputFiles } = await build({
    stdin: { contents: 'export * from "engagement-sdk/browser";', resolveDir: folder },
    ...{ bundle: true, write: false, minify: true, format: "esm", platform: "browser", logLevel: "silent" },
  });
  expect(outputFiles[0]!.contents.length).toBeLessThan(16_000);
});

describe.skipIf(!PLAYWRIGHT || !CHROMIUM)("in Chromium (skipped where playwright-core or a browser is missing)", () => {
  it("upserts, streams and reads across origins", async () => {
    const { outputFiles } = await build({
      stdin: { contents: 'export * from "engagement-sdk/browser";', resolveDir: folder },
      ...{ bundle: true, write: false, format: "iife", globalName: "sdk", platform: "browser", logLevel: "silent" },
    });
    const site = createServer((_, response) => {
      response.setHeader("content-type", "text/html");
      response.end(`<!doctype html><script>${outputFiles[0]!.text}</script>`);
    }).listen(0, "127.0.0.1");
    await once(site, "listening");
    const { chromium } = (await import(PLAYWRIGHT!)) as { chromium: { launch(options: object): Promise<Browser> } };
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
    try {
      const tab = await browser.newPage();
      await tab.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
      const id = await tab.evaluate(calling(LISTEN, { baseUrl: fact("service"), sdkKey: fact("SDK key") }));
      const headers = { "content-type": "application/json", authorization: `Bearer ${fact("access token")}` };
      const body = JSON.stringify({ subscriberIds: [id], title: "Hello", body: "b" });
      await fetch(`${fact("service")}/api/v1/notifications`, { method: "POST", headers, body });
      expect(await tab.evaluate(calling(READ, id))).toEqual({ title: "Hello", unread: 1, updated: 1 });
    } finally {
      await browser.close();
      site.close();
    }
  }, 60_000);
});

interface Browser {
  newPage(): Promise<{
    goto(url: string): Promise<unknown>;
    evaluate(script: string): Promise<unknown>;
  }>;
  close(): Promise<void>;
}

const calling = (code: string, given: unknown) => `(${code})(${JSON.stringify(given)})`;

/** In the page: opens the stream, and answers with the subscriber once it is live. */
const LISTEN = `async ({ baseUrl, sdkKey }) => {
  globalThis.client = sdk.createBrowserClient({ baseUrl, sdkKey });
  const { id } = await client.subscribers.upsert({ external_id: "browser" });
  await new Promise((live, reject) => {
    globalThis.message = new Promise((onMessage) => {
      client.stream(id, { onMessage, onError: reject, onState: (state) => state === "live" && live() });
    });
  });
  return id;
}`;

/** In the page: waits for the message, and reads the inbox. */
const READ = `async (subscriber_id) => {
  const { title } = await globalThis.message;
  const { messages } = await client.inbox.listMessages({ subscriber_id });
  const { updated } = await client.inbox.readMessages({ subscriber_id });
  return { title, unread: messages.length, updated };
}`;
