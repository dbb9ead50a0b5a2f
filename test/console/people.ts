// The page of a person: what happened and why, what was agreed to, and everything about them as one file.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { choose, SETTLE_MS, type Tab, tabTo, violationsInThemes } from "../support/console-tab.ts";
import { bodyOf, savedBy } from "../support/told.ts";

const openAda = async ({ page, visit }: Tab): Promise<Page> => {
  await visit("people?q=ada");
  await page.getByRole("link", { name: "Ada Keller", exact: true }).click();
  await page.getByRole("heading", { name: "Ada Keller", level: 1 }).waitFor();
  await page.locator(".timeline li").first().waitFor();
  return page;
};

export function peopleStories(open: () => Promise<Tab>): void {
  it("a person is told as a story by day: each message with its channels, and as it was seen (CON-3)", async () => {
    const tab = await open();
    await tab.page.route("**/notifications/preview", async (route) => {
      const response = await route.fetch({ postData: await bodyOf(tab.page, route.request()) });
      const missed_by_class = { email: { address_not_supported: 1 } };
      await route.fulfill({ response, json: { ...(await response.json()), missed_by_class } });
    });
    const page = await openAda(tab);
    const words =
      /^A marketing message sent now would (go out|wait).* by .*, and not by Email \(the address has letters that/;
    await page.getByText(words).waitFor();
    const message = page.locator(".timeline > li", { hasText: "New: shared boards" });
    expect(await message.locator(".badge").allTextContents()).toEqual(["delivered", "delivered"]);
    await page.getByRole("link", { name: "Welcome, [first name]", exact: true }).waitFor();
    await message.getByRole("button", { name: "More about New: shared boards" }).click();
    await message.getByText(/^Delivered by/).waitFor();
    await message.locator(".in-app-card", { hasText: "Hello Ada, three things" }).waitFor();
    expect(await violationsInThemes(page)).toEqual({});
  });

  it("the walk of a person through a journey, and why a campaign did or did not reach them, is said in words (CON-3)", async () => {
    const page = await openAda(await open());
    const run = page.locator(".timeline > li", { hasText: "Welcome" }).filter({ hasText: "completed" });
    await run.getByRole("button", { name: "More about Welcome" }).click();
    await run.getByText("Send a message Welcome, [first name] sent").waitFor();
    await run.getByText(/^Entered on /).waitFor();
    expect(await run.locator(".walk").textContent()).toMatch(/if plan is \w+ If (so|not)/);
    await page.getByRole("button", { name: "A campaign", exact: true }).click();
    await page.getByLabel("A campaign", { exact: true }).selectOption({ label: "Winter preview" });
    await page.getByText("Not sent: the campaign is a draft, which was not released.").waitFor();
    await page.getByRole("link", { name: "Open the campaign" }).waitFor();
    expect(await violationsInThemes(page)).toEqual({});
  });

  it("consents of a person stand with their proof, the inbox as it is in the app, and a template as they would get it (CON-3)", async () => {
    const page = await openAda(await open());
    await page.getByRole("link", { name: "Consent history" }).click();
    await page.getByRole("row", { name: /Email opted in .* Given expressly, by an import/ }).waitFor();
    expect(await violationsInThemes(page)).toEqual({});
    await page.getByRole("link", { name: "Inbox" }).click();
    await page.locator(".in-app-card", { hasText: "Hello Ada" }).first().waitFor();
    expect(await violationsInThemes(page)).toEqual({});
    await choose(page, "Preview a template");
    await page.getByLabel("Template").selectOption({ label: "Receipt" });
    await page.locator("dialog[open]").getByText("Thank you, Ada").waitFor();
    expect(await violationsInThemes(page)).toEqual({});
  });

  it("everything about a person, and their consents, are files that the page saves (CON-3)", async () => {
    const page = await openAda(await open());
    const savedByButton = (name: string) => savedBy(page, () => page.getByRole("button", { name }).click(), SETTLE_MS);
    const person = JSON.parse(await savedByButton("Export")) as { subscriber: object };
    expect(person).toMatchObject({ subscriber: { external_id: "ada" }, inbox: expect.any(Array) });
    await page.getByRole("link", { name: "Consent history" }).click();
    const [head, row] = (await savedByButton("Download Consent history as CSV")).split("\r\n");
    expect(head).toBe("Channel,Answer,Given,Recorded,Source,Proof");
    expect(row).toMatch(/^Email,opted in,/);
  });

  it("the audit trail is a file that the page saves, with times that say their day (RDA-23)", async () => {
    const { page, visit } = await open();
    await visit("settings/audit");
    const press = () => page.getByRole("button", { name: "Download Audit trail as CSV" }).click();
    const [head, row] = (await savedBy(page, press, SETTLE_MS)).split("\r\n");
    expect(head).toBe("When,What happened,From");
    expect(row).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z,\w+ /);
  });

  it("where what has the focus is taken away, the nearest that stays gets it (CON-4)", async () => {
    const page = await openAda(await open());
    await tabTo(page, "Edit");
    await page.keyboard.press("Enter");
    await page.locator("main form input:focus").waitFor();
    await tabTo(page, "Cancel");
    await page.keyboard.press("Enter");
    await page.locator("button:focus", { hasText: /^Edit$/ }).waitFor();
  });

  it("what follows on something that is removed has the focus, in sight (CON-4)", async () => {
    const { page, visit } = await open();
    await visit("campaigns/new");
    for (let n = 0; n < 2; n++) await page.getByRole("button", { name: "Add a message" }).press("Enter");
    await page.getByRole("button", { name: "Remove message 3" }).press("Enter");
    const follows = page.getByRole("button", { name: "Save the draft" }).and(page.locator(":focus"));
    await follows.waitFor();
    const box = await follows.boundingBox();
    expect(box && box.y >= 0 && box.y + box.height <= page.viewportSize()!.height).toBe(true);
  });

  it("a change of a journey is undone and done again without a move of the focus (CON-4)", async () => {
    const { page, visit } = await open();
    const dialog = page.locator("dialog[open]");
    await visit("journeys");
    await page.getByRole("button", { name: "New journey" }).first().click();
    await dialog.getByRole("radio", { name: /^Trial ends/ }).check();
    await dialog.getByRole("button", { name: "Create the draft" }).click();
    const step = page.locator("button.chart-node", { hasText: "Three days left" });
    await step.press("Enter");
    await page.getByRole("heading").and(page.locator(":focus")).waitFor();
    await page.getByRole("button", { name: "Remove the step" }).press("Enter");
    await step.waitFor({ state: "detached" });
    await page.getByLabel("Steps as a chart").and(page.locator(":focus")).waitFor();
    await page.getByRole("button", { name: "Undo" }).press("Enter");
    await step.waitFor();
    await page.getByRole("button", { name: "Redo" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Enter");
    await step.waitFor({ state: "detached" });
    await page.keyboard.press("ControlOrMeta+z");
    await step.waitFor();
    await page.keyboard.press("ControlOrMeta+Shift+z");
    await step.waitFor({ state: "detached" });
  });

  it("an address that takes no mail says why on the page of its person (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("suppressions");
    await page.getByRole("button", { name: "Suppress an address" }).first().click();
    await page.getByLabel("Email or phone number").last().fill("ada@example.com");
    await page.getByLabel("Note (optional)").fill("asked by phone");
    await page.getByRole("button", { name: "Suppress", exact: true }).click();
    await page.getByText("ada@example.com is suppressed.").waitFor();
    await page.getByRole("row", { name: /^ada@example\.com By a colleague console or API asked by phone/ }).waitFor();
    await openAda({ page, visit } as Tab);
    await page.getByText(/Suppressed: a colleague suppressed it \(asked by phone\)/).waitFor();
    await page.getByRole("link", { name: "Look at it" }).click();
    await page.getByRole("button", { name: "Lift ada@example.com" }).click();
    await page.getByLabel("Why").fill("a slip");
    await page.getByRole("button", { name: "Lift", exact: true }).click();
    await page.getByText("The suppression is lifted.").waitFor();
  });

  it("a lifted suppression says of which address, and why where that is still known (CON-3)", async () => {
    const { page, visit } = await open();
    const lifted_at = "2026-01-02T03:04:05.000Z";
    const lifted = [
      { kind: "email", lifted_at, reason: "a slip" },
      { kind: "phone", lifted_at, reason: null },
    ];
    await page.route(/\/consents(\?|$)/, (route) => route.fulfill({ json: { items: [], lifted, next_cursor: "" } }));
    await openAda({ page, visit } as Tab);
    await page
      .getByRole("navigation", { name: "Parts of the person" })
      .getByRole("link", { name: /^Consent/ })
      .click();
    await page.getByText(/^Suppression of the email lifted .*: a slip$/).waitFor();
    await page.getByText(/^Suppression of the phone lifted [^:]+(:\d\d)+[^:]*$/).waitFor();
  });
}
