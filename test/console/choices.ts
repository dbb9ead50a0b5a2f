// What is chosen by its name among more than one page of its kind: older things are found, and named where they were chosen.
import { expect, it } from "vitest";
import type { Tab } from "../support/console-tab.ts";
import type { ServiceProcess } from "../support/service-process.ts";

const PAGE = 100;

/** An older one, and as many newer ones as a page has. */
async function fillPage(service: ServiceProcess, path: string, bodyOf: (name: string) => object, older: string) {
  const post = async (at: string, body: object, token?: string) => {
    const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    const answer = await fetch(`${service.url}/${at}`, { method: "POST", headers, body: JSON.stringify(body) });
    expect(answer.ok).toBe(true);
    return (await answer.json()) as { access_token: string };
  };
  const { access_token } = await post("_local/tokens", { tenant_id: service.tenant });
  await post(path, bodyOf(older), access_token);
  for (let n = 0; n < PAGE; n++) await post(path, bodyOf(`${path.split("/").at(-1)} ${n}`), access_token);
}

export function choiceStories(open: () => Promise<Tab>, service: () => ServiceProcess): void {
  it("a list beyond the newest hundred is found by its name, and is named where it was chosen (CON-3)", async () => {
    await fillPage(service(), "api/v1/lists", (name) => ({ name }), "Große Häuser");
    const { page, visit } = await open();
    const list = page.getByLabel("List", { exact: true });
    const search = page.getByLabel("Find a list");
    await visit("campaigns/new");
    await page.getByLabel("Name").fill("To the houses");
    await page.getByLabel("Title").fill("It is spring");
    await page.getByLabel("Body", { exact: true }).fill("More of it.");
    await page.getByLabel("A list").check();
    expect(await list.locator("option", { hasText: "Große Häuser" }).count()).toBe(0);
    await search.fill("grosse hau");
    await page.getByText("1 found: choose from them.").waitFor();
    await list.selectOption({ label: "Große Häuser (0)" });
    await search.fill("");
    await list.locator("option:checked", { hasText: "Große Häuser (0)" }).waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Save the draft" }).click();
    await page.getByRole("heading", { name: "To the houses", level: 1 }).waitFor();
    await page.getByText("Große Häuser", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await list.locator("option:checked", { hasText: "Große Häuser" }).waitFor({ state: "attached" });
  });

  it("a list that is deleted after it was chosen is said to be gone where it was chosen (CON-3)", async () => {
    const { page, visit } = await open();
    const list = page.getByLabel("List", { exact: true });
    await visit("campaigns/new");
    await page.getByLabel("A list").check();
    await list.selectOption({ index: 1 });
    const id = await list.inputValue();
    await page.route("**/api/v1/lists?*", async (route) => {
      const response = await route.fetch();
      const { items, ...others } = await response.json();
      const left = items.filter((item: { id: string }) => item.id !== id);
      return route.fulfill({ json: { ...others, items: left } });
    });
    await page.route(`**/api/v1/lists/${id}`, (route) =>
      route.fulfill({ status: 404, json: { code: "NOT_FOUND", message: "There is no such list." } }),
    );
    await page.reload();
    await page.getByText("There is no such list.").waitFor();
    expect(await list.inputValue()).toBe(id);
    await list.selectOption({ label: "Choose…" });
    await page.getByText("There is no such list.").waitFor({ state: "detached" });
  });

  it("a template beyond the newest hundred is found, scheduled and named (CON-3)", async () => {
    const content = { title: "Hello", body: "You." };
    await fillPage(service(), "api/v1/templates", (name) => ({ name, content }), "Alte Grüße");
    const { page, visit } = await open();
    await visit("content/schedules");
    await page.getByRole("button", { name: "New schedule" }).click();
    const dialog = page.locator("dialog[open]");
    await dialog.getByLabel("Find a template").fill("gruesse");
    await dialog.getByText("1 found: choose from them.").waitFor();
    await dialog.getByLabel("Template", { exact: true }).selectOption("Alte Grüße");
    await dialog.getByRole("button", { name: "Review the schedule" }).click();
    await page.getByText("Schedule Alte Grüße?").waitFor();
    await page.getByRole("button", { name: /^Schedule for \d+ people$/ }).click();
    await page.getByText("The schedule is created.").waitFor();
    await page.getByRole("cell", { name: "Alte Grüße", exact: true }).waitFor();
    await visit("campaigns/upcoming");
    await page.getByRole("link", { name: "Alte Grüße" }).first().waitFor();
  });

  it("a page beyond the end of a list leads to its last one, which is read in parts where it is too large (CON-3)", async () => {
    const { page, visit } = await open();
    const fields = { page: "is too large: ask for fewer entries" };
    await page.route(/\/templates\?.*per_page=50/, (route) =>
      route.fulfill({ status: 422, json: { code: "VALIDATION_ERROR", message: "page: is too large", fields } }),
    );
    await visit("content?page=9");
    await page.getByRole("table").getByRole("link").first().waitFor();
    expect(await page.getByRole("link", { name: "Older" }).count()).toBe(0);
  });

  it("the Enter of who looks for a template does not submit the form around it (CON-3, CON-6)", async () => {
    const { page, visit } = await open();
    await visit("content/schedules");
    await page.getByRole("button", { name: "New schedule" }).click();
    const search = page.locator("dialog[open]").getByLabel("Find a template");
    await search.fill("gruesse");
    await search.press("Enter");
    await page.getByText("1 found: choose from them.").waitFor();
    expect(await page.getByText(/^Schedule .*\?$/).count()).toBe(0);
  });

  it("of the schedules of a page the name of each older template is asked for once (CON-3)", async () => {
    const { page, visit } = await open();
    const ids = Array.from({ length: 6 }, () => crypto.randomUUID());
    const schedules = ids.map((template_id) => ({
      id: crypto.randomUUID(),
      template_id,
      cron_expression: "0 9 * * *",
      timezone: "UTC",
      active: true,
    }));
    await page.route("**/api/v1/schedules?*", (route) =>
      route.fulfill({ json: { data: schedules, total: ids.length, page: 1 } }),
    );
    const asked: string[] = [];
    await page.route("**/api/v1/templates/*", async (route) => {
      const id = new URL(route.request().url()).pathname.split("/").at(-1)!;
      asked.push(id);
      // The first answer comes while the others are under way.
      if (id !== asked[0]) await page.getByRole("cell", { name: `Named ${asked[0]}`, exact: true }).waitFor();
      return route.fulfill({ json: { id, name: `Named ${id}`, content: { title: "Hello", body: "You." } } });
    });
    await visit("content/schedules");
    for (const id of ids) await page.getByRole("cell", { name: `Named ${id}`, exact: true }).waitFor();
    expect(asked.toSorted()).toEqual(ids.toSorted());
  });

  it("a schedule whose template is unchosen again asks for one (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("content/schedules");
    await page.getByRole("button", { name: "New schedule" }).click();
    const dialog = page.locator("dialog[open]");
    await dialog.getByLabel("Template", { exact: true }).selectOption({ label: "Choose…" });
    await dialog.locator(".refusal", { hasText: "Choose a template." }).waitFor({ state: "attached" });
    expect(await dialog.getByLabel("Template", { exact: true }).inputValue()).toBe("");
  });

  it("an image beyond the newest sixty is shown on demand (CON-3)", async () => {
    const { page, visit } = await open();
    const image = (page_: number) => (_: unknown, n: number) => ({
      id: `${page_}-${n}`,
      filename: `Picture ${page_}-${n}`,
      url: "data:image/gif;base64,R0lGODlhAQABAAAAACw=",
    });
    await page.route("**/api/v1/in-app/assets?*", (route) => {
      const at = Number(new URL(route.request().url()).searchParams.get("page"));
      return route.fulfill({
        json: { items: Array.from({ length: at === 1 ? 60 : 2 }, image(at)), total: 62, page: at, page_size: 60 },
      });
    });
    await visit("content/experiences/new");
    await page.getByRole("button", { name: "Choose: Image" }).click();
    const dialog = page.locator("dialog[open]");
    await dialog.getByRole("button", { name: "Show more" }).click();
    await dialog.getByRole("button", { name: "Picture 2-1" }).click();
    expect(await page.getByLabel("Image", { exact: true }).inputValue()).toMatch(/^data:/);
  });

  it("an experience that stands on no page of the list is opened by its address (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("content/experiences");
    await page.getByRole("link", { name: "Maintenance on Sunday" }).click();
    const id = new URL(page.url()).pathname.split("/").at(-1);
    await visit(`content/experiences/${id}?status=ended`);
    await page.getByRole("heading", { name: "Maintenance on Sunday" }).waitFor();
  });
}
