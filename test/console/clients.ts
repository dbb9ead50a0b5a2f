// The workspaces of an agency's clients, and the templates of a chat app, in a workspace of their own.
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { press, type Tab, violationsInThemes } from "../support/console-tab.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { bodyOf } from "../support/told.ts";

/** As an operator does. */
async function change(service: ServiceProcess, tenant: string, settings: object): Promise<void> {
  const answer = await fetch(`${service.url}/_local/workspaces/${tenant}`, {
    method: "PATCH",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(settings),
  });
  expect(answer.status).toBe(200);
}

/** Makes a client's workspace and opens it, from the workspace of the demo. */
async function openClient({ page, visit, reopen }: Tab, service: ServiceProcess, name: string): Promise<void> {
  await change(service, service.tenant, { kind: "agency" });
  onTestFinished(() => change(service, service.tenant, { kind: "standard" }));
  await reopen();
  await visit("settings/clients");
  await page.getByRole("button", { name: "New client" }).click();
  await page.getByLabel("Name of the client").fill(name);
  await page.getByRole("button", { name: "Create the workspace" }).click();
  await page.getByText(`${name} has a workspace.`).waitFor();
  await page.getByRole("button", { name: `Open ${name}` }).click();
  await page.locator("main h1 + p", { hasText: name }).waitFor();
  // Before its agency is none any more: nobody would reach it.
  const [, client = ""] = /\/w\/([^/]+)/.exec(page.url()) ?? [];
  onTestFinished(() => change(service, client, { status: "deleted" }));
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

  it("a send whose chat app says a template is tested with it, and goes without it by other channels (CON-3)", async () => {
    const { page, visit } = await open();
    await withChatApp(page, [
      chatTemplate("shipped", "Your order {{1}} is on its way."),
      chatTemplate("plain", "Hello."),
    ]);
    await page.reload();
    await visit("send");
    await page.getByLabel("Title").fill("Shipped");
    await page.getByLabel("Body", { exact: true }).fill("Your order is on its way.");
    await page.getByLabel("Template of the chat app").selectOption({ label: "shipped (en)" });
    await page.getByLabel("Its variables, one a line (1)").fill("No. 7");
    const tested = page.waitForRequest("**/api/v1/notifications/test");
    await press(page, "Send test");
    const said = { chat_app_template_id: "shipped", chat_app_parameters: ["No. 7"] };
    expect(await bodyOf(page, await tested)).toMatchObject(said);
    const previewed = async (act: () => Promise<unknown>) => {
      const asked = page.waitForRequest(PREVIEW);
      await act();
      return Object.keys(await bodyOf(page, await asked)).filter((name) => name.startsWith("chat_app"));
    };
    const choosePlain = () => page.getByLabel("Template of the chat app").selectOption({ label: "plain (en)" });
    expect(await previewed(choosePlain)).toEqual(["chat_app_template_id"]);
    expect(await previewed(() => page.getByLabel("Chat app", { exact: true }).uncheck())).toEqual([]);
  });

  it("a campaign whose chat app says a template is previewed with it (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("campaigns/new");
    await page.getByLabel("Name").fill("Shipped");
    await page.getByLabel("Title").fill("Shipped");
    await page.getByLabel("Body", { exact: true }).fill("Your order is on its way.");
    const said = { chat_app_template_id: "shipped", chat_app_parameters: ["No. 7"] };
    await page.route(/\/campaigns\/[\w-]{36}$/, async (route) => {
      const campaign = await (await route.fetch()).json();
      return route.fulfill({ json: { ...campaign, messages: [{ ...campaign.messages[0], ...said }] } });
    });
    await press(page, "Save the draft");
    const asked = page.waitForRequest(PREVIEW);
    await press(page, "Release");
    expect(await bodyOf(page, await asked)).toMatchObject(said);
  });
}

const PREVIEW = "**/api/v1/notifications/preview";

const chatTemplate = (id: string, body: string) => ({ id, name: id, language: "en", status: "approved", body });

/** The workspace has a chat app with these templates. */
async function withChatApp(page: Page, items: readonly object[]): Promise<void> {
  await page.route("**/api/v1/channels", async (route) => {
    const { channels } = await (await route.fetch()).json();
    const own = { ...channels[0], id: "chat", type: "chat_app", name: "Chat app", active: true, status: "active" };
    return route.fulfill({ json: { channels: [...channels, own] } });
  });
  await page.route("**/channels/chat/chat-app-templates", (route) => route.fulfill({ json: { items } }));
}
