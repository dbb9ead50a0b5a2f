// The console beside the local gateway: what is no page or file of it is answered as a deployment does (docs/edge.md).
import { expect, it } from "vitest";
import { withConsole } from "../../local/console.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

it("a path of the console that is no file, and a method that is none of its, are answered as at the edge (D-HEALTH)", async () => {
  const { gateway } = await fresh();
  const both = withConsole(gateway);
  const ask = async (method: string, path: string) => {
    const { bodyLimitBytes } = both.plan(method, path);
    const body = Buffer.from("{}");
    expect(bodyLimitBytes).toBeGreaterThan(body.length);
    const answer = await both.handle({ method, path, headers: {}, body, sourceIp: "203.0.113.7" });
    return answer.status;
  };
  expect(await ask("GET", "/console/sends")).toBe(200);
  expect(await ask("POST", "/console/sends")).toBe(403);
  expect(await ask("GET", "/console/a/none.js")).toBe(404);
  expect(await ask("DELETE", "/console/a/none.js")).toBe(403);
  expect(await ask("POST", "/consoles")).toBe(404);
});

it.each([
  ["GET", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", 302],
  ["HEAD", "text/html", 302],
  ["GET", "*/*", 404],
  ["GET", "application/json", 404],
  ["POST", "text/html", 404],
])(
  "the local service leads a browser from / to the console, and nobody else: %s, Accept: %s (CON-1)",
  async (method, accept, status) => {
    const { gateway } = await fresh();
    const request = { method, path: "/", headers: { accept }, body: Buffer.from(""), sourceIp: "203.0.113.7" };
    const answer = await withConsole(gateway).handle(request);
    expect([answer.status, answer.headers.location]).toEqual([status, status === 302 ? "/console" : undefined]);
  },
);
