// What the API refuses in a form stands at its input, and the first one has the focus; two tabs show two workspaces.
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { type Tab, violations, violationsInThemes } from "../support/console-tab.ts";
import type { ServiceProcess } from "../support/service-process.ts";

interface Form {
  path: string;
  /** What opens the form in a dialog, and what is pressed in it. */
  open?: readonly string[];
  /** The tab of a form that is a page. */
  tab?: string;
  fill?: Record<string, string>;
  submit: string;
  /** The button of the question that follows. */
  confirm?: string;
  field: string;
  label: string;
}

const forms: readonly Form[] = [
  { path: "settings", submit: "Save", field: "timezone", label: "Time zone" },
  { path: "settings", submit: "Save", field: "safety.max_bounce_rate", label: "Bounced emails, %" },
  { path: "settings", submit: "Save", field: "test_subscriber_ids", label: "Test subscriber" },
  { path: "settings/account", submit: "Change the password", field: "password", label: "New password" },
  { path: "settings/conversions", submit: "Save", field: "event_name", label: "Event" },
  { path: "settings/keys", open: ["New server key"], submit: "Create the key", field: "name", label: "Name" },
  { path: "settings/team", open: ["Invite"], submit: "Invite", field: "email", label: "Email" },
  { path: "content/templates/new", submit: "Save the template", field: "content.title", label: "Title" },
  {
    path: "content/templates/new",
    tab: "In-app",
    submit: "Save the template",
    field: "content.by_channel.in_app.image_url",
    label: "Image URL",
  },
  { path: "content/topics", open: ["New topic"], submit: "Create the topic", field: "key", label: "Key" },
  { path: "content/lists", open: ["New list"], submit: "Create the list", field: "name", label: "Name" },
  {
    path: "content/experiences/new",
    submit: "Save the draft",
    field: "content.body",
    label: "Body",
  },
  { path: "campaigns/new", submit: "Save the draft", field: "messages[0].content.body", label: "Body" },
  {
    path: "journeys",
    open: ["New journey"],
    submit: "Create the draft",
    field: "trigger.event_name",
    label: "Trigger event",
  },
  {
    path: "segments/new",
    fill: { "Attribute 1": "plan", "Value 1": "pro" },
    submit: "Create the segment",
    field: "name",
    label: "Name",
  },
  {
    path: "channels",
    open: ["Connect a channel"],
    submit: "Continue to credentials",
    field: "name",
    label: "Name (optional)",
  },
  {
    path: "channels/$email",
    submit: "Save the price",
    field: "price_per_message",
    label: "Price per message, in US dollars",
  },
  {
    path: "journeys/$journey",
    tab: "Simulate on history",
    submit: "Simulate",
    field: "from",
    label: "Since",
  },
  {
    path: "journeys/$journey",
    tab: "Versions",
    submit: "Move the runs",
    confirm: "Move them",
    field: "steps.month",
    label: "Runs at: Wait 30 days",
  },
  { path: "webhooks", open: ["Add an endpoint"], submit: "Add the endpoint", field: "target_url", label: "URL" },
  {
    path: "insights",
    open: ["Add an annotation"],
    submit: "Add the annotation",
    field: "ends_at",
    label: "Until (optional)",
  },
];

const REASON = "is not right";

/** Gives every input that must not be empty something, as a browser demands before it submits. */
const fillRequired = (page: Page) =>
  page.evaluate(`for (const input of document.querySelectorAll(":is(dialog[open], main) :is(input, textarea):invalid")) {
    input.value = { email: "a@example.com", number: "1", "datetime-local": "2026-01-01T00:00" }[input.type] ?? "long enough for all";
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }`);

