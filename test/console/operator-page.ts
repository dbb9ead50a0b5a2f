// The page of `npm run operate -- console`: what an operator sees, and who sees nothing.
import type { Browser } from "playwright-core";
import { expect, it } from "vitest";
import { checked, local } from "../../infra/operate.ts";
import { serveOperateConsole } from "../../infra/operate-console.ts";
import { violations } from "../support/console-tab.ts";
import type { ServiceProcess } from "../support/service-process.ts";

interface Bench {
  service(): ServiceProcess;
  browser(): Browser;
  /** What no page may cause is added here. */
  faults: string[];
}

export function operatorPageStories({ service, browser, faults }: Bench): void {
  it("npm run operate -- console shows the operator page to those who know its key, without a session (RDA-19, CON-2)", async () => {
    const operate = await serveOperateConsole(checked(local(service().url)), 0);
    const context = await browser().newContext({ locale: "en-GB", reducedMotion: "reduce" });
    const page = await context.newPage();
    page.on("pageerror", (error) => faults.push(error.message));
    await page.goto(operate.url);
    await page.getByRole("cell", { name: "Demo", exact: true }).waitFor();
    await page.getByText("There are no dead letters.").waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violations(page)).toEqual([]);
    }
    await page.goto("about:blank");
    await page.goto(operate.url.replace(/#.*/, "#guessed"));
    await page.getByText("Open the address that the terminal printed.").first().waitFor();
    const { origin } = new URL(operate.url);
    const post = { method: "POST", body: JSON.stringify({ workspaces: {} }) };
    expect((await fetch(`${origin}//[`)).status).toBe(404);
    expect((await fetch(`${origin}/_local/operator`, post)).status).toBe(403);
    const key = { "x-operate-key": new URL(operate.url).hash.slice(1) };
    const refused = await fetch(`${origin}/_local/operator`, {
      ...post,
      headers: key,
      body: '{"redrive":{"queue":""}}',
    });
    expect([refused.status, await refused.json()]).toMatchObject([502, { code: "OPERATOR_FAILED" }]);
    expect(faults).toEqual([]);
    await context.close();
    await operate.close();
  });
}
