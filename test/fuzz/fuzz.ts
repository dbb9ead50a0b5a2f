// A fuzzer of every route, driven by the published document. It reports answers that the service must not give: a 5xx, one
// that the document does not describe, one that took too long, and one with data of another workspace. It also reports
// accepted requests whose work then fails.
import { contents, operationsOf } from "../../docs/generate/contents.ts";
import type { JsonSchema } from "../../docs/generate/json-schema.ts";
import { openApiOf } from "../../docs/generate/openapi.ts";
import { HOUR, MINUTE } from "../../shared/clock.ts";
import type { Endpoint } from "../../shared/http/endpoint.ts";
import { type Random, randomFrom } from "../simulator/random.ts";
import { type Answer, type TestWorld, testWorld } from "../support/world.ts";
import { bodyFor } from "./bodies.ts";
import { idsIn, kindOfPath } from "./known.ts";
import { type Callers, credentialFor, fillWorld } from "./population.ts";
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
  /** Called after each request, with all findings so far. */
  onRequest?: (n: number, findings: readonly Finding[]) => void;
}

export interface Target {
  endpoint: Endpoint;
  parameters: readonly { name: string; in: string; schema?: JsonSchema }[];
  body: Body | undefined;
}

interface Body {
  type: string;
  schema: JsonSchema;
}

/** More of this process's time than any request may take. */
const MAX_CPU_MS = 2_000;
const SETTLE_EVERY = 100;
/** Their passwords are hashed for a fraction of a second each. */
const isSlow = ({ route }: Endpoint): boolean => /auth\/(register|login|invitations|password)/.test(route);
/** The slow ones, and what would refuse most of what follows: a smaller plan, a stricter workspace, the end of a session. */
const isRare = (endpoint: Endpoint): boolean =>
  isSlow(endpoint) ||
  /PUT .*billing\/plan$|PATCH .*\/(billing|workspace)$|DELETE .*(sessions|server-keys|agent-keys)/.test(endpoint.route);

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
    const population = await fillWorld(world);
    const source = { random, schemas: document.components.schemas, known: population.known };
    const findings: Finding[] = [];
    const statuses = new Map<number, number>();
    let callers = await population.callers();
    let recent: string[] = [];
    for (let n = 1; n <= requests; n++) {
      if (n % SETTLE_EVERY === 0 || n === requests) {
        await world.advance(random.chance(0.1) ? HOUR : MINUTE);
        for (const problem of failedWork(world)) findings.push({ n, request: recent.join("\n    "), problem });
        recent = [];
        callers = await population.callers();
      }
      const attempt = await attempted(world, source, chosen(random, targets), callers);
      if (attempt.status !== undefined) statuses.set(attempt.status, (statuses.get(attempt.status) ?? 0) + 1);
      if (attempt.status !== undefined && attempt.status < 300) recent.push(attempt.request);
      const problem = attempt.problem ?? population.leakIn(attempt.text ?? "");
      if (problem) findings.push({ n, request: attempt.request, problem });
      onRequest?.(n, findings);
    }
    return { findings, statuses };
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

function targetOf(paths: Record<string, Record<string, unknown>>, endpoint: Endpoint): Target {
  const [method = "", path = ""] = endpoint.route.split(" ");
  const operation = paths[path.replaceAll(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()] as {
    parameters?: Target["parameters"];
    requestBody?: { content: Record<string, { schema: JsonSchema }> };
  };
  const [type, content] = Object.entries(operation?.requestBody?.content ?? {})[0] ?? [];
  const body = type && content ? { type, schema: content.schema } : undefined;
  return { endpoint, parameters: operation?.parameters ?? [], body };
}

interface Attempt {
  request: string;
  status?: number;
  text?: string;
  problem?: string;
}

async function attempted(world: TestWorld, source: Source, target: Target, callers: Callers): Promise<Attempt> {
  const { random, known } = source;
  const { endpoint, parameters, body } = target;
  let done = endpoint.route.split("/:")[0]!;
  const path = endpoint.route.replaceAll(/\/:\w+/g, (part) => {
    const id = random.chance(0.08) ? strangeText(source) || "x" : known.pick(random, kindOfPath(done));
    done += part.replace(":", "");
    return `/${encodeURIComponent(wellFormed(id))}`;
  });
  const query = new URLSearchParams(
    parameters
      .filter(({ in: place }) => place === "query" && random.chance(0.6))
      .flatMap(({ name, schema: one = {} }): [string, string][] => {
        const cursors = `cursors of ${endpoint.route}`;
        const value =
          name === "cursor" && known.has(cursors) && random.chance(0.7)
            ? known.pick(random, cursors)
            : String(valueFor(source, one, 0, name));
        const pair: [string, string] = [name, wellFormed(value).slice(0, 20_000)];
        return random.chance(0.03) ? [pair, pair] : [pair];
      }),
  ).toString();
  const route = query ? `${path}?${query}` : path;
  const sent = body && bodyFor(source, body, endpoint.route);
  const request = `${route.slice(0, 600)} ${sent?.shown.slice(0, 600) ?? ""}`;
  const cpu = process.cpuUsage();
  try {
    const answer = await world.call(route, { as: credentialFor(random, endpoint, callers), ...sent?.options });
    const { user, system } = process.cpuUsage(cpu);
    const milliseconds = Math.round((user + system) / 1_000);
    note(source, endpoint, answer);
    return {
      request,
      status: answer.status,
      text: JSON.stringify(answer.body) ?? "",
      ...problemOf(answer, endpoint, milliseconds),
    };
  } catch (error) {
    return { request, problem: String(error).slice(0, 300) };
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
  const path = route.split(" ")[1] ?? "";
  // `POST /api/v1/subscribers/upsert` is about subscribers.
  const kinds = path.includes("/:") ? [kindOfPath(path)] : path.split("/").reverse();
  const kind = kinds.find((one) => known.has(one));
  if (kind !== undefined) for (const id of idsIn(body)) known.note(kind, id);
}

/** A URL cannot carry half a character. */
const wellFormed = (text: string): string => text.toWellFormed();
