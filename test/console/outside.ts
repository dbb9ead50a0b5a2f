// What is served beside the signed-in console, in Chromium: the files of a deployment, the reference, a forgotten password.
import { createServer } from "node:http";
import type { Browser } from "playwright-core";
import { expect, it } from "vitest";
import { siteFiles } from "../../infra/site-files.ts";
import { fileAtTheEdge } from "../infra/support/edge.ts";
import { SETTLE_MS, violations, violationsInThemes } from "../support/console-tab.ts";
import { listenOnLoopback } from "../support/loopback.ts";
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
    const origin = `http://127.0.0.1:${await listenOnLoopback(server)}`;
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

  it("who forgot the password comes in by the link of the mail, and sees the open sessions (ACC-1, CON-2, F4)", async () => {
    const register = { email: "grace@hopper.example", password: "compilers for everyone", name: "Grace" };
    const made = await fetch(`${service().url}/api/v1/auth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...register, workspace_name: "Navy", kind: "sandbox" }),
    });
    expect(made.status).toBe(201);
    const context = await browser().newContext({ locale: "en-GB" });
    const page = await context.newPage();
    page.setDefaultTimeout(SETTLE_MS);
    await page.goto(`${service().url}/console/sign-in`);
    await page.getByRole("link", { name: "Forgot password" }).click();
    await page.getByLabel("Email").fill(register.email);
    await page.getByRole("button", { name: "Send the email" }).click();
    await page.getByText("Check your inbox").waitFor();
    expect(await violations(page)).toEqual([]);
    await fetch(`${service().url}/_local/settle`, { method: "POST" });
    const outbox = await fetch(`${service().url}/_local/outbox?channel=email`);
    const { items } = (await outbox.json()) as { items: { title: string; body: string }[] };
    const mail = items.find(({ title }) => title === "Reset your password");
    const [link = ""] = /http[^\s"]+\/console\/reset[^\s"]+/.exec(mail?.body ?? "") ?? [];
    await page.goto(link);
    await page.getByLabel("New password").fill("another one for everyone");
    await page.getByRole("button", { name: "Save and sign in" }).click();
    await page.locator("nav.nav").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press(",");
    await page.getByText("What is sent here is recorded").waitFor();
    await page.locator("nav.nav").getByText("Sandbox", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Your account" }).click();
    await page.getByText("this one").waitFor();
    expect(await violations(page)).toEqual([]);
    await context.close();
  });
}
