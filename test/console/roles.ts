// What each role may use in the console, the reason at what it may not, and where dialogs leave the focus.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { type Tab, tabTo } from "../support/console-tab.ts";
import type { ServiceProcess } from "../support/service-process.ts";

const NOT_SENDING = "Only owners, admins and marketers may send.";
const NOT_WRITING = "Only owners, admins and marketers may change content.";
const NOT_MANAGING = "Only owners and admins may manage the team.";

/** What a test has no type of the browser for. */
interface BrowserProps {
  ariaDisabled: string | null;
  title: string;
}

/** By role: page, button, and why it cannot be used; empty where it can. */
const uses: Record<string, readonly (readonly [path: string, button: string, reason: string])[]> = {
  developer: [
    ["home", "Send a message", NOT_SENDING],
    ["send", "Review and send", NOT_SENDING],
    ["journeys", "New journey", NOT_WRITING],
    ["people", "Add a person", ""],
    ["channels", "Connect a channel", ""],
    ["webhooks", "Add an endpoint", ""],
    ["settings/keys", "New server key", ""],
    ["settings/team", "Invite", NOT_MANAGING],
    ["settings/plan", "Save", "Only owners may change the plan."],
  ],
  admin: [
    ["send", "Review and send", "Write a title and a body."],
    ["journeys", "New journey", ""],
    ["settings/team", "Invite", ""],
    ["settings/team", "Remove Owner", "Only an owner may change or remove an owner."],
    ["settings/plan", "Save", "Only owners may change the plan."],
  ],
  owner: [
    ["settings/team", "Remove Owner", "A workspace keeps at least one owner."],
    ["settings/team", "Remove admin", ""],
    ["settings/plan", "Save", ""],
  ],
};

/** The name of what has the focus. */
const focused = (page: Page): Promise<unknown> =>
  page.evaluate("(document.activeElement.ariaLabel ?? document.activeElement.textContent).trim().slice(0, 60)");

interface Bench {
  service(): ServiceProcess;
  open: (role?: string) => Promise<Tab>;
}

