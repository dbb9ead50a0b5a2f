// The work of four people over a week of the demo, in Chromium: each story is a day's work of one of them.
import { expect, it } from "vitest";
import type { JourneyBrake } from "../../sdk/src/types.gen.ts";
import { choose, press, type Tab, violations } from "../support/console-tab.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { bodyOf } from "../support/told.ts";

interface Bench {
  service(): ServiceProcess;
  open: () => Promise<Tab>;
}

/** Calls the embedded queue of dead letters, as the AWS CLI does. */
async function sendDeadLetter(aws: string, message: object): Promise<void> {
  const answer = await fetch(aws, {
    method: "POST",
    headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.SendMessage" },
    body: JSON.stringify({
      QueueUrl: `${aws}/000000000000/verify-channel-dead`,
      MessageBody: JSON.stringify(message),
    }),
  });
  expect(answer.status, await answer.text()).toBe(200);
}

/** What the API says of a step that its brake stopped. */
const halted: JourneyBrake = {
  version: 1,
  step: "offer",
  status: "halted",
  safety: { max_error_rate: 0.2 },
  halted: {
    at: "2026-01-01T00:00:00Z",
    reason: "error_rate",
    channel: "email",
    rate: 0.25,
    limit: 0.2,
    count: 30,
    tried: 120,
  },
  under_way: 3,
  tried: { email: 120 },
  errors: { email: 30 },
  bounced: 2,
  complained: 0,
  opted_out: 1,
};

