// What was written and not saved: it is there again after a reload and after another page, until it is saved or given up.
import { expect, it } from "vitest";
import type { Campaign } from "../../sdk/src/types.gen.ts";
import { draftJourney, press, type Tab, violationsInThemes } from "../support/console-tab.ts";
import { bodyOf } from "../support/told.ts";

export function draftStories(open: () => Promise<Tab>): void {
  it("what is not saved outlives a reload and another page: campaign, segment, journey and template (CON-2)", async () => {
    const { page, visit } = await open();
    const leave = async (path: string) => {
      await page.reload();
      await page.locator("main h1").waitFor();
      await visit("people");
      await visit(path);
    };
    await visit("campaigns/new");
    await page.getByLabel("Name").fill("Spring news");
    await page.getByLabel("Title").fill("It is spring");
    await leave("campaigns/new");
    expect(await page.getByLabel("Name").inputValue()).toBe("Spring news");
    expect(await page.getByLabel("Title").inputValue()).toBe("It is spring");

    await visit("segments/new");
    await page.getByLabel("Name").fill("Paying");
    await page.getByLabel("Attribute 1").fill("plan");
    await page.getByLabel("Value 1").fill("pro");
    await leave("segments/new");
    expect(await page.getByLabel("Value 1").inputValue()).toBe("pro");
    await page.getByRole("button", { name: "Create the segment" }).click();
    await page.getByRole("heading", { name: "Paying", level: 1 }).waitFor();
    const segment = new URL(page.url()).pathname.split("/").slice(-2).join("/");
    await page.getByLabel("Value 1").fill("team");
    await leave(segment);
    expect(await page.getByLabel("Value 1").inputValue()).toBe("team");
    await page.getByRole("button", { name: "Discard" }).click();
    expect(await page.getByLabel("Value 1").inputValue()).toBe("pro");
    await visit("segments/new");
    expect(await page.getByLabel("Name").inputValue()).toBe("");

    await draftJourney({ page, visit }, "Trial", "trial_began");
    await page.getByRole("button", { name: /^Insert a step after/ }).click();
    await page.locator(".chart-panel").getByRole("button", { name: "Wait", exact: true }).click();
    const journey = new URL(page.url()).pathname.split("/").slice(-2).join("/");
    await leave(journey);
    await page.locator("button.chart-node", { hasText: "Wait" }).waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText(/^Not saved/).waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^Insert a step after Wait/ }).click();
    await page.locator(".chart-panel").getByRole("button", { name: "Branch", exact: true }).click();
    await page.getByRole("button", { name: "Discard" }).click();
    await page.getByText(/^Not saved/).waitFor({ state: "detached" });
    expect(await page.locator("button.chart-node", { hasText: "Branch" }).count()).toBe(0);

    await visit("content");
    const write = () => page.getByRole("link", { name: "New template" }).first().click();
    await write();
    await page.getByLabel("Title").fill("A long text");
    await leave("content");
    await write();
    expect(await page.getByLabel("Title").inputValue()).toBe("A long text");
    await press(page, "Cancel");
    await page.locator("dialog[open]").getByText("What you wrote and did not save is lost.").waitFor();
    await press(page, "Discard");
    await write();
    expect(await page.getByLabel("Title").inputValue()).toBe("");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  it("who writes on while a template is saved keeps it, and who goes to another page stays there (CON-2)", async () => {
    const { page, visit } = await open();
    const hold = async () => {
      const { promise: isDone, resolve } = Promise.withResolvers<void>();
      await page.route(/\/api\/v1\/templates(\/[\w-]{36})?$/, async (route) => {
        if (route.request().method() !== "GET") await isDone;
        return route.fallback();
      });
      return resolve;
    };
    const body = page.getByLabel("Body", { exact: true });
    await visit("content/templates/new");
    await page.getByLabel("Name").fill("Saved from afar");
    await page.getByLabel("Title").fill("Hello");
    await body.fill("You.");
    const create = await hold();
    await press(page, "Save the template");
    await body.fill("You, and you.");
    create();
    await page.getByText("Saved from afar is saved. What you wrote since is not.").waitFor();
    await page.getByRole("heading", { name: "Saved from afar", level: 1 }).waitFor();
    expect(await body.inputValue()).toBe("You, and you.");
    const update = await hold();
    await press(page, "Save the template");
    await page.getByRole("link", { name: "People", exact: true }).click();
    update();
    await page.getByText("Saved from afar is saved.", { exact: true }).waitFor();
    await page.getByRole("heading", { name: "People", level: 1 }).waitFor();
  });

  it("limits of a campaign that are given up stay so after a reload (CON-2)", async () => {
    const { page, visit } = await open();
    await visit("campaigns/new");
    await page.getByLabel("Name").fill("Autumn news");
    await page.getByLabel("Title").fill("It is autumn");
    await page.getByLabel("Body", { exact: true }).fill("Leaves fall.");
    await page.getByLabel("Custom limits").check();
    await page.getByRole("button", { name: "Save the draft" }).click();
    const edit = page.getByRole("button", { name: "Edit", exact: true });
    await edit.click();
    await page.getByLabel("Workspace default").check();
    await page.reload();
    await edit.click();
    expect(await page.getByLabel("Workspace default").isChecked()).toBe(true);
  });

  it("a session that ends in the middle of a form is signed in again over it, and the save goes on (CON-2)", async () => {
    const { page, visit, context } = await open();
    await visit("settings");
    await page.getByLabel("Name", { exact: true }).fill("Renamed at the end");
    await context.clearCookies();
    let isOver = true;
    await page.route("**/api/v1/workspace", (route) =>
      isOver ? route.fulfill({ status: 401, json: { code: "UNAUTHORIZED", message: "Over." } }) : route.fallback(),
    );
    const save = page.getByRole("button", { name: "Save", exact: true });
    await save.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Sign in again" });
    await dialog.getByLabel("Email").and(page.locator(":focus")).waitFor();
    expect(await violationsInThemes(page)).toEqual({});
    isOver = false;
    await dialog.getByRole("button", { name: "Continue as demo owner" }).press("Enter");
    await page.getByText("Saved.", { exact: true }).waitFor();
    await save.and(page.locator(":focus")).waitFor();
    await page.locator(".workspace").getByText("Renamed at the end").waitFor();
    const { promise: isWritten, resolve: written } = Promise.withResolvers<void>();
    await page.route("**/api/v1/workspace", async (route) => {
      if (route.request().method() === "PATCH") await isWritten;
      return route.fallback();
    });
    await page.getByLabel("Name", { exact: true }).fill("Demo");
    await save.press("Enter");
    // What is written before the answer stays.
    await page.getByLabel("Sender (optional)").fill("Kiln");
    written();
    await page.locator(".workspace b", { hasText: /^Demo$/ }).waitFor();
    await page.getByText("Not saved: sender").waitFor();
    expect(await page.getByLabel("Sender (optional)").inputValue()).toBe("Kiln");
  });

  it("a draft keeps what its editor does not show when it is saved: the template of a chat app, which of two hours it is (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("campaigns/new");
    await page.getByLabel("Name").fill("By chat");
    await page.getByLabel("Title").fill("It is on its way");
    await page.getByLabel("Body", { exact: true }).fill("Your order left us.");
    await press(page, "Save the draft");
    await page.getByRole("heading", { name: "By chat", level: 1 }).waitFor();
    // The second half past two of that night.
    const scheduled_at = "2027-10-31T01:30:00.000Z";
    const own = { chat_app_template_id: "order_shipped", chat_app_parameters: ["No. 7"], scheduled_at };
    await page.route(/v1\/campaigns\/[\w-]{36}$/, async (route) => {
      if (route.request().method() !== "GET") return route.continue();
      const answer = await route.fetch();
      const campaign = (await answer.json()) as Campaign;
      const messages = campaign.messages.map((message) => ({ ...message, ...own }));
      return route.fulfill({ response: answer, json: { ...campaign, messages } });
    });
    await page.reload();
    await press(page, "Edit");
    await page.getByLabel("Name").fill("By chat, again");
    const saved = page.waitForRequest((one) => one.method() === "PUT");
    await press(page, "Save the draft");
    expect(await bodyOf(page, await saved)).toMatchObject({ messages: [own] });
  });

  it("a draft whose first save did not arrive takes no other draft's place, and nothing of it is said to be unsaved (CON-2)", async () => {
    const { page, visit } = await open();
    const write = async () => {
      await visit("campaigns/new");
      await page.getByLabel("Name").fill("Twins");
      await page.getByLabel("Title").fill("Hello");
      await page.getByLabel("Body", { exact: true }).fill("To both.");
    };
    await write();
    await press(page, "Save the draft");
    await page.getByRole("heading", { name: "Twins", level: 1 }).waitFor();
    // One of another day that says the same.
    await page.route(/v1\/campaigns\?.*q=Twins/, async (route) => {
      const answer = await route.fetch();
      const { items, ...rest } = (await answer.json()) as { items: Campaign[] };
      const older = items.map((item) => ({ ...item, created_at: "2020-01-01T00:00:00.000Z" }));
      return route.fulfill({ response: answer, json: { ...rest, items: older } });
    });
    await write();
    await page.route("**/api/v1/campaigns", (route) => route.abort("internetdisconnected"), { times: 1 });
    await press(page, "Save the draft");
    await page.getByText("The service cannot be reached.").waitFor();
    await page.getByLabel("Title").fill("Hello again");
    await press(page, "Save the draft");
    await page.getByRole("heading", { name: "Twins", level: 1 }).waitFor();
    expect(await page.getByText("What you wrote since is not.").count()).toBe(0);
    await page.unrouteAll({ behavior: "wait" });
    await visit("campaigns?q=Twins");
    await expect.poll(() => page.getByRole("table").getByRole("link", { name: "Twins" }).count()).toBe(2);
  });

  it("what somebody else saved of a segment stays when what was written during a save is saved too (CON-2, CON-3)", async () => {
    const { page, visit, context } = await open();
    await visit("segments/new");
    await page.getByLabel("Name").fill("Payers");
    await page.getByLabel("Attribute 1").fill("plan");
    await page.getByLabel("Value 1").fill("pro");
    await press(page, "Create the segment");
    await page.getByRole("heading", { name: "Payers", level: 1 }).waitFor();
    await page.getByLabel("Name").fill("Payers of all");
    const other = await context.newPage();
    await other.goto(page.url());
    await other.getByLabel("Value 1").fill("team");
    await press(other, "Save");
    await other.getByText("Saved. Its members are being computed.").waitFor();
    const { promise: isWritten, resolve: written } = Promise.withResolvers<void>();
    await page.route(/v1\/segments\/[\w-]{36}$/, async (route) => {
      if (route.request().method() === "PATCH") await isWritten;
      return route.fallback();
    });
    await press(page, "Save");
    await page.getByText("Somebody else saved meanwhile: both changes are kept.").waitFor();
    await page.getByLabel("Name").fill("Payers of all plans");
    written();
    await page.getByText("What you wrote since is not.").waitFor();
    await press(page, "Save");
    await page.getByText("Saved. Its members are being computed.", { exact: true }).waitFor();
    await other.reload();
    await other.getByRole("heading", { name: "Payers of all plans", level: 1 }).waitFor();
    expect(await other.getByLabel("Value 1").inputValue()).toBe("team");
    await other.close();
  });

  it("what is written while an experience with an end is saved is nobody else's change (CON-2)", async () => {
    const { page, visit } = await open();
    await visit("content/experiences/new");
    await page.getByLabel("Name").fill("Until May");
    await page.getByLabel("Title").fill("Spring");
    await page.getByLabel("Body").fill("Half of all.");
    await page.getByLabel(/^Ends/).fill("2030-05-01T09:00");
    const { promise: isWritten, resolve: written } = Promise.withResolvers<void>();
    await page.route("**/api/v1/in-app/experiences", async (route) => {
      if (route.request().method() === "POST") await isWritten;
      return route.fallback();
    });
    await press(page, "Save the draft");
    await page.getByLabel("Title").fill("Spring is here");
    written();
    await page.getByText("Until May is saved as a draft. What you wrote since is not.").waitFor();
    await page.getByRole("heading", { name: "Until May", level: 1 }).waitFor();
    await press(page, "Save the draft");
    await page.getByText("Until May is saved as a draft.", { exact: true }).waitFor();
    expect(await page.getByText("Somebody else saved meanwhile").count()).toBe(0);
  });

  it("who signs in after another, in the same tab, sees nothing of the other's workspace, and adds people to their own (CON-2)", async () => {
    const { page, visit } = await open();
    const add = async (id: string) => {
      await press(page, "Add a person");
      const dialog = page.locator("dialog[open]");
      await dialog.getByLabel("External ID").fill(id);
      await dialog.getByRole("button", { name: "Add", exact: true }).click();
      await page.getByText(`${id} is added.`).waitFor();
    };
    await visit("people");
    await page.getByRole("link", { name: "Ada", exact: true }).waitFor();
    await add("ada");
    await visit("home");
    await page.getByText("1 of 20,000,000").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("link", { name: "Create a workspace" }).click();
    await page.getByLabel("Your name").fill("Hedy");
    await page.getByLabel("Name of the workspace").fill("Frequencies");
    await page.getByLabel("Email").fill("hedy@lamarr.example");
    await page.getByLabel("Password").fill("eighty eight piano keys");
    await page.getByRole("button", { name: "Create the workspace" }).click();
    await page.getByText("Get to your first message").waitFor();
    await page.getByText("0 of 20,000,000").waitFor();
    await page.keyboard.press("d");
    await page.locator("aside.drawer").getByText("GET /api/v1/billing").waitFor();
    expect(await page.locator("aside.drawer").getByText("/api/v1/subscribers").count()).toBe(0);
    await add("grace");
    await page.getByText("1 of 20,000,000").waitFor();
  });
}
