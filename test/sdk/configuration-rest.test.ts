// Configuration as files: what a file does not say of a thing stays in the workspace, and what is the file's own in the file.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { seenName } from "../../sdk/src/cli/names.ts";
import { asSeen } from "../../shared/rules/characters.ts";
import { type Cli, cliOf } from "../support/cli.ts";
import { BASE_URL } from "../support/embedded-fetch.ts";
import { mailsIn } from "../support/large-mails.ts";
import { type Tenant, type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
let tenant: Tenant;
let cli: Cli;
beforeEach(async () => {
  world = await testWorld();
  tenant = await world.tenant();
  const ENGAGEMENT_TOKEN = String((await tenant.dashboard()).authorization).slice("Bearer ".length);
  cli = await cliOf(world, tenant, {
    env: { ENGAGEMENT_URL: BASE_URL, ENGAGEMENT_TOKEN, HOOKS_URL: "https://hooks.example.com" },
  });
});

const api = async (route: string, body?: unknown) => {
  const answer = await tenant.call(route, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};

async function applied(file: string, document: object) {
  cli.write(file, document);
  const { code, notes } = await cli.run("apply");
  expect(code, notes.join("\n")).toBe(0);
  expect((await cli.run("diff", "--exit-code")).code).toBe(0);
}

const template = "engagement/templates/welcome.json";
const templateNow = async () => (await api("GET /api/v1/templates")).data[0].content;
const email = { subject: "Hello", html: "<p>Good to have you.</p>" };
const sms = { body: "Hello by text" };

async function welcome() {
  const content = { title: "Hello", body: "Good to have you.", by_channel: { email, sms } };
  await api("POST /api/v1/templates", { name: "Welcome", content });
}

it("the words of a channel stay which a file of a template does not say (F17)", async () => {
  await welcome();

  await applied(template, { name: "Welcome", content: { title: "Hi", by_channel: { email: { subject: "Hi" } } } });

  const by_channel = { email: { ...email, subject: "Hi" }, sms };
  expect(await templateNow()).toEqual({ title: "Hi", body: "Good to have you.", by_channel });
});

it("a file removes the words of one channel by null, and those of all (F17)", async () => {
  await welcome();

  await applied(template, { name: "Welcome", content: { by_channel: { sms: null } } });
  expect((await templateNow()).by_channel).toEqual({ email });

  await applied(template, { name: "Welcome", content: { by_channel: null } });
  expect(await templateNow()).not.toHaveProperty("by_channel");
});

it("words of a template that are no object are refused by the service, by their name (F17)", async () => {
  await welcome();
  cli.write(template, { name: "Welcome", content: "Hello" });

  expect((await cli.run("apply")).notes.join("\n")).toMatch(/^ {2}content: must be an object/m);
  expect((await templateNow()).title).toBe("Hello");
});

const campaign = "engagement/campaigns/spring.json";
const campaignNow = async () => (await api("GET /api/v1/campaigns")).items[0];
const content = { title: "Hello", body: "It is spring." };
const scheduled_at = "2027-03-01T09:00:00.000Z";

async function spring(more: object) {
  const { id } = await api("POST /api/v1/channels", { type: "email", name: "Mail" });
  await api("POST /api/v1/campaigns", { name: "Spring", messages: [{ content, channel_ids: [id], ...more }] });
}

it("the time of a message stays which a file of its campaign does not say (F17)", async () => {
  const arm = { variant_b: { title: "Hi", body: "It is warm." }, split_percentage: 30 };
  await spring({ scheduled_at, ...arm });

  await applied(campaign, { name: "Spring", holdout_percentage: 10, messages: [{ content, channels: ["Mail"] }] });

  expect(await campaignNow()).toMatchObject({ holdout_percentage: 10, messages: [{ scheduled_at, ...arm }] });
});

it("a template takes the place of the words of a message where a file says so (F17)", async () => {
  await spring({ scheduled_at });
  await welcome();

  await applied(campaign, { name: "Spring", messages: [{ template: "Welcome", channels: ["Mail"] }] });

  const [message] = (await campaignNow()).messages;
  expect(message).toMatchObject({ template_id: (await api("GET /api/v1/templates")).data[0].id, scheduled_at });
  expect(message).not.toHaveProperty("content");
});

const hook = "engagement/webhooks/warehouse.json";
const hookInFile = () => JSON.parse(readFileSync(join(cli.folder, hook), "utf8"));
const target_url = `${"$"}{HOOKS_URL}/in`;
const events = ["notification.terminal"];

async function warehouse(change: object) {
  await applied(hook, { name: "Warehouse", renamed_from: "Store", target_url, events });
  const [{ id }] = (await api("GET /api/v1/webhooks")).items;
  await api(`PATCH /api/v1/webhooks/${id}`, change);
  expect((await cli.run("export")).code).toBe(0);
}

it("an export leaves a file its variable and its earlier name, which no workspace has (F17)", async () => {
  await warehouse({ events: ["message.bounced"] });

  expect(hookInFile()).toMatchObject({ target_url, renamed_from: "Store", events: ["message.bounced"] });
});

it("an export writes an address that the workspace has otherwise than a file (F17)", async () => {
  await warehouse({ target_url: "https://other.example.com/in" });

  expect(hookInFile()).toMatchObject({ target_url: "https://other.example.com/in", renamed_from: "Store" });
});

it("an endpoint whose description has spaces that nobody sees is one endpoint still once its file is applied (F17)", async () => {
  await api("POST /api/v1/webhooks", {
    target_url: "https://hooks.example.com/in",
    events,
    description: " Ware\nhouse ",
  });
  expect((await cli.run("export")).code).toBe(0);

  await applied(hook.replace("warehouse", "ware-house"), {
    name: "Ware house",
    target_url: "https://hooks.example.com/v2",
    events,
  });

  const { items } = await api("GET /api/v1/webhooks");
  expect(items).toMatchObject([{ target_url: "https://hooks.example.com/v2" }]);
});

it("templates that are together larger than an answer are exported whole, by smaller pages (F17)", async () => {
  const large = { title: "t", body: "\u00e9".repeat(32_700) };
  for (let n = 0; n < 101; n++) await api("POST /api/v1/templates", { name: `t${n}`, content: large });

  expect(await cli.run("export")).toMatchObject({ code: 0 });

  expect(readdirSync(join(cli.folder, "engagement", "templates"))).toHaveLength(101);
});

it("mails that lists leave out are exported, compared and applied whole (F17, CHC-1)", async () => {
  const html = `<p>${"x".repeat(120_000)}</p>`;
  const large = { title: "Hello", body: "It is spring.", by_channel: { email: { ...email, html } } };
  await api("POST /api/v1/templates", { name: "Welcome", content: large });
  await spring({ content: large });

  expect((await cli.run("export")).code).toBe(0);

  const inFile = (file: string) => JSON.parse(readFileSync(join(cli.folder, file), "utf8"));
  expect([inFile(template).content, inFile(campaign).messages[0].content]).toEqual([large, large]);
  expect((await cli.run("diff", "--exit-code")).code).toBe(0);

  await applied(template, { name: "Welcome", content: { ...large, title: "Hi" } });
  await applied(campaign, { ...inFile(campaign), holdout_percentage: 10 });

  const { id } = (await api("GET /api/v1/templates")).data[0];
  expect((await api(`GET /api/v1/templates/${id}`)).content).toEqual({ ...large, title: "Hi" });
  const draft = await api(`GET /api/v1/campaigns/${(await campaignNow()).id}`);
  expect([draft.holdout_percentage, draft.messages[0].content]).toEqual([10, large]);
});

it("a draft whose name has a character that nobody sees is made once, however often it is applied (F17)", async () => {
  await api("POST /api/v1/channels", { type: "email", name: "Mail" });
  const document = { name: "Spring\u200b sale\u00ad", messages: [{ content, channels: ["Mail"] }] };

  await applied(campaign, document);
  await applied(campaign, document);

  expect((await api("GET /api/v1/campaigns")).items).toMatchObject([{ name: "Spring sale" }]);
});

it.each([
  " a\t b\n",
  "a\u200bb",
  "so\u00adft",
  "e\u0301",
  "\u2764\ufe0f",
  "a\ufe0f",
  "\u200d",
  "\u0007x",
  "\u0915\u094d\u200d\u0937",
])("the command line sees the name %j as the service does (F17)", (name) => {
  expect(seenName(name)).toBe(asSeen(name));
});

it("a large mail that is stored no more is exported to no file, and comes back from a file that has it (F17, CHC-1)", async () => {
  const html = `<p>${"x".repeat(120_000)}</p>`;
  const whole = { title: "Hello", body: "It is spring.", by_channel: { email: { ...email, html } } };
  const { id } = await api("POST /api/v1/templates", { name: "Welcome", content: whole });
  for (const Key of await mailsIn(world))
    await world.s3.operate("DeleteObject", { Bucket: world.env.ASSETS_BUCKET, Key });
  for (let n = 0; n < 8; n++)
    await api("POST /api/v1/templates", {
      name: `${n}`,
      content: { ...whole, by_channel: { email: { html: html + n } } },
    });

  const { notes, out } = await cli.run("export");
  expect([...notes, ...out]).toContain("left out templates Welcome: its large mail is stored no more");

  cli.write(template, { name: "Welcome", content: { title: "Hi" } });
  expect((await cli.run("apply")).notes.join("\n")).toMatch(/content\.left_out/);

  await applied(template, { name: "Welcome", content: whole });
  expect((await api(`GET /api/v1/templates/${id}`)).content).toEqual(whole);
});
