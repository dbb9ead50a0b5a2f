// Long tables and where a change of the page leaves the focus.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import type { Journey } from "../../sdk/src/types.gen.ts";
import { choose, draftJourney, press, type Tab } from "../support/console-tab.ts";

const PEOPLE = 10_000;
const PER_PAGE = 100;
/** The budget of rows that are in the document at once. */
const MAX_ROWS = 60;

/** A subscriber as the list has it. */
const person = (n: number) => ({
  id: `id-${n}`,
  external_id: `person-${n}`,
  // Some rows are higher than others.
  email: n % 7 === 0 ? `${"a-long-address-".repeat(12)}${n}@example.com` : `person-${n}@example.com`,
  attributes: "{}",
  created_at: "2026-11-01T10:00:00.000Z",
  updated_at: "2026-11-01T10:00:00.000Z",
});

const people = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => person(from + n));

/** How many rows are in the document, those in sight, and whether one of these is not drawn. */
const SEEN = `(() => {
  const rows = [...document.querySelectorAll("main tbody tr:not(.blank)")];
  const inSight = rows.filter((row) => row.getBoundingClientRect().bottom > 0 && row.getBoundingClientRect().top < innerHeight);
  const rooms = [...document.querySelectorAll("main tr.blank")].map((row) => row.getBoundingClientRect());
  return {
    count: rows.length,
    inSight: inSight.map((row) => Number(row.querySelector("a").textContent.slice(7))),
    isBlank: rooms.some(({ top, bottom }) => bottom > 1 && top < innerHeight - 1 && bottom - top > 1),
  };
})()`;

interface VisibleRows {
  count: number;
  inSight: number[];
  isBlank: boolean;
}

const NEXT_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))";

async function seenAt(page: Page, scroll: string): Promise<VisibleRows> {
  await page.evaluate(scroll);
  // The rows of a place that was never seen are measured first.
  for (let n = 0; n < 3; n++) await page.evaluate(NEXT_FRAMES);
  return (await page.evaluate(SEEN)) as VisibleRows;
}

const focused = (page: Page) => page.evaluate("document.activeElement.textContent.trim()");

