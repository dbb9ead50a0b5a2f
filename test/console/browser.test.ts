// The console in a real Chromium against the running local service: stories, states, accessibility, policy.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasBrowser, launchBrowser, STORIES } from "../support/browser.ts";
import { createTabs, pages, tabTo, violations } from "../support/console-tab.ts";
import { cleanUp, type ServiceProcess, startService } from "../support/service-process.ts";
import { approvalStories } from "./approvals.ts";
import { draftStories } from "./drafts.ts";
import { factorStories } from "./factors.ts";
import { formStories } from "./forms.ts";
import { keyStories } from "./keys.ts";
import { longStories } from "./long.ts";
import { lostAnswerStories } from "./lost-answers.ts";
import { meanwhileStories } from "./meanwhile.ts";
import { outsideStories } from "./outside.ts";
import { paletteStories } from "./palette.ts";
import { ofMachine, refusalStories } from "./refusals.ts";
import { roleStories } from "./roles.ts";
import { typingStories } from "./typing.ts";

let service: ServiceProcess;
let browser: Browser;
/** What no page may cause: errors on the console, violations of the policy, requests to other places. */
const faults: string[] = [];

const open = createTabs(() => ({ service, browser, faults }));

describe.skipIf(!hasBrowser)("in Chromium", STORIES, () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([startService({ DATA_DIR: ":memory:" }), launchBrowser()]);
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await cleanUp();
  });

  it("a first message is written, previewed, sent and explained by keyboard alone (CON-6, CON-4)", async () => {
    const { page } = await open();
    const focusOn = (label: string) => tabTo(page, label);
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.getByRole("heading", { name: "Send", exact: true }).waitFor();
    await focusOn("Title");
    await page.keyboard.type("Hello {{ subscriber.first_name }}");
    await focusOn("Body");
    await page.keyboard.type("The sale begins on Friday.");
    await page.getByText("Hello Ada", { exact: true }).waitFor();
    await page.getByText("1 person gets it.").waitFor();
    await focusOn("Review and send");
    await page.keyboard.press("Enter");
    await page.locator("dialog[open]").getByText("Nothing: every variable has a value.").waitFor();
    await focusOn("Send to 1 person");
    await page.keyboard.press("Enter");
    await page.getByText("delivered (100%)").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("ad");
    await page.keyboard.press("Enter");
    await page.locator("ul a[data-row]").waitFor();
    await focusOn("Ada");
    await page.keyboard.press("Enter");
    await page.getByText("Ada got it by In-app.").waitFor();
  });

  it("a reload signs in by the cookie, and no script can read a token (CON-2, ACC-7)", async () => {
    const { page, context, visit } = await open();
    await visit("home");
    const used = String(
      await page.evaluate("JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])"),
    );
    expect(used).not.toMatch(/eyJ|[\w-]{43}/);
    expect(await page.evaluate("document.cookie")).toBe("");
    const cookies = await context.cookies(`${service.url}/api/v1/auth/browser/refresh`);
    expect(cookies).toMatchObject([{ name: `r.${service.tenant}`, httpOnly: true, sameSite: "Strict" }]);
    await page.reload();
    await page.locator("nav.nav").waitFor();
    const other = await context.newPage();
    await other.goto(`${service.url}/console/w/${service.tenant}/people`);
    await other.getByRole("heading", { name: "People", level: 1 }).waitFor();
    await other.close();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
  });

  it("every page of an empty workspace is free of accessibility violations (CON-4)", async () => {
    const { page, visit } = await open();
    for (const name of pages) {
      await visit(name);
      expect({ name, found: await violations(page, "light", "html") }).toEqual({ name, found: [] });
    }
    // The frame of all pages; what is in them is looked at with the data of the demo, in both themes.
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await violations(page, "dark", "html")).toEqual([]);
    const outside = await browser.newPage();
    await outside.goto(`${service.url}/console/sign-in`);
    await outside.getByRole("button", { name: "Sign in" }).waitFor();
    expect(await violations(outside)).toEqual([]);
    await outside.close();
  });

  refusalStories(open);

  it("every page loads in its final layout, keeps what it knows while offline, and says so (CON-3)", async () => {
    const { page, visit, context } = await open();
    await visit("people");
    await page.getByRole("link", { name: "Ada", exact: true }).waitFor();
    await context.setOffline(true);
    await page.getByText("This machine is offline.").waitFor();
    await page.getByRole("link", { name: "Ada", exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    await context.setOffline(false);
    await page.route("**/api/v1/notifications?*", () => undefined);
    await page.goto(`${service.url}/console/w/${service.tenant}/activity`);
    await page.locator("main .skeleton.rows").waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it("a viewer sees everything, and each button that writes is disabled with its reason (CON-5)", async () => {
    const { page, visit } = await open("viewer");
    for (const path of [...pages, "campaigns/new", "segments/new", "content/topics", "settings/team"]) {
      if (ofMachine.includes(path)) continue;
      await visit(path);
      const open = await page.locator("main .primary:not([aria-disabled=true])").allTextContents();
      expect({ path, open }).toEqual({ path, open: [] });
    }
    for (const [path, button] of [
      ["channels", "Connect a channel"],
      ["send", "Review and send"],
      ["people", "Add a person"],
      ["campaigns/upcoming", "New campaign"],
    ] as const) {
      await visit(path);
      const found = page.getByRole("button", { name: button, exact: true });
      await found.and(page.locator("[aria-disabled=true]")).waitFor();
      expect(await page.getByText("This session may only read.").count()).toBeGreaterThan(0);
    }
    // Once in a row, however many buttons it has.
    await visit("settings/team");
    const reasons = await page.evaluate(`[...document.querySelectorAll("main tbody tr")].map(
      (row) => [...row.querySelectorAll(".refusal")].filter((one) => one.getClientRects().length > 0).length)`);
    expect(Math.max(...(reasons as number[]))).toBe(1);
  });

  it("a template is written, put on a schedule in its zone and paused; an experience goes live and ends (CON-3)", async () => {
    const { page, visit } = await open();
    const dialog = page.locator("dialog[open]");
    await visit("content");
    await page.getByRole("link", { name: "New template" }).first().click();
    await page.getByLabel("Name").fill("Monday news");
    await page.getByLabel("Title").fill("News of the week");
    await page.getByLabel("Body").fill("Hello ");
    await page.getByText("Insert a variable").click();
    await page.getByLabel("Fallback").fill("you");
    await page.getByRole("button", { name: /^first_name Ada/ }).click();
    expect(await page.getByLabel("Body").inputValue()).toBe("Hello {{ subscriber.first_name | default: 'you' }}");
    await page.locator(".in-app-card").getByText("Hello Ada").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole("button", { name: "Save the template" }).click();
    await page.getByRole("link", { name: "Monday news", exact: true }).waitFor();
    const { promise: isOpened, resolve: letThrough } = Promise.withResolvers<void>();
    await page.route("**/api/v1/templates?*", async (route) => {
      await isOpened;
      await route.continue();
    });
    await visit("content/schedules");
    await page.getByRole("button", { name: "New schedule" }).click();
    letThrough();
    await dialog.getByLabel("Repeats").selectOption("By a cron expression");
    expect(await dialog.getByLabel("Cron expression").inputValue()).toBe("0 9 * * 1");
    await dialog.getByLabel("Repeats").selectOption("Monday to Friday");
    await dialog.getByRole("button", { name: "Review the schedule" }).click();
    await dialog.getByText("Europe/Berlin").first().waitFor();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Schedule for 1 person" }).click();
    await page.getByRole("cell", { name: /, 09:00 Europe\/Berlin/ }).waitFor();
    await page.getByRole("cell", { name: "Monday to Friday at 09:00" }).waitFor();
    const focused = (name: string) => page.getByRole("button", { name }).and(page.locator(":focus"));
    await page.getByRole("button", { name: "Pause Monday news" }).press("Enter");
    await focused("Resume Monday news").press("Enter");
    await page.route(
      "**/api/v1/schedules/*",
      (route) => route.fulfill({ status: 422, json: { code: "VALIDATION_ERROR", message: "Not at the moment." } }),
      { times: 1 },
    );
    await dialog.getByRole("button", { name: "Resume for 1 person" }).click();
    await dialog.getByText("Not at the moment.").waitFor();
    await page.keyboard.press("Escape");
    await focused("Resume Monday news").press("Enter");
    await dialog.getByText(/^Template/).waitFor();
    expect(await dialog.getByText("Not at the moment.").count()).toBe(0);
    await dialog.getByRole("button", { name: "Resume for 1 person" }).click();
    await focused("Pause Monday news").waitFor();
    await visit("content/experiences");
    await page.getByRole("link", { name: "New experience" }).first().click();
    await page.getByLabel("Name").fill("Spring banner");
    await page.getByLabel("Title").fill("Spring is here");
    await page.getByLabel("Body").fill("Everything costs half until Sunday.");
    await page.getByRole("button", { name: "Save the draft" }).click();
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    await dialog.getByRole("button", { name: "Publish to 1 person" }).click();
    await page.getByRole("button", { name: "End", exact: true }).click();
    await dialog.getByRole("button", { name: "End it" }).click();
    await page.getByRole("row", { name: "Spring banner" }).getByText("ended").waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it("the hours of a week are read by arrow keys, and a panel that fails leaves the others (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("send");
    await page.getByLabel("Title").fill("Hello");
    await page.getByLabel("Body").fill("The sale begins on Friday.");
    await page.getByRole("button", { name: "Review and send" }).click();
    await page.getByRole("button", { name: "Send to 1 person" }).click();
    await page.getByText("delivered (100%)").waitFor();
    await page.route("**/insights/summary?*", (route) => route.fulfill({ status: 500, json: { message: "Broken." } }));
    // What is under the pointer would be chosen.
    await page.mouse.move(0, 0);
    await visit("insights?measure=delivered");
    const hour = page.locator("[data-hour][tabindex='0']");
    await hour.focus();
    const most = await page.locator("output").textContent();
    expect(most).toMatch(/day \d\d:00 UTC: [1-9]\d* delivered/);
    await page.keyboard.press("ArrowDown");
    await page.getByText("0 delivered, 0 opened").waitFor();
    await page.keyboard.press("ArrowUp");
    expect(await page.locator("output").textContent()).toBe(most);
    await page.getByText("The service has a problem.").waitFor();
    await page.getByRole("button", { name: "Add an annotation" }).click();
    await page.getByLabel("What happened").fill("The spring sale began");
    await page.getByRole("button", { name: "Add the annotation" }).click();
    await page.getByRole("cell", { name: "The spring sale began", exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  outsideStories({ service: () => service, browser: () => browser, faults });
  roleStories({ service: () => service, open });
  approvalStories(open);
  longStories(open);
  draftStories(open);
  typingStories(open);
  meanwhileStories(open);
  lostAnswerStories(open);
  paletteStories(open);
  keyStories(open);
  formStories({ service: () => service, open });
  factorStories({ service: () => service, open });

  it("no page broke the policy, wrote an error or asked another site for anything (CON-1)", () => {
    expect([...new Set(faults)]).toEqual([]);
  });
});
