// Pages of the demo that tests look at, and how they look in the window of a phone.
import type { Page, Route } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { choose, type Tab } from "../support/console-tab.ts";

interface Shown {
  picture: string;
  path: string;
  /** The row whose page is opened. */
  row?: string;
  /** What is done before the picture. */
  act?: (page: Page) => Promise<unknown>;
  theme?: "dark";
}

/** By the names of their pictures. */
export const shown: readonly Shown[] = [
  { picture: "home", path: "" },
  { picture: "activity", path: "activity", row: "Weekend tips" },
  { picture: "campaign", path: "campaigns", row: "Autumn sale" },
  { picture: "journey", path: "journeys", row: "Welcome" },
  {
    picture: "send",
    path: "send",
    act: async (page) => {
      await page.getByLabel("Title").fill("Hello {{ subscriber.first_name }}");
      await page.getByLabel("Body").fill("The winter preview begins on Friday.");
      await page.getByText("All 96 people").waitFor();
      await page.locator("aside h2 a", { hasNotText: "…" }).waitFor();
      await page.locator("main button[type=submit]:not([aria-disabled])").waitFor();
    },
  },
  {
    picture: "import",
    path: "import",
    act: async (page) => {
      const rows = ["email,First name,consent", "ada@example.com,Ada,opted_in", "grace@example,Grace,yes"];
      const buffer = Buffer.from(`${rows.join("\n")}\n`);
      await page.getByLabel("CSV file").setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer });
      await page.getByRole("button", { name: "Start the dry run" }).click();
      await page.locator("main .verdict .badge", { hasText: "completed" }).waitFor();
    },
  },
  { picture: "content", path: "content" },
  { picture: "insights", path: "insights?days=7" },
  { picture: "deliverability", path: "deliverability" },
  { picture: "segments", path: "segments", row: "" },
  { picture: "channels", path: "channels", row: "Email" },
  { picture: "webhooks", path: "webhooks", row: "" },
  { picture: "person", path: "people", row: "", theme: "dark" },
  { picture: "settings", path: "settings" },
  { picture: "exports", path: "exports" },
  { picture: "outbox", path: "outbox", row: "" },
  { picture: "operator", path: "operator" },
];

/** Pages without a picture in the documentation. */
export const others = [
  "campaigns/new",
  "campaigns/upcoming",
  "suppressions",
  "content/templates/new",
  "content/topics",
  "content/lists",
  "content/schedules",
  "content/experiences",
  "content/experiences/new",
  "content/assets",
  "segments/new",
  "settings/team",
  "settings/conversions",
  "settings/keys",
  "settings/audit",
  "settings/plan",
  "settings/account",
];

/** Inside a window of a phone: names and controls that are broken or covered. */
const BROKEN = `(() => {
  const boxes = (selector) => [...document.querySelectorAll("main " + selector)];
  const current = document.querySelector("main .tabs [aria-current]")?.getBoundingClientRect();
  return [
    ...boxes(".one-line").filter((one) => one.getClientRects().length > 1).map((one) => one.textContent + " is broken"),
    ...boxes("td select").filter((one) => one.offsetWidth < 80).map(() => "a choice is too narrow"),
    ...boxes(".code pre").filter((pre) => {
      const { left } = pre.parentElement.querySelector("button").getBoundingClientRect();
      const range = document.createRange();
      range.selectNodeContents(pre);
      return [...range.getClientRects()].some(({ right }) => right > left);
    }).map(() => "a button covers the text"),
    ...(current && current.right > innerWidth ? ["the current tab is out of sight"] : []),
  ];
})()`;

/** Words of tables that are broken into two lines: those of no more letters than a column has room for. */
const BROKEN_WORDS = `[...document.querySelectorAll("main td")].flatMap((cell) => {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const broken = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    for (const { 0: word, index } of node.data.matchAll(/(?<!\\S)[A-Za-z]{2,12}(?!\\S)/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      if (range.getClientRects().length > 1) broken.push(word);
    }
  return broken;
})`;

/** What must be scrolled sideways: the page, tables by their names, dialogs, and what is said in passing. */
const TOO_WIDE = `[
  ...(document.documentElement.scrollWidth > innerWidth ? ["the page"] : []),
  ...[...document.querySelectorAll("main .table-wrap")]
    .filter((table) => table.scrollWidth > table.clientWidth && !table.closest("details:not([open])"))
    .map((table) => table.ariaLabel ?? "a grid"),
  ...[...document.querySelectorAll("dialog[open], .toast")]
    .filter((one) => one.scrollWidth > one.clientWidth)
    .map((one) => one.ariaLabel ?? "what is said"),
]`;

/** What is found at each of these widths of the window. */
async function foundAt(page: Page, widths: readonly number[], found: string): Promise<string[]> {
  const size = page.viewportSize()!;
  const all: string[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: size.height });
    const here = (await page.evaluate(found)) as string[];
    all.push(...here.map((one) => `${one} at ${width}`));
  }
  await page.setViewportSize(size);
  return all;
}

/** Words that are broken, and what is too wide, in the window of a phone and in that of a small screen. */
export const misfits = (page: Page): Promise<string[]> =>
  foundAt(page, [360, 1024], `[...${TOO_WIDE}, ...${BROKEN_WORDS}]`);

const PHONE = { width: 360, height: 740 };

