// A fuzzer of every route, driven by the published document. It reports answers that the service must not give: a 5xx, one
// that the document does not describe, one that took too long, and one with data of another workspace. It also reports
// accepted requests whose work then fails.
import { contents, operationsOf } from "../../docs/generate/contents.ts";
import type { CostRecord } from "../../docs/generate/costs.ts";
import type { OpenApi } from "../../docs/generate/openapi.ts";
import { type Endpoint, routeKeyOf } from "../../shared/http/endpoint.ts";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { type Random, randomFrom } from "../simulator/random.ts";
import { document } from "../support/document.ts";
import { type Answer, type TestWorld, testWorld } from "../support/world.ts";
import { costOf, type Dearest, openCosts, tooDear } from "./costs.ts";
import { idsIn } from "./known.ts";
import { fillWorld, isSlow } from "./population.ts";
import { type Request, requestFor, type Target } from "./requests.ts";
import type { Source } from "./values.ts";

interface Finding {
  /** The number of the request, from 1. */
  n: number;
  request: string;
  problem: string;
}

interface Options {
  requests: number;
  seed: number;
  /** What a request costs is looked at, too, and compared with what was measured before. */
  costs?: { known: CostRecord | undefined } | undefined;
  /** Called after each request, with all findings so far. */
  onRequest?: (n: number, findings: readonly Finding[]) => void;
}

/** More of this process's time than any request may take. */
const MAX_CPU_MS = 2_000;
const SETTLE_EVERY = 100;
/** What a world went through makes more and more requests refusals, so they go on in a new one. */
const REQUESTS_OF_A_WORLD = 2_500;
/** The slow ones, and what would refuse most of what follows: a smaller plan, a stricter workspace, the end of a session. */
const isRare = (endpoint: Endpoint): boolean =>
  isSlow(endpoint) ||
  /PUT .*billing\/plan$|PATCH .*\/(billing|workspace)$|DELETE .*(sessions|server-keys|agent-keys)/.test(endpoint.route);

interface Result {
  findings: Finding[];
  /** How many answers had each status. */
  statuses: ReadonlyMap<number, number>;
  /** Routes that took no request. */
  refusing: string[];
  /** The dearest request of each route and credential, with its costs; the dearest first. */
  dearest: Dearest[];
}

export async function fuzz({ requests, seed, costs, onRequest }: Options): Promise<Result> {
  const random = randomFrom(seed);
  const targets = operationsOf(contents)
    .filter(({ isStream }) => !isStream)
    .map(({ endpoint }) => targetOf(document, endpoint));
  const findings: Finding[] = [];
  const statuses = new Map<number, number>();
  const dearest = openCosts();
  const refusing = new Set<string>(targets.map(({ endpoint }) => endpoint.route));
  for (let first = 1; first <= requests; first += REQUESTS_OF_A_WORLD) {
    const last = Math.min(requests, first + REQUESTS_OF_A_WORLD - 1);
    await fuzzWorld({ random, document, targets, costs }, first, last, ({ n, route, status, cost, found }) => {
      if (cost) dearest.note(cost);
      findings.push(...found);
      if (status !== undefined) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status !== undefined && status < 400) refusing.delete(route);
      onRequest?.(n, findings);
    });
  }
  return { findings, statuses, refusing: [...refusing], dearest: dearest.all() };
}

interface Outcome {
  n: number;
  route: string;
  status: number | undefined;
  cost: Dearest | undefined;
  found: Finding[];
}

