// A mail is designed with blocks: in the editor, as the mail that is kept, and as mailboxes show it.
import { expect, it } from "vitest";
import { mailHtml } from "../../console/mail/mail.ts";
import { designOf, starters } from "../../console/mail/starters.ts";
import { type Tab, tabTo, violations, violationsInThemes } from "../support/console-tab.ts";

/** Narrow, and as wide as the card. */
const WIDTHS = [320, 600];

export function mailStories(open: () => Promise<Tab>): void {
  it("CON-3 CON-4 a template is designed with blocks by keyboard, kept with its design, and opened again", async () => {
    const { page, visit } = await open();
    await visit("content");
    await page.getByRole("button", { name: "New template" }).first().click();
    const dialog = page.locator("dialog.mail-editor");
    await page.getByLabel("Name").fill("Designed welcome");
    await page.getByLabel("Title").fill("Welcome");
    await page.getByLabel("Body").fill("Good to have you.");
    await page.getByRole("group", { name: "Content for" }).getByRole("button", { name: "Email" }).click();
    await page.getByRole("button", { name: "Design with blocks" }).click();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole("button", { name: /^Welcome/ }).click();
    const blocks = dialog.getByRole("list", { name: "Blocks" }).getByRole("button");
    const count = await blocks.count();
    await blocks.nth(2).focus();
    await page.keyboard.press("Enter");
    await tabTo(page, "Heading text");
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("Good morning");
    const mail = page.frameLocator(".mail-stage iframe");
    await mail.getByRole("heading", { name: "Good morning" }).waitFor();
    // It stands inside the form of the template, which an Enter must not send.
    await blocks.filter({ hasText: "Begin now" }).click();
    await dialog.getByLabel("Label").press("Enter");
    await blocks.nth(2).focus();
    await page.keyboard.press("Alt+ArrowUp");
    await blocks.nth(1).getByText("Good morning").waitFor();
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
    const saved = page.waitForRequest((one) => one.method() === "POST" && /\/templates$/.test(one.url()));
    await page.getByRole("button", { name: "Save the template" }).click();
    const { email } = (await saved).postDataJSON().content.by_channel;
    expect(email.html).toContain("Good morning");
    expect(JSON.parse(email.design).blocks).toHaveLength(count + 1);
    await page.getByRole("button", { name: "Edit Designed welcome" }).click();
    await page.getByRole("group", { name: "Content for" }).getByRole("button", { name: "Email" }).click();
    await page.getByText(`${count + 1} blocks`).waitFor();
    await page.getByRole("button", { name: "Edit the HTML instead" }).click();
    expect(await page.getByLabel("HTML").inputValue()).toContain("Good morning");
    await page.getByRole("button", { name: "Cancel" }).click();
  });

  it("CON-4 the mails to begin with fit a window of 320 and of 600 pixels, and are read in light and dark mailboxes", async () => {
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
}
