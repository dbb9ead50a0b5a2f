// `npm run probe -- <base_url>`: checks the lines of docs/edge.md that are visible from outside, on a real deployment.
import { randomUUID } from "node:crypto";
import { CONSOLE_PATH, HASHED_PATH } from "../console/policy.ts";
import { preflightHeaders } from "../shared/http/fallback.ts";
import { openToBrowsers } from "../shared/http/responses.ts";
import { ASSETS_PATH, assetHeaders } from "../shared/store/files/assets.ts";
import { readArguments, refuse } from "../tools/arguments.ts";
import { contents } from "./functions.ts";
import { type Answer, type Ask, asker, type Check, check, demand, parsed, statusOfLargeBody } from "./probe/ask.ts";
import { type Credentials, probeStream, registerThrowaway } from "./probe/live.ts";

/** The statuses that answer a preflight of a route without CORS: no such route, or another method (`/v1/mcp`). */
const NOT_OPEN = [404, 405];

interface Options {
  credentials?: Credentials | undefined;
  /** Whether to create a workspace for the stream's checks. */
  register?: boolean;
  /** Whether to wait for the stream's keepalive. */
  long?: boolean;
}

interface Route {
  method: string;
  path: string;
  credentials: readonly string[];
}

const USAGE = `npm run probe -- <base_url>: checks the lines of docs/edge.md that are visible from outside.

  --json              the checks for machines
  --long              waits for the keepalive of the live stream as well
  --register          makes a throwaway workspace for the checks of the live stream

The environment may give PROBE_SDK_KEY and PROBE_ACCESS_TOKEN instead. Ends with 1 if a check fails.

Example: npm run probe -- https://api.example.com --register`;
const STREAM = contents.stream.endpoint;
const STREAM_PATH = STREAM.route.slice("GET ".length);

const routes: Route[] = [...contents.groups.flatMap(({ endpoints }) => endpoints), STREAM].map(({ route, access }) => {
  const [method = "", path = ""] = route.split(" ");
  return { method, path, credentials: access.credentials };
});

/** Checks every line that is visible from outside; the lines about the stream need credentials. */
async function probe(base: string, { credentials, register, long = false }: Options): Promise<Check[]> {
  const ask = asker(base);
  const checks = [...(await probeAnswers(ask)), ...(await probeAccess(ask)), ...(await probeAddress(base, ask))];
  try {
    const session = credentials ?? (register ? await registerThrowaway(ask) : undefined);
    if (session) checks.push(...(await probeStream(base, ask, session, long)));
  } catch (error) {
    checks.push({ lines: "E1", about: "the live stream", ok: false, seen: (error as Error).message });
  }
  return checks;
}

