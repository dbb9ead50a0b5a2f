// The first run of a new workspace: from an empty page to a first designed email in the outbox of this machine.
import { expect, it } from "vitest";
import { press, type Tab, violationsInThemes } from "../support/console-tab.ts";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

export function firstRunStories(open: () => Promise<Tab>): void {
  it("a new workspace leads to a first designed email, which the outbox shows as it was sent (CON-6, CON-3)", async () => {
    const { page, context } = await open();
    const dialog = page.locator("dialog[open]");
    const { origin } = new URL(page.url());
    await page.goto("about:blank");
    await context.clearCookies();
    await page.goto(`${origin}/console`);
    await page.getByRole("link", { name: "Create a workspace" }).click();
    await page.getByLabel("Your name").fill("Mara Lind");
    await page.getByLabel("Name of the workspace").fill("Lind Ceramics");
    await page.getByLabel("Email", { exact: true }).fill(`mara${crypto.randomUUID()}@lind.example`);
    await page.getByLabel("Password").fill("Kiln-Fires-At-Nine-7");
    await press(page, "Create the workspace");
    const toConfirm = page.getByRole("listitem").filter({ hasText: "Confirm your email address" });
    await toConfirm.getByRole("button", { name: "Send the email again" }).waitFor();
    const size = page.viewportSize()!;
    await page.setViewportSize({ width: 360, height: 800 });
    expect((await toConfirm.getByText("Confirm your email address").boundingBox())!.height).toBeLessThan(50);
    await page.setViewportSize(size);

    await press(page, "Add a person");
    await dialog.getByLabel("First name").fill("Ines");
    await dialog.getByLabel("Email").fill("ines@lind.example");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("Ines is added.").waitFor();

    // Who writes first learns there that mail needs an account.
    await page.getByRole("link", { name: "Write it" }).click();
    await page.getByText("Email, push, SMS and chat apps need an account of yours").waitFor();
    await page.getByRole("link", { name: "Connect a channel" }).click();
    await press(page, "Connect a channel");
    await press(page, "Continue to credentials");
    await page.getByLabel("From address").fill("hello@lind.example");
    await page.getByLabel("From name (optional)").fill("Lind Töpferei");
    await press(page, "Save and verify");
    const opened = context.waitForEvent("page");
    await page.getByRole("link", { name: "See the email in the outbox" }).click();
    const outbox = await opened;
    const followed = context.waitForEvent("page");
    await outbox.frameLocator("figure.letter iframe").getByRole("link").first().click();
    const confirmation = await followed;
    const confirm = confirmation.getByRole("button", { name: "Confirm the address" });
    await confirm.waitFor();
    expect(await confirmation.getByRole("textbox").count()).toBe(0);
    await confirm.click();
    await confirmation.getByText("Your address is confirmed").waitFor();
    await confirmation.reload();
    await confirm.click();
    await confirmation.getByText("This link was used already, or it is too old").waitFor();
    await confirmation.getByRole("link", { name: "Go on in your workspace" }).waitFor();
    await Promise.all([outbox.close(), confirmation.close()]);
    await press(page, "Save and verify");
    await page.getByText("can send").waitFor();
    const letter = page.frameLocator("figure.letter iframe");
    await page.getByRole("link", { name: "Write a message" }).click();

    await page.getByRole("group", { name: "Content for" }).getByRole("button", { name: "Email" }).click();
    await press(page, "Design with blocks");
    await dialog.getByRole("button", { name: /^Launch/ }).click();
    await dialog
      .getByRole("button", { name: /^Heading/ })
      .first()
      .click();
    const heading = dialog.getByLabel("Heading text");
    await dialog.getByText("Insert a variable").click();
    await dialog.getByRole("button", { name: /^first_name/ }).click();
    expect(await heading.inputValue()).toMatch(/\S \{\{ subscriber\.first_name \}\}$/);
    await heading.fill("It is here, !");
    await heading.press("ArrowLeft");
    await dialog.getByLabel("Fallback").fill("friend");
    await dialog.getByRole("button", { name: /^first_name/ }).click();
    expect(await heading.inputValue()).toBe("It is here, {{ subscriber.first_name | default: 'friend' }}!");
    await dialog
      .getByRole("button", { name: /^Image/ })
      .first()
      .click();
    await dialog.getByRole("button", { name: "Choose: Image" }).click();
    const chosen = page.waitForEvent("filechooser");
    await dialog.last().getByRole("button", { name: "Upload an image" }).click();
    await (await chosen).setFiles({ name: "pot.png", mimeType: "image/png", buffer: Buffer.from(PIXEL, "base64") });
    await dialog.getByRole("button", { name: "Done" }).click();
    await letter.getByRole("heading", { name: "It is here, Ines!" }).waitFor();
    // An image of the workspace tells nobody that it was looked at.
    const width = () => letter.getByRole("img").evaluate((image) => Reflect.get(image, "naturalWidth"));
    await expect.poll(width).toBe(1);
    expect(await page.getByRole("button", { name: "Show remote images" }).count()).toBe(0);
    await letter.getByText("Unsubscribe").waitFor();
    expect(await violationsInThemes(page)).toEqual({});
    await page.locator("button[type=submit]:not([aria-disabled])", { hasText: "Review and send" }).click();
    await dialog.getByRole("button", { name: "Send to 1 person" }).click();
    await page.getByText("delivered (100%)").waitFor();

    await page.getByRole("link", { name: "Outbox" }).click();
    await letter.getByRole("heading", { name: "It is here, Ines!" }).waitFor();
    await page.locator("figure.letter").getByText("Lind Töpferei <hello@lind.example>").waitFor();
    await page.getByRole("heading", { name: "Email to ines@lind.example" }).waitFor();
    await page.getByRole("link", { name: "Home" }).click();
    await page.getByText("Invite a colleague").waitFor();
    expect(await toConfirm.count()).toBe(0);
    await page.getByRole("link", { name: "Settings" }).click();
    await expect.poll(() => page.getByLabel("Time zone").inputValue()).toBe("Europe/Berlin");
  });

  it("a list that was not chosen is asked for in words (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("campaigns/new");
    await page.getByLabel("Name").fill("To nobody yet");
    await page.getByLabel("A list").check();
    await page.getByLabel("Title").fill("Hello");
    await page.getByLabel("Body", { exact: true }).fill("Soon.");
    await page.getByRole("button", { name: "Save the draft" }).click();
    await page.getByLabel("List", { exact: true }).and(page.locator("[aria-invalid=true]")).waitFor();
    await page.getByText("choose one").waitFor();
    expect(await violationsInThemes(page)).toEqual({});
  });
}