export function phoneStories(open: () => Promise<Tab>): void {
  it("on a phone no name is broken, no control covered, and the current tab is in sight (CON-4)", async () => {
    const { page, visit } = await open();
    const size = page.viewportSize()!;
    onTestFinished(() => page.setViewportSize(size));
    await page.setViewportSize(PHONE);
    for (const path of ["content/assets", "settings/team", "settings/keys", "settings/account"]) {
      await visit(path);
      expect({ path, broken: await page.evaluate(BROKEN) }).toEqual({ path, broken: [] });
    }
    await visit("people");
    await page.locator("main a[data-row]").first().click();
    await page.locator(".timeline li").first().waitFor();
    expect(await page.evaluate(BROKEN)).toEqual([]);
  });

  it("on a phone the bar of what is not saved covers no field that has the focus (CON-4)", async () => {
    const { page, visit } = await open();
    const size = page.viewportSize()!;
    onTestFinished(() => page.setViewportSize(size));
    await page.setViewportSize({ width: 390, height: 660 });
    await visit("content/experiences/new");
    await page.getByLabel("Name", { exact: true }).fill("By the way");
    await page.getByLabel("Title").fill("Lamps");
    await page.getByLabel("How often", { exact: true }).selectOption("Once per session");
    await page.getByLabel("Priority").fill("7");
    await page.getByLabel("Screens").fill("home");
    await page.getByLabel("Ends").fill("2030-01-02T03:04");
    await page.getByLabel("Name", { exact: true }).focus();
    const covered: unknown[] = [];
    for (let n = 0; n < 40; n++) {
      await page.keyboard.press("Tab");
      covered.push(
        await page.evaluate(`(() => {
          const [field, bar] = [document.activeElement, document.querySelector(".save-bar")];
          const [{ top, bottom }, below] = [field.getBoundingClientRect(), bar.getBoundingClientRect()];
          const isApart = !field.closest("form") || bar.contains(field) || bottom <= below.top || top >= below.bottom;
          return isApart ? "" : field.outerHTML;
        })()`),
      );
    }
    expect(covered.filter(Boolean)).toEqual([]);
  });
}

/** The contrast of what the first search field suggests, against the field. */
const SUGGESTED = `(() => {
  const field = document.querySelector("main input[placeholder]");
  const light = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).map((n) => (n / 255 <= 0.03928 ? n / 3294.6 : ((n / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const { color } = getComputedStyle(field, "::placeholder");
  const [one, other] = [light(color), light(getComputedStyle(field).backgroundColor)];
  return Math.max(one, other) / Math.min(one, other);
})()`;

/** The least contrast of text, by WCAG. */
const MIN_CONTRAST = 4.5;

const LONG =
  "Wiedereröffnung der Filiale am Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtenplatz mit Rabatt";
const ADDRESS = "maximiliane-theodora.von-hohenlohe-waldenburg-schillingsfuerst@kundenbetreuung.example.com";

/** The answers of the API with long names, and counts of seven digits. */
async function enlarge(route: Route): Promise<void> {
  const response = await route.fetch();
  const text = await response.text();
  const longer = text.replaceAll(/"(name|title)":"[^"]*"/g, `"$1":"${LONG}"`);
  const body = longer
    .replaceAll(/"email":"[^"]*"/g, `"email":"${ADDRESS}"`)
    .replaceAll(/"(active|completed|total|delivered|count)":[1-9]\d*/g, '"$1":1234567');
  await route.fulfill({ response, body });
}

const ENLARGED = /\/api\/v1\/(subscribers|notifications|campaigns|journeys|audit|team|lists|segments|channels)\b/;

/** Where names are long and numbers are large. */
export function longNameStories(open: () => Promise<Tab>): void {
  it("long names and addresses widen no table, question or message, in whatever window (CON-4)", async () => {
    const { page, visit } = await open();
    await page.route(ENLARGED, enlarge);
    for (const path of [
      "people",
      "activity",
      "campaigns",
      "journeys",
      "segments",
      "content/lists",
      "channels",
      "settings/audit",
    ]) {
      await visit(path);
      await page.locator("main tbody tr:not(.blank)").first().waitFor();
      expect({ path, tooWide: await foundAt(page, [360, 600, 820, 960, 1280], TOO_WIDE) }).toEqual({
        path,
        tooWide: [],
      });
    }
    await visit("journeys");
    await page.locator("main a[data-row]").first().click();
    await choose(page, "Delete");
    await page.getByLabel(/^Type .* to confirm$/).waitFor();
    expect(await foundAt(page, [360, 1280], TOO_WIDE)).toEqual([]);
    await page.route("**/api/v1/journeys/*", (route) =>
      route.request().method() === "DELETE" ? route.fulfill({ status: 204 }) : route.fallback(),
    );
    await page.getByLabel(/^Type .* to confirm$/).fill(LONG);
    await page.keyboard.press("Enter");
    await page.locator(".toast").waitFor();
    expect(await foundAt(page, [360, 1280], TOO_WIDE)).toEqual([]);
  });

  it("what a field suggests can be read in both themes (CON-4)", async () => {
    const { page, visit } = await open();
    await visit("people");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await page.evaluate(SUGGESTED)).toBeGreaterThan(MIN_CONTRAST);
    }
    await page.emulateMedia({ colorScheme: "light" });
  });

  it("people in a journey are counted with separators of thousands, as everywhere (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("journeys");
    await page.route(ENLARGED, enlarge);
    await page.locator("main a[data-row]", { hasText: "Welcome" }).first().click();
    await page.locator(".figure", { hasText: "completed" }).locator("b", { hasText: "1,234,567" }).waitFor();
  });
}