export function stories({ service, open }: Bench): void {
  it("a marketer chooses an audience, sends two variants with a subject each, cancels a planned send, and reads the report of a campaign (CON-3, CON-6)", async () => {
    const { page, visit } = await open();
    await visit("send");
    await page.getByLabel("A list").check();
    await page.getByLabel("List", { exact: true }).selectOption({ label: "Newsletter (77)" });
    await page.getByLabel("Title").fill("Boards for {{ subscriber.first_name }}");
    await page.getByLabel("Body", { exact: true }).fill("Share a board with your team.");
    await page.getByLabel("Compare with a variant B").check();
    await page.getByRole("button", { name: "Variant B", pressed: true }).waitFor();
    await page.getByLabel("Title of B").fill("Two are faster");
    await page.getByLabel("Body of B").fill("Invite one colleague.");
    const tabsOfB = page.getByRole("group", { name: "Content of B for" });
    await tabsOfB.getByRole("button", { name: "Email" }).click();
    await page.getByLabel("Subject of B").fill("Boards that you share");
    await page.getByLabel("Transactional").check();
    await page.getByText("All 77 people get it.").waitFor();
    const preview = page.getByRole("complementary", { name: "Preview" });
    await preview.getByRole("button", { name: "Email" }).click();
    const subject = preview.locator(".letter figcaption b");
    // Who gets which variant differs from start to start: all of these five may get the same.
    for (let n = 1; n <= 5; n++) {
      await preview.getByText(`${n} of 5`).waitFor();
      const variant = await preview.getByText(/^Variant [AB]$/).textContent();
      const expected = variant === "Variant A" ? /^Boards for \w+$/ : /^Boards that you share$/;
      await subject.filter({ hasText: expected }).waitFor();
      await preview.getByRole("button", { name: "Next person" }).click();
    }
    await press(page, "Review and send");
    await press(page, "Send to 77 people");
    await page.getByText("delivered (100%)").waitFor();
    const job = new URL(page.url()).pathname.split("/").at(-1);
    const outbox = await fetch(`${service().url}/_local/outbox?channel=email&job_id=${job}&limit=200`);
    const { items } = (await outbox.json()) as { items: { title: string }[] };
    const ofB = items.filter(({ title }) => title === "Boards that you share");
    const ofA = items.filter(({ title }) => /^Boards for \w+$/.test(title));
    expect([items.length, ofA.length + ofB.length]).toEqual([77, 77]);
    expect(Math.min(ofA.length, ofB.length)).toBeGreaterThan(20);
    await visit("send");
    await page.getByLabel("Title").fill("Too early");
    await page.getByLabel("Body", { exact: true }).fill("Not yet.");
    await page.getByLabel("Later").check();
    await press(page, "Review and send");
    await page
      .getByText("(in 1 hour)")
      .or(page.getByText("(in 60 minutes)"))
      .or(page.getByText("(in 59 minutes)"))
      .waitFor();
    await page.getByRole("button", { name: /^Schedule for \d+ people$/ }).click();
    await press(page, "Cancel the send");
    await page.locator("dialog[open]").getByRole("button", { name: "Cancel the send" }).click();
    await page.getByText("The send is canceled.").waitFor();
    await visit("campaigns");
    await page.locator("main a[data-row]", { hasText: "Winter preview" }).click();
    await press(page, "Release");
    await page.getByText(/^\d+ (is|are) held out as control group$/).waitFor();
    await page.getByRole("button", { name: /^Release to \d+ people$/ }).click();
    await page.getByText("The campaign is released.").waitFor();
    // At night in the zones of the audience, its messages wait.
    const delivered = page.getByRole("row", { name: /^Delivered [1-9]\d*/ });
    await delivered.or(page.getByText(/people wait for the end of quiet hours\.$/)).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it("a product manager simulates a journey, changes it, compares the versions, moves runs, plays days, and reads the lift (CON-3)", async () => {
    const { page, visit } = await open();
    const saved = () => page.getByText(/^Not saved/).waitFor({ state: "detached" });
    await visit("journeys");
    let items = [halted];
    await page.route("**/brakes", (route) => route.fulfill({ json: { items } }));
    await page.locator("main a[data-row]", { hasText: "Welcome" }).click();
    await page.getByText("30 of 120 messages by Email were refused or got no answer (25%, limit 20%)").waitFor();
    await page.getByText("People wait at “Send a message A month for free” of version 1.").waitFor();
    await page.locator("button.chart-node", { hasText: "A month for free" }).filter({ hasText: "halted" }).click();
    await page.getByText("Version 1: Email: 30 of the last 120 refused or unanswered (25%); 2 bounces").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.route("**/brakes/cancel", async (route) => {
      expect(await bodyOf(page, route.request())).toEqual({ version: 1, step: "offer" });
      return route.fulfill({ json: { ...halted, status: "canceled" } });
    });
    await press(page, "Cancel");
    await press(page, "Cancel the step");
    await page.getByText("The step is canceled.").waitFor();
    await page.unroute("**/brakes/cancel");
    const goesOn = { ...halted, status: "open", halted: null };
    await page.route("**/brakes/resume", async (route) => {
      const safety = { max_error_rate: 0.3 };
      expect(await bodyOf(page, route.request())).toEqual({ version: 1, step: "offer", safety });
      // Until now the step is halted, however often the page asks.
      items = [];
      return route.fulfill({ json: goesOn });
    });
    await press(page, "Resume");
    await page.getByText("Custom limits").click();
    const limit = page.getByLabel("Refused or unanswered, %");
    expect(await limit.inputValue()).toBe("20");
    // What is filled in goes before what stands in a number field of Firefox.
    await limit.clear();
    await limit.fill("30");
    expect(await violations(page)).toEqual([]);
    await press(page, "Resume it");
    await page.getByText("The step goes on.").waitFor();
    await page.locator(".banner", { hasText: "Halted" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Funnel and cost" }).click();
    await page.getByText(/^<?\$\d\S*, computed at list prices$/).waitFor();
    await page.goBack();
    await press(page, "Simulate one person");
    await page.getByLabel("Person", { exact: true }).fill("ada");
    // The one who is called so, and not one of those whose ID begins so.
    await page.locator("button:not([aria-disabled])", { hasText: /^Simulate$/ }).click();
    await page.getByText("reentry window").waitFor();
    await press(page, "Simulate on history");
    await press(page, "Simulate");
    await press(page, "Show on the chart");
    await page.getByText("Counts of the simulation").waitFor();
    await press(page, "Show the journey as it is now");
    await press(page, "Pause");
    await page.locator("button.chart-node", { hasText: "A month for free" }).click();
    await press(page, "Remove the step");
    await page.locator("button.chart-node", { hasText: "A call with us?" }).click();
    await page.getByLabel("Title").fill("Half an hour with us?");
    await press(page, "Save");
    await saved();
    await press(page, "Activate");
    await press(page, "Activate it");
    await press(page, "Versions");
    await page.getByText("Gone: Send a message A month for free.").waitFor();
    await page.getByText('content.title from "A call with us?" to "Half an hour with us?"').waitFor();
    await page
      .getByLabel("Runs at: Send a message A month for free")
      .selectOption({ label: "go on at: Send a message Half an hour with us?" });
    await press(page, "Move the runs");
    await press(page, "Move them");
    await page.getByText(/\d runs? moved\./).waitFor();
    await press(page, "Show version 1 with its numbers");
    await page.locator("button.chart-node", { hasText: "A month for free" }).waitFor();
    expect(await violations(page)).toEqual([]);
    await choose(page, "Advance 72 h");
    await page.getByText("72 hours have passed.").waitFor();
    await page.locator(".figures div", { hasText: "in the journey now" }).getByText("0", { exact: true }).waitFor();
    await visit("campaigns");
    await page.locator("main a[data-row]", { hasText: "Autumn sale" }).click();
    const lift = page.locator("section.card", {
      has: page.getByRole("heading", { name: "Lift over the control group" }),
    });
    // Who is held out differs from start to start, and so does what is proven.
    await lift.getByText(/^[+−]?\d+\.\d points, between [+−]?\d+\.\d and \+\d+\.\d: (it works|not proven)/).waitFor();
  });

  it("support finds out why a person did not get a message, records a consent, and erases a person (CON-3)", async () => {
    const { page, visit } = await open();
    await visit("activity");
    await page.locator("main a[data-row]", { hasText: "Autumn sale" }).click();
    await page.getByLabel("State").selectOption("held out");
    const heldOut = String(
      await page.locator("main tr", { hasText: "held out" }).first().locator("a[data-row]").textContent(),
    );
    await page.keyboard.press("/");
    await page.keyboard.type(heldOut);
    await page.keyboard.press("Enter");
    await page.locator("ul a[data-row]", { hasText: heldOut }).click();
    await page.getByText(`${heldOut} is in the control group and gets nothing`).waitFor();
    await page.getByText("In the control group of 25%").waitFor();
    await page.getByRole("link", { name: "Open the profile" }).click();
    await page.locator("main h1", { hasText: heldOut }).waitFor();
    const person = page.url();
    const email = page.locator("li", { hasText: "Email" }).filter({ has: page.getByRole("button", { name: /^Opt/ }) });
    if (await email.getByText("opted in").isVisible()) await email.getByRole("button").click();
    else await page.getByRole("button", { name: "Opt in to Email" }).click();
    // Nothing was said of SMS: a first no is recorded without a yes before it.
    await page.getByRole("button", { name: "Opt out of SMS" }).click();
    await page.getByRole("region", { name: "Today" }).locator("li", { hasText: "SMS opted out" }).waitFor();
    await page.getByRole("region", { name: "Today" }).locator("li", { hasText: "Email opted" }).waitFor();
    // Who says no has nothing to prove.
    await page.getByRole("link", { name: "Consent history" }).click();
    await page.getByRole("row", { name: /^SMS opted out .* console –$/ }).waitFor();
    await choose(page, "Erase");
    await page.locator("dialog[open] input").fill(heldOut);
    await page.getByRole("button", { name: "Erase permanently" }).click();
    await page.getByText(`The erasure of ${heldOut} has begun.`).waitFor();
    await page.goto(person);
    await page.getByText(/^This person (is being|was) erased\.$/).waitFor();
    await page.getByRole("heading", { name: "Receipt of the erasure" }).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it("an operator mends a channel and an endpoint, sees the limits, and sends dead letters again (CON-3, ARC-14, RDA-19)", async () => {
    const { page, visit } = await open();
    const row = (text: string) => page.locator("main a[data-row]", { hasText: text });
    await visit("operator");
    await page.getByRole("row", { name: /Demo .* <1% of 100,000,000 sends/ }).waitFor();
    await page.getByLabel("Target").selectOption("verify:email");
    await page.getByLabel("Times").fill("0");
    await press(page, "Inject the fault");
    await page.getByText("times: must be at least 1").waitFor();
    await page.getByLabel("Times").fill("1");
    await press(page, "Inject the fault");
    await visit("channels");
    await row("Email").click();
    await page.getByText("the journey Welcome").waitFor();
    expect(await page.getByLabel("SMTP server").inputValue()).toBe("smtp.example.com");
    expect(await page.getByLabel("SMTP password").inputValue()).toBe("");
    await page.getByLabel("Provider").selectOption("ses");
    await page.getByLabel("SES configuration set").waitFor();
    expect(await page.getByLabel("SMTP server").count()).toBe(0);
    await press(page, "Verify again");
    await page.getByText("The provider says").waitFor();
    await press(page, "Verify again");
    await page.getByText("The provider says").waitFor({ state: "detached" });
    await visit("webhooks");
    await press(page, "Add an endpoint");
    await page.getByLabel("URL").fill("https://example.com/hooks");
    await page.getByLabel("subscriber.created").check();
    await page.getByRole("button", { name: "Add the endpoint" }).click();
    await press(page, "I have stored it");
    await press(page, "Send a test");
    await press(page, "Send it");
    await page.getByRole("button", { name: "Attempts of subscriber.created" }).click();
    await page.getByText('"external_id": "customer-1042"').waitFor();
    expect(await violations(page)).toEqual([]);
    await press(page, "Close");
    await visit("webhooks");
    await row("receiver.example").click();
    await page
      .getByRole("row", { name: /notification\.terminal delivered/ })
      .first()
      .waitFor();
    await choose(page, "Replay");
    await page.getByLabel("Since").fill("2020-01-01T00:00");
    await page.locator("dialog[open]").getByRole("button", { name: "Replay" }).click();
    await page.getByText(/\d+ deliveries sent again, in order\./).waitFor();
    await visit("settings/plan");
    await page.getByLabel("Messages a month").fill("5000");
    await press(page, "Save");
    await page.getByRole("row", { name: /Messages, of the monthly cap .* 5,000/ }).waitFor();
    await visit("settings/audit");
    await page.getByText("Owner changed the monthly cap").waitFor();
    await page.getByText("to the webhook").getByRole("link", { name: "receiver.example" }).first().waitFor();
    await page.getByText("Owner activated the journey").getByRole("link", { name: "Welcome" }).first().waitFor();
    expect(await violations(page)).toEqual([]);
    await sendDeadLetter(service().aws, { tenant: service().tenant, channel: "gone" });
    await visit("operator");
    await press(page, "Show");
    await page.getByText('"channel": "gone"').waitFor();
    await press(page, "Redrive");
    await page.getByText("There are no dead letters.").waitFor();
    await press(page, "1 hour");
    await page.getByText("1 hour passed.").waitFor();
    await press(page, "Remove all");
    await page.getByText("There are no faults now.").waitFor();
  });
}