async function probeAnswers(ask: Ask): Promise<Check[]> {
  const nowhere = `/probe-${randomUUID()}`;
  const failing = [nowhere, "/api/v1/templates", STREAM_PATH];
  const header = (name: string, paths: string[], fits: (value: string) => boolean) => async () => {
    for (const path of paths) {
      const value = (await ask("GET", path)).headers.get(name);
      demand(value !== null && fits(value), `${path}: ${name}: ${value ?? "missing"}`);
    }
    return `${paths.length} paths`;
  };
  return [
    await check("E12 E14", "an unknown route has our 404", async () => {
      const { status, text } = await ask("GET", nowhere);
      return demand(status === 404 && parsed(text)?.code === "NOT_FOUND", `${status} ${text.slice(0, 120)}`);
    }),
    await check(
      "E14",
      "answers have an X-Request-Id",
      header("x-request-id", [...failing, "/healthz"], (value) => value !== ""),
    ),
    await check(
      "E4 E14",
      "a failure says no-store",
      header("cache-control", failing, (value) => value === "no-store"),
    ),
    await check(
      "E14",
      "answers say nosniff",
      header("x-content-type-options", [...failing, "/healthz"], (value) => value === "nosniff"),
    ),
    await check("E4 E5", "an error is not cached", async () => {
      for (const path of failing) {
        const first = (await ask("GET", path)).headers.get("x-request-id");
        const second = (await ask("GET", path)).headers.get("x-request-id");
        demand(first !== null && first !== second, `${path}: request ids ${first}, ${second}`);
      }
      return `two request ids for the same request, ${failing.length} paths`;
    }),
    await check("E14", "/healthz", async () => {
      const { status, text } = await ask("GET", "/healthz");
      return demand(status === 200 && parsed(text)?.status === "ok", `${status} ${text.slice(0, 120)}`);
    }),
    await check("E26", "/openapi.json may be cached by clients", async () => {
      const { status, headers, text } = await ask("GET", "/openapi.json");
      const kept = headers.get("cache-control") ?? "missing";
      const holds = status === 200 && parsed(text)?.openapi !== undefined && /^public, max-age=[1-9]/.test(kept);
      return demand(holds, `${status}, cache-control: ${kept}`);
    }),
    await check("E24", "a page of the console, under its policy", async () => {
      const { status, headers, text } = await ask("GET", `${CONSOLE_PATH}/people`);
      const policy = headers.get("content-security-policy") ?? "missing";
      const holds = status === 200 && text.includes(HASHED_PATH) && policy.includes("trusted-types 'none'");
      return demand(holds, `${status}, content-security-policy: ${policy.slice(0, 60)}`);
    }),
    await check("E28", "/ leads a browser to the console", async () => {
      const { status, headers } = await ask("GET", "/", { accept: "text/html" });
      return demand(status === 302 && headers.get("location") === CONSOLE_PATH, `${status} ${headers.get("location")}`);
    }),
    await check("E19", "/.well-known/jwks.json", async () => {
      const { status, text } = await ask("GET", "/.well-known/jwks.json");
      return demand(status === 200 && Array.isArray(parsed(text)?.keys), `${status} ${text.slice(0, 40)}`);
    }),
  ];
}

async function probeAccess(ask: Ask): Promise<Check[]> {
  const open = routes.filter(({ credentials }) => credentials.includes("sdk"));
  const paths = [...new Set(routes.map(({ path }) => asked(path)))];
  const methodsAt = (path: string) => open.filter((route) => fits(route.path, path)).map(({ method }) => method);
  const everyone = (holds: (path: string, answer: Answer) => boolean, among: string[], method: string) => async () => {
    for (const path of among) {
      const answer = await ask(method, path);
      const cors = answer.headers.get("access-control-allow-origin");
      demand(holds(path, answer), `${method} ${path}: ${answer.status}, allow-origin ${cors ?? "missing"}`);
    }
    return `${among.length} paths`;
  };
  const closed = routes.filter(({ method, credentials }) => method === "GET" && credentials.length > 0);
  const isPreflight = (path: string, { status, headers }: Answer) =>
    status === 204 &&
    Object.entries(preflightHeaders(methodsAt(path))).every(([name, value]) => headers.get(name) === value);
  const isRefusal = (path: string, { status, headers, text }: Answer) => {
    const readable = Object.entries(openToBrowsers).every(([name, value]) => headers.get(name) === value);
    const wanted = open.some((route) => route.method === "GET" && fits(route.path, path));
    return status === 401 && parsed(text)?.code === "UNAUTHORIZED" && (!wanted || readable);
  };
  return [
    await check(
      "E11 E12",
      "SDK-key routes answer the preflight",
      everyone(
        isPreflight,
        paths.filter((path) => methodsAt(path).length > 0),
        "OPTIONS",
      ),
    ),
    await check(
      "E12",
      "no other route answers one",
      everyone(
        (_, { status, headers }) => NOT_OPEN.includes(status) && !headers.has("access-control-allow-origin"),
        paths.filter((path) => methodsAt(path).length === 0),
        "OPTIONS",
      ),
    ),
    await check(
      "E1 E13 E14",
      "401 without credentials",
      everyone(isRefusal, [...new Set(closed.map(({ path }) => asked(path)))], "GET"),
    ),
  ];
}

