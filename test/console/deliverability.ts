// Deliverability: emails by the provider of their mailboxes, the sending domain, and who is suppressed for what.
import { expect, it } from "vitest";
import type { InsightsGetDeliverabilityAnswer } from "../../sdk/src/types.gen.ts";
import { SETTLE_MS, type Tab, violationsInThemes } from "../support/console-tab.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { savedBy } from "../support/told.ts";
import { misfits } from "./shown.ts";

const quiet = { unsubscribed: 0, opened_human: 0 };
/** What the API says of providers that send back too much. */
const refusing: InsightsGetDeliverabilityAnswer["rows"] = [
  {
    ...{ mailbox_provider: "microsoft", sent: 1_000, delivered: 938, bounced: 62, complained: 0, ...quiet },
    ...{ bounce_rate: 0.062, complaint_rate: 0 },
  },
  {
    ...{ mailbox_provider: "yahoo", sent: 1_000, delivered: 1_000, bounced: 0, complained: 2, ...quiet },
    ...{ bounce_rate: 0, complaint_rate: 0.002 },
  },
];

const isFine = ({ mailbox_provider: name }: (typeof refusing)[number]): boolean =>
  refusing.every(({ mailbox_provider }) => mailbox_provider !== name);

/** Emails to people with mailboxes of two providers. */
async function mailTo({ url }: ServiceProcess, emails: readonly string[]): Promise<void> {
  const { sdk_key, access_token } = (await (await fetch(`${url}/_local/demo`)).json()) as Record<string, string>;
  const post = async (path: string, body: object, more: Record<string, string>): Promise<{ id: string }> => {
    const headers = { "content-type": "application/json", ...more };
    const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
  const subscriberIds: string[] = [];
  for (const email of emails) {
    const person = { external_id: email, email };
    subscriberIds.push((await post("/api/v1/subscribers/upsert", person, { "x-sdk-key": sdk_key! })).id);
  }
  const message = { subscriberIds, title: "Your order", body: "It is here.", category: "transactional" };
  await post("/api/v1/notifications", message, { authorization: `Bearer ${access_token}` });
  await fetch(`${url}/_local/settle`, { method: "POST" });
}

export function deliverabilityStories(open: () => Promise<Tab>, service: () => ServiceProcess): void {
  it("an owner sees how emails arrive at each mailbox provider, what the domain lacks, and who is suppressed (CON-3, RDA-24)", async () => {
    await mailTo(service(), ["petra@proton.me", "gus@proton.me", "tina@t-online.de"]);
    const { page, visit } = await open();
    await visit("suppressions");
    await page.getByRole("button", { name: "Suppress an address" }).click();
    await page.getByLabel("Email or phone number", { exact: true }).fill("gus@proton.me");
    await page.getByRole("button", { name: "Suppress", exact: true }).click();
    await page.getByText("gus@proton.me is suppressed.").waitFor();

    await visit("deliverability?days=7");
    const providers = page.getByRole("region", { name: "By mailbox provider" });
    await providers.getByRole("row", { name: /^Gmail [1-9]\d* 0% – 0% [\d.]+%$/ }).waitFor();
    await providers.getByRole("row", { name: /^Proton 2 0% 0% 0% 0%$/ }).waitFor();
    await providers.getByRole("row", { name: /^T-Online 1 0% 0% 0% 0%$/ }).waitFor();
    await providers.getByRole("row", { name: /^Other domains \d+ 0% 0% / }).waitFor();
    expect(await page.locator(".rates li", { hasText: "Complaints" }).textContent()).toMatch(
      /^Complaints0%0 of \d+; keep it below 0\.1%$/,
    );
    await page.getByRole("heading", { name: "Sending domain example.com" }).waitFor();
    await page.getByRole("heading", { name: /^DMARC could be stronger/ }).waitFor();
    expect(await misfits(page)).toEqual([]);
    expect(await violationsInThemes(page)).toEqual({});
    const press = () => page.getByRole("button", { name: "Download By mailbox provider as CSV" }).click();
    expect(await savedBy(page, press, SETTLE_MS)).toMatch(
      /^Mailboxes,Accepted,Bounced,Complaints,Opted out,Opened\r\nGmail,\d+,/,
    );

    await page.getByRole("link", { name: "By a colleague" }).click();
    await page.getByRole("heading", { name: "Suppressions", level: 1 }).waitFor();
    await page.getByRole("row", { name: /^gus@proton\.me By a colleague/ }).waitFor();
    await page.getByLabel("Reason", { exact: true }).selectOption({ label: "Complained" });
    await page.getByText("No address is suppressed for this reason.").waitFor();
  });

  it("an owner reads what the month costs so far, and which price is missing (CON-3, F10)", async () => {
    const { page, visit } = await open();
    await visit("settings/plan");
    const costs = page.getByRole("region", { name: "What this month costs" });
    await costs.getByRole("row", { name: /^Messages [1-9][\d,]* <?\$[\d.]+( to <?\$[\d.]+)?$/ }).waitFor();
    await costs.getByRole("row", { name: /^Email, by the provider [1-9][\d,]* no price$/ }).waitFor();
    await costs.getByRole("row", { name: /^Together <?\$[\d.]+( to <?\$[\d.]+)?$/ }).waitFor();
    await page.getByRole("link", { name: "Set the price of a provider" }).click();
    await page.getByRole("link", { name: "Email" }).click();
    await page.getByLabel("Price per message, in US dollars").fill("0.001");
    await page.getByRole("button", { name: "Save the price" }).click();
    await page.getByText("A message costs $0.001.").waitFor();
    await visit("settings/plan");
    await costs.getByRole("row", { name: /^Email, by the provider [1-9][\d,]* <?\$0\.\d+$/ }).waitFor();
  });

  it("a mailbox provider that sends back too much is named, with where one acts (CON-3)", async () => {
    const { page, visit } = await open();
    await page.route("**/api/v1/insights/deliverability?*", async (route) => {
      const answer = await route.fetch();
      const { rows, buckets } = (await answer.json()) as InsightsGetDeliverabilityAnswer;
      await route.fulfill({ json: { rows: [...rows.filter(isFine), ...refusing], buckets } });
    });
    await visit("deliverability?days=30");
    await page.getByRole("heading", { name: "Outlook, Hotmail too high" }).waitFor();
    await page.getByText("6.2% of 1,000 bounced. Stop sending to addresses that nobody has confirmed").waitFor();
    await page.getByRole("heading", { name: "Yahoo, AOL high" }).waitFor();
    await page.getByText("0.2% of 1,000 called it spam. Above 0.3% emails go to the spam folder.").waitFor();
    await page.getByRole("row", { name: /^Outlook, Hotmail 1,000 6\.2% 0% / }).waitFor();
    expect(await misfits(page)).toEqual([]);
    expect(await violationsInThemes(page)).toEqual({});
    await page.getByRole("link", { name: "Who is suppressed" }).first().click();
    await page.getByRole("heading", { name: "Suppressions", level: 1 }).waitFor();
    expect(new URL(page.url()).searchParams.get("reason")).toBe("bounce");
  });
}
