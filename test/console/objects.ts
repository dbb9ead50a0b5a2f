// Lists with their members, endpoints that are changed, segments before they are saved, keys of agents and of identities.
import { expect, it } from "vitest";
import { choose, type Tab, violationsInThemes } from "../support/console-tab.ts";

export function objectStories(open: () => Promise<Tab>): void {
  it("people are put into a list by their external ID, found there and taken out (CON-3)", async () => {
    const { page, visit } = await open();
    const dialog = page.locator("dialog[open]");
    await visit("content/lists");
    await page.getByRole("button", { name: "New list" }).click();
    await dialog.getByLabel("Name").fill("Testers of the board");
    await dialog.getByRole("button", { name: "Create the list" }).click();
    await page.getByRole("link", { name: "Testers of the board" }).click();
    await page.getByRole("button", { name: "Add people" }).click();
    await dialog.getByLabel("External IDs").fill("ada\nnobody.at.all");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("1 person is added. Not known: nobody.at.all.").waitFor();
    await page.getByRole("link", { name: "Ada Keller", exact: true }).waitFor();
    const search = page.getByRole("searchbox", { name: "Find by name, external ID, email or phone" });
    await search.fill("lovelace");
    await page.getByText("No member is found by “lovelace”.").waitFor();
    await search.fill("kell");
    await page.getByRole("link", { name: "Ada Keller", exact: true }).waitFor();
    await search.fill("");
    await page.getByText("1 found").waitFor({ state: "detached" });
    expect(await violationsInThemes(page)).toEqual({});
    await page.getByRole("button", { name: "Take Ada Keller out" }).click();
    await page.getByText("Nobody is in this list.").waitFor();
  });

  it("a file over 4 MB is imported by way of the bucket, and an import leads to its list (CON-3)", async () => {
    const { page, visit } = await open();
    const row = (n: number) => `big-${n},big${n}@example.com,${"x".repeat(200)}`;
    const rows = Array.from({ length: 18_000 }, (_, n) => row(n));
    const buffer = Buffer.from(["external_id,email,note", ...rows].join("\n"));
    expect(buffer.length).toBeGreaterThan(4_000_000);
    await visit("import");
    await page.getByLabel("CSV file").setInputFiles({ name: "Large.csv", mimeType: "text/csv", buffer });
    await page.getByRole("button", { name: "Start the dry run" }).click();
    await page.getByText("Result of the dry run").waitFor();
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.locator("main .verdict .badge", { hasText: "canceled" }).waitFor();
    await page.getByRole("row", { name: /^Large/ }).waitFor();
  });

  it("numbers as they are dialed at home are read once it is said where they are from (CON-3, AMB-133)", async () => {
    const { page, visit } = await open();
    const file = "email,Handy\ntilda@home.example,0151/9513358\nadem@home.example,+49 151 3077052\n";
    await visit("import");
    await page
      .getByLabel("CSV file")
      .setInputFiles({ name: "At home.csv", mimeType: "text/csv", buffer: Buffer.from(file) });
    await page.getByRole("button", { name: "Start the dry run" }).click();
    await page.getByText("Phone numbers: 1 can be sent to; 1 cannot be read: nothing is sent to them.").waitFor();
    await page.locator(".figure", { hasText: "2new people" }).waitFor();
    await page.getByRole("link", { name: "Download what was left out" }).waitFor();
    expect(await violationsInThemes(page)).toEqual({});
    await page.getByLabel("Numbers without a country code").selectOption("DE");
    await page.getByRole("button", { name: "Repeat the dry run" }).click();
    await page.getByText("Phone numbers: 2 can be sent to.").waitFor();
    await page.getByText("2 rows will be imported.").waitFor();
  });

  it("home says what needs somebody today: drafts to finish, and what goes out (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("send");
    await page.getByLabel("Title").fill("Later today");
    await page.getByLabel("Body", { exact: true }).fill("In an hour.");
    await page.getByLabel("Later").check();
    await page.getByRole("button", { name: "Review and send" }).click();
    await page.getByRole("button", { name: /^Schedule for \d+ people$/ }).click();
    await page.getByText(/^Scheduled for/).waitFor();
    // What was planned since, for another day, is more than home lists.
    const scheduled_at = new Date(Date.now() + 40 * 86_400_000).toISOString();
    await page.route("**/api/v1/notifications?*", async (route) => {
      const response = await route.fetch();
      const { items, ...rest } = await response.json();
      const many = (changes: object) =>
        Array.from({ length: 6 }, () => ({ ...items[0], id: crypto.randomUUID(), ...changes }));
      const later = many({ name: "In forty days", scheduled_at });
      await route.fulfill({ json: { ...rest, items: [...later, ...items, ...many({ name: "Also today" })] } });
    });
    await visit("home");
    await page.getByRole("table", { name: "Latest sends" }).getByText("In forty days").first().waitFor();
    const today = page.locator("section.card", { has: page.getByRole("heading", { name: "Today" }) });
    await today.getByText(/^Later today goes out in /).waitFor();
    expect(await today.getByText("In forty days").count()).toBe(0);
    // What goes out today may be much: the rest is a link.
    await today.getByRole("link", { name: /^[1-6] more sends?$/ }).waitFor();
    expect(await today.getByRole("listitem").count()).toBeLessThan(12);
    expect(await violationsInThemes(page)).toEqual({});
    await visit("campaigns/new");
    await page.getByLabel("Name").fill("Half written");
    await page.getByLabel("Title").fill("Soon");
    await page.getByLabel("Body", { exact: true }).fill("More of it.");
    await page.getByRole("button", { name: "Save the draft" }).click();
    await page.getByRole("heading", { name: "Half written", level: 1 }).waitFor();
    await visit("home");
    await today.getByText(/^Half written is a draft, changed /).waitFor();
    await today.getByRole("link", { name: "Later today" }).click();
    await page.getByRole("button", { name: "Cancel the send" }).click();
    await page.locator("dialog[open]").getByRole("button", { name: "Cancel the send" }).click();
    await page.getByText("The send is canceled.").waitFor();
  });

  it("an endpoint is changed where it stands (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("webhooks");
    await page.locator("main a[data-row]", { hasText: "receiver.example" }).click();
    await choose(page, "Edit");
    const dialog = page.locator("dialog[open]");
    expect(await dialog.getByLabel("URL").inputValue()).toContain("receiver.example");
    await dialog.getByLabel("Description").fill("Of the shop");
    expect(await violationsInThemes(page)).toEqual({});
    await dialog.getByRole("button", { name: "Save the endpoint" }).click();
    await page.locator("main h1 + p", { hasText: "Of the shop" }).waitFor();
    await choose(page, "Rotate the secret");
    await dialog.getByText("For 24 hours the current one signs as well").waitFor();
    await dialog.getByRole("button", { name: "Rotate it" }).click();
    await dialog.getByText(/^whsec_/).waitFor();
    await dialog.getByRole("button", { name: "I have stored it" }).click();
    await dialog.waitFor({ state: "detached" });
  });

  it("a segment says who enters and who leaves before another rule is saved (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("segments");
    await page.locator("main a[data-row]", { hasText: "Pro customers" }).click();
    await page
      .getByLabel(/^Value/)
      .first()
      .fill("starter");
    await page.getByText(/^\d+ (person enters|people enter), [1-9]\d* people leave once it is saved\.$/).waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
  });

  it("a size is that of the rule on the screen, and values that people have are offered (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("segments/new");
    await page.getByLabel("Attribute 1").fill("plan");
    const value = page.getByLabel("Value 1");
    await value.focus();
    await page.locator('datalist option[value="pro"]').waitFor({ state: "attached" });
    await value.fill("pro");
    const size = page.locator(".verdict");
    await size.getByText(/^\d+ people$/).waitFor();
    await value.fill("free");
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
    expect(await size.textContent()).toBe("Counting…");
    await size.getByText(/^\d+ people$/).waitFor();
    expect(await violationsInThemes(page)).toEqual({});
  });

  it("a rule has groups, properties of events and days, and is opened as it was saved (CON-3, CON-4)", async () => {
    const { page, visit } = await open();
    const field = (label: string) => page.getByLabel(label, { exact: true });
    const press = (name: string) => page.getByRole("button", { name, exact: true }).last().click();
    await visit("segments/new");
    await field("Name").fill("Of both kinds");
    await field("Attribute 1").fill("plan");
    await field("Value 1").fill("pro");
    await press("Group");
    await field("Attribute 2.1").fill("city");
    await field("Value 2.1").fill("Berlin");
    await field("Attribute 2.2").fill("born");
    await field("Comparison 2.2").selectOption({ label: "is on or after" });
    await field("Value 2.2").fill("1990-01-02");
    await press("Event");
    await field("Event 3").fill("board_opened");
    await field("How often 3").selectOption({ label: "between" });
    expect(await field("Times 3").inputValue()).toBe("1");
    await field("At most 3").fill("9");
    await press("Property");
    await field("Property 3, 1").fill("shared");
    await field("Value 3, 1").fill("true");
    expect(await violationsInThemes(page)).toEqual({});
    const rule = {
      group: {
        op: "and",
        nodes: [
          { attribute: { plan: { $eq: "pro" } } },
          {
            group: {
              op: "or",
              nodes: [{ attribute: { city: { $eq: "Berlin" } } }, { attribute: { born: { $gte: "1990-01-02" } } }],
            },
          },
          {
            event: {
              name: "board_opened",
              within: "30d",
              frequency: { min: 1, max: 9 },
              where: { shared: { $eq: true } },
            },
          },
        ],
      },
    };
    await press("Show as JSON");
    expect(JSON.parse(await field("Rule as JSON").inputValue())).toEqual(rule);
    await press("Show as rows");
    await press("Create the segment");
    await page.getByRole("heading", { name: "Of both kinds" }).waitFor();
    expect(await field("Value 2.2").inputValue()).toBe("1990-01-02");
    expect(await field("At most 3").inputValue()).toBe("9");
    expect(await field("Value 3, 1").inputValue()).toBe("true");
  });

  it("keys of agents and of identities are made and taken back (CON-3)", async () => {
    const { page, visit } = await open();
    const dialog = page.locator("dialog[open]");
    await visit("settings/keys");
    await page.getByRole("button", { name: "New agent key" }).click();
    await dialog.getByLabel("Name").fill("Weekly report");
    await dialog.getByRole("button", { name: "Create the key" }).click();
    await dialog.getByText("It is shown only now.").waitFor();
    expect(await violationsInThemes(page)).toEqual({});
    await dialog.getByRole("button", { name: "I have stored it" }).click();
    await page.getByRole("button", { name: "Revoke Weekly report" }).click();
    await dialog.getByLabel(/^Type/).fill("Weekly report");
    await dialog.getByRole("button", { name: "Revoke the key" }).click();
    await page.getByText("Weekly report is revoked.").waitFor();
    await page.getByRole("button", { name: "New identity key" }).click();
    await dialog.getByText("It is shown only now.").waitFor();
    await dialog.getByRole("button", { name: "I have stored it" }).click();
    await page.getByRole("button", { name: /^Delete the key/ }).click();
    await dialog.getByRole("button", { name: "Delete the key" }).click();
    await page.getByText("There are no identity keys yet.").waitFor();
  });

  it("a step of an active journey shows its message, and by what it goes out (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("journeys");
    await page.locator("main a[data-row]", { hasText: "Welcome" }).first().click();
    await page.locator("button.chart-node", { hasText: "Welcome, [first name]" }).click();
    const panel = page.locator("section.chart-panel");
    await panel.getByText("Make your first board in a minute.").waitFor();
    await panel.getByText("By In-app, Email, marketing").waitFor();
    expect(await violationsInThemes(page)).toEqual({});
  });

  it("a person who was put into a list was added to it, in the words of the timeline (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("people?q=ada");
    await page.getByRole("link", { name: "Ada Keller", exact: true }).click();
    await page.getByLabel("Kind").selectOption("list");
    await page.locator(".timeline li", { hasText: "Newsletter" }).getByText("added").waitFor();
  });

  it("what is not saved of a long form is named beside its button, which stays in sight (CON-3)", async () => {
    const { page, visit } = await open();
    const forms: [path: string, submit: string][] = [
      ["content/templates/new", "Save the template"],
      ["campaigns/new", "Save the draft"],
      ["content/experiences/new", "Save the draft"],
      ["segments/new", "Create the segment"],
    ];
    await page.setViewportSize({ width: 1280, height: 420 });
    for (const [path, submit] of forms) {
      await visit(path);
      const button = page.getByRole("button", { name: submit });
      expect(await page.getByText(/^Not saved/).count(), path).toBe(0);
      await page.getByLabel("Name", { exact: true }).fill("By the way");
      await page
        .getByRole("status")
        .filter({ hasText: /^Not saved: name$/ })
        .waitFor();
      await page.evaluate("scrollTo(0, 0)");
      const { y, height } = (await button.boundingBox()) ?? { y: 0, height: 420 };
      expect(y + height, path).toBeLessThan(420);
      expect(await violationsInThemes(page), path).toEqual({});
      await button.scrollIntoViewIfNeeded();
      await page.getByRole("button", { name: "Cancel", exact: true }).click();
      await page.getByRole("button", { name: "Discard", exact: true }).click();
      await page.locator("dialog[open]").waitFor({ state: "detached" });
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  });
}