async function probeAddress(base: string, ask: Ask): Promise<Check[]> {
  const checks = [
    await check("413", "a body over 10 MB is rejected", async () => {
      const status = await statusOfLargeBody(`${base}/probe-${randomUUID()}`);
      return demand(status === 413, `status ${status}`);
    }),
    await check("E1 E20 E22", "a missing asset is 404, and browsers run no asset", async () => {
      const { status, headers } = await ask("GET", `${ASSETS_PATH}probe-${randomUUID()}.png`);
      for (const [name, value] of Object.entries(assetHeaders))
        demand(headers.get(name) === value, `${name}: ${headers.get(name) ?? "missing"}`);
      return demand(status === 404, `status ${status}`);
    }),
    await check("E20", "the assets' path accepts no writes", async () => {
      const { status } = await ask("POST", `${ASSETS_PATH}probe-${randomUUID()}.png`);
      return demand(status === 403, `status ${status}`);
    }),
  ];
  if (base.startsWith("https:"))
    checks.push(
      await check("E2", "plain HTTP is refused, not redirected", async () => {
        const { status } = await asker(base.replace("https:", "http:"))("GET", "/healthz");
        return demand(status === 403, `status ${status}`);
      }),
      await check(
        "E25",
        "answers, files and the edge itself say HTTPS only, and no address to other sites",
        async () => {
          const paths = ["/healthz", "/docs", CONSOLE_PATH, `${ASSETS_PATH}probe-${randomUUID()}.png`, "/"];
          for (const path of paths) {
            const { headers } = await ask("GET", path, { accept: "text/html" });
            for (const name of ["strict-transport-security", "referrer-policy"])
              demand(headers.has(name), `${path}: ${name}: missing`);
          }
          return `${paths.length} paths`;
        },
      ),
      await check("E26", "/openapi.json is compressed, by the edge", async () => {
        const { headers } = await ask("GET", "/openapi.json", { "accept-encoding": "gzip, br" });
        const encoding = headers.get("content-encoding") ?? "none";
        return demand(encoding !== "none", `content-encoding: ${encoding}`);
      }),
    );
  return checks;
}

const asked = (path: string) => path.replace(/:\w+/g, "probe");

function fits(path: string, resource: string): boolean {
  const segments = resource.split("/");
  const pathSegments = path.split("/");
  return (
    pathSegments.length === segments.length &&
    pathSegments.every((part, i) => part.startsWith(":") || part === segments[i])
  );
}

async function main(): Promise<void> {
  const { positionals, values } = readArguments(USAGE, {
    allowPositionals: true,
    options: {
      json: { type: "boolean", default: false },
      long: { type: "boolean", default: false },
      register: { type: "boolean", default: false },
    },
  });
  const { json, long, register } = values;
  const [address = "", ...more] = positionals;
  if (!/^https?:\/\/[^/]+\/?$/.test(address) || more.length > 0)
    return refuse("Give the base URL of a deployment, as in https://api.example.com.");

  const { PROBE_SDK_KEY: sdkKey, PROBE_ACCESS_TOKEN: accessToken } = process.env;
  const credentials = sdkKey && accessToken ? { sdkKey, accessToken } : undefined;
  const checks = await probe(address.replace(/\/$/, ""), { credentials, register, long });
  const failed = checks.filter(({ ok }) => !ok).length;
  const isStreamSkipped = !credentials && !register;
  const skipped = isStreamSkipped ? ["the live stream"] : [];

  if (json) console.log(JSON.stringify({ checks, failed, skipped }, null, 2));
  else {
    for (const { lines, about, ok, seen } of checks)
      console.log(`${ok ? "ok  " : "FAIL"}  ${lines.padEnd(10)}  ${about}: ${seen}`);
    if (isStreamSkipped)
      console.log("The live stream was not looked at: set PROBE_SDK_KEY and PROBE_ACCESS_TOKEN, or --register.");
    console.log(`${checks.length - failed} ok, ${failed} failed`);
  }
  process.exitCode = failed > 0 ? 1 : 0;
}

if (import.meta.main) await main();
