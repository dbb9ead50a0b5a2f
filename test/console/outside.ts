// What is served beside the signed-in console, in Chromium: the files of a deployment, and the reference.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { expect, it } from "vitest";
import { siteFiles } from "../../infra/site-files.ts";
import { fileAtTheEdge } from "../infra/support/edge.ts";
import { SETTLE_MS, violationsInThemes } from "../support/console-tab.ts";
import type { ServiceProcess } from "../support/service-process.ts";

interface Bench {
  service(): ServiceProcess;
  browser(): Browser;
  /** What no page may cause is added here. */
  faults: string[];
}

export function outsideStories({ service, browser, faults }: Bench): void {
  it("the files of a deployment open on a plain static server, under its policy and without any other site (CON-1)", async () => {
    const files = await siteFiles();
    const server = createServer(({ url = "" }, response) => {
      const found = fileAtTheEdge(files, url.replace(/\?.*/, ""));
      response.writeHead(found ? 200 : 404, found?.headers).end(found?.content);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const context = await browser().newContext({ locale: "en-GB" });
    const page = await context.newPage();
    page.setDefaultTimeout(SETTLE_MS);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    page.on("pageerror", (error) => faults.push(error.message));
    await page.goto(`${origin}/console/w/7c1/people`);
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    expect(await violationsInThemes(page)).toEqual({});
    await page.goto(`${origin}/console/letter.html`);
    expect(asked.filter((url) => !url.startsWith(`${origin}/`))).toEqual([]);
    expect(asked.filter((url) => url.includes("/console/a/")).length).toBeGreaterThan(2);
    await context.close();
    server.close();
  });

  it("the reference sends its examples with the credentials of the demo workspace (GEN-16)", async () => {
    const context = await browser().newContext({ locale: "en-GB" });
    const page = await context.newPage();
    page.setDefaultTimeout(SETTLE_MS);
    page.on("pageerror", (error) => faults.push(error.message));
    for (const [group, operation, answer] of [
      ["inbox", "inboxListMessages", /^200\n\{\s+"messages"/],
      ["subscribers", "subscribersUpsertWithServerKey", /^200\n\{\s+"id"/],
      ["mail", "mailProbeO", /^404\n$/],
    ] as const) {
      await page.goto(`${service().url}/docs/${group}`);
      const section = page.locator("section", { has: page.locator(`[id="${operation}"]`) }).last();
      await section.getByText("Try it with the demo workspace").click();
      await section.getByRole("button", { name: "Send" }).click();
      await expect.poll(() => section.locator("details pre").last().textContent()).toMatch(answer);
    }
    await context.close();
  });
}
