// Choices of topics in files: imported by the rules of a consent, and exported so that they import again (TPC-5).
import { expect, it } from "vitest";
import { download } from "../support/exports.ts";
import { importing } from "../support/imports.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const setting = importing({ withTenant });

const CSV = `external_id,consent_at,topic:news,topic_at:news,Topic:Deals,topic:nws,Weekly
ada,2026-03-01,subscribed,2026-04-01T10:00:00Z,yes,yes,no
bob,,yes,,opted_out,,maybe
cyd,,yes,2026-04-01T10:00:00Z,,,
`;

const TOPICS = [
  { key: "news", name: "News" },
  { key: "deals", name: "Deals", default: "out" },
  { key: "weekly", name: "Weekly" },
];

async function withTopics() {
  const found = await setting();
  const { world, tenant } = found;
  const createTopics = async (of: Tenant) => {
    for (const body of TOPICS) await of.call("POST /api/v1/topics", body);
  };
  await createTopics(tenant);
  const choices = async (external_id: string, of: Tenant = tenant) => {
    const { body } = await world.call(`GET /v1/preferences?external_id=${external_id}`, { as: of.sdk });
    const chosen: Record<string, string> = {};
    for (const { key, status, consented_at } of body.topics)
      if (consented_at) chosen[key] = `${status} ${consented_at}`;
    return chosen;
  };
  const optOut = (external_id: string) =>
    world.call("PUT /v1/preferences", { as: tenant.sdk, body: { external_id, topics: { news: "opted_out" } } });
  return { ...found, createTopics, choices, optOut };
}

const mapping = JSON.stringify({ Weekly: "topic:weekly" });
/** What the file chooses. */
const CHOICES = {
  news: { opted_in: 2, opted_out: 0, unknown: 1, unchanged: 0 },
  deals: { opted_in: 1, opted_out: 1, unknown: 0, unchanged: 0 },
  weekly: { opted_in: 0, opted_out: 1, unknown: 1, unchanged: 0 },
};

it("a dry run counts the choices of each topic, and names topics that there are not (TPC-5, RDA-14)", async () => {
  const { run } = await withTopics();

  const rehearsed = await run(CSV, { mapping, dry_run: "true" });

  expect(rehearsed.topic_summary).toEqual(CHOICES);
  expect(rehearsed.unknown_topics).toEqual(["nws"]);
});

it("a dry run says of each column whether it is a topic (TPC-5, RDA-14)", async () => {
  const { run } = await withTopics();

  const { columns } = await run(CSV, { mapping, dry_run: "true" });

  expect(columns.slice(2)).toMatchObject([
    { meaning: "topic:news", suggestion: null },
    { meaning: "consent evidence", suggestion: null },
    { meaning: "topic:deals", suggestion: null },
    { meaning: "attribute:topic_nws", suggestion: null },
    { meaning: "topic:weekly", suggestion: null },
  ]);
});

it("a dry run suggests the topic for a column that has its name (TPC-5, RDA-14)", async () => {
  const { run } = await withTopics();

  const { columns } = await run("external_id,Weekly\nada,yes\n", { dry_run: "true" });

  expect(columns[1]).toMatchObject({ meaning: "attribute:weekly", suggestion: "topic:weekly" });
});

it("a mapping to a topic that there is not is refused with 422 (TPC-5, AMB-3)", async () => {
  const { post, list } = await withTopics();
  const wrong = JSON.stringify({ Weekly: "topic:wekly" });

  const { status, body } = await post({ listId: list, mapping: wrong }, { filename: "a.csv", content: CSV });

  expect(status).toBe(422);
  expect(body.fields).toEqual({ "mapping.Weekly": "no such topic in this workspace" });
});

it("an import makes each choice at the time of its topic, of the row, or else of the import (TPC-5)", async () => {
  const { run, choices, attributes } = await withTopics();

  const { topic_summary, created_at } = await run(CSV, { mapping });

  expect(topic_summary).toEqual(CHOICES);
  expect(await choices("ada")).toEqual({
    news: "opted_in 2026-04-01T10:00:00.000Z",
    deals: "opted_in 2026-03-01T00:00:00.000Z",
    weekly: "opted_out 2026-03-01T00:00:00.000Z",
  });
  expect(await choices("bob")).toEqual({ deals: `opted_out ${created_at}` });
  expect(await attributes("ada")).toEqual({ topic_nws: true });
});

it("an import leaves a choice that was made after the time in the file (TPC-5)", async () => {
  const { tenant, run, choices, optOut } = await withTopics();
  await tenant.upsert({ external_id: "cyd" });
  await optOut("cyd");

  const { topic_summary } = await run(CSV, { mapping });

  expect(topic_summary.news).toEqual({ opted_in: 1, opted_out: 0, unknown: 1, unchanged: 1 });
  expect((await choices("cyd")).news).toMatch(/^opted_out/);
});

