// What is typed is taken as it is typed, digit by digit, and stays while it is not complete.
import { expect, it } from "vitest";
import type { Tab } from "../support/console-tab.ts";

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

  it("a limit of less than a tenth of a percent is typed digit by digit (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("send");
    await page.getByText("Name, control group and brake").click();
    await page.getByLabel("Custom limits").check();
    const limit = page.getByLabel("Spam complaints, %");
    await limit.pressSequentially("0.05");
    expect(await limit.inputValue()).toBe("0.05");
  });
}
