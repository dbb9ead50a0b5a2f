// The packed client for browsers: small, and at work in a real browser against the running local service.
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listenOnLoopback } from "../support/loopback.ts";
import { type Outside, openOutside } from "./support/outside.ts";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);
const PLAYWRIGHT = existsSync(new URL("../../node_modules/playwright-core", import.meta.url)) ? "playwright-core" : "";

let outside: Outside;
beforeAll(async () => {
  outside = await openOutside();
}, 120_000);
afterAll(() => outside?.close());

const fact = (name: string) => outside.fact(name);

it("the browser client is small and asks for nothing of Node", async () => {
  const { outputFiles } = await build({
    stdin: { contents: 'export * from "engagement-sdk/browser";', resolveDir: outside.folder },
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    platform: "browser",
    logLevel: "silent",
  });
  expect(outputFiles[0]!.contents.length).toBeLessThan(16_000);
});

describe.skipIf(!PLAYWRIGHT || !CHROMIUM)("in Chromium (skipped where playwright-core or a browser is missing)", () => {
  it("upserts, streams and reads across origins", async () => {
    const { outputFiles } = await build({
      stdin: { contents: 'export * from "engagement-sdk/browser";', resolveDir: outside.folder },
      bundle: true,
      write: false,
      format: "iife",
      globalName: "sdk",
      platform: "browser",
      logLevel: "silent",
    });
    const site = createServer((_, response) => {
      response.setHeader("content-type", "text/html");
      response.end(`<!doctype html><script>${outputFiles[0]!.text}</script>`);
    });
    const port = await listenOnLoopback(site);
    const { chromium } = (await import(PLAYWRIGHT)) as { chromium: { launch(options: object): Promise<Browser> } };
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
    try {
      const tab = await browser.newPage();
      await tab.goto(`http://127.0.0.1:${port}/`);
      const id = await tab.evaluate(calling(LISTEN, { baseUrl: fact("service"), sdkKey: fact("SDK key") }));
      const headers = { "content-type": "application/json", authorization: `Bearer ${fact("access token")}` };
      const body = JSON.stringify({ subscriberIds: [id], title: "Hello", body: "b" });
      await fetch(`${fact("service")}/api/v1/notifications`, { method: "POST", headers, body });
      expect(await tab.evaluate(calling(READ, id))).toEqual({ title: "Hello", unread: 1, updated: 1 });
      expect(await tab.evaluate(calling(REPORT, id))).toEqual({
        accepted: 1,
        linked: true,
        interaction: null,
        device: true,
        removed: null,
        refused: ["VALIDATION_ERROR", 422],
      });
    } finally {
      await browser.close();
      site.close();
    }
  });
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

/** In the page: everything else that an app reports with the SDK key. */
const REPORT = `async (subscriber_id) => {
  const { notification_id: job_id } = await globalThis.message;
  const occurred_at = new Date().toISOString();
  const { accepted } = await client.events.create({ event_name: "page_viewed", anonymous_id: "visitor" });
  const { linked } = await client.events.identify({ anonymous_id: "visitor", subscriber_id });
  const report = { job_id, interaction: "tapped", platform: "web", subscriber_id, occurred_at };
  const interaction = (await client.notifications.createInteraction(report)) ?? null;
  const { id } = await client.devices.create({ subscriber_id, platform: "ios", token: "ab".repeat(32) });
  const removed = (await client.devices.delete(id, { subscriber_id })) ?? null;
  const { code, status } = await client.notifications.createInteraction({ ...report, platform: "moon" }).catch((e) => e);
  return { accepted, linked, interaction, device: typeof id === "string", removed, refused: [code, status] };
}`;

/** In the page: waits for the message, and reads the inbox. */
const READ = `async (subscriber_id) => {
  const { title } = await globalThis.message;
  const { messages } = await client.inbox.listMessages({ subscriber_id });
  const { updated } = await client.inbox.readMessages({ subscriber_id });
  return { title, unread: messages.length, updated };
}`;
