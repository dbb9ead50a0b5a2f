// What each role may use in the console, and the reason at what it may not.
import { expect, it } from "vitest";
import type { Tab } from "../support/console-tab.ts";

const NOT_SENDING = "Only owners, admins and marketers may send.";
const NOT_WRITING = "Only owners, admins and marketers may change content.";
const NOT_MANAGING = "Only owners and admins may manage the team.";

/** What a test has no type of the browser for. */
interface Used {
  ariaDisabled: string | null;
  title: string;
}

/** By role: page, button, and why it cannot be used; empty where it can. */
const uses: Record<string, readonly (readonly [path: string, button: string, reason: string])[]> = {
  developer: [
    ["home", "Send a message", NOT_SENDING],
    ["send", "Send", NOT_SENDING],
    ["journeys", "New journey", NOT_WRITING],
    ["people", "Add a person", ""],
    ["channels", "Connect a channel", ""],
    ["webhooks", "Add an endpoint", ""],
    ["settings/keys", "New key", ""],
    ["settings/team", "Invite", NOT_MANAGING],
    ["settings/plan", "Save", "Only owners may change the plan."],
  ],
  admin: [
    ["send", "Send", "Write a title and a text."],
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

export function roleStories(open: (role?: string) => Promise<Tab>): void {
  it.each(Object.entries(uses))("CON-5 a button that the role %s may not use says why", async (role, all) => {
    // Their rows are what the others look at.
    for (const one of Object.keys(uses)) await open(one);
    const { page, visit } = await open(role);
    for (const [path, name, reason] of all) {
      await visit(path);
      const button = page.locator("main").getByRole("button", { name, exact: true }).first();
      const said = await button.evaluate(({ ariaDisabled, title }: Used) => (ariaDisabled === "true" ? title : ""));
      expect({ path, name, said }).toEqual({ path, name, said: reason });
    }
  });

  it("CON-5 an admin invites a viewer where nothing else is chosen, makes no owner, and withdraws the invitation", async () => {
    const { page, visit } = await open("admin");
    await visit("settings/team");
    expect(await page.getByLabel("Role of Owner").count()).toBe(0);
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    const dialog = page.locator("dialog[open]");
    const role = dialog.getByLabel("Role");
    expect(await role.inputValue()).toBe("viewer");
    expect(await role.locator("option").allTextContents()).not.toContainEqual(expect.stringMatching(/^owner/));
    await dialog.getByLabel("E-mail").fill("grace@example.com");
    await dialog.getByRole("button", { name: "Invite", exact: true }).click();
    await page.getByRole("row", { name: /^grace@example.com viewer/ }).waitFor();
    if (await dialog.count()) await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Withdraw the invitation of grace@example.com" }).click();
    await dialog.getByRole("button", { name: "Withdraw it" }).click();
    await page.getByText("There are no open invitations.").waitFor();
  });
}
