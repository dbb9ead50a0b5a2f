// A key that no subscriber has is named before somebody sends by it: under `$ne` it would select everybody (AMB-148).
import { beforeEach, expect, it } from "vitest";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
let setting: Awaited<ReturnType<typeof journeySetting>>;

beforeEach(async () => {
  setting = await journeySetting(await fresh());
  await setting.person("ada", { plan: "pro", address: { city: "Ulm", lines: [{ zip: "89073" }] } });
  await setting.world.settle();
});

const warning = (key: string) => ({
  code: "unknown_attribute",
  key,
  message: `No subscriber has the attribute ${key}.`,
});
const misspelt = { attribute: { "address.ctiy": { $ne: "Ulm" } } };

it("a preview of a rule names a key that no subscriber has (AMB-148)", async () => {
  const { body } = await setting.call("POST /api/v1/segments/preview", misspelt);

  expect(body.warnings).toEqual([warning("address.ctiy")]);
});

it("a segment names a key that no subscriber has when it is saved, changed and read (AMB-148)", async () => {
  const { call } = setting;
  const created = (await call("POST /api/v1/segments", { name: "Elsewhere", rule: misspelt })).body;
  const route = `/api/v1/segments/${created.id}`;
  const rule = { attribute: { paln: { $eq: "pro" } } };
  const changed = (await call(`PATCH ${route}`, { name: "Elsewhere", rule })).body;
  const read = (await call(`GET ${route}`)).body;

  expect(created.warnings).toEqual([warning("address.ctiy")]);
  expect(changed.warnings).toEqual([warning("paln")]);
  expect(read.warnings).toEqual([warning("paln")]);
});

it("a preview of a send names a key of its filters that no subscriber has (AMB-148)", async () => {
  const body = { target: { type: "all" }, title: "A", body: "a", subscriber_filters: { paln: { $ne: "free" } } };

  expect((await setting.call("POST /api/v1/notifications/preview", body)).body.warnings).toEqual([warning("paln")]);
});

it("a path through objects and lists, and a field of the subscriber, are known keys (AMB-148)", async () => {
  const attribute = Object.fromEntries(
    ["plan", "address", "address.city", "address.lines.zip", "email", "external_id", "created_at"].map((key) => [
      key,
      { $exists: true },
    ]),
  );

  expect((await setting.call("POST /api/v1/segments/preview", { attribute })).body.warnings).toBeUndefined();
});

it("a path that is too long for the list of keys is not taken for a misspelling (AMB-148)", async () => {
  const long = "x".repeat(600);
  await setting.person("bob", { address: { [long]: 1 } });
  await setting.world.settle();
  const rule = { attribute: { [`address.${long}`]: { $eq: 1 } } };

  const { body } = await setting.call("POST /api/v1/segments/preview", rule);

  expect(body).toMatchObject({ estimated_count: 1 });
  expect(body.warnings).toBeUndefined();
});

it("the list of attribute keys has the paths through objects (AMB-148)", async () => {
  expect((await setting.call("GET /api/v1/segments/attribute-keys")).body.keys).toEqual([
    "address",
    "address.city",
    "address.lines",
    "address.lines.zip",
    "plan",
  ]);
});

it("a journey names the keys of its rules that no subscriber has when it is saved, changed, read and activated (AMB-148)", async () => {
  const { call, definition, send } = setting;
  const steps = {
    ...graphOf({
      // biome-ignore lint/suspicious/noThenProperty: it is a field of the API
      fork: { branch: { condition: { attribute: { paln: { $ne: "pro" } } }, then: "hi", else: "hi" } },
      hi: send("Hi"),
    } as never),
    exit_conditions: [{ attribute: { lefft: { $eq: true } } }, { rule: misspelt }],
  };
  const entry_rules = { eligibility: { attribute: { palns: { $ne: "free" } } } };
  const body = definition(steps, { entry_rules });
  const created = (await call("POST /api/v1/journeys", body)).body;
  const route = `/api/v1/journeys/${created.id}`;
  const all = [created, (await call(`PUT ${route}`, body)).body, (await call(`GET ${route}`)).body];
  all.push((await call(`POST ${route}/activate`)).body);
  const keys = ["palns", "paln", "lefft", "address.ctiy"];
  expect(all.map(({ warnings }) => warnings)).toEqual(all.map(() => keys.map(warning)));
  const { body: incomplete } = await call("POST /api/v1/journeys", { ...body, entry_rules: null, steps: {} });
  expect(incomplete).not.toHaveProperty("warnings");
});

it("the release of a campaign names the keys of its segment that no subscriber has (AMB-148)", async () => {
  const { call, channel } = setting;
  const segment = (await call("POST /api/v1/segments", { name: "Elsewhere", rule: misspelt })).body;
  const target = { type: "segment", segment_id: segment.id };
  const campaign = { name: "C", target, channel_ids: [channel], content: { title: "t", body: "b" } };
  await setting.world.settle();
  const { id } = (await call("POST /api/v1/campaigns", campaign)).body;
  const { status, body } = await call(`POST /api/v1/campaigns/${id}/release`);

  expect(status).toBe(200);
  expect(body.warnings).toEqual([warning("address.ctiy")]);
});