export function longStories(open: () => Promise<Tab>): void {
  it("a table of 10,000 rows has at most 60 of them in the document, and each row where it is looked for (CON-4)", async () => {
    const { page, visit } = await open();
    await page.route("**/api/v1/subscribers?*", (route) =>
      route.fulfill({ json: { items: people(0, PEOPLE), next_cursor: "" } }),
    );
    await visit("people");
    const places = ["scrollTo(0, 0)", "scrollBy(0, 500)", ...Array(5).fill("scrollBy(0, 30_000)")];
    for (const scroll of [...places, "scrollTo(0, 9e9)", "scrollBy(0, -3_000)"]) {
      const { count, inSight, isBlank } = await seenAt(page, scroll);
      expect({ scroll, isBlank, isShort: count <= MAX_ROWS }).toEqual({ scroll, isBlank: false, isShort: true });
      expect(inSight).toEqual(Array.from({ length: inSight.length }, (_, n) => inSight[0]! + n));
    }
    // What was never seen has a guessed height: the end moves when it is.
    await seenAt(page, "scrollTo(0, 9e9)");
    expect((await seenAt(page, "scrollTo(0, 9e9)")).inSight.at(-1)).toBe(PEOPLE - 1);
    expect((await seenAt(page, "scrollTo(0, 0)")).inSight[0]).toBe(0);
    for (let n = 0; n < 65; n++) {
      await page.keyboard.press("j");
      await page.evaluate(NEXT_FRAMES);
    }
    expect(await focused(page)).toBe("person-64");
    expect(await page.locator("main table").getAttribute("aria-rowcount")).toBe(String(PEOPLE + 1));
    expect(await page.locator("main tr", { has: page.locator(":focus") }).getAttribute("aria-rowindex")).toBe("66");
  });

  it("what follows is loaded once asked for, and then when its end comes into sight; a failure is not asked again (CON-4)", async () => {
    const { page, visit } = await open();
    const asked: string[] = [];
    await page.route("**/api/v1/subscribers?*", (route) => {
      const cursor = new URL(route.request().url()).searchParams.get("cursor") ?? "0";
      asked.push(cursor);
      if (asked.length === 4)
        return route.fulfill({ status: 422, json: { code: "VALIDATION_ERROR", message: "Not now." } });
      const from = Number(cursor);
      return route.fulfill({ json: { items: people(from, from + PER_PAGE), next_cursor: String(from + PER_PAGE) } });
    });
    await visit("people");
    const end = "scrollTo(0, 9e9)";
    await seenAt(page, end);
    expect(asked).toEqual(["0"]);
    await page.getByRole("button", { name: "Show more" }).click();
    const loaded = (rows: number) => page.locator(`main table[aria-rowcount="${rows + 1}"]`).waitFor();
    await loaded(2 * PER_PAGE);
    await page.evaluate(end);
    await loaded(3 * PER_PAGE);
    await page.evaluate(end);
    await page.getByText("Not now.").waitFor();
    await seenAt(page, "scrollBy(0, 1)");
    expect(asked).toEqual(["0", "100", "200", "300"]);
    await page.getByRole("button", { name: "Show more" }).click();
    await loaded(4 * PER_PAGE);
  });

  it("what is removed from a further page of a list goes from it (CON-3)", async () => {
    const { page, visit } = await open();
    const lifted: string[] = [];
    await page.route("**/api/v1/suppressions**", (route) => {
      const { searchParams, pathname } = new URL(route.request().url());
      if (route.request().method() === "DELETE") {
        lifted.push(pathname.split("/").at(-1) ?? "");
        return route.fulfill({ status: 204 });
      }
      const from = Number(searchParams.get("cursor") ?? "0");
      const items = people(from, from + 3)
        .map(({ id, email, created_at }) => ({ id, address: email, reason: "manual", suppressed_at: created_at }))
        .filter(({ id }) => !lifted.includes(id));
      return route.fulfill({ json: { items, next_cursor: from === 0 ? "3" : "" } });
    });
    await visit("suppressions");
    await press(page, "Show more");
    await press(page, "Lift person-4@example.com");
    await page.getByLabel("Why").fill("She wrote to us.");
    await page.locator("dialog[open]").getByRole("button", { name: "Lift", exact: true }).click();
    await page.getByText("The suppression is lifted.").waitFor();
    await page.getByRole("row", { name: /^person-4@/ }).waitFor({ state: "detached" });
    expect(await page.locator("main tbody tr").count()).toBe(5);
  });

  it("a page that is opened has the focus at its title, whatever led to it (CON-4)", async () => {
    const { page, visit } = await open();
    await visit("channels");
    const title = page.locator("main h1:focus");
    await page.locator("main a[data-row]").first().click();
    await page.locator("main a.back").waitFor();
    await title.waitFor();
    await page.locator("main a.back").click();
    await title.getByText("Channels").waitFor();
    for (const [key, name] of [
      ["w", "Webhooks"],
      ["p", "People"],
    ]) {
      await page.keyboard.press("g");
      await page.keyboard.press(key!);
      await title.getByText(name!, { exact: true }).waitFor();
    }
    await page.locator("nav.nav").getByRole("link", { name: "Content" }).click();
    await title.getByText("Content", { exact: true }).waitFor();
    // Within a page, what was pressed keeps it.
    await page.getByRole("link", { name: "Lists" }).click();
    await page.locator('main .tabs a[aria-current="page"]:focus').getByText("Lists").waitFor();
  });

  it("a delivery that is older than the newest hundred opens with its attempts, and a replay says what is left (CON-4)", async () => {
    const { page, visit } = await open();
    const at = "2026-11-01T10:00:00.000Z";
    const attempts = [{ n: 1, at, status_code: 503, error: null, duration_ms: 7 }];
    const old = {
      id: "old",
      event_type: "subscriber.created",
      outcome: "failed",
      sequence: 1,
      attempts,
      payload: null,
    };
    const row = { ...old, attempt_count: 1, last_status_code: 503, created_at: at };
    await page.route("**/deliveries?*", (route) => {
      const isFiltered = route.request().url().includes("outcome=failed");
      return route.fulfill({ json: { items: isFiltered ? [row] : [], next_cursor: "" } });
    });
    await page.route("**/replay", (route) => route.fulfill({ status: 202, json: { queued: 1_000, next_from: at } }));
    const endpoint = {
      id: "one",
      target_url: "https://example.com/hooks",
      events: ["subscriber.created"],
      active: true,
    };
    const state = { description: null, disabled_at: null, consecutive_failures: 0, created_at: at, updated_at: at };
    await page.route("**/api/v1/webhooks/one", (route) => route.fulfill({ json: { ...endpoint, ...state } }));
    await visit("webhooks/one");
    await page.getByLabel("Outcome").selectOption("failed");

    await page.getByRole("button", { name: "Attempts of subscriber.created" }).click();
    await page.locator("dialog[open]").getByText("7 ms").waitFor();
    await press(page, "Close");
    await choose(page, "Replay");
    await page.locator("dialog[open]").getByRole("button", { name: "Replay" }).click();
    await page
      .getByText(/1,000 deliveries sent again, in order\. There are more since .*: replay again from then\./)
      .waitFor();
  });

  it("a name that is written from the right is cut at its end (CON-4)", async () => {
    const { page } = await open();
    await page.route("**/api/v1/me", async (route) => {
      const response = await route.fetch();
      const me = await response.json();
      const tenant = { ...me.tenant, name: "מאפיית הנמל הישן של חיפה והצפון" };
      return route.fulfill({ response, json: { ...me, tenant } });
    });
    await page.reload();
    await page.locator(".workspace b", { hasText: "מאפיית" }).waitFor();
    const isBeginSeen = await page.evaluate(`(() => {
      const box = document.querySelector(".workspace b");
      const range = document.createRange();
      range.setStart(box.firstChild, 0);
      range.setEnd(box.firstChild, 1);
      return range.getBoundingClientRect().right <= box.getBoundingClientRect().right + 1;
    })()`);
    expect(isBeginSeen).toBe(true);
  });

  it("who is at a step of a journey is counted whole where a page of its runs has none of them (CON-3)", async () => {
    const { page, visit } = await open();
    await draftJourney({ page, visit }, "Eight of many", "signed_up");
    await press(page, /^Insert a step after/);
    await press(page, "Wait");
    const saved = page.waitForResponse((one) => one.request().method() === "PUT");
    await press(page, "Save");
    const { steps } = ((await (await saved).json()) as Journey).steps;
    const here = Object.fromEntries(Object.keys(steps ?? {}).map((id) => [id, { active: 8, outcomes: {} }]));
    await page.route("**/stats", (route) => route.fulfill({ json: { runs: { active: 8 }, steps: here } }));
    await page.route("**/runs?*", (route) => route.fulfill({ json: { items: [], next_cursor: "more" } }));
    await page.reload();
    await page.locator("button.chart-node", { hasText: "Wait" }).click();
    const panel = page.locator(".chart-panel");
    await panel.getByRole("heading", { name: "8 people here" }).waitFor();
    await panel.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
    expect(await panel.getByText(/ others?$/).count()).toBe(0);
  });
}
