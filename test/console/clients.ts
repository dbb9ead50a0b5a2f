// The workspaces of an agency's clients, and the templates of a chat app, in a workspace of their own.
import { expect, it, onTestFinished } from "vitest";
import { press, type Tab, violationsInThemes } from "../support/console-tab.ts";
import type { ServiceProcess } from "../support/service-process.ts";

async function becomes(service: ServiceProcess, kind: "agency" | "standard"): Promise<void> {
  const answer = await fetch(`${service.url}/_local/workspaces/${service.tenant}`, {
    method: "PATCH",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ kind }),
  });
  expect(answer.status).toBe(200);
}

/** Makes a client's workspace and opens it, from the workspace of the demo. */
async function openClient({ page, visit, reopen }: Tab, service: ServiceProcess, name: string): Promise<void> {
  await becomes(service, "agency");
  onTestFinished(() => becomes(service, "standard"));
  await reopen();
  await visit("settings/clients");
  await page.getByRole("button", { name: "New client" }).click();
  await page.getByLabel("Name of the client").fill(name);
  await page.getByRole("button", { name: "Create the workspace" }).click();
  await page.getByText(`${name} has a workspace.`).waitFor();
  await page.getByRole("button", { name: `Open ${name}` }).click();
  await page.locator("main h1 + p", { hasText: name }).waitFor();
}

export function clientStories(open: () => Promise<Tab>, service: () => ServiceProcess): void {
  it("an agency makes a client's workspace, works in it after a reload, and comes back (CON-3)", async () => {
    const tab = await open();
    const { page } = tab;
    await openClient(tab, service(), "Harbour Bakery");
    expect(page.url()).not.toContain(service().tenant);
    await page.reload();
    await page.locator("main h1 + p", { hasText: "Harbour Bakery" }).waitFor();
    await press(page, "Clients");
    await page.getByRole("row", { name: /^Harbour Bakery/ }).waitFor();
    expect(page.url()).toContain(service().tenant);
    expect(await violationsInThemes(page)).toEqual({});
  });

  it("a template of a chat app is drafted, approved by its provider, and chosen for a send (CON-3)", async () => {
    const tab = await open();
    const { page } = tab;
    const dialog = page.locator("dialog[open]");
    await openClient(tab, service(), "Harbour Chat");
    await page.getByRole("link", { name: "Channels" }).click();
    await page.getByRole("button", { name: "Connect a channel" }).first().click();
    await dialog.getByLabel("Chat app").check();
    await press(page, "Continue to credentials");
    await page.getByLabel("Access token").fill("token-of-a-system-user");
    await page.getByLabel("Phone number ID").fill("1055555");
    await page.getByLabel("Business account ID").fill("1066666");
    await press(page, "Save and verify");
    await page.getByText("can send").waitFor();
    await page.getByRole("button", { name: "New template" }).first().click();
    await dialog.getByLabel("Name").fill("Order shipped");
    await dialog.getByLabel("Text").fill("Your order {{1}} is on its way.");
    await press(page, "Save the draft");
    await press(page, "Submit");
    await press(page, "Ask for its state");
    await page.getByRole("row", { name: /^Order shipped .* approved/ }).waitFor();
    expect(await violationsInThemes(page)).toEqual({});
    await page.getByRole("link", { name: "Write a message" }).click();
    await page.getByLabel("Template of the chat app").selectOption({ label: "Order shipped (en_US)" });
    await page.getByText("Your order {{1}} is on its way.").waitFor();
    await page.getByLabel("Its variables, one a line (1)").fill("No. 7");
    expect(await violationsInThemes(page)).toEqual({});
  });
}
