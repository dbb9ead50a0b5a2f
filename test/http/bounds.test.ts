// Ids and numbers of requests have bounds: what becomes a key fits one, and what is stored is exact (ERR-1, D-HTTPCODES).
import { expect, it } from "vitest";
import type { OpenApi } from "../../docs/generate/openapi.ts";
import { openEgress } from "../../shared/egress/egress.ts";
import type { JsonSchema } from "../../shared/rules/json-schema.ts";
import { systemClock } from "../../shared/runtime/system.ts";
import { document } from "../support/document.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const LONG = "x".repeat(3_000);

/** Rules, steps and filters have grammars of their own, and bounds of the whole. Files are bounded by their size. */
const GRAMMARS =
  /\.(steps|rule|trigger|entry_rules|exit_conditions|exit|device_filters|subscriber_filters|eligibility|group|attribute|event|nodes|by_channel)\b/;

/** What in a schema of requests has no bound, by its place. */
function unbounded(document: OpenApi, schema: JsonSchema, place: string, above: readonly JsonSchema[] = []): string[] {
  const { $ref } = schema;
  if ($ref) return unbounded(document, document.components.schemas[$ref.split("/").at(-1)!]!, place, above);
  if (above.includes(schema) || GRAMMARS.test(place) || schema.contentMediaType) return [];
  const inner = (one: unknown, at: string) =>
    typeof one === "object" && one !== null ? unbounded(document, one as JsonSchema, at, [...above, schema]) : [];
  const types = [schema.type].flat();
  const isListed = schema.enum !== undefined || schema.const !== undefined;
  const isWhole = /^\^(?:[^*+]|\\[*+]|\[[^\]]*\])*\$$/.test(schema.pattern ?? "");
  const isShort = schema.maxLength !== undefined || ["uuid", "date-time"].includes(schema.format ?? "") || isWhole;
  const isCut = /a larger one is taken as/.test(schema.description ?? "");
  const isBetween =
    (schema.minimum ?? schema.exclusiveMinimum) !== undefined &&
    (isCut || (schema.maximum ?? schema.exclusiveMaximum) !== undefined);
  const own = [
    types.includes("string") && !isListed && !isShort,
    (types.includes("number") || types.includes("integer")) && !isListed && !isBetween,
  ];
  return [
    ...(own.includes(true) ? [place] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) => inner(one, `${place}.${name}`)),
    ...inner(schema.additionalProperties, `${place}.*`),
    ...inner(schema.items, `${place}[]`),
    ...[schema.anyOf, schema.oneOf, schema.allOf, schema.prefixItems].flatMap((all) =>
      (all ?? []).flatMap((one) => inner(one, place)),
    ),
  ];
}

it("every string and number of a request has a bound (ERR-1)", async () => {
  const found = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { parameters = [], requestBody }]) => [
      ...parameters.flatMap((parameter) =>
        unbounded(document, parameter.schema, `${method} ${path} ${parameter.name}`),
      ),
      ...Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
        unbounded(document, schema, `${method} ${path} body`),
      ),
    ]),
  );
  expect(found).toEqual([]);
});

it("an id that no key can hold is a 422 or a 404, never a 500 (D-HTTPCODES)", async () => {
  const { world, tenant } = await withTenant();
  const as = await tenant.dashboard();
  const trigger = { type: "segment_entry", segment_id: LONG };
  const requests: [route: string, body?: object][] = [
    ...["", LONG].map((id): [string] => [`GET /api/v1/insights/lift?job_id=${id}`]),
    ...["", LONG].map((name): [string] => [`DELETE /api/v1/insights/config?event_name=${name}`]),
    ["POST /api/v1/journeys", { name: "n", trigger, steps: [] }],
    ...["", LONG].flatMap((id): [string, object][] => [
      ["POST /api/v1/notifications", { target: { type: "all" }, template_id: id }],
      ["POST /api/v1/notifications", { target: { type: "all" }, title: "t", body: "b", channel_ids: [id] }],
    ]),
    ["PATCH /api/v1/billing", { monthly_send_cap: 1e21 }],
  ];
  for (const [route, body] of requests) {
    const { status } = await world.call(route, { as, ...(body && { body }) });
    expect([route.slice(0, 60), status]).toEqual([route.slice(0, 60), 422]);
  }
});

