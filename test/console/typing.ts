// What is typed or chosen is taken as it is, digit by digit, and stays while it is not complete.
import { expect, it } from "vitest";
import { draftJourney, type Tab } from "../support/console-tab.ts";
import { bodyOf } from "../support/told.ts";

export function typingStories(open: () => Promise<Tab>): void {
  it("a send whose time is emptied asks for one and keeps what is written (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("send");
    await page.getByLabel("Title").fill("The sale");
    await page.getByLabel("Body").fill("It begins soon.");
    await page.getByLabel("Later").check();
    await page.getByLabel(/^At \(/).fill("");
    await page.locator(".refusal", { hasText: "Choose a time." }).waitFor({ state: "attached" });
    expect(await page.getByLabel("Title").inputValue()).toBe("The sale");
  });

  it("in a window of 1,024 pixels what is written and its preview stand side by side (CON-3)", async () => {
    const { page, visit } = await open();
    await page.setViewportSize({ width: 1024, height: 768 });
    await visit("send");
    const [form, preview] = await Promise.all(
      [".composer > form", ".composer > .preview"].map((part) => page.locator(part).boundingBox()),
    );
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(preview?.y).toBe(form?.y);
    expect(preview?.x).toBeGreaterThan(form?.width ?? 0);
  });

  it("a limit of less than a tenth of a percent is typed digit by digit (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("send");
    await page.getByText("Name, control group and brake").click();
    await page.getByLabel("Custom limits").check();
    const limit = page.getByLabel("Spam complaints, %");
    await limit.pressSequentially("0.05");
    expect(await limit.inputValue()).toBe("0.05");
  });

  it("a refused new list is forgotten once the file goes into another list (CON-3)", async () => {
    const { page, visit } = await open();
    const start = async (name: string) => {
      const buffer = Buffer.from("email\nnew@example.com\n");
      await page.getByLabel("CSV file").setInputFiles({ name, mimeType: "text/csv", buffer });
      await page.getByRole("button", { name: "Start the dry run", exact: true }).click();
    };
    const tried = () => page.getByText("1 row will be imported.").waitFor();
    await visit("import");
    await start("first.csv");
    await tried();
    await page.route("**/api/v1/lists", (route) =>
      route.fulfill({ status: 409, json: { code: "CONFLICT", message: "Its name is taken." } }),
    );
    await page.getByLabel("Add to list").selectOption({ label: "A new list" });
    await start("second.csv");
    await page.getByText("Its name is taken.").waitFor();
    await page.getByLabel("Add to list").selectOption({ label: "first" });
    await start("second.csv");
    await tried();
    expect(await page.getByText("Its name is taken.").count()).toBe(0);
  });

  it("a file that was mended can be chosen again (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("import");
    const file = page.getByLabel("CSV file");
    const buffer = Buffer.from("email\n");
    await file.setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer });
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), file.click({ force: true })]);
    // A browser tells of no choice that is the same as before.
    expect(await chooser.element().inputValue()).toBe("");
    await page.getByText("people.csv, 1 KB").waitFor();
  });

  it("an external ID with a space is one ID (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("send");
    await page.getByLabel("Specific people").check();
    await page.getByLabel("Their external IDs").fill("ada lovelace, ben\ncleo");
    await page.getByLabel("Title").fill("Hello");
    const asked = page.waitForRequest("**/api/v1/notifications/preview");
    await page.getByLabel("Body").fill("You.");
    expect((await bodyOf(page, await asked)).external_ids).toEqual(["ada lovelace", "ben", "cleo"]);
  });

  it("conditions that are not finished are there again after another page, and cannot be saved (CON-2)", async () => {
    const { page, visit } = await open();
    await visit("segments/new");
    await page.getByLabel("Attribute 1").fill("plan");
    await page.getByLabel("Value 1").fill("pro");
    await page.getByRole("button", { name: "Attribute", exact: true }).click();
    await page.getByLabel("Attribute 2").fill("city");
    await visit("people");
    await visit("segments/new");
    expect(await page.getByLabel("Attribute 2").inputValue()).toBe("city");
    await page.locator(".refusal", { hasText: "Finish the conditions first." }).waitFor({ state: "attached" });
  });

  it("a condition of a journey that is undone goes from its rows (CON-3)", async () => {
    const tab = await open();
    const { page } = tab;
    await openBranch(tab);
    await page.getByLabel("Attribute 1").fill("plan");
    await page.getByLabel("Value 1").fill("pro");
    await page.locator("button.chart-node", { hasText: "if plan is pro" }).waitFor();
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await page.locator("button.chart-node", { hasText: "if …" }).waitFor();
    expect(await page.getByLabel("Attribute 1").inputValue()).toBe("");
  });

  it("a condition of a journey that is emptied is none, and what is typed of it stays (CON-3)", async () => {
    const tab = await open();
    const { page } = tab;
    await openBranch(tab);
    await page.getByLabel("Attribute 1").fill("plan");
    await page.getByLabel("Value 1").fill("pro");
    await page.getByLabel("Value 1").fill("");
    await page.locator("button.chart-node", { hasText: "if …" }).waitFor();
    expect(await page.getByLabel("Attribute 1").inputValue()).toBe("plan");
  });
}

/** Saves a journey with a branch, and opens the form of that. */
async function openBranch({ page, visit }: Tab): Promise<void> {
  await draftJourney({ page, visit }, "Trial", "trial_began");
  await page.getByRole("button", { name: /^Insert a step after/ }).click();
  await page.locator(".chart-panel").getByRole("button", { name: "Branch", exact: true }).click();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Not saved yet.").waitFor({ state: "detached" });
  await page.locator("button.chart-node", { hasText: "Branch" }).click();
}
