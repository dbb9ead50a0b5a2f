// A mail is designed with blocks: in the editor, as the mail that is kept, and as mailboxes show it.
import type { Locator } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { mailHtml } from "../../console/mail/mail.ts";
import { designOf, starters } from "../../console/mail/starters.ts";
import { draftJourney, press, type Tab, violations, violationsInThemes } from "../support/console-tab.ts";
import { bodyOf } from "../support/told.ts";

/** Narrow, and as wide as the card. */
const WIDTHS = [320, 600];

/** Opens the design of a new template's email, begun with one of the starters. */
async function designNew({ page, visit }: Pick<Tab, "page" | "visit">, starter: RegExp): Promise<Locator> {
  await visit("content/templates/new");
  await page.getByRole("group", { name: "Content for" }).getByRole("button", { name: "Email" }).click();
  await page.getByRole("button", { name: "Design with blocks" }).click();
  const editor = page.locator("dialog.mail-editor");
  await editor.getByRole("button", { name: starter }).click();
  return editor;
}

export function mailStories(open: () => Promise<Tab>): void {
  it("a template is designed with blocks by keyboard, kept with its design, and opened again (CON-3, CON-4)", async () => {
    const { page, visit } = await open();
    await visit("content");
    await page.getByRole("link", { name: "New template" }).first().click();
    const dialog = page.locator("dialog.mail-editor");
    await page.getByLabel("Name").fill("Designed welcome");
    await page.getByRole("group", { name: "Content for" }).getByRole("button", { name: "Email" }).click();
    await page.getByRole("button", { name: "Design with blocks" }).click();
    expect(await violations(page)).toEqual([]);
    await dialog
      .getByRole("button", { name: /^Welcome/ })
      .and(page.locator(":focus"))
      .press("Enter");
    const blocks = dialog.getByRole("list", { name: "Blocks" }).getByRole("button");
    const count = await blocks.count();
    await blocks.nth(2).focus();
    await page.keyboard.press("Enter");
    await dialog.getByLabel("Heading text").and(page.locator(":focus")).waitFor();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("Good morning");
    await page.keyboard.press("Escape");
    await blocks.nth(2).and(page.locator(":focus")).waitFor();
    const mail = page.frameLocator(".mail-stage iframe");
    await mail.getByRole("heading", { name: "Good morning" }).waitFor();
    // It stands inside the form of the template, which an Enter must not send.
    await blocks.filter({ hasText: "Begin now" }).click();
    await dialog.getByLabel("Label").press("Enter");
    await blocks.nth(2).focus();
    await page.keyboard.press("Alt+ArrowUp");
    await blocks.nth(1).getByText("Good morning").waitFor();
    await dialog.getByRole("status").getByText(`Heading: place 2 of ${count}`).waitFor();
    await dialog.getByRole("button", { name: "Social links" }).click();
    await mail.getByText("Instagram").waitFor();
    expect(await blocks.count()).toBe(count + 1);
    expect(await violationsInThemes(page)).toEqual({});
    await dialog.getByRole("button", { name: "Undo", exact: true }).click();
    await mail.getByText("Instagram").waitFor({ state: "detached" });
    await dialog.getByRole("button", { name: "Redo", exact: true }).click();
    await mail.getByText("Bring your data").click();
    expect(await dialog.getByLabel("Heading text").inputValue()).toBe("2. Bring your data");
    await dialog.getByRole("button", { name: "Done" }).click();
    expect(await page.getByLabel("Subject").inputValue()).toMatch(/^Welcome, /);
    // Where only an email is written, the other channels say its subject.
    await press(page, "Send test");
    await page.getByText("In-app, test subscriber").or(page.getByText("Email, you")).first().waitFor();
    const saved = page.waitForRequest((one) => one.method() === "POST" && /\/templates$/.test(one.url()));
    await page.getByRole("button", { name: "Save the template" }).click();
    const { email } = (await bodyOf(page, await saved)).content.by_channel;
    expect(email.html).toContain("Good morning");
    expect(JSON.parse(email.design).blocks).toHaveLength(count + 1);
    await page.getByRole("link", { name: "Designed welcome", exact: true }).click();
    await page.getByRole("group", { name: "Content for" }).getByRole("button", { name: "Email" }).click();
    await page.getByText(`${count + 1} blocks`).waitFor();
    await page.getByRole("button", { name: "Edit the HTML instead" }).click();
    await page.locator("dialog[open]").getByRole("button", { name: "Edit the HTML", exact: true }).click();
    expect(await page.getByLabel("HTML").inputValue()).toContain("Good morning");
    await page.getByRole("button", { name: "Cancel" }).click();
  });

  it("the width of an image in a mail is typed digit by digit (CON-3)", async () => {
    const { page, visit } = await open();
    const editor = await designNew({ page, visit }, /^Cart/);
    await editor
      .getByRole("list", { name: "Blocks" })
      .getByRole("button", { name: /^Image/ })
      .click();
    const width = editor.getByLabel("Width, pixels");
    await width.press("ControlOrMeta+a");
    await width.pressSequentially("300");
    expect(await width.inputValue()).toBe("300");
    await width.press("ControlOrMeta+a");
    await width.pressSequentially("9");
    await width.blur();
    expect(await width.inputValue()).toBe("300");
  });

  it("HTML that is written is not replaced by a design, and blocks are given up once that is confirmed (CON-2)", async () => {
    const { page, visit } = await open();
    await visit("content/templates/new");
    await page.getByRole("group", { name: "Content for" }).getByRole("button", { name: "Email" }).click();
    const html = page.getByLabel("HTML");
    await html.fill("<p>Mine</p>");
    const opener = page.getByRole("button", { name: "Design with blocks" });
    expect(await opener.getAttribute("aria-disabled")).toBe("true");
    await html.fill("");
    await opener.click();
    await page.locator("dialog.mail-editor").getByRole("button", { name: /^Cart/ }).click();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Edit the HTML instead" }).click();
    await page.locator("dialog[open]").getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Edit the design" }).waitFor();
  });

  it("Escape closes one dialog, and neither the one behind it nor the step of a journey in which both were opened (CON-4)", async () => {
    const { page, visit } = await open();
    await draftJourney({ page, visit }, "One at a time", "signed_up");
    await page.getByRole("button", { name: /^Insert a step after/ }).click();
    const panel = page.locator(".chart-panel");
    await panel.getByRole("button", { name: "Send a message", exact: true }).click();
    await panel.getByRole("group", { name: "Content for" }).getByRole("button", { name: "Email" }).click();
    await panel.getByRole("button", { name: "Design with blocks" }).click();
    const editor = page.locator("dialog.mail-editor");
    await editor.getByRole("button", { name: /^Launch/ }).click();
    const block = editor.getByRole("button", { name: /^Image/ }).first();
    await block.click();
    await editor.getByRole("button", { name: "Choose: Image" }).click();
    await page.getByRole("dialog", { name: "Choose an image" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Choose an image" }).waitFor({ state: "detached" });
    await editor.getByRole("button", { name: "Choose: Image" }).press("Escape");
    await block.and(page.locator(":focus")).press("Escape");
    await editor.waitFor({ state: "detached" });
    await panel.getByRole("button", { name: "Edit the design" }).waitFor();
  });

  it("on a phone, a block that is pressed brings its settings into sight, and one that is chosen by keyboard stays there itself (CON-4)", async () => {
    const { page, visit } = await open();
    const size = page.viewportSize()!;
    onTestFinished(() => page.setViewportSize(size));
    await page.setViewportSize({ width: 390, height: 700 });
    const editor = await designNew({ page, visit }, /^Welcome/);
    const blocks = editor.getByRole("list", { name: "Blocks" }).getByRole("button");
    const isInSight = async (element: Locator) => {
      const { y, height } = (await element.boundingBox())!;
      return y >= 0 && y + height <= 700;
    };
    const settings = editor.getByRole("button", { name: "Settings of the whole email" });
    await blocks.first().focus();
    for (const key of ["Tab", "Shift+Tab", "Space"]) await page.keyboard.press(key);
    await settings.waitFor();
    expect(await isInSight(blocks.first())).toBe(true);
    await blocks.nth(1).click();
    await expect.poll(() => isInSight(settings)).toBe(true);
  });

  it("an editor of mails that cannot be loaded is told of, and tried again (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("content/templates/new");
    await page.getByRole("group", { name: "Content for" }).getByRole("button", { name: "Email" }).click();
    await page.route("**/*.js", (route) => route.abort("internetdisconnected"));
    const opener = page.getByRole("button", { name: "Design with blocks" });
    await opener.click();
    await page.getByText("The editor could not be loaded.").waitFor();
    expect(await opener.getAttribute("aria-disabled")).toBeNull();
  });

  it("what is wrong with a design is said where the design is, whatever was open (CON-3)", async () => {
    const { page, visit } = await open();
    const dialog = page.locator("dialog.mail-editor");
    const shown = page.getByRole("group", { name: "Content for" });
    await visit("content/templates/new");
    await page.getByLabel("Name").fill("Broken receipt");
    await page.getByLabel("Title").fill("Receipt");
    await page.getByLabel("Body").fill("Thank you.");
    await shown.getByRole("button", { name: "Email" }).click();
    await page.getByRole("button", { name: "Design with blocks" }).click();
    await dialog.getByRole("button", { name: /^Receipt/ }).click();
    await dialog
      .getByRole("list", { name: "Blocks" })
      .getByRole("button", { name: /Thank you/ })
      .click();
    await dialog.getByLabel("Heading text").fill("Thank you, {{ broken");
    await dialog.getByRole("button", { name: "Done" }).click();
    await shown.getByRole("button", { name: "All channels" }).click();
    await page.getByRole("button", { name: "Save the template" }).click();
    await page
      .getByRole("alert")
      .getByText(/^Heading, block \d+ of \d+: /)
      .waitFor();
    expect(await shown.getByRole("button", { name: "Email" }).getAttribute("aria-pressed")).toBe("true");
    expect(await violationsInThemes(page)).toEqual({});
  });

  it("a campaign and a step of a journey send a template, seen as a person gets it and sent as a test (CON-3)", async () => {
    const { page, visit } = await open();
    const preview = page.locator("section.card", { has: page.getByRole("heading", { name: "Preview" }) });
    await visit("content/templates/new");
    await page.getByLabel("Name").fill("Order sent");
    await page.getByLabel("Title").fill("On its way, {{ subscriber.first_name }}");
    await page.getByLabel("Body").fill("It comes tomorrow.");
    await page.getByRole("button", { name: "Save the template" }).click();
    await page.getByText("Order sent is saved.").waitFor();
    await visit("campaigns/new");
    await page.getByLabel("Name").fill("By a template");
    await page.getByText("Use a template").click();
    await page.getByLabel("Template", { exact: true }).selectOption({ label: "Order sent" });
    await page.getByLabel("As seen by").fill("ada");
    await preview.getByText("On its way, Ada").waitFor();
    await preview.getByRole("button", { name: "Email" }).click();
    await preview.locator(".letter").getByText("On its way, Ada").waitFor();
    expect(await violations(page)).toEqual([]);
    const tested = page.waitForRequest(/\/notifications\/test$/);
    await page.getByRole("button", { name: "Send test" }).click();
    const template_id = (await bodyOf(page, await tested)).template_id;
    const saved = page.waitForRequest((one) => one.method() === "POST" && /\/campaigns$/.test(one.url()));
    await page.getByRole("button", { name: "Save the draft" }).click();
    expect((await bodyOf(page, await saved)).messages).toMatchObject([{ template_id }]);
    await page.getByText("The draft is saved.").waitFor();
    await draftJourney({ page, visit }, "Orders", "order_sent");
    await page.getByRole("button", { name: /^Insert a step after/ }).click();
    await page.getByRole("button", { name: "Send a message", exact: true }).click();
    await page.getByText("Use a template").click();
    await page.getByLabel("Template", { exact: true }).selectOption({ label: "Order sent" });
    await preview.getByText(/^On its way, \w+/).waitFor();
    const kept = page.waitForRequest((one) => one.method() === "PUT");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const { steps } = (await bodyOf(page, await kept)).steps;
    expect(Object.values(steps)).toContainEqual(
      expect.objectContaining({ send: expect.objectContaining({ template_id }) }),
    );
    expect(JSON.stringify(steps)).not.toContain('"content"');
  });

  it("the mails to begin with fit a window of 320 and of 600 pixels, and are read in light and dark mailboxes (CON-4)", async () => {
    const { page } = await open();
    const mail = await page.context().newPage();
    for (const colorScheme of ["light", "dark"] as const) {
      await mail.emulateMedia({ colorScheme });
      for (const starter of starters) {
        await mail.setContent(mailHtml(designOf(starter)));
        for (const width of WIDTHS) {
          await mail.setViewportSize({ width, height: 800 });
          const isWide = await mail.evaluate("document.documentElement.scrollWidth > innerWidth");
          // Placeholders are longer than what stands for them.
          const hasPlaceholder = starter.parts.some(
            ([type, says]) => type === "heading" && /\{\{/.test(says.text ?? ""),
          );
          expect({ ...starter, width, isWide: isWide && !hasPlaceholder }).toEqual({
            ...starter,
            width,
            isWide: false,
          });
        }
        const found = (await violations(mail, "dark", "body")).map(({ nodes }) => nodes);
        expect({ name: starter.name, colorScheme, found }).toEqual({ name: starter.name, colorScheme, found: [] });
      }
    }
    await mail.close();
  });

  it("a refused text of a designed mail is named by its block, and of two variants each by the way to it (CON-3)", async () => {
    const { page, visit } = await open();
    const dialog = page.locator("dialog.mail-editor");
    const reach = (name: string) => page.getByRole("button", { name, exact: true });
    await visit("send");
    await page.getByRole("group", { name: "Content for" }).getByRole("button", { name: "Email" }).click();
    await reach("Design with blocks").click();
    await dialog.getByRole("button", { name: /^Welcome/ }).click();
    const blocks = dialog.getByRole("list", { name: "Blocks" }).getByRole("button");
    await blocks.filter({ hasText: "Begin now" }).click();
    await dialog.getByLabel("Label").fill("{{ subscriber.first_name | shout }}");
    const size = await blocks.count();
    await reach("Done").click();
    const refused = page.locator("main .fault", { hasText: "undefined filter: shout" });
    await refused.getByText(new RegExp(`^Button, block \\d+ of ${size}: undefined filter: shout$`)).waitFor();
    await page.getByLabel("Compare with a variant B").check();
    await page.getByLabel("Title of B").fill("{{ subscriber.first_name | whisper }}");
    await page.getByLabel("Body of B").fill("Hello");
    await reach("Variant b, title").waitFor();

    await reach("Email, HTML").click();
    await refused.and(page.locator(":focus")).waitFor();
    expect(await violations(page)).toEqual([]);
    await reach("Variant b, title").focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Title of B").and(page.locator(":focus")).waitFor();
    await reach("Variant A").click();
    await reach("Show the block").click();
    await dialog.getByLabel("Label").and(page.locator(":focus")).waitFor();
    expect(await dialog.getByLabel("Label").inputValue()).toBe("{{ subscriber.first_name | shout }}");
    await reach("Done").click();
    await reach("Start over").click();
  });
}
