// What is asked before anything reaches people, and an experience from its draft to its archive.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import type { NotificationPreview } from "../../sdk/src/types.gen.ts";
import { choose, draftJourney, press, type Tab, violations, violationsInThemes } from "../support/console-tab.ts";
import { bodyOf } from "../support/told.ts";

const PREVIEW = "**/api/v1/notifications/preview";

async function write(page: Page): Promise<void> {
  await page.getByLabel("Title").fill("Hello {{ subscriber.nick }}");
  await page.getByLabel("Body", { exact: true }).fill("The sale begins on Friday.");
}

export function releaseStories(open: () => Promise<Tab>): void {
  it("a send to more than 1,000 people goes out once their number is typed, to those of the preview (CON-3, AMB-140)", async () => {
    const { page, visit } = await open();
    await page.route(PREVIEW, async (route) => {
      const answer = await route.fetch({ postData: await bodyOf(page, route.request()) });
      const preview = (await answer.json()) as NotificationPreview;
      const by_class = { ...preview.by_class, in_app: 2_400, email: 2_300 };
      const missed_by_class = { email: { no_consent: 97 } };
      const counts = { ...preview.counts, total: 2_500, sent: 2_400 };
      return route.fulfill({ json: { ...preview, counts, by_class, missed_by_class } });
    });
    await visit("send");
    await write(page);
    await page.getByLabel("Body", { exact: true }).fill("The sale begins on Friday: https://example.com/sale.");
    await press(page, "Review and send");
    const dialog = page.locator("dialog[open]");
    await dialog.getByText("subscriber.nick is empty for 96 people.").waitFor();
    const missed = "Not by Email: 97 people, no consent for this channel; 3 people, a cap or nothing to say there";
    await dialog.getByText(missed, { exact: true }).waitFor();
    await dialog.getByText(/sends? in the last 7 days(:|, such as) /).waitFor();
    await dialog.getByText("https://example.com/sale is a placeholder: nobody outside can open it.").waitFor();
    const act = dialog.getByRole("button", { name: "Send to 2,400 people" });
    const isOff = async () => (await act.getAttribute("aria-disabled")) === "true";
    expect(await isOff()).toBe(true);
    expect(await violationsInThemes(page)).toEqual({});
    await dialog.getByLabel("Type 2,400 to confirm").fill("2,399");
    expect(await isOff()).toBe(true);
    await dialog.getByLabel("Type 2,400 to confirm").fill("2400");
    const sent = page.waitForRequest((one) => one.method() === "POST" && /\/notifications$/.test(one.url()));
    await act.click();
    expect(await bodyOf(page, await sent)).toMatchObject({ preview_id: expect.any(String) });
    await page.getByRole("heading", { level: 1 }).waitFor();
  });

  it("a message that cannot be rendered has a reason in place of its preview, and nothing goes on loading (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("send");
    await write(page);
    await page.getByLabel("Title").fill("Hello {{ subscriber.first_name | nosuch }}");
    await page.getByText("There is no preview: the reason stands above the button.").waitFor();
    await page.getByRole("alert").getByText("undefined filter: nosuch").waitFor();
    expect(await page.locator("main [aria-busy=true]").count()).toBe(0);
    expect(await violationsInThemes(page)).toEqual({});
  });

  it("a campaign with a time that has passed is released once that is confirmed (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("campaigns/new");
    await page.getByLabel("Name").fill("Yesterday's news");
    await write(page);
    await page.getByLabel(/^Send at/).fill("2020-01-01T09:00");
    await press(page, "Save the draft");
    await press(page, "Release");
    const dialog = page.locator("dialog[open]");
    await dialog.getByText(/days ago\)/).waitFor();
    const act = dialog.getByRole("button", { name: /^Release to \d+ people/ });
    await act.and(page.locator("[aria-disabled=true]")).waitFor();
    expect(await violations(page)).toEqual([]);
    await dialog.getByLabel("It goes out at once: this time has passed").check();
    await act.and(page.locator(":not([aria-disabled=true])")).waitFor();
    await press(page, "Cancel");
  });

  it("a campaign is released to the people of the preview that was shown (CON-3, AMB-140)", async () => {
    const { page, visit } = await open();
    await visit("campaigns/new");
    await page.getByLabel("Name").fill("To those who were shown");
    await page.getByLabel("Title").fill("Part one");
    await page.getByLabel("Body", { exact: true }).fill("It begins.");
    await page.getByLabel(/^Send at/).fill("2030-01-01T09:00");
    await press(page, "Save the draft");
    const shown = page.waitForResponse((one) => one.url().endsWith("/notifications/preview"));
    await press(page, "Release");
    const { preview_id } = (await (await shown).json()) as NotificationPreview;
    const released = page.waitForRequest((one) => one.url().includes("/release"));
    await press(page, /^Release to \d+ people$/);
    expect(new URL((await released).url()).searchParams.get("preview_id")).toBe(preview_id);
    await page.getByText("The campaign is released.").waitFor();
    await page.getByText("By In-app, Email").waitFor();
    await choose(page, "Archive");
    await page.getByText("archived").first().waitFor();
  });

  it("a campaign whose time passed in a pause is resumed as chosen (CON-3, AMB-138)", async () => {
    const { page, visit } = await open();
    await visit("campaigns/new");
    await page.getByLabel("Name").fill("Winter in three parts");
    await page.getByLabel("Title").fill("Part one");
    await page.getByLabel("Body", { exact: true }).fill("It begins.");
    await page.getByLabel(/^Send at/).fill("2030-01-01T09:00");
    await press(page, "Save the draft");
    await press(page, "Release");
    await press(page, /^Release to \d+ people$/);
    await press(page, "Pause");
    await page.getByText("paused").first().waitFor();
    await page.route(/\/campaigns\/[^/]+$/, async (route) => {
      if (route.request().method() !== "GET") return route.fallback();
      const answer = await route.fetch();
      return route.fulfill({ body: (await answer.text()).replace(/"2030-[^"]+"/g, '"2020-01-01T08:00:00.000Z"') });
    });
    await page.reload();
    await press(page, "Resume");
    await page.getByLabel("Not at all").check();
    expect(await violations(page)).toEqual([]);
    const resumed = page.waitForRequest((one) => one.method() === "PATCH");
    await press(page, "Resume it");
    expect(await bodyOf(page, await resumed)).toEqual({ action: "resume", overdue: "skip" });
    await page.getByText("The campaign goes on.").waitFor();
  });

  it("what goes out in the next days is listed by day: campaigns, sends for later and schedules (CON-3)", async () => {
    const { page, visit } = await open();
    const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    await visit("campaigns/new");
    await page.getByLabel("Name").fill("In three days");
    await write(page);
    await page.getByLabel(/^Send at/).fill(`${day}T09:30`);
    await press(page, "Save the draft");
    await press(page, "Release");
    await press(page, /^Release to \d+ people$/);
    await page.getByText("The campaign is released.").waitFor();
    await visit("send");
    await page.getByLabel("Title").fill("On the same day");
    await page.getByLabel("Body", { exact: true }).fill("A little later.");
    await page.getByLabel("Later").check();
    await page.getByLabel(/^At \(/).fill(`${day}T10:15`);
    await press(page, "Review and send");
    // What is to come was not sent this week.
    const week = page.locator("dialog[open]").getByText(/in the last 7 days/);
    expect(await week.textContent()).not.toContain("In three days");
    await press(page, /^Schedule for \d+ people$/);
    await page.getByText(/^Scheduled for/).waitFor();
    await visit("campaigns");
    await page.getByRole("link", { name: "Upcoming" }).click();
    const items = page.locator(".agenda li");
    await items.filter({ hasText: "On the same day" }).waitFor();
    const of = await items.allTextContents();
    expect(of.filter((text) => /^(09:30In three daysCampaign|10:15On the same daySend)/.test(text))).toHaveLength(2);
    expect(await violationsInThemes(page)).toEqual({});
    await page.getByRole("link", { name: "In three days" }).click();
    await choose(page, "Archive");
    await page.getByText("archived").first().waitFor();
  });

  it("late events of a journey begin a run as its trigger says (CON-3, AMB-134)", async () => {
    const { page, visit } = await open();
    const dialog = page.locator("dialog[open]");
    await draftJourney({ page, visit }, "Late comers", "came_home");
    await page.getByRole("button", { name: "the event came_home happens", exact: true }).click();
    await page.getByLabel("Late events").selectOption("any");
    const saved = page.waitForRequest((one) => one.method() === "PUT");
    await press(page, "Save");
    expect(await bodyOf(page, await saved)).toMatchObject({ trigger: { event_name: "came_home", max_age: "none" } });
    await page.getByText(/^Not saved/).waitFor({ state: "detached" });
    await press(page, "Activate");
    await dialog.getByText("Events of any age start a run, imported ones too.").waitFor();
    expect(await violations(page)).toEqual([]);
    await press(page, "Cancel");
  });

  it("the event that was typed stays when a journey begins with steps that others began with (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("journeys");
    await press(page, "New journey");
    await page.getByLabel("Trigger event").fill("rider_joined");
    await page.getByRole("radio", { name: /^Trial ends/ }).check();
    expect(await page.getByLabel("Trigger event").inputValue()).toBe("rider_joined");
  });

  it("a journey begins with steps that others began with, is changed, undone and done again (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("journeys");
    await press(page, "New journey");
    await page.getByRole("radio", { name: /^Trial ends/ }).check();
    expect(await page.getByLabel("Trigger event").inputValue()).toBe("trial_started");
    await press(page, "Create the draft");
    const nodes = page.locator("button.chart-node");
    await nodes.filter({ hasText: "Three days left" }).click();
    await press(page, "Remove the step");
    await nodes.filter({ hasText: "Three days left" }).waitFor({ state: "detached" });
    await press(page, "Undo");
    await nodes.filter({ hasText: "Three days left" }).waitFor();
    await press(page, "Redo");
    await nodes.filter({ hasText: "Three days left" }).waitFor({ state: "detached" });
    await press(page, "Larger");
    await page.getByRole("button", { name: "120%" }).waitFor();
    expect(await violationsInThemes(page)).toEqual({});
    await press(page, "Discard");
    await press(page, "Activate");
    await page.locator("dialog[open]").getByText("Three days left").first().waitFor();
    await press(page, "Activate it");
    await page.getByText("The journey is active.").waitFor();
  });

  it("an experience has two variants, buttons and an end; it is edited, copied, deleted and archived (CON-3)", async () => {
    const { page, visit } = await open();
    const dialog = page.locator("dialog[open]");
    await visit("content/experiences/new");
    await page.getByLabel("Name").fill("Spring sale");
    await page.getByText("Full screen", { exact: true }).click();
    await page.getByLabel("Title").fill("Spring is here");
    await page.getByLabel("Body").fill("Half of everything, {{ subscriber.first_name }}.");
    await page
      .getByLabel("Preview")
      .getByText(/^Half of everything, \w+\.$/)
      .waitFor();
    await press(page, "Add a button");
    await page.getByLabel("Button 1", { exact: true }).fill("Shop now");
    await page.getByLabel("URL of button 1").fill("https://example.com/");
    await page.getByLabel("Compare with a variant B").check();
    await page.getByRole("button", { name: "Variant B", pressed: true }).waitFor();
    expect(await page.getByLabel("Body").inputValue()).toMatch(/^Half of everything, /);
    await page.getByLabel("Title").fill("Winter is over");
    await page.getByLabel("Body").fill("All of it for half.");
    await page.getByLabel(/^Ends/).fill("2030-05-01T09:00");
    expect(await violationsInThemes(page)).toEqual({});
    await press(page, "Save the draft");
    // The editor has a preview and its variants too.
    await page.getByRole("link", { name: "Edit", exact: true }).waitFor();
    await page.locator(".phone").getByText("Shop now").waitFor();
    await press(page, "Variant B");
    await page.locator(".phone").getByText("Winter is over").waitFor();
    await page.getByRole("link", { name: "Edit", exact: true }).click();
    await page.getByLabel("Compare with a variant B").uncheck();
    await page.getByLabel(/^Ends/).fill("");
    await page.getByLabel(/^Held out as control group/).fill("20");
    await press(page, "Save the draft");
    await page.getByText("1 May 2030").waitFor({ state: "detached" });
    // Another draw decides who is held out as it is published.
    await press(page, "Publish");
    await dialog.getByText(/^About \d+ people/).waitFor();
    await dialog.getByRole("button", { name: /^Publish to about \d+ people$/ }).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(await page.getByRole("button", { name: "Variant B" }).count()).toBe(0);
    await choose(page, "Duplicate");
    await page.getByText("The copy is a draft.").waitFor();
    await choose(page, "Delete");
    const name = (
      await dialog
        .getByLabel(/^Type/)
        .evaluate((input: { labels: { textContent: string }[] }) => input.labels[0]!.textContent)
    ).replace(/^Type (.*) to confirm$/, "$1");
    await dialog.getByLabel(/^Type/).fill(name);
    await press(page, "Delete the experience");
    await page.getByRole("link", { name: "Spring sale", exact: true }).click();
    await choose(page, "Archive");
    await page
      .getByRole("row", { name: /^Spring sale/ })
      .getByText("archived")
      .waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it("an experience whose end has passed is not published, and its sheet says so (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("content/experiences/new");
    await page.getByLabel("Name").fill("Last year's sale");
    await page.getByLabel("Title").fill("It is over");
    await page.getByLabel("Body").fill("Come back.");
    await page.getByLabel(/^Ends/).fill("2020-01-01T09:00");
    await press(page, "Save the draft");
    await press(page, "Publish");
    const dialog = page.locator("dialog[open]");
    await dialog.locator(".banner", { hasText: "The time at which it ends has passed. Edit it first." }).waitFor();
    await dialog
      .getByRole("button", { name: /^Publish/ })
      .and(page.locator("[aria-disabled=true]"))
      .waitFor();
  });

  it("a journey is not activated before its branches have conditions, and its sheet says so (CON-3)", async () => {
    const { page, visit } = await open();
    const dialog = page.locator("dialog[open]");
    await draftJourney({ page, visit }, "Upgrade", "upgraded");
    await press(page, /^Insert a step after/);
    await press(page, "Branch");
    await press(page, "Save");
    await page.getByText("The journey is saved.").waitFor();
    await press(page, "Activate");
    await dialog.getByText("A branch has no condition.").waitFor();
    await dialog.locator("button[aria-disabled=true]", { hasText: "Activate it" }).waitFor();
    expect(await violationsInThemes(page)).toEqual({});
  });
}