/** What the addresses of the forms name: a channel of email, and a journey whose second version lost a step. */
async function makeNamed({ url, tenant }: ServiceProcess): Promise<Record<string, string>> {
  const json = { "content-type": "application/json" };
  const post = async (path: string, body: object, more = {}, method = "POST") => {
    const answer = await fetch(`${url}/${path}`, { method, headers: { ...json, ...more }, body: JSON.stringify(body) });
    const text = await answer.text();
    expect(answer.ok, text).toBe(true);
    return JSON.parse(text) as Record<string, string>;
  };
  const { access_token } = await post("_local/tokens", { tenant_id: tenant });
  const own = { authorization: `Bearer ${access_token}` };
  const { id: email = "" } = await post("api/v1/channels", { type: "email", name: "Mails" }, own);
  const waits = (id: string, duration: string) => ({
    start: id,
    steps: { [id]: { id, type: "delay", delay: { duration, next: "exit" } }, exit: { id: "exit", type: "exit" } },
  });
  const trigger = { type: "event", event_name: "signed_up" };
  const { id: journey = "" } = await post(
    "api/v1/journeys",
    { name: "Welcome", trigger, steps: waits("month", "30d") },
    own,
  );
  await post(`api/v1/journeys/${journey}/activate`, {}, own);
  await post(`api/v1/journeys/${journey}/pause`, {}, own);
  await post(`api/v1/journeys/${journey}`, { name: "Welcome", trigger, steps: waits("day", "1d") }, own, "PUT");
  await post(`api/v1/journeys/${journey}/activate`, {}, own);
  return { $email: email, $journey: journey };
}

/** For what takes the service a while. */
const LONG = { timeout: 90_000 };

interface Tabs {
  service(): ServiceProcess;
  open(): Promise<Tab>;
}

