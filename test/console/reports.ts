// Reports: rates with what they are a share of, who did not get it and why, tables as files.
import { expect, it } from "vitest";
import { SETTLE_MS, type Tab, violationsInThemes } from "../support/console-tab.ts";
import { savedBy } from "../support/told.ts";

export function reportStories(open: () => Promise<Tab>): void {
  it("the share that a send was delivered to is that of the report of its campaign, without who was held out (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("campaigns");
    await page.getByRole("link", { name: "Autumn sale" }).click();
    const rate = await page.locator(".rates li", { hasText: /^Delivered/ }).textContent();
    const [, share = "", sent = ""] = rate!.match(/^Delivered([\d.]+%)of (\d+) sent/) ?? [];
    await visit("activity");
    await page.locator("main a[data-row]", { hasText: "Autumn sale" }).click();
    await page.getByText(`delivered (${share} of ${sent} sent)`, { exact: true }).waitFor();
  });

  it("the latest sends of home are those that went out last, whenever they were made (CON-3)", async () => {
    const { page, visit } = await open();
    const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
    await page.route("**/api/v1/notifications?*", async (route) => {
      const response = await route.fetch();
      const { items, ...rest } = await response.json();
      const send = (name: string, created_at: string, scheduled_at: string | null) => {
        return { ...items[0], id: crypto.randomUUID(), name, created_at, scheduled_at };
      };
      const made = [
        send("Made last", ago(2), null),
        send("Out last", ago(5), ago(1)),
        send("Out first", ago(6), ago(4)),
      ];
      await route.fulfill({ json: { ...rest, items: made } });
    });
    await visit("home");
    const rows = page.getByRole("table", { name: "Latest sends" }).locator("tbody tr");
    await rows.first().getByText("Out last").waitFor();
    await rows.nth(1).getByText("Made last").waitFor();
    await rows.nth(2).getByText("Out first").waitFor();
  });

  it("the report of a campaign begins with rates, each with its base and its course (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("campaigns");
    await page.getByRole("row", { name: /^Autumn sale completed .* [1-9]\d* €[\d,]+\.\d\d/ }).waitFor();
    await page.getByRole("link", { name: "Autumn sale" }).click();
    const rate = page.locator(".rates li", { hasText: "Opened by people" });
    expect(await rate.textContent()).toMatch(/^Opened by people[\d.]+%of \d+ delivered$/);
    await rate.locator("svg.spark").waitFor();
    // One rule in all of the report, and what it was the last message before beside it.
    const converted = await page.locator(".rates li", { hasText: /^Converted/ }).textContent();
    const [, people = ""] = converted!.match(/(\d+) people. It was the last message before \d+ conversions/) ?? [];
    await page.getByRole("row", { name: new RegExp(`^Converted.* ${people} [\\d.]+%$`) }).waitFor();
    await page.getByText(new RegExp(`^${people} conversions of \\d+ people`)).waitFor();
    await page
      .getByText(/^€[\d,]+\.\d\d, €[\d,]+\.\d\d a person$/)
      .first()
      .waitFor();
    await page.getByRole("row", { name: /^A \d+ \d+ \([\d.]+%\) \d+ \([\d.]+%\)$/ }).waitFor();
    await page.getByText(/^Clicked, B against A: [+−]?[\d.]+ points, between /).waitFor();
    const press = () => page.getByRole("button", { name: "Download By channel as CSV" }).click();
    const text = await savedBy(page, press, SETTLE_MS);
    expect(text).toMatch(/^Channel,Delivered,Opened,Clicked,Failed,Uncertain,Bounced,Opted out\r\nEmail,\d+,/);
    expect(await violationsInThemes(page)).toEqual({});
  });

  it("a send in two arms says what those did whom each reached, and how sure it is that they differ (CON-3, F9)", async () => {
    const { page, visit } = await open();
    await visit("activity");
    await page.getByRole("link", { name: "Autumn sale" }).click();
    await page.getByText(/^opened by people \([\d.]+%\)$/).waitFor();
    await page.getByRole("row", { name: /^B \d+ \d+ \([\d.]+%\) \d+ \([\d.]+%\)$/ }).waitFor();
    await page.getByText(/^Opened, B against A: [+−]?[\d.]+ points, between /).waitFor();
    expect(await violationsInThemes(page)).toEqual({});
  });

  it("a figure of which the answer is still to come is not said to be zero (CON-3)", async () => {
    const { page, show } = await open();
    const { promise: isAnswered, resolve: answer } = Promise.withResolvers<void>();
    await page.route("**/api/v1/insights/summary?*", async (route) => {
      await isAnswered;
      await route.continue();
    });
    await show("campaigns");
    await page.getByRole("row", { name: /^Autumn sale .* … …$/ }).waitFor();
    answer();
    await page.getByRole("row", { name: /^Autumn sale .* [1-9]\d* €[\d,]+\.\d\d$/ }).waitFor();
  });

  it("the reasons of a send lead to its people, and all of them are exported (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("send");
    await page.getByLabel("Title").fill("By mail alone");
    await page.getByLabel("Body", { exact: true }).fill("For those who want mail.");
    await page.getByLabel("In-app", { exact: true }).uncheck();
    await page.getByRole("button", { name: "Review and send" }).click();
    await page.getByRole("button", { name: /^Send to \d+ people$/ }).click();
    await page.getByRole("link", { name: "no consent for this channel" }).click();
    await page.getByLabel("Reason").and(page.locator("select")).waitFor();
    const table = page.getByRole("region", { name: "Recipients" });
    await table
      .getByRole("row", { name: /skipped .* no consent for this channel/ })
      .first()
      .waitFor();
    expect(await table.getByRole("row", { name: /delivered/ }).count()).toBe(0);
    expect(await violationsInThemes(page)).toEqual({});
    await page.getByRole("button", { name: "Export all" }).click();
    await page.getByRole("heading", { name: "Exports", level: 1 }).waitFor();
    await page
      .getByRole("row", { name: /^Recipients/ })
      .first()
      .waitFor();
  });
}