export function roleStories({ service, open }: Bench): void {
  /** Has a member of each role in the list of the team. */
  const join = async (...roles: readonly string[]) => {
    const { url, tenant } = service();
    for (const role of roles) {
      const body = JSON.stringify({ tenant_id: tenant, role });
      const headers = { "content-type": "application/json" };
      const { status } = await fetch(`${url}/_local/tokens`, { method: "POST", headers, body });
      expect(status).toBe(201);
    }
  };

  it.each(Object.entries(uses))("a button that the role %s may not use says why (CON-5)", async (role, all) => {
    await join(...Object.keys(uses));
    const { page, visit } = await open(role);
    for (const [path, name, reason] of all) {
      await visit(path);
      const button = page.locator("main").getByRole("button", { name, exact: true }).first();
      const said = await button.evaluate(({ ariaDisabled, title }: BrowserProps) =>
        ariaDisabled === "true" ? title : "",
      );
      expect({ path, name, said }).toEqual({ path, name, said: reason });
    }
  });

  it("an admin invites a viewer where nothing else is chosen, makes no owner, and withdraws the invitation (CON-5)", async () => {
    const { page, visit } = await open("admin");
    await visit("settings/team");
    expect(await page.getByLabel("Role of Owner").count()).toBe(0);
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    const dialog = page.locator("dialog[open]");
    const role = dialog.getByLabel("Role");
    expect(await role.inputValue()).toBe("viewer");
    expect(await role.locator("option").allTextContents()).not.toContainEqual(expect.stringMatching(/^owner/));
    await dialog.getByLabel("Email").fill("grace@example.com");
    await dialog.getByRole("button", { name: "Invite", exact: true }).click();
    await page.getByRole("row", { name: /^grace@example.com viewer/ }).waitFor();
    if (await dialog.count()) await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Withdraw the invitation of grace@example.com" }).click();
    await dialog.getByRole("button", { name: "Withdraw it" }).click();
    await page.getByText("There are no open invitations.").waitFor();
  });

  it("a dialog begins with its first field, and gives the focus back however it is left (CON-4)", async () => {
    await join("admin");
    const { page, visit } = await open();
    const dialog = page.locator("dialog[open]");
    for (const [path, opener] of [
      ["people", "Add a person"],
      ["content/topics", "New topic"],
      ["settings/keys", "New server key"],
    ] as const) {
      await visit(path);
      const button = page.locator("main").getByRole("button", { name: opener, exact: true }).first();
      await button.focus();
      await page.keyboard.press("Enter");
      await dialog.locator(":is(input, textarea, select):focus").waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      expect({ path, text: await focused(page) }).toEqual({ path, text: opener });
    }
    await visit("settings/team");
    await page.getByRole("button", { name: "Remove admin" }).focus();
    await page.keyboard.press("Enter");
    await dialog.waitFor();
    await tabTo(page, "Cancel");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect(await focused(page)).toBe("Remove admin");
  });

  it("arrow keys pass roles, workspaces and attributes of agents, and none is taken before its button is pressed (CON-4)", async () => {
    await join("viewer");
    const { page, visit } = await open();
    const writes: string[] = [];
    page.on("request", (request) => request.method() === "PATCH" && writes.push(request.postData() ?? ""));
    await visit("settings/team");
    await tabTo(page, "Edit viewer");
    await page.keyboard.press("Enter");
    const dialog = page.locator("dialog[open]");
    await dialog.locator("select:focus").waitFor();
    for (let n = 0; n < 2; n++) await page.keyboard.press("ArrowUp");
    expect(writes).toEqual([]);
    await tabTo(page, "Change the role");
    await page.keyboard.press("Enter");
    await page.getByText("viewer is developer now.").waitFor();
    expect(writes).toEqual(['{"role":"developer"}']);
    await page.getByRole("row", { name: /^viewer .* developer/ }).waitFor();
    expect(await page.getByRole("button", { name: "Edit Owner" }).count()).toBe(0);
    await visit("settings");
    await page.getByLabel("Attributes that agents may filter by").focus();
    for (let n = 0; n < 2; n++) await page.keyboard.press("ArrowDown");
    expect(await page.getByRole("list", { name: "Attributes of agents" }).count()).toBe(0);
  });

  it("a save that comes too soon says when to try again, and keeps what was written (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("settings");
    await page.route("**/api/v1/workspace", (route) =>
      route.request().method() === "GET"
        ? route.continue()
        : route.fulfill({
            status: 429,
            headers: { "retry-after": "7" },
            json: { error: "rate limit exceeded", code: "RATE_LIMITED" },
          }),
    );
    await page.getByLabel("Name", { exact: true }).fill("Too soon");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Too many requests at the moment. Try again in 7 s.").waitFor();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Too soon");
  });

  it("a time is typed digit by digit, without a pause after its year (CON-4)", async () => {
    const { page, visit } = await open();
    await visit("content/experiences/new");
    await page.getByLabel(/^Starts/).focus();
    await page.keyboard.type("010220300903AM");
    expect(await page.getByLabel(/^Starts/).inputValue()).toBe("2030-01-02T09:03");
  });

  it("the focus stays at the button that saved the monthly cap (CON-4)", async () => {
    const { page, visit } = await open();
    await visit("settings/plan");
    await tabTo(page, "Messages a month");
    for (const cap of ["1000000", ""]) {
      await page.keyboard.press("Control+a");
      await page.keyboard.press("Delete");
      await page.keyboard.type(cap);
      await tabTo(page, "Save");
      await page.keyboard.press("Enter");
      await page.getByRole("row", { name: /of the monthly cap/ }).waitFor({ state: cap ? "attached" : "detached" });
      expect(await focused(page)).toBe("Save");
      await page.keyboard.press("Shift+Tab");
    }
  });
}
