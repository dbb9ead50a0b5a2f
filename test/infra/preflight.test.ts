// The preflight stops what would fail late, and says why.
import { expect, it } from "vitest";
import { checkSurroundings } from "../../infra/preflight.ts";

const answering = { send: async () => ({}) };

it("finds nothing wrong where credentials and settings are in order", async () => {
  const report = await checkSurroundings({ context: {}, region: "eu-west-1", table: answering });
  expect(report.faults).toEqual([]);
  expect(report.fine).toEqual(["The credentials work in eu-west-1."]);
});

it("stops without a region, without credentials, and on a setting that no deployment can take", async () => {
  const refusing = { send: () => Promise.reject(Object.assign(new Error("no"), { name: "CredentialsProviderError" })) };
  const context = { domain: { name: "a.example", certificateArn: "arn:aws:acm:eu-west-1:1:certificate/x" } };
  expect(await checkSurroundings({ context, region: undefined, table: answering })).toMatchObject({
    faults: [expect.stringContaining("us-east-1"), expect.stringContaining("No region")],
  });
  expect(
    await checkSurroundings({ context: { workerConcurrency: 1 }, region: "eu-west-1", table: refusing }),
  ).toMatchObject({
    faults: [expect.stringContaining("workerConcurrency"), expect.stringContaining("CredentialsProviderError")],
  });
});
