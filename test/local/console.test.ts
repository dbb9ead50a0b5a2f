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
    return [answer.status, JSON.parse(answer.body.toString()).code];
  };
  expect(await ask("POST", "/console/sends")).toEqual([404, "NOT_FOUND"]);
  expect(await ask("GET", "/console/a/none.js")).toEqual([404, "NOT_FOUND"]);
  expect(await ask("DELETE", "/console/a/none.js")).toEqual([403, undefined]);
});
