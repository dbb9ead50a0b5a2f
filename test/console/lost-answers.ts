// What the console says and does where the answer to a write was lost, so that it may be done already.
import { expect, it } from "vitest";
import { choose, draftJourney, type Tab, violations } from "../support/console-tab.ts";
import { bodyOf } from "../support/told.ts";

export function lostAnswerStories(open: () => Promise<Tab>): void {
  it("a draft whose answer was lost is saved once, and what has passed of it is not said to be sent (CON-3)", async () => {
    const { page, visit } = await open();
    const save = () => page.getByRole("button", { name: "Save the draft" }).click();
    const lost = page.getByText("The service cannot be reached.");
    let isLost = true;
    await page.route("**/api/v1/campaigns", async (route) => {
      if (!isLost) return route.fallback();
      await route.fetch({ postData: await bodyOf(page, route.request()) });
      return route.abort("internetdisconnected");
    });
    await visit("campaigns/new");
    await page.getByLabel("Name").fill("Late news ");
    await page.getByLabel("Title").fill("Late");
    await page.getByLabel("Body", { exact: true }).fill("It is late.");
    await page.getByLabel(/^Send at/).fill("2020-01-01T09:00");
    await save();
    await lost.waitFor();
    // Another text takes the place of the first, also after a reload.
    await page.getByLabel("Title").fill("Later");
    await page.reload();
    await save();
    await lost.waitFor();
    isLost = false;
    await save();
    await page.getByText("Planned for 1 Jan 2020, 09:00 CET").waitFor();
    await visit("campaigns?q=Late%20news");
    await page.getByRole("link", { name: "Late news" }).first().waitFor();
    expect(await page.getByRole("link", { name: "Late news" }).count()).toBe(1);
  });

  it("a send that is changed after its answer was lost says that it went out before, and goes out again if that is meant (CON-3)", async () => {
    const { page, visit } = await open();
    let isLost = true;
    await page.route("**/api/v1/notifications", async (route) => {
      if (!isLost) return route.fallback();
      await route.fetch();
      return route.abort("internetdisconnected");
    });
    const send = async (title: string) => {
      await page.getByLabel("Title").fill(title);
      await page.getByRole("button", { name: "Review and send" }).click();
      await page.getByRole("button", { name: /^Send to \d+ p/ }).click();
    };
    await visit("send");
    await page.getByLabel("Body").fill("It begins soon.");
    await send("The sale");
    await page.getByText("The service cannot be reached.").waitFor();
    isLost = false;
    await send("The great sale");
    await page.getByText("It went out before you changed it.").waitFor();
    await send("The greater sale");
    await page.getByRole("heading", { name: "The greater sale" }).waitFor();
  });

  it("a send whose key is in use is not said to have gone out, and is tried again with its key (CON-3)", async () => {
    const { page, visit } = await open();
    const keys: (string | undefined)[] = [];
    const message = "This idempotency key is in use at the moment. Try again.";
    await page.route("**/api/v1/notifications", (route) => {
      keys.push(route.request().headers()["idempotency-key"]);
      return route.fulfill({ status: 409, json: { code: "CONFLICT", message } });
    });
    await visit("send");
    await page.getByLabel("Title").fill("The sale");
    await page.getByLabel("Body").fill("It begins soon.");
    for (const n of [1, 2]) {
      await page.getByRole("button", { name: "Review and send" }).click();
      await page.getByRole("button", { name: /^Send to \d+ p/ }).click();
      await expect.poll(() => keys.length).toBe(n);
      await page.getByRole("alert").getByText(message).waitFor();
    }
    expect(await page.getByText("It went out before you changed it.").count()).toBe(0);
    expect(new Set(keys).size).toBe(1);
  });

  it("where the answer to a copy of a journey was lost, it is said that it may be there (CON-3)", async () => {
    const { page, visit } = await open();
    await draftJourney({ page, visit }, "Copied", "signed_up");
    await page.route("**/duplicate", async (route) => {
      await route.fetch();
      return route.abort("internetdisconnected");
    });
    await choose(page, "Duplicate");
    await page.getByText("No answer came, and it may be done already. Look before you try again.").waitFor();
  });

  it("where the answer to a creation was lost, a form says that it may be done, and the list behind it has it (CON-3)", async () => {
    const { page, visit } = await open();
    await page.route("**/api/v1/lists", async (route) => {
      if (route.request().method() !== "POST") return route.fallback();
      await route.fetch();
      return route.abort("internetdisconnected");
    });
    await visit("content/lists");
    await page.getByRole("button", { name: "New list" }).first().click();
    await page.getByLabel("Name", { exact: true }).fill("Lost and found");
    await page.keyboard.press("Enter");
    await page.getByText("No answer came, and it may be done already. Look before you try again.").waitFor();
    await page.locator("main").getByText("Lost and found").waitFor();
  });

  it("where the answer to the rotation of a secret was lost, it is said what another one ends (CON-3, D-HOOKS)", async () => {
    const { page, visit } = await open();
    const dialog = page.locator("dialog[open]");
    await visit("webhooks");
    await page.getByRole("button", { name: "Add an endpoint" }).first().click();
    await dialog.getByLabel("URL").fill("https://hooks.example.com/lost");
    await dialog.getByLabel("subscriber.created").check();
    await dialog.getByRole("button", { name: "Add the endpoint" }).click();
    await dialog.getByRole("button", { name: "I have stored it" }).click();
    await page.getByRole("heading", { name: "hooks.example.com", level: 1 }).waitFor();
    await page.route("**/secret/rotate", async (route) => {
      await route.fetch();
      return route.abort("internetdisconnected");
    });
    await choose(page, "Rotate the secret");
    await dialog.getByRole("button", { name: "Rotate it" }).click();
    await dialog.getByText("No answer came, and it may be done already.").waitFor();
    await dialog.getByText("a second rotation ends the secret that your server has").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.unroute("**/secret/rotate");
    await dialog.getByRole("button", { name: "Rotate it" }).click();
    await dialog.getByText(/^whsec_/).waitFor();
  });
}
