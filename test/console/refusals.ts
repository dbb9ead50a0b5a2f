// What the API refuses, is said by each page that asked: its requests are answered inside the page.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { pages, type Tab, violations, violationsInThemes } from "../support/console-tab.ts";

/** Tabs of pages that read something of their own. */
const tabs = [
  "campaigns/upcoming",
  "content/topics",
  "content/lists",
  "content/schedules",
  "content/experiences",
  "content/assets",
  "settings/team",
  "settings/conversions",
  "settings/keys",
  "settings/audit",
  "settings/plan",
];

/** These ask the control surface of the machine, which refuses in its own words. */
export const ofMachine: readonly string[] = ["outbox", "operator"];

type Refusal = { status: number; json: object; headers?: Record<string, string> } | "offline" | "never";

/** What the API answers, then what a page says: one of the API, and one of the machine's control surface. */
const refusals: readonly (readonly [name: string, answer: Refusal, text: string, ownText: string])[] = [
  [
    "403",
    { status: 403, json: { code: "FORBIDDEN", message: "Not permitted." } },
    "You may not see this.",
    "Not permitted.",
  ],
  [
    "422",
    {
      status: 422,
      json: { code: "VALIDATION_ERROR", message: "cursor: is not valid", fields: { cursor: "is not valid" } },
    },
    "cursor: is not valid",
    "cursor: is not valid",
  ],
  [
    "429",
    { status: 429, json: { error: "rate limit exceeded", retry_after: 30 }, headers: { "retry-after": "30" } },
    "Too many requests at the moment.",
    "The local service answered 429.",
  ],
  [
    "500",
    { status: 500, json: { code: "INTERNAL_ERROR", message: "Unexpected." } },
    "The service has a problem.",
    "Unexpected.",
  ],
  ["nothing while offline", "offline", "The service cannot be reached.", "The service cannot be reached."],
  ["nothing yet", "never", "Loading", "Loading"],
];

/** One component says what the API refuses, so that others than these are looked at on one page. */
const lookedAtOnEach: readonly string[] = ["500", "nothing yet"];

/** Runs in the page: all that is asked from now on, except for the session, has this answer. */
function refuseAll(refusal: Refusal): void {
  const { fetch } = globalThis;
  // What is asked again is asked at once: its wait is drawn by lot.
  Math.random = () => 0;
  globalThis.fetch = async (input, init) => {
    const { pathname } = new URL(new Request(input).url);
    if (!/^\/((api\/)?v1\/(?!auth|me$)|_local\/)/.test(pathname)) return fetch(input, init);
    if (refusal === "offline") throw new TypeError("Failed to fetch");
    if (refusal === "never") return new Promise(() => undefined);
    const { status, json, headers } = refusal;
    return new Response(JSON.stringify(json), { status, headers: { "content-type": "application/json", ...headers } });
  };
}

async function waitForText(page: Page, name: string, text: string): Promise<void> {
  await page
    .locator("main")
    .getByText(text)
    .first()
    .waitFor()
    .catch((cause: unknown) => {
      throw new Error(`The page ${name} does not say so.`, { cause });
    });
}

export function refusalStories(open: () => Promise<Tab>): void {
  it.each(refusals)(
    "every page says so where the API answers %s, and can be read in the light and in the dark (CON-3, CON-4)",
    async (refusal, answer, text, ownText) => {
      const { page, show } = await open();
      await page.evaluate(refuseAll, answer);
      for (const name of [...pages, ...tabs]) {
        await show(name);
        await waitForText(page, name, ofMachine.includes(name) ? ownText : text);
        // What is not known is not said to be none, and nothing goes on loading.
        const claims = await page.locator("main .empty").allTextContents();
        expect({ name, claims }).toEqual({ name, claims: [] });
        if (answer !== "never") await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
        if (name === pages[0]) expect({ name, found: await violationsInThemes(page) }).toEqual({ name, found: {} });
        else if (lookedAtOnEach.includes(refusal))
          expect({ name, found: await violations(page) }).toEqual({ name, found: [] });
      }
    },
  );
}
