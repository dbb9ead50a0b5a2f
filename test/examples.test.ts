// Every example of the document is sent to a workspace in which its ids name something: with each wrong value that its
// schema knows, in the body and in the query, and as it is written (ERR-13, GEN-16).
import { describe, expect, it } from "vitest";
import { contents, operationsOf } from "../docs/generate/contents.ts";
import type { OperationObject } from "../docs/generate/openapi.ts";
import { MINUTE } from "../shared/kernel/clock.ts";
import type { JsonSchema } from "../shared/rules/json-schema.ts";
import { document, operationOf } from "./support/document.ts";
import { type ExampleRequest, exampleRequests } from "./support/example-requests.ts";
import { faultsOf, queryFaultsOf } from "./support/faulty-bodies.ts";
import { testWorld } from "./support/world.ts";

const operations = operationsOf(contents).filter(({ isStream }) => !isStream);
const world = await testWorld();
const tenant = await world.tenant();
const requests = await exampleRequests(world, tenant);

/** The statuses by which an operation succeeds. */
const successes = ({ responses }: OperationObject) => Object.keys(responses).filter((key) => /^(2\d\d|302)$/.test(key));

/** A refusal names the field; a grammar may name the whole of which it is a part. */
const isOneOf = (named: readonly string[], field: string): boolean =>
  named.some(
    (one) =>
      one === field ||
      one.startsWith(`${field}.`) ||
      (["[", "."].includes(field.slice(one.length)[0] ?? "") && field.startsWith(one)),
  );

describe.each(operations.map(({ endpoint }) => [endpoint.route, endpoint] as const))("%s", (route, endpoint) => {
  const operation = operationOf(route);
  let prepared: ExampleRequest;

  it("an endpoint refuses each wrong value in the body of its example by the name of the field (ERR-13, CHN-2, CNV-4, HOK-3, INT-3, INT-4, INT-5, INX-12, INX-13, INX-19, INX-20, SUB-14)", async () => {
    await world.advance(MINUTE);
    prepared = await requests.prepare(endpoint, operation);
    const schema = operation.requestBody?.content["application/json"]?.schema;
    // Calls of other platforms leave out what they do not understand.
    if (!schema || !endpoint.shape.body) return;
    const wrong = [];
    for (const { field, what, body } of faultsOf(schema, prepared.body, document.components.schemas)) {
      const { status, body: answer } = await requests.send(endpoint, { ...prepared, body });
      const named = Object.keys(answer?.fields ?? {});
      if (![400, 422].includes(status) || !isOneOf(named, field)) wrong.push({ field, what, status, answer });
    }
    expect(wrong).toEqual([]);
  });

  it("an endpoint refuses each wrong value of its query by the name of the parameter (ERR-13, EXP-4, EXP-5, EXP-6, ISG-2, ISG-3, LIM-8, AMB-29, AMB-98)", async () => {
    const wrong = [];
    for (const { field, what, query } of queryFaultsOf(operation, prepared.query)) {
      const { status, body } = await requests.send(endpoint, { ...prepared, query });
      if (![400, 422].includes(status) || body.fields?.[field] === undefined) wrong.push({ field, what, status, body });
    }
    expect(wrong).toEqual([]);
  });

  it("an endpoint takes its example (GEN-16)", async () => {
    const { status, body } = await requests.send(endpoint, prepared);
    expect(successes(operation), JSON.stringify(body)).toContain(String(status));
  });

  it("an endpoint takes a value at the bound of its field, and refuses the next one (ERR-13)", async () => {
    const schema = operation.requestBody?.content["application/json"]?.schema;
    if (!schema || !endpoint.shape.body) return;
    const refused = [];
    for (const { field, what, body, atBound } of boundsOf(schema, prepared.body)) {
      const beyond = await requests.send(endpoint, { ...prepared, body });
      const reason = beyond.body?.fields?.[field];
      // What names no bound may be refused for what it says.
      const [bound] = /\d+$/.exec(what) ?? [];
      if (bound === undefined || !new RegExp(`\\b${bound}\\b`).test(reason ?? "")) continue;
      const { status, body: answer } = await requests.send(endpoint, { ...prepared, body: atBound });
      if (answer?.fields?.[field] === reason) refused.push({ field, what, status, reason });
    }
    expect(refused).toEqual([]);
  });
});

/** Each once, though several endpoints have the field. */
const judged = new Set<string>();
const boundsOf = (schema: JsonSchema, taken: unknown) =>
  faultsOf(schema, taken, document.components.schemas).filter(({ field, what, atBound }) => {
    const isNew = atBound !== undefined && !judged.has(`${field} ${what}`);
    judged.add(`${field} ${what}`);
    return isNew;
  });

const message = { title: "Hello", body: "It works." };
const journey = { name: "Example", steps: { start: "end", steps: { end: { id: "end", type: "exit" } } } };
const trigger = { type: "event", event_name: "signed_up" };

/** A request with an example of a grammar, which is written as a whole value of a field. */
const requestsWith: Record<string, (example: unknown) => [route: string, status: number, body: unknown]> = {
  Target: (target) => ["POST /api/v1/notifications/preview", 200, { target, ...message }],
  AttributePredicate: (subscriber_filters) => [
    "POST /api/v1/notifications/preview",
    200,
    { target: { type: "all" }, subscriber_filters, ...message },
  ],
  DevicePredicate: (device_filters) => [
    "POST /api/v1/notifications/preview",
    200,
    { target: { type: "all" }, device_filters, ...message },
  ],
  ContentByChannel: (by_channel) => [
    "POST /api/v1/templates",
    201,
    { name: `Example ${world.ids.uuid()}`, content: { ...message, by_channel } },
  ],
  SegmentRule: (rule) => ["POST /api/v1/segments/preview", 200, rule],
  JourneyTrigger: (example) => ["POST /api/v1/journeys", 201, { ...journey, trigger: example }],
  EntryRules: (entry_rules) => ["POST /api/v1/journeys", 201, { ...journey, trigger, entry_rules }],
  JourneyGraph: (steps) => ["POST /api/v1/journeys", 201, { ...journey, trigger, steps }],
};

it.each(Object.entries(requestsWith))("the examples of %s are taken (GEN-16)", async (name, requestOf) => {
  const { examples = [] } = document.components.schemas[name]!;
  expect(examples.length).toBeGreaterThanOrEqual(3);
  for (const example of examples) {
    const [route, status, body] = requestOf(requests.filled(example));
    const answer = await tenant.call(route, body);
    expect(answer.status, JSON.stringify({ example, answer: answer.body })).toBe(status);
  }
});
