// The rights in docs/deploy.md are those that the checks use and the template needs.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { runPreflight } from "../../infra/preflight.ts";
import { whole } from "./support/template.ts";

const page = readFileSync(new URL("../../docs/deploy.md", import.meta.url), "utf8");

/** The policy of the page that allows an action, such as `sts:AssumeRole`. */
function policyWith(action: string): { Action: string[] }[] {
  const policies = [...page.matchAll(/```json\n([\s\S]+?)```/g)].map(([, text]) => JSON.parse(text!));
  return policies.find((policy) => JSON.stringify(policy).includes(`"${action}"`)).Statement;
}

it("whoever deploys may do what the checks ask, and take the roles of the CDK (F6)", async () => {
  const asked = new Set<string>();
  const recording = (service: string) => ({
    send: async ({ constructor: { name } }: { constructor: { name: string } }) => {
      asked.add(`${service}:${name.replace(/Command$/, "")}`);
      return { AccountLimit: { UnreservedConcurrentExecutions: 1_000 }, Parameter: { Value: "21" } };
    },
  });
  const clients = {
    table: recording("dynamodb"),
    parameters: recording("ssm"),
    functions: recording("lambda"),
    buses: recording("events"),
  };
  const context = { eventBus: "engagement", warmThroughput: { reads: 12_000, writes: 4_000 } };
  await runPreflight({ context, region: "eu-west-1", ...clients });
  const allowed = policyWith("sts:AssumeRole").flatMap(({ Action }) => Action);
  expect(allowed.toSorted()).toEqual([...asked, "sts:AssumeRole"].sort());
});

it("CloudFormation may use the services that are in the template, and no other (F6)", () => {
  // A custom resource is a call of our own function.
  const types = Object.values(whole().Resources).map(({ Type }) =>
    Type.replace("CloudFormation::CustomResource", "Lambda"),
  );
  const services = types.map((type) => type.split("::")[1]!.toLowerCase());
  const wanted = new Set(services.map((service) => (service === "apigatewayv2" ? "apigateway" : service)));
  const allowed = policyWith("apigateway:*").flatMap(({ Action }) => Action);
  expect(allowed.filter((action) => !NAMED_ONLY.includes(action)).toSorted()).toEqual(
    [...wanted].map((service) => `${service}:*`).sort(),
  );
});

/** The certificate of the domain, and the web ACL, are named to CloudFront by the creator of the distribution. */
const NAMED_ONLY = ["acm:DescribeCertificate", "wafv2:GetWebACL"];