async function fuzzWorld(
  {
    random,
    document,
    targets,
    costs,
  }: { random: Random; document: OpenApi; targets: readonly Target[]; costs: Options["costs"] },
  first: number,
  last: number,
  report: (outcome: Outcome) => void,
): Promise<void> {
  const world = await testWorld();
  try {
    const population = await fillWorld(world, document);
    const source = { random, schemas: document.components.schemas, known: population.known };
    let callers = await population.callers();
    let recent: string[] = [];
    for (let n = first; n <= last; n++) {
      const found: Finding[] = [];
      if (n % SETTLE_EVERY === 0 || n === last) {
        await world.advance(random.chance(0.1) ? HOUR : MINUTE);
        for (const problem of failedWork(world)) found.push({ n, request: recent.join("\n    "), problem });
        recent = [];
        callers = await population.callers();
      }
      const target = chosen(random, targets);
      const request = requestFor(source, target, callers, population.examples);
      world.dynamodb.resetMeter();
      const { status, text = "", milliseconds, ...attempt } = await attempted(world, source, target.endpoint, request);
      const bytes = Buffer.byteLength(text);
      const cost = costs ? costOf(world, target.endpoint, request, { bytes, milliseconds }) : undefined;
      const dear = cost && tooDear(cost, costs?.known);
      if (dear) found.push({ n, request: request.shown, problem: dear });
      if (status !== undefined && status < 300) recent.push(request.shown);
      const problem = attempt.problem ?? population.leakIn(text);
      if (problem) found.push({ n, request: request.shown, problem });
      report({ n, route: target.endpoint.route, status, cost, found });
    }
  } finally {
    await world.close();
  }
}

/** Messages that a worker threw at, since the last time: what was accepted must be possible. */
function failedWork({ logs }: TestWorld): string[] {
  const failed = logs.splice(0).filter(({ message }) => /^a (?:message|batch of the stream) failed$/.test(message));
  const seen = new Map(failed.map((entry) => [`${entry.worker} ${entry.error}`, JSON.stringify(entry).slice(0, 600)]));
  return [...seen.values()].map((text) => `work failed: ${text}`);
}

function chosen(random: Random, targets: readonly Target[]): Target {
  const target = random.pick(targets);
  return isRare(target.endpoint) && !random.chance(0.02) ? chosen(random, targets) : target;
}

function targetOf({ paths }: OpenApi, endpoint: Endpoint): Target {
  const [method = "", path = ""] = routeKeyOf(endpoint.route).split(" ");
  const { parameters = [], requestBody } = paths[path]![method.toLowerCase()]!;
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const body = type && content ? { type, schema: content.schema } : undefined;
  return { endpoint, parameters: parameters.filter((parameter) => parameter.in === "query"), body };
}

interface Attempt {
  status?: number;
  text?: string;
  milliseconds: number;
  problem?: string;
}

async function attempted(
  world: TestWorld,
  source: Source,
  endpoint: Endpoint,
  { target, as, headers, content }: Request,
): Promise<Attempt> {
  const cpu = process.cpuUsage();
  const milliseconds = () => {
    const { user, system } = process.cpuUsage(cpu);
    return (user + system) / 1_000;
  };
  try {
    const answer = await world.call(target, { as, headers, ...content });
    const taken = milliseconds();
    note(source, endpoint, answer);
    const text = JSON.stringify(answer.body) ?? "";
    return { status: answer.status, text, milliseconds: taken, ...problemOf(answer, endpoint, Math.round(taken)) };
  } catch (error) {
    return { milliseconds: milliseconds(), problem: String(error).slice(0, 300) };
  }
}

function problemOf({ status, body, headers }: Answer, endpoint: Endpoint, milliseconds: number): { problem?: string } {
  if (status >= 500) return { problem: `answered ${status}: ${JSON.stringify(body).slice(0, 200)}` };
  if (milliseconds > MAX_CPU_MS && !isSlow(endpoint)) return { problem: `took ${milliseconds} ms` };
  const split = Object.entries(headers).find(([name, value]) => name === "x-injected" || /[\r\n]/.test(String(value)));
  if (split) return { problem: `has the header ${split[0]}, or a line break in it` };
  return {};
}

function note({ known }: Source, { route }: Endpoint, { status, body }: Answer): void {
  if (status >= 300) return;
  const { next_cursor: cursor } = Object(body) as { next_cursor?: unknown };
  if (typeof cursor === "string" && cursor !== "") known.note(`cursors of ${route}`, cursor);
  // `POST /api/v1/subscribers/upsert` is about subscribers.
  const names = route.split("/").filter((part) => !part.startsWith(":"));
  const kind = names.reverse().find((name) => known.has(name));
  if (kind !== undefined) for (const id of idsIn(body)) known.note(kind, id);
}
