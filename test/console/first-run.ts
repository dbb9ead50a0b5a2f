// The first run of a new workspace: from an empty page to a first designed email in the outbox of this machine.
import { expect, it } from "vitest";
import { type Tab, violationsInThemes } from "../support/console-tab.ts";

export function firstRunStories(open: () => Promise<Tab>): void {
  it("a new workspace leads to a first designed email, which the outbox shows as it was sent (CON-6, CON-3)", async () => {
    const { page, context } = await open();
    const dialog = page.locator("dialog[open]");
    const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
    const { origin } = new URL(page.url());
    await page.goto("about:blank");
    await context.clearCookies();
    await page.goto(`${origin}/console`);
    await page.getByRole("link", { name: "Create a workspace" }).click();
    await page.getByLabel("Your name").fill("Mara Lind");
    await page.getByLabel("Name of the workspace").fill("Lind Ceramics");
    await page.getByLabel("Email", { exact: true }).fill(`mara${crypto.randomUUID()}@lind.example`);
    await page.getByLabel("Password").fill("Kiln-Fires-At-Nine-7");
    await press("Create the workspace");

    await press("Add a person");
    await dialog.getByLabel("First name").fill("Ines");
    await dialog.getByLabel("Email").fill("ines@lind.example");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("Ines is added.").waitFor();

    await page.getByRole("link", { name: "Connect", exact: true }).click();
    await press("Connect a channel");
    await press("Continue to credentials");
    await page.getByLabel("From address").fill("hello@lind.example");
    await press("Save and verify");
    const opened = context.waitForEvent("page");
    await page.getByRole("link", { name: "See the mail in the outbox" }).click();
    const outbox = await opened;
    const followed = context.waitForEvent("page");
    await outbox.frameLocator("figure.letter iframe").getByRole("link").first().click();
    const confirmation = await followed;
    await confirmation.getByRole("button", { name: "Confirm the address" }).click();
    await confirmation.getByText("Your address is confirmed").waitFor();
    await Promise.all([outbox.close(), confirmation.close()]);
    await press("Save and verify");
    await page.getByText("can send").waitFor();
    const letter = page.frameLocator("figure.letter iframe");
    await page.getByRole("link", { name: "Write a message" }).click();

    await page.getByRole("group", { name: "Content for" }).getByRole("button", { name: "Email" }).click();
    await press("Design with blocks");
    await dialog.getByRole("button", { name: /^Welcome/ }).click();
    await dialog.getByRole("button", { name: "Done" }).click();
    await letter.getByRole("heading", { name: "Good to have you, Ines" }).waitFor();
    await letter.getByText("Unsubscribe").waitFor();
    expect(await violationsInThemes(page)).toEqual({});
    await page.locator("button[type=submit]:not([aria-disabled])", { hasText: "Review and send" }).click();
    await dialog.getByRole("button", { name: "Send to 1 person" }).click();
    await page.getByText("delivered (100%)").waitFor();

    await page.getByRole("link", { name: "Outbox" }).click();
    await letter.getByRole("heading", { name: "LIND CERAMICS" }).waitFor();
    await page.getByRole("heading", { name: "Email to ines@lind.example" }).waitFor();
  });
}
