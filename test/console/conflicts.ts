// Two people in two windows change one thing: nothing of either is overwritten without a word.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { type Tab, violationsInThemes } from "../support/console-tab.ts";

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

export function conflictStories(open: () => Promise<Tab>): void {
  it("two changes of one template are merged, and asked where they overlap (CON-3)", async () => {
    const { page, visit, context } = await open();
    await visit("content/templates/new");
    await page.getByLabel("Name").fill("Of two people");
    await page.getByLabel("Title").fill("Hello");
    await page.getByLabel("Body", { exact: true }).fill("From both of us.");
    await press(page, "Save the template");
    const edit = async (window: Page) => {
      await window.getByRole("link", { name: "Of two people" }).click();
      await window.getByRole("heading", { name: "Of two people" }).waitFor();
    };
    await edit(page);
    const other = await context.newPage();
    await other.goto(page.url());
    await other.getByLabel("Title").fill("Hello from her");
    await press(other, "Save the template");
    await other.getByText("Of two people is saved.").waitFor();
    await page.getByLabel("Body", { exact: true }).fill("From him.");
    await press(page, "Save the template");
    await page.getByText("Somebody else saved meanwhile: both changes are kept.").waitFor();
    await edit(page);
    expect(await page.getByLabel("Title").inputValue()).toBe("Hello from her");
    expect(await page.getByLabel("Body", { exact: true }).inputValue()).toBe("From him.");
    await edit(other);
    await other.getByLabel("Title").fill("Hers again");
    await press(other, "Save the template");
    await other.getByRole("link", { name: "Of two people" }).waitFor();
    await page.getByLabel("Title").fill("His again");
    await press(page, "Save the template");
    const dialog = page.getByRole("dialog", { name: "Somebody else saved meanwhile" });
    await dialog.getByRole("row", { name: "content.title Hers again His again" }).waitFor();
    expect(await violationsInThemes(page)).toEqual({});
    await press(page, "Keep theirs");
    await edit(page);
    expect(await page.getByLabel("Title").inputValue()).toBe("Hers again");
    await other.close();
  });

  it("a step of a journey that another person changed meanwhile is asked for before it is overwritten (CON-3)", async () => {
    const { page, visit, context } = await open();
    await visit("journeys");
    await press(page, "New journey");
    await page.getByRole("radio", { name: /^Trial ends/ }).check();
    await press(page, "Create the draft");
    const change = async (window: Page, title: string) => {
      await window.locator("button.chart-node", { hasText: "Three days left" }).click();
      await window.getByLabel("Title").fill(title);
    };
    await page.locator("button.chart-node", { hasText: "Three days left" }).waitFor();
    const other = await context.newPage();
    await other.goto(page.url());
    await change(other, "Hers");
    await press(other, "Save");
    await other.getByText("The journey is saved.").waitFor();
    await change(page, "His");
    await press(page, "Save");
    const dialog = page.getByRole("dialog", { name: "Somebody else saved meanwhile" });
    await dialog.getByRole("cell", { name: "Hers" }).waitFor();
    await press(page, "Keep yours");
    await page.getByText("The journey is saved.").waitFor();
    await other.reload();
    await other.locator("button.chart-node", { hasText: "His" }).waitFor();
    await other.close();
  });

  it("attributes that a product sets while somebody edits others stay as it set them (CON-3)", async () => {
    const { page, visit, context } = await open();
    await visit("people?q=ada");
    await page.getByRole("link", { name: "Ada Keller", exact: true }).click();
    const attributes = page.locator("section.card", { has: page.getByRole("heading", { name: "Attributes" }) });
    const edit = (window: Page) =>
      window
        .locator("section.card", { has: window.getByRole("heading", { name: "Attributes" }) })
        .getByRole("button", { name: "Edit" })
        .click();
    await edit(page);
    const other = await context.newPage();
    await other.goto(page.url());
    await edit(other);
    await other.getByLabel("Value of city").fill("Cologne");
    await press(other, "Save");
    await other.getByText("The attributes are saved.").waitFor();
    await page.getByLabel("Value of country").fill("AT");
    await press(page, "Save");
    await page.getByText("The attributes are saved.").waitFor();
    await attributes.getByText("Cologne").waitFor();
    await attributes.getByText("AT", { exact: true }).waitFor();
    await other.close();
  });

  it("a topic that asks for a second yes still does once its name is changed (CON-3, AMB-129)", async () => {
    const { page, visit } = await open();
    const dialog = page.locator("dialog[open]");
    const save = async () => {
      await dialog.getByRole("button", { name: "Save the topic" }).click();
      await dialog.waitFor({ state: "detached" });
    };
    await visit("content/topics");
    await press(page, "New topic");
    await dialog.getByLabel("Key").fill("twice");
    await dialog.getByLabel("Name").fill("Twice");
    await dialog.getByLabel(/opt.in/i).check();
    await save();
    await page.getByRole("button", { name: "Edit Twice" }).click();
    expect(await dialog.getByLabel(/opt.in/i).isChecked()).toBe(true);
    await dialog.getByLabel("Name").fill("Two times");
    await save();
    await page.getByRole("button", { name: "Edit Two times" }).click();
    expect(await dialog.getByLabel(/opt.in/i).isChecked()).toBe(true);
  });
}
