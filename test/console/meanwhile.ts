// What a page says while something else goes on: a read that is older than a write, a part that does not come.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { draftJourney, type Tab } from "../support/console-tab.ts";

const at = new Date().toISOString();

/** The service answers with a paused experience. @returns its page */
async function pausedExperience(page: Page, more: object): Promise<string> {
  const id = crypto.randomUUID();
  const experience = {
    id,
    name: "Banner of the sale",
    format: "banner",
    status: "paused",
    content: { title: "The sale" },
    audience: { type: "all" },
    holdout_percentage: 0,
    created_at: at,
    updated_at: at,
    ...more,
  };
  await page.route("**/api/v1/in-app/experiences?*", (route) =>
    route.fulfill({ json: { items: [experience], total: 1 } }),
  );
  await page.route(`**/api/v1/in-app/experiences/${id}`, (route) => route.fulfill({ json: experience }));
  return `content/experiences/${id}`;
}

export function meanwhileStories(open: () => Promise<Tab>): void {
  it("a list that was read before a thing was added, and comes after it, is read again (CON-3)", async () => {
    const { page, visit, show } = await open();
    await visit("home");
    const { promise: added, resolve } = Promise.withResolvers<void>();
    let isFirst = true;
    await page.route("**/api/v1/annotations?*", async (route) => {
      if (!isFirst) return route.fallback();
      isFirst = false;
      const response = await route.fetch();
      await added;
      return route.fulfill({ response });
    });
    await show("insights");
    await page.getByRole("button", { name: "Add an annotation" }).click();
    const dialog = page.locator("dialog[open]");
    await dialog.getByLabel("What happened").fill("The sale began");
    await dialog.getByRole("button", { name: "Add the annotation" }).click();
    await page.getByText("The annotation is added.").waitFor();
    resolve();
    await page.getByRole("cell", { name: "The sale began", exact: true }).waitFor();
  });

  it("a journey that was paused in another tab says so once it cannot be paused here (CON-3)", async () => {
    const { page, visit } = await open();
    const dialog = page.locator("dialog[open]");
    await draftJourney({ page, visit }, "Hello", "signed_up");
    await page.getByRole("button", { name: "Activate", exact: true }).click();
    await dialog.getByRole("button", { name: "Activate it" }).click();
    const pause = page.getByRole("button", { name: "Pause", exact: true });
    await pause.waitFor();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByRole("button", { name: "Pause", exact: true }).click();
    await other.getByText("paused", { exact: true }).waitFor();
    await other.close();
    await pause.click();
    await page
      .getByRole("alert")
      .getByText(/paused/)
      .waitFor();
    await page.locator("main .badge", { hasText: "paused" }).waitFor();
  });

  it("a person of another workspace is not linked from the outbox (CON-3)", async () => {
    const { page, visit } = await open();
    const item = {
      id: "1",
      channel: "sms",
      to: "+49",
      title: null,
      body: "Hi.",
      payload: {},
      at: "2026-11-01T10:00:00Z",
    };
    await page.route("**/_local/outbox?*", (route) =>
      route.fulfill({ json: { items: [{ ...item, subscriber_id: crypto.randomUUID(), job_id: "j" }] } }),
    );
    const asked = page.waitForResponse("**/api/v1/subscribers/*");
    await visit("outbox");
    expect((await asked).status()).toBe(404);
    expect(await page.getByRole("link", { name: /^View/ }).count()).toBe(0);
  });

  it("a step that is removed after a draft is discarded stays removed (CON-2)", async () => {
    const { page, visit, show } = await open();
    await draftJourney({ page, visit }, "Two hands", "signed_up");
    const insert = async (kind: string) => {
      await page
        .getByRole("button", { name: /^Insert a step after/ })
        .first()
        .click();
      await page.locator(".chart-panel").getByRole("button", { name: kind, exact: true }).click();
    };
    await insert("Wait");
    const path = new URL(page.url()).pathname.split("/").slice(-2).join("/");
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByRole("button", { name: /^Insert a step after/ }).click();
    await other.locator(".chart-panel").getByRole("button", { name: "Send a message", exact: true }).click();
    await other.getByRole("button", { name: "Save", exact: true }).click();
    await other.getByText(/^Not saved/).waitFor({ state: "detached" });
    await other.close();
    await page.reload();
    await page.getByRole("button", { name: "Discard" }).click();
    await page.locator("button.chart-node", { hasText: "Send a message" }).click();
    await page.getByRole("button", { name: "Remove the step" }).click();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("The journey is saved.").waitFor();
    await show("people");
    await show(path);
    await page.getByRole("button", { name: "End", exact: true }).waitFor();
    await page.locator("button.chart-node", { hasText: "Send a message" }).waitFor({ state: "detached" });
  });

  it("who cannot be signed out is told so (CON-2)", async () => {
    const { page } = await open();
    await page.route("**/auth/browser/logout", (route) => route.abort("internetdisconnected"));
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You are still signed in.").waitFor();
  });

  it("a segment whose members are computed has the size of its rule, and not that of the rule before (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("segments/new");
    await page.getByLabel("Name").fill("Nobody");
    await page.getByLabel("Attribute 1").fill("plan");
    await page.getByLabel("Value 1").fill("none has this");
    await page.route(/\/segments\/[\w-]{36}$/, async (route) => {
      const response = await route.fetch();
      return route.fulfill({ response, json: { ...(await response.json()), count: 4_711, needs_recompute: true } });
    });
    await page.getByRole("button", { name: "Create the segment" }).click();
    await page.getByText("Its members are being computed.", { exact: true }).waitFor();
    await page.locator(".verdict", { hasText: /\d people/ }).waitFor();
    expect(await page.locator(".verdict").innerText()).toBe("0 people");
  });

  it("what a release sheet cannot read is said, and nothing seems to load for ever (CON-3)", async () => {
    const { page, visit } = await open();
    const fails = { status: 500, json: { code: "INTERNAL_ERROR", message: "Broken." } };
    await page.route("**/api/v1/billing", (route) => route.fulfill(fails));
    await page.route("**/api/v1/notifications?*", (route) => route.fulfill(fails));
    await visit("send");
    await page.getByLabel("Title").fill("The sale");
    await page.getByLabel("Body").fill("It begins soon.");
    await page.getByRole("button", { name: "Review and send" }).click();
    const sheet = page.locator("dialog[open]");
    await sheet.getByRole("alert").getByText("The service has a problem.").nth(1).waitFor();
    expect(await sheet.locator(".skeleton").count()).toBe(0);
  });

  it("a session that cannot be renewed at the moment has not ended (CON-2)", async () => {
    const { page, visit } = await open();
    await visit("people");
    const refused = (status: number) => ({ status, json: { code: "ERROR", message: "Not now." } });
    await page.route("**/api/v1/subscribers?*", (route) => route.fulfill(refused(401)));
    await page.route("**/auth/browser/refresh", (route) =>
      route.fulfill({ ...refused(429), headers: { "retry-after": "60" } }),
    );
    await page.getByRole("searchbox").fill("somebody");
    await page.getByText("Too many requests at the moment.").waitFor();
    expect(await page.getByRole("dialog", { name: "Sign in again" }).count()).toBe(0);
  });

  it("a journey that is saved keeps its panel and what was simulated (CON-3)", async () => {
    const { page, visit } = await open();
    await draftJourney({ page, visit }, "Steady", "signed_up");
    await page.getByRole("button", { name: /^Insert a step after/ }).click();
    const panel = page.locator(".chart-panel");
    await panel.getByRole("button", { name: "Wait", exact: true }).click();
    const read = page.waitForResponse(
      (one) => /journeys\/[\w-]{36}$/.test(one.url()) && one.request().method() === "GET" && one.ok(),
    );
    await panel.getByLabel("How long", { exact: true }).fill("3");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("The journey is saved.").waitFor();
    await read;
    await page.getByText("version 2").waitFor();
    expect(await panel.getByLabel("How long", { exact: true }).inputValue()).toBe("3");
    await page.getByText(/^Not saved/).waitFor({ state: "detached" });
  });

  it("an experience whose send reached nobody says why, and whom it reaches before it is resumed (CON-3)", async () => {
    const { page, visit } = await open();
    const last_error = { code: "CHANNEL_GONE", message: "The in-app channel was deleted.", at };
    const path = await pausedExperience(page, { last_error });
    const dialog = page.locator("dialog[open]");
    const resume = () => page.getByRole("button", { name: "Resume", exact: true }).click();
    await visit(path);
    await page.getByRole("alert").getByText("The in-app channel was deleted.").waitFor();
    await resume();
    await dialog.getByRole("button", { name: /^Resume for [1-9]/ }).waitFor();

    await page.route("**/api/v1/channels", (route) => route.fulfill({ json: { channels: [] } }));
    await page.reload();
    await resume();
    await dialog.getByText("Connect the in-app channel first.").first().waitFor();
    await dialog.locator(".skeleton").first().waitFor({ state: "detached" });
  });

  it("a paused experience is not resumed before it is known whether that sends it (CON-3)", async () => {
    const { page, visit } = await open();
    const notification_id = crypto.randomUUID();
    const path = await pausedExperience(page, { notification_id });
    const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>();
    await page.route(`**/api/v1/notifications/${notification_id}`, async (route) => {
      await isLetGo;
      return route.fulfill({ json: { id: notification_id, status: "canceled" } });
    });
    await visit(path);
    await page.getByRole("button", { name: /^Resume.*in progress$/ }).press("Enter");
    expect(await page.locator("dialog[open]").count()).toBe(0);
    letGo();
    await page.getByRole("button", { name: "Resume", exact: true }).click();
    await page.locator("dialog[open]").waitFor();
  });
}
