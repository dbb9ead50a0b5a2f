// What a page says while something else goes on: a read that is older than a write, a part or an answer that does not come.
import { expect, it } from "vitest";
import { draftJourney, type Tab } from "../support/console-tab.ts";

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

  it("a message of a draft whose time has passed is not said to be sent (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("campaigns/new");
    await page.getByLabel("Name").fill("Late news");
    await page.getByLabel("Title").fill("Late");
    await page.getByLabel("Body", { exact: true }).fill("It is late.");
    await page.getByLabel(/^Send at/).fill("2020-01-01T09:00");
    await page.getByRole("button", { name: "Save the draft" }).click();
    await page.getByText("Planned for 1 Jan 2020, 09:00 CET").waitFor();
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
    await other.getByText("Not saved yet.").waitFor({ state: "detached" });
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
    await page.getByText("Its members are being computed.").waitFor();
    await page.locator(".verdict", { hasText: /\d people/ }).waitFor();
    expect(await page.locator(".verdict").innerText()).toBe("0 people");
  });

  it("a name that is written from the right is cut at its end (CON-4)", async () => {
    const { page } = await open();
    await page.route("**/api/v1/me", async (route) => {
      const response = await route.fetch();
      const me = await response.json();
      return route.fulfill({
        response,
        json: { ...me, tenant: { ...me.tenant, name: "מאפיית הנמל הישן של חיפה והצפון" } },
      });
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
}
