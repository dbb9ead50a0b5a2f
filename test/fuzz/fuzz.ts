// A fuzzer of every route, driven by the published document. It reports answers that the service must not give: a 5xx, one
// that the document does not describe, one that took too long, and one with data of another workspace.
import { contents, operationsOf } from "../../docs/generate/contents.ts";
import type { JsonSchema } from "../../docs/generate/json-schema.ts";
import { openApiOf } from "../../docs/generate/openapi.ts";
import { HOUR, MINUTE } from "../../shared/clock.ts";
import type { Endpoint } from "../../shared/http/endpoint.ts";
import { type Random, randomFrom } from "../simulator/random.ts";
import { type Headers, type Tenant, type TestWorld, testWorld } from "../support/world.ts";
import { type Source, strangeText, valueFor } from "./values.ts";

export interface Finding {
  /** The number of the request, from 1. */
  n: number;
  request: string;
  problem: string;
}

export interface Options {
  requests: number;
  seed: number;
  /** Called after each request. */
  onRequest?: (n: number, findings: number) => void;
}

interface Target {
  endpoint: Endpoint;
  parameters: readonly { name: string; in: string; schema?: JsonSchema }[];
  body: JsonSchema | undefined;
}

/** More of this process's time than any request may take. */
const MAX_CPU_MS = 2_000;
/** A text of the other workspace. It is in no request, so no answer may have it. */
const SECRET = "okapi-of-the-other-workspace";
const SETTLE_EVERY = 100;
const MAX_IDS = 200;
/** Their passwords are hashed for a fraction of a second each. */
const isSlow = ({ route }: Endpoint): boolean => /auth\/(register|login|invitations)/.test(route);
/** The slow ones, and a change of the plan: a smaller one would refuse most of what follows. */
const isRare = (endpoint: Endpoint): boolean => isSlow(endpoint) || endpoint.route.endsWith("/billing/plan");

export interface Result {
  findings: Finding[];
  /** How many answers had each status. */
  statuses: ReadonlyMap<number, number>;
}

export async function fuzz({ requests, seed, onRequest }: Options): Promise<Result> {
  const random = randomFrom(seed);
  const world = await testWorld();
  try {
    const document = await openApiOf(contents);
    const targets = operationsOf(contents)
      .filter(({ isStream }) => !isStream)
      .map(({ endpoint }) => targetOf(document.paths, endpoint));
    const made = await world.tenant();
    const own = { ...made, server: await made.backend() };
    const other = await world.tenant();
    const ids = [
      ...(await filled(world, other, SECRET)),
      ...(await filled(world, own, "own")),
      own.id,
      world.ids.uuid(),
    ];
    const findings: Finding[] = [];
    const statuses = new Map<number, number>();
    const onAnswer = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
    let dashboard = await own.dashboard();
    for (let n = 1; n <= requests; n++) {
      if (n % SETTLE_EVERY === 0) {
        await world.advance(random.chance(0.1) ? HOUR : MINUTE);
        dashboard = await own.dashboard();
      }
      const source = { random, schemas: document.components.schemas, ids };
      const problem = await attempt(world, source, chosen(random, targets), { own, dashboard, onAnswer });
      if (problem) findings.push({ n, ...problem });
      onRequest?.(n, findings.length);
    }
    return { findings, statuses };
  } finally {
    await world.close();
  }
}

function chosen(random: Random, targets: readonly Target[]): Target {
  const target = random.pick(targets);
  return isRare(target.endpoint) && !(isSlow(target.endpoint) && random.chance(0.02))
    ? chosen(random, targets)
    : target;
}

function targetOf(paths: Record<string, Record<string, unknown>>, endpoint: Endpoint): Target {
  const [method = "", path = ""] = endpoint.route.split(" ");
  const operation = paths[path.replaceAll(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()] as {
    parameters?: Target["parameters"];
    requestBody?: { content: Record<string, { schema: JsonSchema }> };
  };
  const body = operation?.requestBody?.content["application/json"]?.schema;
  return { endpoint, parameters: operation?.parameters ?? [], body };
}

interface Callers {
  own: Tenant;
  dashboard: Headers;
  onAnswer(status: number): void;
}

const credentialFor = ({ access }: Endpoint, { own, dashboard }: Callers): Headers => {
  if (access.credentials.includes("dashboard")) return dashboard;
  if (access.credentials.includes("sdk")) return own.sdk;
  return access.credentials.length > 0 ? own.server : {};
};

async function attempt(
  world: TestWorld,
  source: Source & { ids: string[] },
  target: Target,
  callers: Callers,
): Promise<Omit<Finding, "n"> | undefined> {
  const { random, ids } = source;
  const { endpoint, parameters, body: schema } = target;
  const path = endpoint.route.replaceAll(/:\w+/g, () =>
    encodeURIComponent(random.chance(0.1) ? wellFormed(strangeText(source)) || "x" : random.pick(ids)),
  );
  const query = new URLSearchParams(
    parameters
      .filter(({ in: place }) => place === "query" && random.chance(0.6))
      .map(({ name, schema: one = {} }): [string, string] => [name, wellFormed(String(valueFor(source, one)))]),
  ).toString();
  const route = query ? `${path}?${query}` : path;
  const body = schema && { body: valueFor(source, schema) as object };
  const request = `${route} ${JSON.stringify(body?.body)?.slice(0, 400) ?? ""}`;
  const cpu = process.cpuUsage();
  try {
    const answer = await world.call(route, { as: credentialFor(endpoint, callers), ...body });
    const { user, system } = process.cpuUsage(cpu);
    const text = JSON.stringify(answer.body) ?? "";
    callers.onAnswer(answer.status);
    if (answer.status >= 500) return { request, problem: `answered ${answer.status}: ${text.slice(0, 200)}` };
    if (text.includes(SECRET)) return { request, problem: "showed data of another workspace" };
    const milliseconds = Math.round((user + system) / 1_000);
    if (milliseconds > MAX_CPU_MS && !isSlow(endpoint)) return { request, problem: `took ${milliseconds} ms` };
    const { id } = answer.body as { id?: unknown };
    if (typeof id === "string") ids.splice(random.between(0, MAX_IDS) % (ids.length + 1), 1, id);
    return undefined;
  } catch (error) {
    return { request, problem: String(error).slice(0, 300) };
  }
}

/** A URL cannot carry half a character. */
const wellFormed = (text: string): string => text.toWellFormed();

/** Some resources whose texts have a word. @returns their ids. */
async function filled(world: TestWorld, tenant: Tenant, word: string): Promise<string[]> {
  const as = await tenant.dashboard();
  const made = async (route: string, body: object, by: Headers = as) =>
    String((await world.call(route, { as: by, body })).body.id);
  const content = { title: word, body: word };
  const subscriber = { external_id: word, email: `${word}@example.com`, attributes: { word } };
  const hook = { target_url: `https://${word}.example/in`, events: ["subscriber.created"] };
  const ids = [
    await made("POST /api/v1/subscribers/upsert", subscriber, tenant.sdk),
    await made("POST /api/v1/templates", { name: word, content }),
    await made("POST /api/v1/lists", { name: word }),
    await made("POST /api/v1/segments", { name: word, type: "static" }),
    await made("POST /api/v1/webhooks", hook),
    await made("POST /api/v1/channels", { name: word, type: "in_app" }),
    await made("POST /api/v1/notifications", { target: { type: "all" }, ...content }),
  ];
  await world.settle();
  return ids.filter((id) => id !== "undefined");
}
