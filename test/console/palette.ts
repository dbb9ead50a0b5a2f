// The palette and the list of API calls, from the keyboard.
import { expect, it } from "vitest";
import { draftJourney, type Tab, violations, violationsInThemes } from "../support/console-tab.ts";

export function paletteStories(open: () => Promise<Tab>): void {
  it("the palette takes what is typed at once, and finds a page, an action, and a person by the beginning of a name (CON-4)", async () => {
    const { page, visit } = await open();
    const hits = page.locator("dialog.palette [role=option]");
    await visit("home");
    // No key goes to the shortcuts of the page, of which `d` and `?` open panels.
    await page.keyboard.press("Control+k");
    await page.keyboard.press("d");
    await page.locator("dialog.palette input:focus").waitFor();
    expect(await page.locator("aside.drawer").count()).toBe(0);
    await page.locator("dialog.palette input").fill("ad");
    await hits.filter({ hasText: "Ada" }).waitFor();
    // Upload and download have it inside a word.
    expect(await hits.filter({ hasText: /Import|Exports/ }).count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    // The activity is about it, and stands before it in the navigation.
    await page.locator("dialog.palette input").fill("outbox");
    await hits.first().filter({ hasText: "Outbox" }).waitFor();
    await page.locator("dialog.palette input").fill("webh");
    await hits.first().filter({ hasText: "Webhooks" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Webhooks", level: 1 }).waitFor();
    await page.keyboard.press("Control+k");
    await page.locator("dialog.palette input").fill("curl");
    await page.keyboard.press("Enter");
    const drawer = page.locator("aside.drawer");
    // The newest moves as further calls are made, the oldest does not.
    await drawer.getByText("GET /api/v1/webhooks").last().click();
    const call = drawer.locator("details[open]");
    await call.getByText('-H "Authorization: Bearer $ACCESS_TOKEN"').waitFor();
    await drawer.getByRole("button", { name: "SDK" }).click();
    await call.getByText("await client.webhooks.list(").waitFor();
    expect(await violations(page, "light", "html")).toEqual([]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.locator("dialog[open]").getByText("API calls, as curl and SDK code").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("dialog[open]").waitFor({ state: "detached" });
    await page.keyboard.press("g");
    await page.keyboard.press("e");
    await page.getByRole("heading", { name: "Segments", level: 1 }).waitFor();
  });

  it("Enter and Escape that choose a word, as of Japanese, leave the palette and the step of a journey open (CON-4)", async () => {
    const { page, visit } = await open();
    const palette = page.locator("dialog.palette");
    const panel = page.locator(".chart-panel");
    await draftJourney({ page, visit }, "By word", "signed_up");
    await page.getByRole("button", { name: /^Insert a step after/ }).click();
    await panel.dispatchEvent("keydown", { key: "Escape", isComposing: true });
    await page.keyboard.press("Control+k");
    await palette.getByRole("combobox").fill("webh");
    await palette.getByRole("option", { name: /^Webhooks/ }).waitFor();
    await palette.getByRole("combobox").dispatchEvent("keydown", { key: "Enter", isComposing: true });
    await palette.getByRole("option", { name: /^Webhooks/ }).waitFor({ timeout: 2_000 });
    await page.keyboard.press("Escape");
    await palette.waitFor({ state: "detached" });
    expect(await panel.count()).toBe(1);
  });

  it("the palette finds what has a name, without its marks and case (CON-4)", async () => {
    const { page, visit } = await open();
    await visit("content/lists");
    await page.getByRole("button", { name: "New list" }).click();
    await page.locator("dialog[open]").getByLabel("Name").fill("Große Käufer");
    await page.getByRole("button", { name: "Create the list" }).click();
    await page.locator("dialog[open]").waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await page.locator("dialog.palette input").fill("grosse kauf");
    await page.locator("dialog.palette [role=option]").filter({ hasText: "Große Käufer" }).waitFor();
    await page.keyboard.press("Escape");
  });

  it("the palette finds channels, endpoints, topics, images and members, and leads to them (CON-4)", async () => {
    const { page, visit } = await open();
    const answers: Record<string, object> = {
      webhooks: { items: [{ id: "w", target_url: "https://shop.example.org/in", description: "Zephyr of the shop" }] },
      topics: { items: [{ key: "zephyr", name: "Zephyr news" }] },
      "in-app/assets?*": { items: [{ id: "i", filename: "zephyr.png" }] },
      "team/members": { items: [{ user_id: "u", name: "Zephyrine Moreau", email: "z@example.org" }] },
    };
    await visit("home");
    for (const [path, json] of Object.entries(answers))
      await page.route(`**/api/v1/${path}`, (route) => route.fulfill({ json }));
    await page.keyboard.press("Control+k");
    await page.locator("dialog.palette input").fill("zephyr");
    const hits = page.locator("dialog.palette [role=option]");
    for (const hit of ["Zephyr of the shopendpoint", "Zephyr newstopic", "zephyr.pngimage", "z@example.orgmember"])
      await hits.filter({ hasText: hit }).waitFor();
    await page.locator("dialog.palette input").fill("in-app");
    await hits.filter({ hasText: /channel$/ }).click();
    await page.getByRole("link", { name: "Channels" }).first().waitFor();
    await page.getByRole("heading", { name: "Status" }).waitFor();
  });

  it("a word that is nowhere reads a few pages of each kind, once, and says of which only the newest were looked at (CON-4)", async () => {
    const { page, visit } = await open();
    await visit("home");
    const asked: string[] = [];
    page.on("request", (one) => asked.push(one.url()));
    const segments = Array.from({ length: 100 }, (_, n) => ({ id: `s${n}`, name: `Segment ${n}` }));
    await page.route(/\/api\/v1\/segments(\?.*)?$/, (route) =>
      route.fulfill({ json: { segments, next_cursor: "more" } }),
    );
    const assets = Array.from({ length: 50 }, (_, n) => ({ id: `i${n}`, filename: `image-${n}.png` }));
    await page.route("**/api/v1/in-app/assets?*", (route) => route.fulfill({ json: { items: assets } }));
    await page.keyboard.press("Control+k");
    const found = page.locator("dialog.palette");
    for (const word of ["nowhere", "at all"]) {
      await found.getByRole("combobox").fill(word);
      await found.getByText("Nothing is called that.").waitFor();
      await found.getByText("Of segments and images, only the newest were looked at.").waitFor();
    }
    expect(await violationsInThemes(page)).toEqual({});
    expect(asked.filter((url) => /\/(segments|assets)/.test(url))).toHaveLength(4);
    await page.keyboard.press("Escape");
  });

  it("a send is found by its title, in the palette and in the list, which says who was held out (CON-4, CON-3)", async () => {
    const { page, visit } = await open();
    await visit("send");
    await page.getByLabel("Title").fill("Lamps of the week");
    await page.getByLabel("Body", { exact: true }).fill("Three of them.");
    await page.getByRole("button", { name: "Review and send" }).click();
    await page.getByRole("button", { name: /^Send to \d+ (person|people)$/ }).click();
    await page.getByRole("heading", { name: "Lamps of the week", level: 1 }).waitFor();
    await visit("activity");
    await page.getByLabel("Search by name or title").fill("lamps OF");
    await page.getByRole("row", { name: /^Lamps of the week .* One-off \d+ \d+ \d+ \d+ \d+ / }).waitFor();
    await page.getByLabel("Search by name or title").fill("no such send");
    await page.getByText("Nothing in Demo is called that.").waitFor();
    await page.keyboard.press("Control+k");
    await page.locator("dialog.palette input").fill("lamps");
    await page.locator("dialog.palette [role=option]").filter({ hasText: "Lamps of the weeksend" }).click();
    await page.getByRole("heading", { name: "Lamps of the week", level: 1 }).waitFor();
  });
}
