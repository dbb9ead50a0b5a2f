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
    await page.getByLabel("Add to list").selectOption({ label: "first (0)" });
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
    await page.getByText("people.csv, 6 bytes").waitFor();
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

  it("a rule as JSON that cannot be read yet is there again after another page, and after its panel was closed (CON-2)", async () => {
    const tab = await open();
    const { page, visit } = tab;
    const begun = '{ "attribute": { "plan"';
    const json = page.getByLabel("Rule as JSON");
    await visit("segments/new");
    await page.getByRole("button", { name: "Show as JSON" }).click();
    await json.fill(begun);
    await visit("people");
    await visit("segments/new");
    expect(await json.inputValue()).toBe(begun);
    await openBranch(tab);
    await page.getByRole("button", { name: "Show as JSON" }).click();
    await json.fill(begun);
    await page.locator(".chart-panel").getByRole("button", { name: "Close" }).click();
    await page.locator("button.chart-node", { hasText: "Branch" }).click();
    expect(await json.inputValue()).toBe(begun);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved without the unfinished conditions.").waitFor();
    await page.getByText("version 3").waitFor();
    expect(await json.inputValue()).toBe(begun);
  });

  it("how late an event may be stays empty where it is emptied, and is then refused (CON-3)", async () => {
    const { page, visit } = await open();
    await draftJourney({ page, visit }, "Late ones", "signed_up");
    await page.locator("button.chart-mark", { hasText: "signed_up" }).click();
    const limit = page.getByLabel("At most this late", { exact: true });
    await limit.fill("");
    expect(await limit.inputValue()).toBe("");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await limit.and(page.locator("[aria-invalid=true]")).waitFor();
    await limit.fill("5");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText(/^Not saved/).waitFor({ state: "detached" });
    expect(await limit.inputValue()).toBe("5");
  });

  it("a text is written on where this browser keeps nothing more, and it is said (CON-2)", async () => {
    const { page, visit } = await open();
    await page.evaluate(`Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError") }`);
    await visit("send");
    await page.getByLabel("Title").pressSequentially("The sale");
    expect(await page.getByLabel("Title").inputValue()).toBe("The sale");
    await page.getByText("This browser has no room left").waitFor();
  });

  it("a variable whose name has a space is put as Liquid reads it (CON-3)", async () => {
    const { page, visit } = await open();
    await page.route("**/api/v1/segments/attribute-keys", (route) =>
      route.fulfill({ json: { keys: ["first name", "address.city"] } }),
    );
    await visit("send");
    await page.getByText("Insert a variable").click();
    await page.getByRole("button", { name: /^first name/ }).click();
    await page.getByRole("button", { name: /^address.city/ }).click();
    const body = page.getByLabel("Body", { exact: true });
    expect(await body.inputValue()).toBe('{{ subscriber["first name"] }}{{ subscriber.address.city }}');
    await page.getByLabel("Title").fill("Hello");
    await page
      .getByText(/^Give a fallback/)
      .or(page.getByText(/such as/))
      .first()
      .waitFor();
    expect(await page.locator("main .banner code").innerText()).toBe(
      `{{ subscriber["first name"] | default: 'there' }}`,
    );
  });

  it("a file and what was said of it are there after another page, and are not said of the next one (CON-3, CON-2)", async () => {
    const { page, visit, show } = await open();
    const choose = (name: string) =>
      page.getByLabel("CSV file").setInputFiles({
        name,
        mimeType: "text/csv",
        buffer: Buffer.from(`email,consent\n${name}@example.com,yes\n`),
      });
    const start = page.getByRole("button", { name: "Start the dry run", exact: true });
    await visit("import");
    await choose("agreed.csv");
    await start.click();
    await page.getByLabel("Date of consent").fill("2026-01-05");
    await show("people");
    await show("import");
    await page.getByText("agreed.csv, 41 bytes").waitFor();
    expect(await page.getByLabel("Date of consent").inputValue()).toBe("2026-01-05");
    await choose("bought.csv");
    await page.getByText("bought.csv, 41 bytes").waitFor();
    await start.click();
    expect(await page.getByLabel("Date of consent").inputValue()).toBe("");
  });

  it("variant B of a template is previewed with what it takes from the template (CON-3)", async () => {
    const { page, visit } = await open();
    const id = crypto.randomUUID();
    const content = { title: "Hello", body: "All.", by_channel: { in_app: { body: "Of the template" } } };
    const template = { id, name: "Greeting", content, created_at: "2026-01-01T00:00:00Z" };
    await page.route("**/api/v1/templates?*", (route) => route.fulfill({ json: { data: [template], total: 1 } }));
    await page.route(`**/api/v1/templates/${id}`, (route) => route.fulfill({ json: template }));
    await visit("campaigns/new");
    await page.getByLabel("Title").fill("Given up");
    await page.getByLabel("Body", { exact: true }).fill("Given up.");
    await page.getByLabel("Use a template").check();
    await page.getByLabel("Template", { exact: true }).selectOption("Greeting");
    await page.getByLabel("Compare with a variant B").check();
    await page.getByLabel("Title of B").fill("Good day");
    const asked = page.waitForRequest("**/api/v1/templates/preview");
    await page.getByLabel("Body of B").fill("Everything.");
    expect((await bodyOf(page, await asked)).content).toMatchObject({
      title: "Good day",
      by_channel: { in_app: { body: "Of the template" } },
    });
    await page.getByLabel("Preview").getByText("Of the template").waitFor();
  });

  it("until a message is rendered its variables have their names (CON-3)", async () => {
    const { page, visit } = await open();
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    await page.route("**/api/v1/templates/preview", (route) => asked.then(() => route.fallback()));
    await visit("campaigns/new");
    await page.getByLabel("Title").fill("Hello {{ subscriber.first_name }}");
    await page.getByLabel("Body", { exact: true }).fill("You.");
    const preview = page.getByLabel("Preview");
    await preview.getByText("Hello [first name]").waitFor();
    resolve();
    await preview.getByText("Hello Ada").waitFor();
  });

  it("the preview of an experience has no word of its own where a person gets none, and says nobody is found once they are read (CON-3)", async () => {
    const { page, visit } = await open();
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
    await page.route("**/api/v1/subscribers?*", (route) => isRead.then(() => route.fallback()));
    const preview = page.getByLabel("Preview");
    await visit("content/experiences/new");
    await preview.getByLabel("As seen by").waitFor();
    expect(await preview.getByText("Nobody is found").count()).toBe(0);
    read();
    await page.getByLabel("Title").fill("{{ subscriber.nick }}");
    await page.getByLabel("Body").fill("Hello.");
    await preview.getByRole("note").waitFor();
    expect(await preview.locator(".experience b").textContent()).toBe("");
  });

  it("Ctrl Z outside of a field takes back one change once, whatever the browser remembers of the field (CON-4)", async () => {
    const { page, visit } = await open();
    await visit("send");
    await page.getByLabel("Title").focus();
    await page.keyboard.type("Sale");
    await page.getByRole("button", { name: "Start over" }).focus();
    await page.keyboard.press("ControlOrMeta+z");
    await page.getByRole("button", { name: "Redo", exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Undo", exact: true }).count()).toBe(0);
    expect(await page.getByLabel("Title").inputValue()).toBe("");
  });
}

/** Saves a journey with a branch, and opens the form of that. */
async function openBranch({ page, visit }: Tab): Promise<void> {
  await draftJourney({ page, visit }, "Trial", "trial_began");
  await page.getByRole("button", { name: /^Insert a step after/ }).click();
  await page.locator(".chart-panel").getByRole("button", { name: "Branch", exact: true }).click();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText(/^Not saved/).waitFor({ state: "detached" });
  await page.locator("button.chart-node", { hasText: "Branch" }).click();
}
