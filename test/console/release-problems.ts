// What stands in the way of a release leads to where it is mended.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { draftJourney, type Tab, violations, violationsInThemes } from "../support/console-tab.ts";
import { bodyOf } from "../support/told.ts";

/** What is changed before it has passed is one change. */
const PAUSE_MS = 700;

async function draft(page: Page, name: string): Promise<void> {
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Title").fill("Hello {{ subscriber.nick }}");
  await page.getByLabel("Body", { exact: true }).fill("The sale begins on Friday.");
}

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

const focused = (page: Page, label: string) =>
  page.getByLabel(label, { exact: true }).and(page.locator(":focus")).waitFor();

/** Writes a send, and opens its release sheet. */
async function review({ page, visit }: Pick<Tab, "page" | "visit">, body: string): Promise<void> {
  await visit("send");
  await page.getByLabel("Title").fill("The sale");
  await page.getByLabel("Body", { exact: true }).fill(body);
  await press(page, "Review and send");
}

export function releaseProblemStories(open: () => Promise<Tab>): void {
  it("a problem of a campaign leads from its release sheet to the field of its message (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("campaigns/new");
    await draft(page, "To be mended");
    await press(page, "Add a message");
    await page.getByLabel("Title").last().fill("The end");
    await page.getByLabel("Body", { exact: true }).last().fill("Bye, {{ subscriber.pet }}.");
    await press(page, "Save the draft");
    await press(page, "Release");
    await press(page, "subscriber.nick is empty for 96 people.");
    await page.getByLabel("Title").first().and(page.locator(":focus")).waitFor();
    expect(await page.locator("dialog[open]").count()).toBe(0);
    await press(page, "Cancel");
    await press(page, "Release");
    await press(page, "“The end”: subscriber.pet is empty for 96 people.");
    await page.getByLabel("Body", { exact: true }).last().and(page.locator(":focus")).waitFor();
    await page.locator("aside").getByText("The end", { exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it("the preview of a campaign shows the message and the variant that are worked on (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("campaigns/new");
    await draft(page, "To be compared");
    const preview = page.getByRole("complementary", { name: "Preview" });
    await page.getByLabel("Compare with a variant B").check();
    await page.getByLabel("Title of B").fill("The other one");
    await page.getByLabel("Body of B").fill("It begins on Monday.");
    await preview.getByText("The other one", { exact: true }).waitFor();
    await press(page, "Add a message");
    await page.getByLabel("Title", { exact: true }).fill("The second");
    await page.getByLabel("Body", { exact: true }).fill("A day later.");
    await preview.getByText("The second", { exact: true }).waitFor();
    await page.getByLabel("Title of B").focus();
    await preview.getByText("The other one", { exact: true }).waitFor();
    await preview.getByRole("button", { name: "Variant A" }).click();
    await preview.getByText("The other one", { exact: true }).waitFor({ state: "detached" });
    expect(await violations(page)).toEqual([]);
  });

  it("a problem of a journey leads from its activation to its step, in the chart and in the list (CON-3)", async () => {
    const { page, visit } = await open();
    const dialog = page.locator("dialog[open]");
    await draftJourney({ page, visit }, "To be led", "led");
    await page.getByRole("button", { name: /^Insert a step after/ }).click();
    await press(page, "Send a message");
    await page.getByLabel("Title").fill("Hello {{ subscriber.nick }}");
    await page.getByLabel("Body", { exact: true }).fill("The sale begins.");
    await page
      .getByRole("button", { name: /^Insert a step after/ })
      .first()
      .click();
    await press(page, "Branch");
    await press(page, "Save");
    await page.getByText("The journey is saved.").waitFor();
    await press(page, "Activate");
    await press(page, "A branch has no condition.");
    await page.getByRole("heading", { name: "Branch", level: 2 }).and(page.locator(":focus")).waitFor();
    expect(await dialog.count()).toBe(0);
    await press(page, "List");
    await press(page, "Activate");
    await dialog.getByRole("button", { name: /subscriber\.nick is empty for \d+ people\.$/ }).click();
    await page.locator("button.step-head:focus", { hasText: "Send a message" }).waitFor();
    await page.getByLabel("Title").waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it("the activation of a journey says who would have entered lately, and what a run costs (CON-3)", async () => {
    const { page, visit } = await open();
    const dialog = page.locator("dialog[open]");
    await draftJourney({ page, visit }, "After a purchase", "purchase");
    await page.getByRole("button", { name: /^Insert a step after/ }).click();
    await press(page, "Send a message");
    await page.getByLabel("Title").fill("Thank you");
    await page.getByLabel("Body", { exact: true }).fill("It is on its way.");
    await press(page, "Save");
    await page.getByText("The journey is saved.").waitFor();
    await press(page, "Activate");
    await dialog.getByText(/^In the last 30 days it happened for \d+ people, such as /).waitFor();
    const each = dialog.getByText(
      /^About \$0\.0+[1-9]\d* for a person who gets every message, computed at list prices/,
    );
    await each.waitFor();
    await dialog.getByText(/^For \d+ people: <?\$\d/).waitFor();
    expect(await violationsInThemes(page)).toEqual({});
    await dialog.getByRole("link", { name: "Simulate on history" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Simulate on history", pressed: true }).waitFor();
  });

  it("the activation of a journey says what it could not find out, and remains possible (CON-3)", async () => {
    const { page, visit } = await open();
    const dialog = page.locator("dialog[open]");
    await draftJourney({ page, visit }, "After a visit", "visit");
    await page.getByRole("button", { name: /^Insert a step after/ }).click();
    await press(page, "Send a message");
    await page.getByLabel("Title").fill("Thank you");
    await page.getByLabel("Body", { exact: true }).fill("Come again.");
    await press(page, "Save");
    await page.getByText("The journey is saved.").waitFor();
    await page.route("**/segments/preview", (route) => route.fulfill({ status: 500, json: { message: "Broken." } }));
    await page.route("**/notifications/preview", async (route) => {
      const answer = await route.fetch();
      const json = await answer.json();
      await route.fulfill({ json: { ...json, counts: { ...json.counts, sent: 0 } } });
    });
    await press(page, "Activate");
    await dialog.getByText("The service has a problem.").waitFor();
    await dialog.getByText("Not known while a message reaches nobody or cannot be previewed.").waitFor();
    expect(await violationsInThemes(page)).toEqual({});
    await dialog.getByRole("button", { name: /^Activate/ }).click();
    await dialog.waitFor({ state: "detached" });
  });

  it("name, trigger and who enters of a journey are changed, undone, done again and saved (CON-3)", async () => {
    const { page, visit } = await open();
    const body = () => page.waitForRequest((one) => one.method() === "PUT");
    await draftJourney({ page, visit }, "At first", "came_first");
    await page.getByRole("button", { name: "the event came_first happens", exact: true }).click();
    const name = page.getByLabel("Name of the journey");
    const again = page.getByLabel("A person may enter again");
    await again.check();
    await page.getByText("Not saved: who enters", { exact: true }).waitFor();
    await again.uncheck();
    await page.getByText(/^Not saved/).waitFor({ state: "detached" });
    await page.waitForTimeout(PAUSE_MS);
    await name.fill("In the end");
    await page.getByText("Not saved: name", { exact: true }).waitFor();
    await page.waitForTimeout(PAUSE_MS);
    await again.check();
    await page.getByText("Not saved: name, who enters", { exact: true }).waitFor();
    expect(await violationsInThemes(page)).toEqual({});
    await press(page, "Undo");
    await page.getByText("Not saved: name", { exact: true }).waitFor();
    await press(page, "Undo");
    await page.getByText(/^Not saved/).waitFor({ state: "detached" });
    expect(await name.inputValue()).toBe("At first");
    await press(page, "Redo");
    await press(page, "Redo");
    const saved = body();
    await press(page, "Save");
    const entry_rules = { allow_reentry: true, reentry_window: "1d" };
    expect(await bodyOf(page, await saved)).toMatchObject({ name: "In the end", entry_rules });
    await page.getByText(/^Not saved/).waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "In the end", level: 1 }).waitFor();
    await press(page, "Activate");
    await page.getByText("A person may enter again, at most once in 1 day.").waitFor();
  });

  it("what the release of a campaign is refused for is marked at its field (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("campaigns/new");
    await draft(page, "To be refused");
    await press(page, "Save the draft");
    const fields = { name: "says too little", "messages[0].channel_ids[0]": "cannot send" };
    await page.route("**/release?*", (route) => route.fulfill({ status: 422, json: { message: "Refused.", fields } }));
    await press(page, "Release");
    await page.getByRole("button", { name: /^Release to \d+ people$/ }).click();
    await press(page, "Name");
    await focused(page, "Name");
    await page.getByText("says too little").waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it("sends of the week that are more than one page are counted as at least so many (CON-3)", async () => {
    const { page, visit } = await open();
    await page.route("**/api/v1/notifications?*", async (route) => {
      const response = await route.fetch();
      return route.fulfill({ response, json: { ...(await response.json()), next_cursor: "more" } });
    });
    await review({ page, visit }, "It begins on Friday.");
    await page
      .locator("dialog[open]")
      .getByText(/^At least \d+ sends? in the last 7 days/)
      .waitFor();
  });

  it("of more people than a release sheet names it names some, such as these (CON-3)", async () => {
    const { page, visit } = await open();
    await page.route("**/api/v1/notifications/preview", async (route) => {
      const response = await route.fetch();
      const { counts, samples, ...rest } = await response.json();
      // At night, messages to some people of the demo wait for the morning.
      const awake = samples.slice(0, 3).map((sample: object) => ({ ...sample, deferred_until: null }));
      const json = { ...rest, samples: awake, counts: { ...counts, sent: 3, deferred: 0 } };
      return route.fulfill({ response, json });
    });
    await review({ page, visit }, "It begins on Friday.");
    await page
      .locator("dialog[open]")
      .getByText(/^3 get it when it goes out, such as .* and /)
      .waitFor();
    await page.keyboard.press("Escape");
    await press(page, "Start over");
  });

  it("a problem of a send leads from its release sheet to the field of the message (CON-3)", async () => {
    const { page, visit } = await open();
    await review({ page, visit }, "Look, {{ subscriber.nick }}: https://example.com/sale/.");
    await press(page, "https://example.com/sale/ is a placeholder: nobody outside can open it.");
    await focused(page, "Body");
    await press(page, "Start over");
  });
}
