// The service about itself: its health, its address in a browser, and its versioning (D-HEALTH, D-VER).
import { expect, it } from "vitest";
import { awsFailure } from "../../local/aws/index.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

it("the service says ok to anybody while the table answers, and 503 while it does not (D-HEALTH)", async () => {
  const table = requests({ service: "dynamodb" });
  const world = await fresh({ hooks: table.hooks });
  const well = await world.call("GET /healthz");
  expect(well.status).toBe(200);
  expect(well.body).toEqual(expect.objectContaining({ status: "ok" }));
  expect(well.headers["cache-control"]).toBe("no-store");
  table.fail(awsFailure("ServiceUnavailable", "busy"));
  const { status, body } = await world.call("GET /healthz");
  expect(status).toBe(503);
  expect(body.code).toBe("SERVICE_UNAVAILABLE");
});

it("the description says what may change within a version, and how what goes is announced (D-VER)", async () => {
  const world = await fresh();
  const { info } = (await world.call("GET /openapi.json")).body;
  const versions = info.description.split("## Paging and versions")[1];

  for (const words of [/added within a version/, /ignore unknown fields/, /Deprecation/, /Sunset/, /12 months/])
    expect(versions).toMatch(words);
});