it.each([
  ["a topic", "topic:news", "topic:news,topic_at:news"],
  ["SMS", "sms", "consent_status:sms,consent_at:sms"],
])(
  "an opt-out of %s in a file holds, although an opt-in came after its time (AMB-132)",
  async (_, channel, columns) => {
    const { tenant, run, consents } = await withTopics();
    const ada = await tenant.upsert({ external_id: "ada", attributes: { phone: "+4915112345670" } });
    const agreed = { channel, status: "opted_in", source: "checkout" };
    expect((await tenant.call(`POST /api/v1/subscribers/${ada}/consents`, agreed)).status).toBe(201);

    await run(`external_id,${columns}\nada,opted_out,2026-03-01T00:00:00Z\n`);

    expect(await consents("ada")).toContainEqual(expect.objectContaining({ channel, status: "opted_out" }));
  },
);

it("what a file says of a topic that there is not refuses nothing else, nor does its time (TPC-5, AMB-132)", async () => {
  const { run, consents } = await withTopics();

  await run("external_id,topic:nws,topic_at:nws\nada,opted_out,opted_out\n");

  expect(await consents("ada")).toEqual([]);
});

it("the consent that an import makes has the import as its evidence (TPC-5)", async () => {
  const { run, consents } = await withTopics();

  const { import_job_id } = await run(CSV, { mapping });

  expect(await consents("ada")).toContainEqual(
    expect.objectContaining({
      channel: "topic:deals",
      status: "opted_in",
      evidence: expect.objectContaining({ import_job_id }),
    }),
  );
});

it("a choice with a time that is imported again adds no consent (TPC-5)", async () => {
  const { world, run, consents } = await withTopics();
  await run(CSV, { mapping });
  const before = await consents("ada");
  await world.advance(1_000);

  const { topic_summary } = await run(CSV, { mapping });

  expect(topic_summary.deals.unchanged).toBe(1);
  expect(await consents("ada")).toEqual(before);
});

/** The file of an export of subscribers. */
async function exported(world: TestWorld, tenant: Tenant): Promise<string> {
  const { id } = (await tenant.call("POST /api/v1/exports", { kind: "subscribers" })).body;
  await world.settle();
  return download(world, (await tenant.call(`GET /api/v1/exports/${id}`)).body.url);
}

it("an export has the choices of topics, and another workspace imports them (TPC-5, RDA-16)", async () => {
  const { world, tenant, run, createTopics, choices } = await withTopics();
  await run(CSV);
  const content = await exported(world, tenant);
  expect(content.split("\r\n")[0]).toContain(
    "consent_status,consent_at,topic:deals,topic_at:deals,topic:news,topic_at:news,topic:weekly,topic_at:weekly,consent_status:sms,",
  );

  const other = await world.tenant();
  await createTopics(other);
  const there = importing({ withTenant: async () => ({ world, tenant: other }) });
  await (await there()).run(content);

  for (const name of ["ada", "bob", "cyd"]) expect(await choices(name, other)).toEqual(await choices(name));
  expect(await choices("ada", other)).toMatchObject({ news: "opted_in 2026-04-01T10:00:00.000Z" });
});

it("an export has the consents of SMS and of chat apps, and another workspace imports them (AMB-132, RDA-16)", async () => {
  const { world, tenant, run } = await withTopics();
  await run(
    "external_id,email,phone,consent_status:sms,consent_at:sms,consent_status:chat_app\n" +
      "ada,ada@example.com,+4915112345670,opted_in,2026-03-01T00:00:00Z,opted_out\n" +
      "bob,bob@example.com,+4915112345671,opted_in,,\n" +
      "cyd,cyd@example.com,+4915112345672,,,\n",
  );
  await tenant.call("POST /api/v1/suppressions", { address: "+4915112345672" });
  const content = await exported(world, tenant);
  const other = await world.tenant();
  const there = await importing({ withTenant: async () => ({ world, tenant: other }) })();
  await there.run(content);

  const said = async (name: string) =>
    Object.fromEntries(
      (await there.consents(name)).map((consent: Record<string, string>) => [
        consent.channel,
        `${consent.status} ${consent.consented_at}`,
      ]),
    );
  expect(await said("ada")).toMatchObject({
    sms: "opted_in 2026-03-01T00:00:00.000Z",
    chat_app: expect.stringMatching(/^opted_out/),
  });
  expect(await said("bob")).toEqual({});
  expect(await said("cyd")).toMatchObject({ sms: expect.stringMatching(/^opted_out/) });
  expect(await there.attributes("ada")).toEqual({ phone: "+4915112345670" });
});
