// A page of another origin than the service, as an app's is, in a Chromium of its own.
import { createServer } from "node:http";
import type { Page } from "playwright-core";
import { launchBrowser } from "../support/browser.ts";
import { listenOnLoopback } from "../support/loopback.ts";

export interface OpenPage {
  page: Page;
  /** What the page complained of so far: uncaught errors, and errors in its console. */
  complaints: readonly string[];
  close(): Promise<void>;
}

/** @param script the module that the page loads */
export async function openPage(script = ""): Promise<OpenPage> {
  const site = createServer((request, response) => {
    const isScript = request.url === "/app.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? script : "<!doctype html><title>Shop</title><script type=module src=/app.js></script>");
  });
  const port = await listenOnLoopback(site);
  const browser = await launchBrowser();
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  await page.goto(`http://127.0.0.1:${port}/`);
  return {
    page,
    complaints,
    close: async () => {
      await browser.close();
      site.close();
    },
  };
}
