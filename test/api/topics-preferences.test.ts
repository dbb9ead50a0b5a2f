// What subscribers choose of topics through the API (TPC).
import { expect, it } from "vitest";
import { timestamp } from "../../shared/kernel/clock.ts";
import { wholeTable } from "../support/people.ts";
import { choicesOf, choosing, DEALS, NEWS } from "../support/topics.ts";
import { type Answer, START, UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const setting = choosing(worlds());

type Setting = Awaited<ReturnType<typeof setting>>;

const readOf = async ({ world, tenant }: Setting, external_id: string) =>
  (await world.call(`GET /v1/preferences?external_id=${external_id}`, { as: tenant.sdk })).body;

it("preferences that were not chosen are the defaults of the topics (TPC-3)", async () => {
  const found = await setting([DEALS, NEWS]);
  await found.person("ada");

  expect((await readOf(found, "ada")).topics).toMatchObject([
    { key: "deals", status: "opted_out" },
    { key: "news", status: "opted_in" },
  ]);
});

it("preferences put back as they were read are no choice (AMB-115)", async () => {
  const found = await setting([DEALS, NEWS]);
  const { world, tenant, person } = found;
  const ada = await person("ada");
  const body = await readOf(found, "ada");

  expect(await world.call("PUT /v1/preferences", { as: tenant.sdk, body })).toMatchObject({ status: 200, body });

  expect(await choicesOf(tenant, ada)).toEqual([]);
});

it("a status that was changed among preferences as they were read is a choice (AMB-115)", async () => {
  const found = await setting([DEALS, NEWS]);
  const { tenant, person, choose } = found;
  const ada = await person("ada");
  const [deals, news] = (await readOf(found, "ada")).topics;

  await choose("ada", [deals, { ...news, status: "opted_out" }]);

  expect(await choicesOf(tenant, ada)).toEqual(["topic:news opted_out preferences"]);
});

it("the answer to a choice says what holds from now on (TPC-3)", async () => {
  const { world, tenant, person } = await setting();
  await person("ada");
  const body = { external_id: "ada", topics: { news: "opted_out" } };
  const { topics } = (await world.call("PUT /v1/preferences", { as: tenant.sdk, body })).body;

  expect(topics).toContainEqual(expect.objectContaining({ key: "news", status: "opted_out" }));
});

it("a choice that is made again adds no consent (TPC-3)", async () => {
  const { tenant, person, choose } = await setting();
  const ada = await person("ada");

  await choose("ada", { news: "opted_out" });
  await choose("ada", { news: "opted_out" });

  expect(await choicesOf(tenant, ada)).toHaveLength(1);
});

it.each<[by: string, source: string, choose: (at: Setting, id: string) => Promise<Answer>]>([
  [
    "the app",
    "preferences",
    ({ world, tenant }) =>
      world.call("PUT /v1/preferences", {
        as: tenant.sdk,
        body: { external_id: "ada", topics: { news: "opted_out" } },
      }),
  ],
  [
    "a backend",
    "server",
    async ({ world, tenant }, subscriber_id) =>
      world.call("PUT /v1/preferences", {
        as: await tenant.backend("subscribers:read", "subscribers:write"),
        body: { subscriber_id, topics: { news: "opted_out" } },
      }),
  ],
  [
    "the dashboard",
    "dashboard",
    ({ tenant }, id) =>
      tenant.call(`POST /api/v1/subscribers/${id}/consents`, { channel: "topic:news", status: "opted_out" }),
  ],
])("a choice by %s is a consent with the source %s (TPC-3, RDA-20)", async (_, source, choose) => {
  const found = await setting();
  const ada = await found.person("ada");

  expect((await choose(found, ada)).status).toBeLessThan(300);

  expect(await choicesOf(found.tenant, ada)).toEqual([`topic:news opted_out ${source}`]);
});

it("a subscriber is read with the choices of topics, which are not among the consents of channels (RDA-20)", async () => {
  const { tenant, person, choose } = await setting([DEALS, NEWS]);
  const ada = await person("ada");
  await choose("ada", { news: "opted_out" });

  const { body } = await tenant.call(`GET /api/v1/subscribers/${ada}`);

  expect(body.consents).toEqual([]);
  expect(body.topics).toMatchObject([
    { key: "deals", status: "opted_out" },
    { key: "news", name: "News", default: "in", status: "opted_out", consented_at: timestamp(START) },
  ]);
});

it("an erased subscriber has no preferences, and no choice is left in the table (TPC-3)", async () => {
  const { world, tenant, person, choose } = await setting();
  const ada = await person("ada");
  await choose("ada", { news: "opted_out" });

  await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
  await world.settle();

  expect((await world.call(`GET /v1/preferences?subscriber_id=${ada}`, { as: tenant.sdk })).status).toBe(404);
  expect(JSON.stringify(await wholeTable(world))).not.toContain("topic:news");
});

const withAda = shared(async (own) => {
  const found = await choosing(own)([NEWS]);
  return { ...found, ada: await found.person("ada") };
});

it.each([
  ["an unknown status in a list", [{ key: "news", status: "maybe" }], "topics[0].status"],
  ["an unknown topic", { x: "opted_in" }, "topics.x"],
  ["an unknown topic in a list", [{ key: "x", status: "opted_in" }], "topics.x"],
  ["neither a map nor a list", "news", "topics"],
])("preferences with %s are refused with 422 (TPC-3)", async (_, topics, field) => {
  const { choose } = await withAda();

  expect((await choose("ada", topics as object)).body.fields).toEqual({ [field]: expect.any(String) });
});

it.each([
  ["of nobody", {}, 422],
  ["of a person who is named twice", { subscriber_id: UNKNOWN, external_id: "ada" }, 422],
  ["of a person who does not exist", { external_id: "nobody" }, 404],
])("preferences %s are refused (TPC-3)", async (_, who, status) => {
  const { world, tenant } = await withAda();

  const body = { ...who, topics: { news: "opted_in" } };

  expect((await world.call("PUT /v1/preferences", { as: tenant.sdk, body })).status).toBe(status);
});

it.each<[by: string, consentTo: (at: Setting, id: string, consent: object) => Promise<Answer>]>([
  ["the dashboard", ({ tenant }, id, consent) => tenant.call(`POST /api/v1/subscribers/${id}/consents`, consent)],
  [
    "an upsert",
    ({ world, tenant }, _, consent) =>
      world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id: "ada", consent } }),
  ],
])("a consent to an unknown topic by %s is refused with 422 (TPC-3)", async (_, consentTo) => {
  const found = await withAda();

  expect((await consentTo(found, found.ada, { channel: "topic:x", status: "opted_in" })).status).toBe(422);
});

it("preferences take the user's signed id where the workspace demands it (TPC-3, ACC-8)", async () => {
  const { world, tenant, call, person, choose } = await setting();
  await person("ada");
  await call("POST /api/v1/identity-keys");
  await call("PATCH /api/v1/workspace", { identity_required: true });

  expect((await world.call("GET /v1/preferences?external_id=ada", { as: tenant.sdk })).status).toBe(403);
  expect((await choose("ada", { news: "opted_out" })).status).toBe(403);
});
