// Choices of topics in files: imported by the rules of a consent, and exported so that they import again (TPC-5).
import { expect, it } from "vitest";
import { importing } from "../support/imports.ts";
import type { Tenant } from "../support/world.ts";
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

it("a dry run and a result say what choices do, and name unknown topics (TPC-5, RDA-14)", async () => {
  const { world, tenant, run, post, list, choices, optOut, attributes, consents } = await withTopics();
  await tenant.upsert({ external_id: "cyd" });
  await optOut("cyd");
  const mapping = JSON.stringify({ Weekly: "topic:weekly" });
  const refused = await post(
    { listId: list, mapping: JSON.stringify({ Weekly: "topic:wekly" }) },
    { filename: "a.csv", content: CSV },
  );
  expect(refused.body.fields).toEqual({ "mapping.Weekly": "no such topic in this workspace" });

  const rehearsed = await run(CSV, { mapping, dry_run: "true" });
  const said = {
    news: { opted_in: 2, opted_out: 0, unknown: 1, unchanged: 0 },
    deals: { opted_in: 1, opted_out: 1, unknown: 0, unchanged: 0 },
    weekly: { opted_in: 0, opted_out: 1, unknown: 1, unchanged: 0 },
  };
  expect([rehearsed.topic_summary, rehearsed.unknown_topics]).toEqual([said, ["nws"]]);
  const meanings = rehearsed.columns.map((one: { meaning: string; suggestion: string | null }) => [
    one.meaning,
    one.suggestion,
  ]);
  expect(meanings.slice(2)).toEqual([
    ["topic:news", null],
    ["consent evidence", null],
    ["topic:deals", null],
    ["attribute:topic_nws", null],
    ["topic:weekly", null],
  ]);

  const plain = await run("external_id,Weekly\nada,yes\n", { dry_run: "true" });
  expect(plain.columns[1]).toMatchObject({ meaning: "attribute:weekly", suggestion: "topic:weekly" });

  const done = await run(CSV, { mapping });
  expect(done.topic_summary).toEqual({ ...said, news: { opted_in: 1, opted_out: 0, unknown: 1, unchanged: 1 } });
  expect(await choices("ada")).toEqual({
    news: "opted_in 2026-04-01T10:00:00.000Z",
    deals: "opted_in 2026-03-01T00:00:00.000Z",
    weekly: "opted_out 2026-03-01T00:00:00.000Z",
  });
  expect(await choices("bob")).toEqual({ deals: `opted_out ${done.created_at}` });
  expect((await choices("cyd")).news).toMatch(/^opted_out/);
  expect(await attributes("ada")).toEqual({ topic_nws: true });
  const [entry] = (await consents("ada")).filter(({ channel }: { channel: string }) => channel === "topic:deals");
  expect(entry).toMatchObject({ status: "opted_in", evidence: { import_job_id: done.import_job_id } });

  await world.advance(1_000);
  const again = await run(CSV, { mapping });
  expect(again.topic_summary.deals).toEqual({ opted_in: 1, opted_out: 0, unknown: 0, unchanged: 1 });
  expect(await consents("ada")).toHaveLength(3);
});

it("an export has the choices, and imports them again (TPC-5, RDA-16)", async () => {
  const { world, tenant, run, createTopics, choices } = await withTopics();
  await run(CSV);
  const { id } = (await tenant.call("POST /api/v1/exports", { kind: "subscribers" })).body;
  await world.settle();
  const { url } = (await tenant.call(`GET /api/v1/exports/${id}`)).body;
  const link = await world.call(`GET ${new URL(url).pathname}`);
  const Key = decodeURIComponent(new URL(String(link.headers.location)).pathname.split("/").slice(2).join("/"));
  const { Body } = await world.s3.operate("GetObject", { Bucket: world.env.IMPORTS_BUCKET, Key });
  const content = String(Buffer.from(Body as Uint8Array));
  expect(content.split("\r\n")[0]).toContain(
    "consent_status,consent_at,topic:deals,topic_at:deals,topic:news,topic_at:news,topic:weekly,topic_at:weekly,",
  );

  const other = await world.tenant();
  await createTopics(other);
  const there = importing({ withTenant: async () => ({ world, tenant: other }) });
  await (await there()).run(content);
  for (const name of ["ada", "bob", "cyd"]) expect(await choices(name, other)).toEqual(await choices(name));
  expect(await choices("ada", other)).toMatchObject({ news: "opted_in 2026-04-01T10:00:00.000Z" });
});