export function formStories({ service, open }: Tabs): void {
  it("what is refused stands at its input, in each form (CON-3, CON-4)", async () => {
    const { page, show, visit } = await open();
    const named = await makeNamed(service());
    let field = "";
    await page.route("**/api/v1/**", (route) => {
      const request = route.request();
      if (request.method() === "GET" || /auth\/browser|preview/.test(request.url())) return route.continue();
      return route.fulfill({
        status: 422,
        json: { code: "VALIDATION_ERROR", message: `${field}: ${REASON}`, fields: { [field]: REASON } },
      });
    });
    const outcomes: object[] = [];
    for (const form of forms) {
      field = form.field;
      await show("nowhere");
      await visit(form.path.replace(/\$\w+/, (name) => named[name] ?? ""));
      const [first, ...tabs] = form.open ?? [];
      if (first) await page.locator("main").getByRole("button", { name: first }).first().click();
      const inside = page.locator(first ? "dialog[open]" : "main");
      for (const name of tabs) await inside.getByRole("button", { name }).click();
      if (form.tab) await inside.getByRole("button", { name: form.tab }).first().click();
      await inside.locator("form").first().waitFor();
      for (const [label, value] of Object.entries(form.fill ?? {})) await inside.getByLabel(label).fill(value);
      await fillRequired(page);
      await inside.getByRole("button", { name: form.submit, exact: true }).click();
      if (form.confirm) await page.locator("dialog[open]").getByRole("button", { name: form.confirm }).click();
      const input = inside.getByLabel(form.label, { exact: true });
      await input.and(page.locator("[aria-invalid=true]:focus")).waitFor();
      const found = await violations(page, "light", "form:has([aria-invalid=true])");
      outcomes.push({ ...form, times: await inside.getByText(REASON).count(), found });
      if (form === forms[0]) expect(await violationsInThemes(page)).toEqual({});
      if (first) await page.keyboard.press("Escape");
    }
    expect(outcomes).toEqual(forms.map((form) => ({ ...form, times: 1, found: [] })));
  });

  it("a segment is counted while its rule is written, and says why somebody is in it (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("segments/new");
    await page.getByLabel("Name").fill("Ada and others");
    await page.getByLabel("Attribute 1").fill("first_name");
    await page.getByLabel("Value 1").fill("Ada");
    await page.getByRole("button", { name: "Event", exact: true }).click();
    await page.getByLabel("Event 2").fill("order_placed");
    await page.getByLabel("How often 2").selectOption("never");
    await page.getByText("1 person").waitFor();
    await page.getByRole("button", { name: "Create the segment" }).click();
    await page.getByRole("heading", { name: "Ada and others", level: 1 }).waitFor();
    await page.getByLabel("Person").fill("ada");
    await page.getByText("never within 30 days").waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it("a file of 600 rows is tried, a column gets another meaning, the import moves on, and says what it rejected (CON-3, IMP-1, IMP-8)", async () => {
    const { page, visit } = await open();
    const rows = Array.from({ length: 600 }, (_, n) =>
      n % 150 === 7 ? `row${n},not an address,x` : `row${n},row${n}@example.com,x`,
    );
    const buffer = Buffer.from(`external_id,email,Internal note\n${rows.join("\n")}\n`);
    await visit("import");
    await page.getByLabel("CSV file").setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer });
    await page.getByRole("button", { name: "Start the dry run", exact: true }).click();
    await page.getByText("596 rows will be imported.").waitFor(LONG);
    await page.getByLabel("Meaning of Internal note").selectOption("ignore");
    await page.getByText("You have changed how the file is read").waitFor();
    await page.getByRole("button", { name: "Import the rows" }).waitFor();
    await page.getByRole("button", { name: "Repeat the dry run" }).click();
    await page.getByRole("button", { name: "Import 596 rows" }).waitFor(LONG);
    expect(await page.getByLabel("Meaning of Internal note").inputValue()).toBe("ignore");
    // What the page read of the import, each time it asked.
    const read: number[] = [];
    page.on("response", async (response) => {
      if (!/\/lists\/import\/[\w-]{36}$/.test(response.url())) return;
      const { dry_run, processed_rows } = (await response.json()) as { dry_run: boolean; processed_rows: number };
      if (!dry_run) read.push(processed_rows);
    });
    await page.getByRole("button", { name: "Import 596 rows" }).click();
    await page.locator("main .verdict .badge", { hasText: "completed" }).waitFor(LONG);
    await page.locator(".figure", { hasText: "596imported" }).waitFor();
    // The page may know the answer before this process does.
    await expect.poll(() => read.at(-1)).toBe(600);
    expect(read).toEqual(read.toSorted((a, b) => a - b));
    expect(await violationsInThemes(page)).toEqual({});
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download all as CSV" }).click();
    const text = await readFile(await (await download).path(), "utf8");
    expect(text.trim().split("\n")).toHaveLength(1 + 4);
  }, 120_000);

  it("of a file with hundreds of columns those that have a meaning are kept, and another file begins anew (CON-3, AMB-88)", async () => {
    const { page, visit } = await open();
    const numbers = Array.from({ length: 150 }, (_, n) => n);
    const wide = `email,${numbers.map((n) => `Feld ${n}`)}\nwide@example.com,${numbers.map((n) => `v${n}`)}\n`;
    const choose = (name: string, text: string) =>
      page.getByLabel("CSV file").setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
    await visit("import");
    await choose("wide.csv", wide);
    await page.getByRole("button", { name: "Start the dry run", exact: true }).click();
    await page.getByText("at most 100 become attributes").first().waitFor(LONG);
    await page.getByLabel("Meaning of Feld 7", { exact: true }).selectOption("attribute:feld_7");
    await page.getByRole("button", { name: "Leave out the other columns" }).click();
    await page.getByRole("button", { name: "Repeat the dry run" }).click();
    await page.getByText("1 row will be imported.").waitFor(LONG);
    expect(await page.getByRole("button", { name: "Leave out the other columns" }).count()).toBe(0);

    await choose("small.csv", "email,Note\nsmall@example.com,x\n");
    await page.getByRole("button", { name: "Start the dry run", exact: true }).click();
    await page.getByText("1 row will be imported.").waitFor(LONG);
    expect(await page.getByLabel("Meaning of Note").inputValue()).toBe("attribute:note");
  }, 120_000);

  it("two tabs of one browser show two workspaces, each with its own session (CON-2)", async () => {
    const made = await fetch(`${service().url}/_local/workspaces`, {
      method: "POST",
      body: JSON.stringify({ name: "Navy" }),
      headers: { "content-type": "application/json" },
    });
    const { tenant_id, owner } = (await made.json()) as {
      tenant_id: string;
      owner: { email: string; password: string };
    };
    const { page, context } = await open();
    const other = await context.newPage();
    await other.goto(`${service().url}/console/sign-in`);
    await other.getByLabel("Email").fill(owner.email);
    await other.getByLabel("Password").fill(owner.password);
    await other.getByRole("button", { name: "Sign in" }).click();
    await other.locator("nav.nav").waitFor();
    for (const tab of [page, other]) await tab.reload();
    await page.locator("nav.nav").getByText("Demo").waitFor();
    await other.locator("nav.nav").getByText("Navy").waitFor();
    expect(new URL(page.url()).pathname).toContain(service().tenant);
    expect(new URL(other.url()).pathname).toContain(tenant_id);
    await other.getByRole("button", { name: "Sign out" }).click();
    await other.getByRole("button", { name: "Sign in" }).waitFor();
    await page.reload();
    await page.locator("nav.nav").getByText("Demo").waitFor();
    await other.close();
  });
}
