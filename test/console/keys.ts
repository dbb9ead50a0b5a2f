// What has the focus, what keys close, and the list of keys to the API.
import { expect, it, onTestFinished } from "vitest";
import { choose, type Tab, tabTo, violations } from "../support/console-tab.ts";

export function keyStories(open: () => Promise<Tab>): void {
  it("a condition that is added to a segment has the focus (CON-4)", async () => {
    const { page, visit } = await open();
    const focused = (label: string) => page.getByLabel(label, { exact: true }).and(page.locator(":focus")).waitFor();
    await visit("segments/new");
    for (const [button, label] of [
      ["Event", "Event 2"],
      ["Property", "Property 2, 1"],
      ["Group", "Attribute 3.1"],
    ] as const) {
      await page.getByRole("button", { name: button, exact: true }).last().press("Enter");
      await focused(label);
    }
  });

  it("a condition that is added takes the focus from nobody who went on meanwhile (CON-4)", async () => {
    const { page, visit } = await open();
    await visit("segments/new");
    await page.getByLabel("Name", { exact: true }).waitFor();
    // The next field is there with the next picture: what happens before it happens in one task.
    const focused = await page.evaluate(`(async () => {
      const button = [...document.querySelectorAll("main button")].findLast(({ textContent }) => textContent === "Event");
      const name = document.querySelector("main input");
      button.focus();
      button.click();
      name.focus();
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
      return document.activeElement === name;
    })()`);

    expect(focused).toBe(true);
    await page.getByLabel("Event 2", { exact: true }).waitFor();
  });

  it("Enter right after Escape opens anew what Escape closed (CON-4)", async () => {
    const { page, visit } = await open();
    await visit("content/lists");
    await page.getByRole("button", { name: "New list" }).click();
    await page.locator("dialog[open]").getByLabel("Name").fill("Given up");
    // The browser tells of a dialog that it closed in a later task: what happens before it happens in one task.
    await page.evaluate(`(async () => {
      document.querySelector("dialog[open]").requestClose();
      for (let n = 0; n < 20; n++) await undefined;
      document.activeElement.click();
    })()`);

    await page.locator("dialog[open]").getByRole("heading", { name: "New list" }).waitFor();
    expect(await page.locator("dialog[open]").getByLabel("Name").inputValue()).toBe("");
    await page.keyboard.press("Escape");
  });

  it("a page whose content is replaced by that of another address has the focus on its title (CON-4)", async () => {
    const { page, visit } = await open();
    await visit("import");
    const focused = (name: string) =>
      page.getByRole("heading", { name, level: 1 }).and(page.locator(":focus")).waitFor();
    await focused("Import");
    const mimeType = "text/csv";
    const buffer = Buffer.from("email\nof-the-keys@example.com\n");
    await page.getByLabel("CSV file").setInputFiles({ name: "keys.csv", mimeType, buffer });
    await page.getByRole("button", { name: "Start the dry run" }).press("Enter");
    await page.getByRole("region", { name: "Dry run" }).and(page.locator(":focus")).waitFor();
    await page.getByRole("button", { name: "Import 1 row" }).press("Enter");
    await page.getByRole("heading", { name: "Result of the import" }).waitFor();
    await focused("Import");
    await page.goBack();
    await page.getByRole("heading", { name: "1. The file" }).waitFor();
    await focused("Import");
  });

  it("how many a search finds is said while it is typed (CON-4)", async () => {
    const { page, visit } = await open();
    await visit("people");
    await page.keyboard.press("/");
    await page.keyboard.type("ada");
    await page.getByRole("status").getByText("1 found", { exact: true }).waitFor();
    await page.keyboard.type("xyz");
    await page.getByRole("status").getByText("0 found", { exact: true }).waitFor();
    // The list is whole again, and its search says so.
    await page.getByRole("link", { name: "People", exact: true }).click();
    await page.getByRole("link", { name: "Ada", exact: true }).waitFor();
    expect(await page.getByRole("searchbox").inputValue()).toBe("");
  });

  it("no field of the settings has the focus under the bar that saves them (CON-4)", async () => {
    const { page, visit } = await open();
    await visit("settings");
    await page.getByLabel("Name", { exact: true }).fill("Demo of the bar");
    await tabTo(page, "Postal address");
    const field = await page.locator("textarea:focus").boundingBox();
    const bar = await page.locator(".save-bar").boundingBox();
    expect(field!.y + field!.height).toBeLessThanOrEqual(bar!.y);
  });

  it("a button whose press is refused stays in sight, below what is said of it (CON-4)", async () => {
    const { page, visit } = await open();
    const refused = { status: 409, json: { code: "CONFLICT", message: "Not now." } };
    const size = page.viewportSize()!;
    onTestFinished(() => page.setViewportSize(size));
    await page.route("**/api/v1/templates", (route) => route.fulfill(refused));
    await visit("content/templates/new");
    await page.getByLabel("Name").fill("Refused");
    await page.getByLabel("Title").fill("Hello");
    await page.getByLabel("Body", { exact: true }).fill("It is here.");
    await tabTo(page, "Save the template");
    const bottom = async () => {
      const { y, height } = (await page.locator("button:focus").boundingBox())!;
      return Math.ceil(y + height);
    };
    // It is the last in the window.
    const height = (await bottom()) + 4;
    await page.setViewportSize({ width: size.width, height });
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("Not now.").waitFor();
    // It is moved there with the picture that follows.
    await expect.poll(bottom).toBeLessThanOrEqual(height);
  });

  it("of a group of choices a dialog begins with the chosen one (CON-4)", async () => {
    const { page, visit } = await open();
    await visit("channels");
    await page.getByRole("button", { name: "Connect a channel" }).first().press("Enter");
    await page
      .locator("dialog[open]")
      .getByRole("radio", { name: "Email", checked: true })
      .and(page.locator(":focus"))
      .waitFor();
  });

  it("a dialog closes by a button at its corner, also on a phone (CON-4)", async () => {
    const { page, visit } = await open();
    const size = page.viewportSize()!;
    onTestFinished(() => page.setViewportSize(size));
    await page.setViewportSize({ width: 390, height: 700 });
    await visit("settings/keys");
    await page.getByRole("button", { name: "New server key" }).click();
    await page.locator("dialog[open] input:focus").first().waitFor();
    await page.locator("dialog[open]").getByRole("button", { name: "Close", exact: true }).click();
    await page.locator("dialog[open]").waitFor({ state: "detached" });
  });

  it("a new key stays on the screen over Escape and Ctrl K, until it is said to be stored (CON-4)", async () => {
    const { page, visit } = await open();
    const dialog = page.locator("dialog[open]");
    await visit("settings/keys");
    await page.getByRole("button", { name: "New server key" }).click();
    await dialog.getByLabel("Name").fill("Shop");
    await page.keyboard.press("Enter");
    await dialog.getByText("It is shown only now.").waitFor();
    // A browser closes a dialog over its own refusal the second time.
    for (let n = 0; n < 3; n++) await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await dialog.getByText("It is shown only now.").waitFor();
    await tabTo(page, "I have stored it");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "New server key" }).and(page.locator(":focus")).waitFor();
  });

  it("what is asked for stays open until it is answered, and leads nowhere once its page was left (CON-4, CON-2)", async () => {
    const { page, visit } = await open();
    const dialog = page.locator("dialog[open]");
    /** The next write there waits until the answer is let go. */
    const hold = async (path: string) => {
      const { promise: isLetGo, resolve } = Promise.withResolvers<void>();
      const asked = page.waitForRequest((one) => one.method() !== "GET" && one.url().includes(path));
      await page.route(`**/api/v1/${path}*`, async (route) => {
        if (route.request().method() !== "GET") await isLetGo;
        return route.fallback();
      });
      return { asked, letGo: resolve };
    };
    /** Neither way out is there while it waits. */
    const tryToClose = async () => {
      await page.keyboard.press("Escape");
      await expect.poll(() => dialog.getByRole("button", { name: /^(Cancel|Close)$/ }).count()).toBe(0);
      expect(await dialog.count()).toBe(1);
    };
    await visit("settings/keys");
    await page.getByRole("button", { name: "New server key" }).click();
    await dialog.getByLabel("Name").fill("Shop");
    const key = await hold("server-keys");
    await page.keyboard.press("Enter");
    await key.asked;
    await tryToClose();
    key.letGo();
    await dialog.getByText("It is shown only now.").waitFor();
    await dialog.getByRole("button", { name: "I have stored it" }).click();

    await visit("journeys");
    await page.getByRole("button", { name: "New journey" }).first().click();
    await dialog.getByLabel("Name").fill("Made from afar");
    await dialog.getByLabel("Trigger event").fill("signed_up");
    const made = await hold("journeys");
    await dialog.getByRole("button", { name: "Create the draft" }).click();
    await made.asked;
    await tryToClose();
    made.letGo();
    await page.getByRole("heading", { name: "Made from afar", level: 1 }).waitFor();

    await choose(page, "Delete");
    await dialog.getByLabel("Type Made from afar to confirm").fill("Made from afar");
    const removed = await hold("journeys/");
    await page.keyboard.press("Enter");
    await removed.asked;
    await tryToClose();
    await visit("people");
    removed.letGo();
    await page.getByText("Made from afar is deleted.").waitFor();
    await page.getByRole("heading", { name: "People", level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toMatch(/people$/);

    await visit("send");
    await page.getByLabel("Title").fill("The sale");
    await page.getByLabel("Body").fill("It begins soon.");
    await page.getByRole("button", { name: "Review and send" }).click();
    const sent = await hold("notifications");
    await dialog.getByRole("button", { name: /^Send to \d/ }).click();
    await sent.asked;
    await tryToClose();
    sent.letGo();
    await dialog.waitFor({ state: "detached" });
  });

  it.each(["server", "agent"])(
    "keys of the kind %s that are older than a hundred others can be revoked (CON-2)",
    async (kind) => {
      const { page, visit } = await open();
      const key = (name: string) => ({
        id: name,
        name,
        prefix: "service_",
        scopes: [],
        last_used_at: null,
        revoked_at: null,
      });
      await page.route(`**/api/v1/${kind}-keys*`, (route) => {
        const isSecond = new URL(route.request().url()).searchParams.get("cursor") === "second";
        const json = isSecond
          ? { items: [key("Old")], next_cursor: "" }
          : { items: [key("New")], next_cursor: "second" };
        return route.fulfill({ json });
      });

      await visit("settings/keys");
      await page.getByRole("button", { name: "Show more" }).click();

      await page.getByRole("row", { name: /^Old / }).getByRole("button").click();
      await page.getByText("Revoke Old?").waitFor();
    },
  );

  it("the navigation fits a window of 720 pixels, as a whole and as icons, which a reload keeps (CON-4)", async () => {
    const { page, visit } = await open();
    const size = page.viewportSize()!;
    onTestFinished(() => page.setViewportSize(size));
    await page.setViewportSize({ width: 1280, height: 720 });
    await visit("settings/keys");
    const fits = async () => {
      const foot = await page.getByRole("button", { name: "Sign out" }).boundingBox();
      expect((foot?.y ?? 0) + (foot?.height ?? 0)).toBeLessThanOrEqual(720);
      const hidden = await page
        .locator(".nav-body")
        .evaluate((body: { scrollHeight: number; clientHeight: number }) => body.scrollHeight - body.clientHeight);
      expect(hidden).toBe(0);
    };
    await fits();
    const icons = page.getByRole("button", { name: "Icons only" });
    await icons.click();
    await fits();
    await page.reload();
    await page.getByRole("button", { name: "Icons only", pressed: true }).waitFor();
    expect((await page.locator("nav.nav").boundingBox())?.width).toBeLessThan(60);
    await page
      .getByRole("img", { name: /^Workspace: ./ })
      .getByText("D", { exact: true })
      .waitFor();
    await page.getByRole("link", { name: "Webhooks" }).waitFor();
    const drawn = await page
      .locator(".nav-body a svg")
      .evaluateAll((all: { innerHTML: string }[]) => all.map((one) => one.innerHTML));
    expect(new Set(drawn).size).toBe(drawn.length);
    expect(await violations(page, "light", "nav.nav")).toEqual([]);
    await icons.click();
    expect((await page.locator("nav.nav").boundingBox())?.width).toBeGreaterThan(200);
    expect(await page.getByRole("img", { name: /^Workspace/ }).count()).toBe(0);
  });
}