it("a refusal names the parameter that was sent, in words that are not those of a library (ERR-1)", async () => {
  const { world, tenant } = await withTenant();
  const job = world.ids.uuid();
  const requests: [route: string, body: unknown, reasons: object][] = [
    ["GET /api/v1/activity?after=x", undefined, { after: "is not a cursor of this list" }],
    [
      `GET /api/v1/notifications/${job}/recipients?reason=${LONG}`,
      undefined,
      { reason: "must have at most 200 characters" },
    ],
    ["POST /api/v1/auth/email/confirm", { token: LONG }, { token: "must have at most 128 characters" }],
  ];
  for (const [route, body, reasons] of requests) {
    const as = await tenant.dashboard();
    const answer = await world.call(route, { as, ...(body !== undefined && { body }) });
    expect([route.slice(0, 60), answer.status, answer.body.fields]).toEqual([route.slice(0, 60), 422, reasons]);
  }
});

it.each<[route: string, body: object]>([
  ["POST /api/v1/auth/login", { [LONG]: 1 }],
  ["POST /api/v1/auth/sign-in/begin", { email: "ada@example.com", [LONG]: 1 }],
  ["POST /api/v1/notifications", { target: { type: "all" }, title: "t", body: "b", safety: { [LONG]: 1 } }],
  ["POST /api/v1/segments", { name: "n", rule: { attribute: { plan: { [LONG]: 1 } } } }],
])("a refusal by %s does not repeat a long name that was sent (D2, ERR-1)", async (route, body) => {
  const { tenant } = await withTenant();
  const answer = await tenant.call(route, body);
  expect([answer.status, JSON.stringify(answer.body).length < 1_000]).toEqual([422, true]);
});

it("a secret that no header can carry is refused when it is stored (CRD-7)", async () => {
  const { tenant } = await withTenant();
  const made = await tenant.call("POST /api/v1/channels", { name: "Chat", type: "chat_app" });
  const body = { access_token: "tok\u2026en", phone_number_id: "1", waba_id: "2" };
  const refused = await tenant.call(`POST /api/v1/channels/${made.body.id}/credentials/chat_app`, body);
  expect([refused.status, Object.keys(refused.body.fields ?? {})]).toEqual([422, ["access_token"]]);
});

it("a header that cannot be sent is a refusal, and the client does not throw (ARC-16)", async () => {
  const egress = openEgress({ clock: systemClock });
  const headers = { authorization: "Bearer tok\u2026en" };
  for (const http2 of [false, true])
    expect(
      await egress.request({ purpose: "webhook", url: "https://192.0.2.1.example/", headers, http2 }),
    ).toMatchObject({
      kind: "not_sent",
    });
});

it("the target of a webhook is stored as it is requested (HOK-1, ARC-16)", async () => {
  const { world, tenant } = await withTenant();
  const hook = { target_url: "https://HOOKS.example.com:443/a/../in", events: ["subscriber.created"] };
  const { status, body } = await world.call("POST /v1/hooks", { as: tenant.server, body: hook });
  expect([status, body.target_url]).toEqual([201, "https://hooks.example.com/in"]);
});

it.each([
  ["POST /api/v1/lists", 128, {}],
  ["POST /api/v1/segments", 128, { rule: { attribute: { plan: { $eq: "pro" } } } }],
  ["POST /api/v1/templates", 200, { content: { title: "t", body: "b" } }],
  ["POST /api/v1/campaigns", 200, { content: { title: "t", body: "b" } }],
  ["POST /api/v1/journeys", 200, { trigger: { type: "event", event_name: "x" }, steps: { start: "", steps: {} } }],
  ["POST /api/v1/topics", 128, { key: "news" }],
  ["POST /api/v1/server-keys", 128, {}],
])("the name of %s has at most %i characters, of which an emoji is one (ERR-1)", async (route, most, body) => {
  const { world, tenant } = await withTenant();
  const channel_ids = [(await tenant.call("GET /api/v1/channels")).body.channels[0].id];
  const named = async (name: string) =>
    world.call(route, {
      as: await tenant.dashboard(),
      body: { ...body, ...(route.endsWith("campaigns") && { channel_ids }), name },
    });

  expect(await named("🎉".repeat(most + 1))).toMatchObject({
    status: 422,
    body: { fields: { name: expect.any(String) } },
  });
  expect(await named("🎉".repeat(most))).toMatchObject({ status: 201, body: { name: "🎉".repeat(most) } });
});
