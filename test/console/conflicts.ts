// Two people in two windows change one thing, or a part of it is gone: nothing is overwritten without a word.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { choose, press, type Tab, violationsInThemes } from "../support/console-tab.ts";

async function newTemplate(page: Page, visit: Tab["visit"], name: string): Promise<void> {
  await visit("content/templates/new");
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Title").fill("Hello");
  await page.getByLabel("Body", { exact: true }).fill("From both of us.");
  await press(page, "Save the template");
}

/** As an answer names the parts of a mail that are gone. */
const LEFT_OUT = ["by_channel.email.html", "by_channel.email.design"];

export function conflictStories(open: () => Promise<Tab>): void {
  it("a template whose large mail is stored no more says so, and is saved without it only when that is wanted (CON-2, TPL-6)", async () => {
    const { page, visit } = await open();
    await newTemplate(page, visit, "Of a lost mail");
    await page.route(/\/templates\/[\w-]+$/, async (route) => {
      if (route.request().method() !== "GET") return route.fallback();
      const response = await route.fetch();
      const json = await response.json();
      await route.fulfill({ response, json: { ...json, content: { ...json.content, left_out: LEFT_OUT } } });
    });
    await page.getByRole("link", { name: "Of a lost mail", exact: true }).click();
    const notice = page.locator(".banner").filter({ hasText: "The HTML of this email is no longer stored." });
    await notice.waitFor();
    await page.locator("aside").getByText("From both of us.").waitFor();
    expect(await violationsInThemes(page)).toEqual({});
    await page.getByLabel("Title").fill("Spring again");
    await press(page, "Save the template");
    await notice.and(page.getByRole("alert")).waitFor();
    await press(page, "Go on without it");
    await notice.waitFor({ state: "detached" });
    await press(page, "Save the template");
    await page.getByText("Of a lost mail is saved.").waitFor();
  });

  it("what is written in an email and emptied again is no change (CON-2)", async () => {
    const { page, visit } = await open();
    await visit("content/templates/new");
    const tabs = page.getByRole("group", { name: "Content for" });
    await tabs.getByRole("button", { name: "Email" }).click();
    await page.getByLabel("Subject").fill("Spring");
    await page.getByText("Not saved: content", { exact: true }).waitFor();
    await page.getByLabel("Subject").fill("");
    await page.getByText(/^Not saved/).waitFor({ state: "detached" });
    await page.getByLabel("Subject").fill("Spring");
    await press(page, "Use the content of all channels");
    await page.getByText(/^Not saved/).waitFor({ state: "detached" });
  });

  it("two changes of one template are merged, and asked where they overlap (CON-3)", async () => {
    const { page, visit, context } = await open();
    await newTemplate(page, visit, "Of two people");
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

  it("what was written before another person saved is compared with it after a reload as well (CON-3)", async () => {
    const { page, visit, context } = await open();
    await newTemplate(page, visit, "Of a reload");
    await page.getByRole("link", { name: "Of a reload" }).click();
    await page.getByLabel("Body", { exact: true }).fill("From him.");
    const other = await context.newPage();
    const address = page.url();
    await other.goto(address);
    await other.getByLabel("Title").fill("Hello from her");
    await press(other, "Save the template");
    await other.getByText("Of a reload is saved.").waitFor();
    await page.reload();
    await press(page, "Save the template");
    await page.getByText("Somebody else saved meanwhile: both changes are kept.").waitFor();
    await other.goto(address);
    expect(await other.getByLabel("Body", { exact: true }).inputValue()).toBe("From him.");
    expect(await other.getByLabel("Title").inputValue()).toBe("Hello from her");
    await other.close();
  });

  it("nothing is saved over what could not be read, and a second press saves nothing twice (CON-3)", async () => {
    const { page, visit } = await open();
    await newTemplate(page, visit, "Of a bad line");
    await page.getByRole("link", { name: "Of a bad line" }).click();
    await page.getByLabel("Title").fill("Changed");
    const writes: string[] = [];
    const { promise: isPressed, resolve: letThrough } = Promise.withResolvers<void>();
    let isBroken = true;
    await page.route("**/api/v1/templates/*", async (route) => {
      const method = route.request().method();
      if (method === "GET" && isBroken) return route.fulfill({ status: 500, json: { message: "Broken." } });
      if (method === "GET") await isPressed;
      if (method === "PATCH") writes.push(method);
      return route.fallback();
    });
    await press(page, "Save the template");
    await page.getByRole("alert").getByText("The service has a problem.").waitFor();
    expect(writes).toEqual([]);
    isBroken = false;
    await press(page, "Save the template");
    await press(page, "Save the template");
    letThrough();
    await page.getByRole("heading", { name: "Content", level: 1 }).waitFor();
    expect(writes).toEqual(["PATCH"]);
  });

  it("a draft that another person archives while it is edited stays on the screen, and its save is refused (CON-3)", async () => {
    const { page, visit, context } = await open();
    await visit("campaigns/new");
    await page.getByLabel("Name").fill("Archived meanwhile");
    await page.getByLabel("Title").fill("Hello");
    await page.getByLabel("Body", { exact: true }).fill("To all.");
    await press(page, "Save the draft");
    await press(page, "Edit");
    await page.getByLabel("Title").fill("A better title");
    const other = await context.newPage();
    await other.goto(page.url());
    await choose(other, "Archive");
    await other.getByRole("button", { name: "Release", exact: true }).waitFor({ state: "detached" });
    await other.close();
    await page.locator(".page-title .badge", { hasText: "archived" }).waitFor();
    expect(await page.getByLabel("Title").inputValue()).toBe("A better title");
    await press(page, "Save the draft");
    await page.locator("form [role=alert]").waitFor();
  });

  it("who writes conditions of a segment goes on where they are when another person saves it (CON-3, CON-4)", async () => {
    const { page, visit, context } = await open();
    await visit("segments/new");
    await page.getByLabel("Name").fill("Of two windows");
    await page.getByLabel("Attribute 1").fill("plan");
    await page.getByLabel("Value 1").fill("pro");
    await press(page, "Create the segment");
    await page.getByRole("heading", { name: "Of two windows" }).waitFor();
    const value = page.getByLabel("Value 1");
    await value.fill("te");
    const other = await context.newPage();
    await other.goto(page.url());
    await other.getByLabel("Name").fill("Hers");
    await press(other, "Save");
    await page.getByRole("heading", { name: "Hers", level: 1 }).waitFor();
    await page.keyboard.type("am");
    expect(await value.inputValue()).toBe("team");
    await press(page, "Save");
    await page.getByText("Somebody else saved meanwhile: both changes are kept.").waitFor();
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("Hers");
    expect(await value.inputValue()).toBe("team");
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
      await dialog.getByRole("button", { name: /^(Create|Save) the topic$/ }).click();
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
