// Configuration as files: what is exported is applied elsewhere, whatever happens on the way.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type Cli, cliOf } from "../support/cli.ts";
import { fetchOf } from "../support/embedded-fetch.ts";
import { type Tenant, type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
let source: Tenant;
let cli: Cli;
beforeEach(async () => {
  world = await testWorld();
  source = await world.tenant();
  cli = await cliOf(world, source);
});

const api = async (tenant: Tenant, route: string, body?: unknown) => {
  const answer = await tenant.call(route, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};

const rule = { attribute: { plan: { $in: ["pro"] } } };

/** One thing of each kind, which refer to each other. */
async function fill(tenant: Tenant) {
  const { id: list } = await api(tenant, "POST /api/v1/lists", { name: "Readers", description: "of the newsletter" });
  await api(tenant, "POST /api/v1/topics", { key: "news", name: "News" });
  const { id: mail } = await api(tenant, "POST /api/v1/channels", { type: "email", name: "Mail" });
  await api(tenant, `PATCH /api/v1/channels/${mail}`, { rate_per_second: 5 });
  const { id: segment } = await api(tenant, "POST /api/v1/segments", { name: "Paying", is_dynamic: true, rule });
  const content = { title: "Hello", body: "{{ subscriber.first_name }}" };
  const { id: template } = await api(tenant, "POST /api/v1/templates", { name: "Welcome", content });
  await api(tenant, "POST /api/v1/webhooks", {
    target_url: "https://hooks.example.com/in",
    events: ["notification.terminal"],
    description: "Warehouse",
  });
  await api(tenant, "POST /api/v1/journeys", {
    name: "Onboarding",
    trigger: { type: "segment_entered", segment_id: segment },
    steps: {
      start: "hello",
      steps: {
        hello: {
          id: "hello",
          type: "send",
          send: { channel_ids: [mail], template_id: template, topic: "news", next: "end" },
        },
        end: { id: "end", type: "exit" },
      },
    },
  });
  await api(tenant, "POST /api/v1/campaigns", {
    name: "Spring",
    topic: "news",
    target: { type: "list", list_id: list },
    messages: [
      { template_id: template, channel_ids: [mail], scheduled_at: "2027-03-01T09:00:00Z" },
      { content, channel_ids: [mail] },
    ],
  });
}

const filesIn = (folder: string) =>
  Object.fromEntries(
    readdirSync(join(folder, "engagement"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [path.slice(folder.length), readFileSync(path, "utf8")];
      }),
  );

it("what was exported makes another workspace the same, and applied twice changes nothing (F17)", async () => {
  await fill(source);
  expect((await cli.run("export")).code).toBe(0);
  const files = filesIn(cli.folder);
  expect(Object.values(files).join("")).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
  const other = await world.tenant();
  const there = await cliOf(world, other);
  for (const [file, text] of Object.entries(files)) there.write(file, text);
  const applied = await there.run("apply", "--secrets", "secrets.txt");
  expect(applied).toMatchObject({ code: 0 });
  expect(readFileSync(join(there.folder, "secrets.txt"), "utf8")).toContain("Warehouse");
  expect((await there.run("diff", "--exit-code")).code).toBe(0);
  const again = await there.json("apply");
  expect((again.steps as { action: string }[]).filter(({ action }) => action !== "same")).toEqual([]);
  expect((await there.run("export")).out.at(-1)).toMatch(/^0 written/);
});

it("an apply that is interrupted at any request and repeated ends in the same state (F17)", async () => {
  await fill(source);
  await cli.run("export");
  const files = filesIn(cli.folder);
  const final: string[][] = [];
  for (let cut = 1; ; cut++) {
    const other = await world.tenant();
    let writes = 0;
    let isCut = false;
    const failing: typeof fetch = async (url, init) => {
      if (init?.method !== "GET") writes++;
      isCut ||= init?.method !== "GET" && writes === cut;
      // Every second cut loses the answer only.
      if (isCut && cut % 2 === 0 && writes === cut) await fetchOf(world)(url, init);
      if (isCut) throw new TypeError("cut");
      return fetchOf(world)(url, init);
    };
    const there = await cliOf(world, other, { fetch: failing });
    for (const [file, text] of Object.entries(files)) there.write(file, text);
    const { code } = await there.run("apply");
    if (!isCut) break;
    expect(code).toBe(4);
    const repaired = await cliOf(world, other);
    for (const [file, text] of Object.entries(files)) repaired.write(file, text);
    expect((await repaired.run("apply")).code).toBe(0);
    const { steps, only_in_workspace } = await repaired.json("diff");
    final.push((steps as { action: string }[]).map(({ action }) => action));
    expect((only_in_workspace as { kind: string }[]).filter(({ kind }) => kind !== "channels")).toEqual([]);
  }
  expect(final.length).toBeGreaterThan(7);
  for (const actions of final) expect(new Set(actions)).toEqual(new Set(["same"]));
});

it("diff says who would enter and leave a segment (F17)", async () => {
  for (const [external_id, plan] of [
    ["ada", "pro"],
    ["bob", "free"],
    ["eve", "team"],
  ])
    await source.upsert({ external_id, attributes: { plan } });
  await api(source, "POST /api/v1/segments", { name: "Paying", is_dynamic: true, rule });
  cli.write("engagement/segments/paying.json", { name: "Paying", rule: { attribute: { plan: { $in: ["team"] } } } });
  cli.write("engagement/segments/free.json", { name: "Free", rule: { attribute: { plan: { $eq: "free" } } } });
  expect((await cli.run("diff")).out.slice(0, 4)).toEqual([
    "+ segments/Free",
    "    1 would enter (bob), 0 would leave",
    "~ segments/Paying  rule",
    "    1 would enter (eve), 1 would leave (ada)",
  ]);
});

it("a rename keeps the thing and what refers to it; doubled names and unknown references are refused (F17)", async () => {
  await fill(source);
  await cli.run("export");
  const [before] = (await api(source, "GET /api/v1/templates")).data;
  cli.write("engagement/templates/welcome.json", { name: "Hi", renamed_from: "Welcome", content: before.content });
  const files = filesIn(cli.folder);
  for (const [file, text] of Object.entries(files))
    if (file.includes("journeys") || file.includes("campaigns"))
      cli.write(file, text.replaceAll('"template": "Welcome"', '"template": "Hi"'));
  expect((await cli.run("apply")).out).toEqual([expect.stringContaining("renamed from Welcome"), expect.anything()]);
  const { data } = await api(source, "GET /api/v1/templates");
  expect(data).toMatchObject([{ id: before.id, name: "Hi" }]);
  expect((await cli.run("diff", "--exit-code")).code).toBe(0);

  await api(source, "POST /api/v1/journeys", { name: "Onboarding", trigger: { type: "event" }, steps: {} });
  cli.write("engagement/campaigns/lost.json", {
    name: "Lost",
    messages: [{ template: "Nothing", channels: ["Mail"] }],
  });
  const refused = await cli.run("apply");
  expect(refused.code).toBe(1);
  expect(refused.notes.join("\n")).toMatch(
    /2 journeys of the workspace have the name Onboarding[\s\S]*refers to Nothing/,
  );
});

it("an active journey is blocked, a released campaign is left, and the rest is applied (F17)", async () => {
  await fill(source);
  await cli.run("export");
  const [{ id: journey }] = (await api(source, "GET /api/v1/journeys")).journeys;
  const [{ id: campaign }] = (await api(source, "GET /api/v1/campaigns")).items;
  await api(source, `POST /api/v1/journeys/${journey}/activate`);
  await api(source, `POST /api/v1/campaigns/${campaign}/release`);
  expect((await cli.run("apply")).code).toBe(0);
  const text = readFileSync(join(cli.folder, "engagement/journeys/onboarding.json"), "utf8");
  cli.write("engagement/journeys/onboarding.json", {
    ...JSON.parse(text),
    trigger: { type: "event", event_name: "x" },
  });
  cli.write("engagement/lists/more.json", { name: "More" });
  const { code, out } = await cli.run("apply");
  expect(code).toBe(6);
  expect(out).toEqual([
    "+ lists/More",
    expect.stringContaining("! journeys/Onboarding"),
    expect.stringContaining("1 changed, 1 blocked"),
  ]);
});

it("an endpoint without a description is one endpoint still once its file has another address (F17)", async () => {
  const target_url = "https://hooks.example.com/in";
  await api(source, "POST /api/v1/webhooks", { target_url, events: ["notification.terminal"] });
  await cli.run("export");
  const [[file = "", text = ""] = []] = Object.entries(filesIn(cli.folder)).filter(([path]) =>
    path.includes("webhooks"),
  );
  cli.write(file, { ...JSON.parse(text), target_url: `${target_url}/v2` });

  expect((await cli.run("apply")).code).toBe(0);
  expect((await cli.run("diff", "--exit-code")).code).toBe(0);

  const { items } = await api(source, "GET /api/v1/webhooks");
  expect(items).toMatchObject([{ target_url: `${target_url}/v2`, description: target_url }]);
});

it("apply makes a channel with the price that its file has (F17, F10)", async () => {
  cli.write("engagement/channels/texts.json", { name: "Texts", type: "sms", price_per_message: 0.05 });

  expect((await cli.run("apply")).code).toBe(0);

  const { channels } = await api(source, "GET /api/v1/channels");
  expect(channels).toContainEqual(expect.objectContaining({ name: "Texts", price_per_message: 0.05 }));
});

describe("a draft of a campaign that another workspace gets by a file", () => {
  /** What the other workspace has of a campaign of this one, once the files of this one were applied there. */
  async function elsewhere(more: object, before: (campaign: string) => Promise<unknown> = async () => {}) {
    const { id: mail } = await api(source, "POST /api/v1/channels", { type: "email", name: "Mail" });
    const message = { content: { title: "Hello", body: "It is spring." }, channel_ids: [mail] };
    const { id } = await api(source, "POST /api/v1/campaigns", { name: "Spring", ...message, ...more });
    await before(id);
    await cli.run("export");
    const other = await world.tenant();
    const there = await cliOf(world, other);
    for (const [file, text] of Object.entries(filesIn(cli.folder))) there.write(file, text);
    const { code, notes } = await there.run("apply");
    expect(code, notes.join("\n")).toBe(0);
    return (await api(other, "GET /api/v1/campaigns")).items[0];
  }

  it("a draft has its second arm in the workspace that its file is applied to (F17, CMP-9)", async () => {
    const arm = { variant_b: { title: "Hi", body: "It is warm." }, split_percentage: 30 };

    expect((await elsewhere(arm)).messages).toMatchObject([arm]);
  });

  it("a draft whose release was asked for is a draft in the workspace that its file is applied to (F17, RDA-26)", async () => {
    await api(source, "PATCH /api/v1/workspace", { approval_required: true });
    const campaign = await elsewhere({}, (id) => api(source, `POST /api/v1/campaigns/${id}/release`));

    expect(campaign).toMatchObject({ name: "Spring", status: "draft" });
    expect(campaign.approval).toBeUndefined();
  });

  it("a draft without a brake has none in the workspace that its file is applied to (F17, F21)", async () => {
    expect((await elsewhere({ safety: null })).safety).toBeNull();
  });
});

it("a file takes the brake from a draft that has one (F17, F21)", async () => {
  await api(source, "POST /api/v1/channels", { type: "email", name: "Mail" });
  const draft = {
    name: "Spring",
    messages: [{ content: { title: "Hello", body: "It is spring." }, channels: ["Mail"] }],
  };
  cli.write("engagement/campaigns/spring.json", draft);
  await cli.run("apply");
  cli.write("engagement/campaigns/spring.json", { ...draft, safety: null });

  await cli.run("apply");

  expect((await api(source, "GET /api/v1/campaigns")).items).toMatchObject([{ safety: null }]);
});
