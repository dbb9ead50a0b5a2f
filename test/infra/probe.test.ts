// The probe passes on the real service, and names the faults of another one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { judgeDelays } from "../../infra/probe/live.ts";
import { listenOnLoopback } from "../support/loopback.ts";
import { cleanUp, startService } from "../support/service-process.ts";

interface PrintedReport {
  checks: { lines: string; about: string; ok: boolean; seen: string }[];
  failed: number;
  skipped?: string[];
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

afterAll(cleanUp);

let service: ReturnType<typeof startService> | undefined;
/** The address of a service that runs for all tests. */
const running = async () => {
  service ??= startService({ DATA_DIR: ":memory:", CONFIRM_ADDRESSES: "0" });
  return (await service).url;
};

async function runProbe(...words: string[]) {
  const child = spawn(process.execPath, ["local/launch.mjs", "infra/probe.ts", ...words], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH },
  });
  let printed = "";
  let complaints = "";
  child.stdout.on("data", (chunk: Buffer) => {
    printed += chunk;
  });
  child.stderr.on("data", (chunk: Buffer) => {
    complaints += chunk;
  });
  const [code] = await once(child, "close");
  return { code, printed, complaints };
}

it("the probe finds the local service in order, its live stream too", async () => {
  const { code, printed, complaints } = await runProbe(await running(), "--register", "--json");
  expect(complaints).toBe("");
  const { checks, failed, skipped } = JSON.parse(printed) as PrintedReport;
  expect(skipped).toEqual([]);
  expect(checks.filter(({ ok }) => !ok)).toEqual([]);
  expect({ code, failed }).toEqual({ code: 0, failed: 0 });
  const about = checks.map((check) => check.about);
  expect(about).toContain("Authorization reaches the stream");
  expect(about).toContain("frame delay, median of 5");
});

it("the probe registers no workspace without `--register`, and says so", async () => {
  const url = await running();
  const { code, printed } = await runProbe(url);
  expect(printed).toContain("The live stream was not looked at");
  expect(printed).toMatch(/^ok {4}E12 E14 {5}an unknown route has our 404: 404/m);
  expect(printed).toMatch(/^\d+ ok, 0 failed$/m);
  expect(code).toBe(0);
  const forMachines = await runProbe(url, "--json");
  expect((JSON.parse(forMachines.printed) as PrintedReport).skipped).toEqual(["the live stream"]);
});

it("reports each failure of a server that keeps nothing of the contract", async () => {
  const server = createServer((request, response) => {
    request.resume();
    const headers = {
      "access-control-allow-origin": "*",
      "cache-control": "max-age=60",
      "content-encoding": "identity",
    };
    request.on("end", () => response.writeHead(200, headers).end("hello"));
  });
  const port = await listenOnLoopback(server);
  const { code, printed } = await runProbe(`http://127.0.0.1:${port}`, "--json", "--register");
  server.close();
  server.closeAllConnections();
  const { checks, failed } = JSON.parse(printed) as PrintedReport;
  expect(checks.filter(({ ok }) => ok)).toEqual([]);
  expect({ code, failed }).toEqual({ code: 1, failed: checks.length });
  const seen = Object.fromEntries(checks.map((check) => [check.about, check.seen]));
  expect(seen["answers have an X-Request-Id"]).toMatch(/: x-request-id: missing$/);
  expect(seen["a failure says no-store"]).toMatch(/: cache-control: max-age=60$/);
  expect(seen["a body over 10 MB is rejected"]).toBe("status 200");
  expect(seen["no other route answers one"]).toMatch(/^OPTIONS \S+: 200, allow-origin \*$/);
});

it("the probe fails where frames of the stream come more than three seconds late (SSE-2)", () => {
  expect(judgeDelays([300, 100, 200, 9_000, 250])).toBe("250 ms from send to frame, 9000 ms at most");
  expect(() => judgeDelays([3_100, 3_001, 3_200, 10, 20])).toThrow("3001 ms from send to frame");
});

it("the probe says how it is called", async () => {
  expect(await runProbe()).toMatchObject({
    code: 2,
    complaints: expect.stringContaining("Give the base URL of a deployment"),
  });
  expect(await runProbe("http://127.0.0.1:1", "--loud")).toMatchObject({ code: 2, printed: "" });
});
