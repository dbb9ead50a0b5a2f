// The hosted page on which subscribers choose among topics (TPC-4).
import { expect, it } from "vitest";
import { consentsOf, follow, mailing } from "../support/mails.ts";
import { send, wholeTable } from "../support/people.ts";
import { choicesOf, DEALS, NEWS } from "../support/topics.ts";
import { shared, worlds } from "../support/worlds.ts";

const makers = worlds();

/** The page of Ada, who is mailed about the topic news, and may choose deals. */
async function withPage({ withTenant }: ReturnType<typeof worlds>) {
  const { world, tenant } = await withTenant();
  const { ada, mail } = await mailing(world, tenant);
  for (const topic of [{ ...NEWS, name: 'A "<b>' }, DEALS]) await tenant.call("POST /api/v1/topics", topic);
  const { mail: received } = await mail({ topic: "news", category: "transactional" });
  const path = new URL(/^Your preferences: (.*)$/m.exec(received.text)![1]!).pathname;
  const shown = async () => (await follow(world, "GET", path)).body;
  const save = (form: string) =>
    world.call(`POST ${path}`, {
      headers: { "content-type": "application/x-www-form-urlencoded" },
      raw: Buffer.from(form),
    });
  return { world, tenant, ada, mail, received, path, shown, save };
}
const unchanged = shared(withPage);

it("a mail of a topic leads to the preference page, in its text and its HTML, and has no other way out (TPC-4)", async () => {
  const { received, path, shown } = await unchanged();

  expect(received.html).toContain(`${path}">Your preferences</a>`);
  expect(received.unsubscribe).toBeUndefined();
  expect(await shown()).toContain("<h1>Your preferences</h1>");
});

it("the page that unsubscribes from a mail without a topic links to the preference page (TPC-4)", async () => {
  const { world, mail } = await unchanged();
  const { mail: plain } = await mail();

  const [, linked] = /href="(\/p\/[^"]+)"/.exec((await follow(world, "GET", plain.unsubscribe!)).body)!;

  expect((await follow(world, "GET", linked!)).body).toContain("<h1>Your preferences</h1>");
});

it("no mail leads to a preference page in a workspace without topics (TPC-4)", async () => {
  const { world, tenant } = await makers.withTenant();
  const { mail } = await mailing(world, tenant);

  const { mail: plain } = await mail();

  expect(plain.text).not.toContain("/p/");
  expect((await follow(world, "GET", plain.unsubscribe!)).body).not.toContain("/p/");
});

it("the preference page speaks the subscriber's language, or English (TPC-4)", async () => {
  const { tenant, shown } = await withPage(makers);
  const titles = {
    "de-AT": "Ihre Einstellungen",
    fr: "Vos préférences",
    "es-MX": "Sus preferencias",
    it: "Le tue preferenze",
    "pt-BR": "As suas preferências",
    nl: "Uw voorkeuren",
    pl: "Twoje preferencje",
    ja: "Your preferences",
  };

  for (const [locale, title] of Object.entries(titles)) {
    await tenant.upsert({ external_id: "ada", locale });
    expect(await shown(), locale).toContain(`<h1>${title}</h1>`);
  }
});

it("the preference page shows the topics, escaped, with their choices, and names nobody (TPC-4)", async () => {
  const { shown } = await unchanged();

  const page = await shown();

  expect(page).toContain("A &quot;&lt;b&gt;");
  expect(page).toMatch(/value="news" checked>/);
  expect(page).toMatch(/value="deals">/);
  // Its links are random texts.
  expect(page.replaceAll(/action="[^"]*"/g, "")).not.toMatch(/ada/i);
});

it("a scanner that follows the link of the preference page changes nothing (TPC-4)", async () => {
  const { world, shown } = await unchanged();
  const before = JSON.stringify(await wholeTable(world));

  await shown();

  expect(JSON.stringify(await wholeTable(world))).toBe(before);
});

it("the form of the preference page chooses among the topics that it showed, once however often it is sent (TPC-4)", async () => {
  const { tenant, ada, save } = await withPage(makers);
  await tenant.call("POST /api/v1/topics", { key: "later", name: "Later" });
  const form = "shown=news&shown=deals&shown=x&in=deals&in=x";

  expect((await save(form)).body).toContain("Your choice is saved.");
  await save(form);

  expect((await choicesOf(tenant, ada)).sort()).toEqual([
    "topic:deals opted_in preferences_page",
    "topic:news opted_out preferences_page",
  ]);
});

it("the button below the topics of the preference page opts out of all marketing mail (TPC-4, AMB-130)", async () => {
  const { world, tenant, ada, shown } = await withPage(makers);
  const forms = [...(await shown()).matchAll(/<form[^>]*action="([^"]*)"/g)].map(([, action]) => action!);

  await follow(world, "POST", forms.at(-1)!);
  await world.settle();

  expect(await consentsOf(tenant, ada)).toMatchObject({ items: [{ channel: "email", status: "opted_out" }] });
});

it("a send of a topic skips who opted out of it on the preference page (TPC-4)", async () => {
  const { world, tenant, save } = await withPage(makers);
  await save("shown=news&shown=deals&in=deals");

  expect((await send(world, tenant, { target: { type: "all" }, topic: "news" })).job.counts.skipped).toBe(1);
  expect((await send(world, tenant, { target: { type: "all" }, topic: "deals" })).job.counts.delivered).toBe(1);
});

it("a choice on the page of a mail to an address of before is to be confirmed, where the topic asks (TPC-4, AMB-129)", async () => {
  const { tenant, ada, save } = await withPage(makers);
  await tenant.call("PATCH /api/v1/topics/deals", { double_opt_in: true });
  await tenant.upsert({ external_id: "ada", email: "other@example.com" });

  await save("shown=deals&in=deals");

  expect(await choicesOf(tenant, ada)).toEqual(["topic:deals pending preferences_page"]);
});

it("a preference page opens by no forged token and by no subscriber's id (TPC-4)", async () => {
  const { world, ada, path } = await unchanged();
  const forged = path.slice(0, -4) + (path.at(-4) === "A" ? "B" : "A") + path.slice(-3);

  for (const method of ["GET", "POST"] as const) {
    expect((await follow(world, method, forged)).status).toBe(404);
    expect((await follow(world, method, `/p/${ada}`)).status).toBe(404);
  }
});
