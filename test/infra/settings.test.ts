// What settings are refused before a deployment begins, because AWS would refuse them at its end.
import { App } from "aws-cdk-lib";
import { expect, it } from "vitest";
import { readSettings } from "../../infra/settings.ts";

const settingsOf = (context: object) =>
  readSettings(new App({ analyticsReporting: false, treeMetadata: false, context }).node);

const ACCOUNT = "123456789012";
const name = "api.example.com";
const certificateArn = `arn:aws:acm:us-east-1:${ACCOUNT}:certificate/x`;
const restored = { name: "r", streamArn: `arn:aws:dynamodb:eu-west-1:${ACCOUNT}:table/r/stream/x` };
const encryption = `arn:aws:kms:eu-west-1:${ACCOUNT}:key/x`;

it.each([
  ["a blank for a limit, which would lift it", { sdkRequestsPerAddress: " " }],
  ["more invocations of a queue than AWS allows", { workerConcurrency: "1001" }],
  ["more days of an archive than S3 counts", { archive: "2147483648" }],
  ["a budget without end", { monthlyBudget: "Infinity" }],
  ["a domain that is an address", { domain: { name: "https://api.example.com", certificateArn } }],
  ["a domain for any name", { domain: { name: "*.example.com", certificateArn } }],
  [
    "a domain with a certificate of another region",
    { domain: { name, certificateArn: certificateArn.replace("us-east-1", "eu-west-1") } },
  ],
  ["an e-mail domain that no DNS has", { emailIdentity: "-mail.example.com" }],
  ["a web ACL that CloudFront cannot have", { webAclArn: `arn:aws:wafv2:us-east-1:${ACCOUNT}:regional/webacl/x/y` }],
  [
    "an alias for the key that opens the secrets",
    { existing: { table: restored, keys: { encryption: encryption.replace("key", "alias") } } },
  ],
  [
    "a restored table with the stream of another one",
    { existing: { table: { ...restored, name: "s" }, keys: { encryption } } },
  ],
])("no deployment takes %s (D4)", (_, context) => {
  const [setting] = Object.keys(context);
  expect(() => settingsOf(context)).toThrow(new RegExp(`^The context ${setting}[.\\w]* is wrong`));
});

it("a deployment takes domains as DNS has them, and restored storage (D4)", () => {
  const context = {
    domain: { name: "a-1.xn--bcher-kva.example", certificateArn },
    emailIdentity: "mail.example.co.uk",
    existing: { table: restored, keys: { encryption } },
    workerConcurrency: "1000",
    sdkRequestsPerAddress: "0",
  };
  expect(settingsOf(context)).toMatchObject({ ...context, workerConcurrency: 1_000, sdkRequestsPerAddress: 0 });
});
