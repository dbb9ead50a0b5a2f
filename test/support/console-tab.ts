// A signed-in tab of the console that collects its faults, and the check of its accessibility.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Browser, BrowserContext, Page, Request } from "playwright-core";
import { onTestFinished } from "vitest";
import type { ServiceProcess } from "./service-process.ts";
import { noteTold } from "./told.ts";

const AXE = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
/** Every page has a folder of its name. */
export const pages = readdirSync(new URL("../../console/pages/", import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== "sign-in")
  .map(({ name }) => name);

export const SETTLE_MS = 40_000;

export interface Tab {
  context: BrowserContext;
  page: Page;
  /** Goes to a page of the workspace without loading the console anew. */
  show(path: string): Promise<void>;
  /** Goes there, and waits until everything on it is loaded. */
  visit(path: string): Promise<void>;
  /** Signs in anew, as in a new profile but with a warm cache. */
  reopen(): Promise<void>;
}

interface Bench {
  service: ServiceProcess;
  browser: Browser;
  /** What no page may cause is added here. */
  faults: string[];
}

/** Opens the tab of a role. From the second time on it is the same tab: signed in anew, with an empty storage and no routes. */
export function createTabs(bench: () => Bench): (role?: string) => Promise<Tab> {
  const tabs = new Map<string, Tab>();
  return async (role = "owner") => {
    const known = tabs.get(role);
    await known?.reopen();
    const tab = known ?? (await openTab(bench(), role));
    tabs.set(role, tab);
    // What a route would still answer is of no interest once its test has ended.
    onTestFinished(() => tab.page.unrouteAll({ behavior: "ignoreErrors" }));

    return tab;
  };
}

/** Runs in the page: the tokens of the demo are asked for in this role. */
function askAsRole(role: string): void {
  const { fetch } = globalThis;
  globalThis.fetch = (input, init) => {
    const isTokens = input === "/_local/tokens" && typeof init?.body === "string";
    return fetch(
      input,
      isTokens ? { ...init, body: JSON.stringify({ ...JSON.parse(init.body as string), role }) } : init,
    );
  };
}

/** A signed-in tab of its own browser profile. */
export async function openTab({ service, browser, faults }: Bench, role = "owner"): Promise<Tab> {
  const context = await browser.newContext({
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
    // axe is injected past the policy of the page, as an extension would be.
    bypassCSP: false,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(SETTLE_MS);
  page.on("pageerror", (error) => faults.push(`fault: ${error.message}`));
  page.on("console", (message) => {
    const isExpected = /status of (401|403|404|409|422|429|500)|ERR_INTERNET_DISCONNECTED/.test(message.text());
    if (message.type() === "error" && !isExpected) faults.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(service.url) && !/^(data|blob|about):/.test(request.url()))
      faults.push(`foreign request: ${request.url()}`);
  });
  await page.addInitScript(noteTold);
  // Not a route: requests that are under way while one is removed may never be answered.
  if (role !== "owner") await page.addInitScript(askAsRole, role);
  let times = 0;
  const signIn = async () => {
    // An address without a page: what a test does not look at is neither read nor drawn. A new one each time: where only
    // the fragment differs, a browser loads nothing.
    await page.goto(`${service.url}/console/w/${service.tenant}/nowhere?${++times}#demo`);
    await page.locator("nav.nav").waitFor();
  };
  await signIn();
  const reopen = async () => {
    // Ends its requests before the routes are removed.
    await page.evaluate("stop(), sessionStorage.clear(), localStorage.clear()");
    await Promise.all([
      page.unrouteAll({ behavior: "wait" }),
      context.setOffline(false),
      context.clearCookies(),
      page.emulateMedia({ colorScheme: "light" }),
    ]);
    await signIn();
  };
  const show = async (path: string) => {
    const address = `/console/w/${service.tenant}/${path}`;
    await page.evaluate(
      `history.pushState(null, "", ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent("popstate"))`,
    );
    await page.locator("main h1").waitFor();
  };
  const underWay = new Set<Request>();
  page.on("request", (request) => underWay.add(request));
  for (const end of ["requestfinished", "requestfailed"] as const)
    page.on(end as "requestfinished", (request) => underWay.delete(request));
  const visit = async (path: string) => {
    await show(path);
    await page
      .locator("[aria-busy=true]")
      .first()
      .waitFor({ state: "detached" })
      .catch((cause: unknown) => {
        const waiting = [...underWay].map((request) => `${request.method()} ${request.url()}`);
        throw new Error(`The page ${path} is not loaded. Without an answer: ${waiting.join(", ") || "nothing"}.`, {
          cause,
        });
      });
  };
  return { context, page, show, visit, reopen };
}

/** Opens the menu of what is rarely done, and chooses from it. */
export async function choose(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("button", { name, exact: true }).click();
}

const MAX_TABS = 120;

/**
 * Presses Tab until the focus is on what has this name, as people do who have no pointer, once the page is there, and waits until
 * it can be used.
 */
export async function tabTo(page: Page, name: string): Promise<void> {
  await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
  for (let n = 0; n < MAX_TABS; n++) {
    const label = await page.evaluate(`(({ labels, ariaLabel, textContent }) =>
      labels?.length ? labels[0].textContent : ariaLabel ?? textContent)(document.activeElement).trim()`);
    // A key on what is disabled for the moment does nothing, and is not pressed again.
    if (String(label).startsWith(name)) return page.locator(":focus:not([aria-disabled=true])").waitFor();
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab did not reach ${name}.`);
}

interface AxeResult {
  id: string;
  nodes: string[];
}

type Theme = "light" | "dark";

/** The rules for which another theme can make a difference: it changes nothing but colours. */
const COLOURS = ["color-contrast", "link-in-text-block"];

/** What differs from page to page. Around it is the frame of all pages, which the visit of every page checks. */
const INSIDE = "main, dialog[open]";

/**
 * In the theme that is shown. In the dark one only the colours are checked: the document is that of the light one.
 * @param part a selector; the whole document where nothing matches
 */
export async function violations(page: Page, theme: Theme = "light", part = INSIDE): Promise<AxeResult[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(AXE);
  // What axe would load before are films and sounds, of which the console has none, and style sheets for a rule that is off.
  const options = {
    resultTypes: ["violations"],
    iframes: false,
    preload: false,
    ...(theme === "dark" && { runOnly: COLOURS }),
  };
  return page.evaluate(`(async () => {
    const parts = [...document.querySelectorAll(${JSON.stringify(part)})];
    const { violations } = await axe.run(parts.length ? parts : document, ${JSON.stringify(options)});
    return violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html.slice(0, 200)) }));
  })()`);
}

/** In both themes; the light one is shown before and after. */
export async function violationsInThemes(page: Page): Promise<Partial<Record<Theme, AxeResult[]>>> {
  const light = await violations(page);
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await violations(page, "dark");
  await page.emulateMedia({ colorScheme: "light" });
  return { ...(light.length > 0 && { light }), ...(dark.length > 0 && { dark }) };
}

/** A picture of what is in the window. */
export async function takePicture(page: Page, path: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot");
  await session.detach();
  writeFileSync(path, data, "base64");
}

/** Presses a button, named in full or by a pattern. */
export const press = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole("button", typeof name === "string" ? { name, exact: true } : { name }).click();

/** Creates the draft of a journey that begins by an event, and shows its chart. */
export async function draftJourney({ page, visit }: Pick<Tab, "page" | "visit">, name: string, event: string) {
  const dialog = page.locator("dialog[open]");
  await visit("journeys");
  await page.getByRole("button", { name: "New journey" }).first().click();
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByLabel("Trigger event").fill(event);
  await dialog.getByRole("button", { name: "Create the draft" }).click();
}
