// How often a page asks and waits before it can be used: a round is what is asked before any answer of it has come.
import type { Page, Route } from "playwright-core";
import { expect, it } from "vitest";
import { SETTLE_MS, type Tab } from "../support/console-tab.ts";

const ID = /[0-9a-f]{8}-[0-9a-f-]{27}/g;
const nameOf = (route: Route): string =>
  new URL(route.request().url()).pathname.replace(/^\/api\/v1\//, "").replaceAll(ID, ":id");

/** Answers the calls of a round once all of them have been asked, and no call that is in none of the rounds. */
async function answerIn(page: Page, rounds: readonly (readonly string[])[]): Promise<{ done: Promise<void> }> {
  const asked = new Map<string, (route: Route) => void>();
  const asking = rounds.map((names) =>
    names.map((name) => new Promise<Route>((resolve) => asked.set(name, resolve)).then((route) => ({ name, route }))),
  );
  await page.route("**/api/v1/**", (route) => asked.get(nameOf(route))?.(route));
  const answer = async () => {
    for (const round of asking) for (const { route } of await Promise.all(round)) await route.continue();
  };
  return { done: answer() };
}

const SIGNED_IN = ["auth/browser/refresh"];
const CHART = ["journeys/:id", "journeys/:id/stats", "journeys/:id/brakes"];
const SEND = ["notifications/:id", "notifications/:id/report", "notifications/:id/recipients"];

export function roundStories(open: () => Promise<Tab>): void {
  it.each([
    ["journeys", "Welcome", "button.chart-node >> nth=0", CHART, ["channels"]],
    ["activity", "Weekend tips", "main a[data-row] >> nth=0", SEND, []],
  ])(
    "what is opened in the list of %s asks all that it shows in one round, after the session where it is loaded (CON-1)",
    async (list, row, shown, calls, known) => {
      const { page, visit } = await open();
      await visit(list);
      const link = page.locator("main a[data-row]", { hasText: row }).first();
      const address = await link.getAttribute("href");

      const clicked = await answerIn(page, [calls]);
      await link.click();
      await clicked.done;
      await page.locator("main a.back").waitFor();
      await page.locator(shown).waitFor();
      await page.unrouteAll({ behavior: "ignoreErrors" });

      const loaded = await answerIn(page, [SIGNED_IN, ["me", ...calls, ...known]]);
      await page.goto(new URL(address!, page.url()).href, { timeout: SETTLE_MS });
      await loaded.done;
      await page.locator(shown).waitFor();
      expect(await page.locator("main [role=alert]").count()).toBe(0);
    },
  );

  it("the composer of a send asks its channels and topics together with the session's user (CON-1)", async () => {
    const { page, visit } = await open();
    await visit("send");
    const loaded = await answerIn(page, [SIGNED_IN, ["me", "channels", "topics"]]);
    await page.reload();
    await loaded.done;
    await page.getByRole("group", { name: "Channels" }).waitFor();
  });
}
