// A first deployment, one that failed, and one that adopts storage that is there.
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { statementsOf } from "./support/policies.ts";
import {
  context,
  deployed,
  EVERYTHING,
  ofType,
  only,
  synthesize,
  type Template,
  textOf,
  whole,
} from "./support/template.ts";

const recommendedFlags = createRequire(import.meta.url)("aws-cdk-lib/recommended-feature-flags.json") as object;

const template: Template = deployed();

describe("adopted storage", () => {
  const existing = {
    table: { name: "restored", streamArn: "arn:aws:dynamodb:eu-west-1:123456789012:table/restored/stream/2026" },
    keys: {
      encryption: "arn:aws:kms:eu-west-1:123456789012:key/e",
      signing: "arn:aws:kms:eu-west-1:123456789012:key/s",
    },
    buckets: { assets: "old-assets", imports: "old-imports" },
  };

  const adopted = synthesize({ context: { existing: JSON.stringify(existing) }, rules: true });

  it("where a table, keys and buckets are adopted, none is created (D-HEALTH)", () => {
    for (const type of ["AWS::DynamoDB::Table", "AWS::KMS::Key"]) expect(ofType(adopted, type)).toEqual([]);
    expect(ofType(adopted, "AWS::S3::Bucket").map(([id]) => id.replace(/[0-9A-F]{8}$/, ""))).toEqual([
      "Failures",
      "Site",
    ]);
  });

  it("functions use a table and keys that are adopted (D-HEALTH)", () => {
    const { Variables } = adopted.Resources.Operator!.Properties.Environment;
    expect(Variables).toMatchObject({ TABLE_NAME: "restored", ENCRYPTION_KEY_ID: "e" });
    expect(adopted.Resources.ApiAuth!.Properties.Environment.Variables.SIGNING_KEY_ID).toBe("s");
    const sources = ofType(adopted, "AWS::Lambda::EventSourceMapping").map(
      ([, { Properties }]) => Properties.EventSourceArn,
    );
    expect(sources).toContain(existing.table.streamArn);
  });

  it("functions may use no table but one that is adopted (D-HEALTH)", () => {
    const statements = statementsOf(adopted, "ApiTemplates").filter(({ actions }) =>
      actions.some((action) => action.startsWith("dynamodb:")),
    );
    for (const { resources } of statements)
      for (const on of resources) expect(on).toMatch(/:table\/restored(\/index\/|$)/);
  });

  it("buckets that are adopted get the policies of the deployment (D-HEALTH)", () => {
    const policies = ofType(adopted, "AWS::S3::BucketPolicy").map(([, { Properties }]) => Properties);
    const ofAssets = policies.find(({ Bucket }) => Bucket === "old-assets")!.PolicyDocument.Statement;
    expect(ofAssets.map(({ Effect, Action }: { Effect: string; Action: string }) => `${Effect} ${Action}`)).toEqual([
      "Deny s3:*",
      "Allow s3:GetObject",
      "Allow s3:ListBucket",
    ]);
    expect(policies.map(({ Bucket }) => Bucket)).toContain("old-imports");
  });

  it("a deployment that is removed leaves the policies of what it leaves: those that another has given its buckets since (D-HEALTH)", () => {
    const template = synthesize({ context: { eventBus: "main", archive: "400" } });
    const kept = ofType(template, "AWS::S3::Bucket").filter(([, { DeletionPolicy }]) => DeletionPolicy !== "Delete");
    const keptPolicies = ofType(template, "AWS::S3::BucketPolicy").filter(
      ([, { DeletionPolicy }]) => DeletionPolicy === "RetainExceptOnCreate",
    );
    expect(keptPolicies.map(([, { Properties }]) => textOf(Properties.Bucket)).sort()).toEqual(
      kept.map(([id]) => `<${id}>`).sort(),
    );
    expect(kept).toHaveLength(5);
  });

  it("a table without the key of its secrets is refused (D-HEALTH)", () => {
    expect(() => synthesize({ context: { existing: { table: existing.table } } })).toThrow("existing.keys");
  });
});

describe("a first deployment", () => {
  it("a deployment names no region but its own (F24)", () => {
    const regional = JSON.stringify(template.Resources).match(/\b(?:us|eu|ap|sa|ca|me|af|il)-[a-z]+-\d\b/g) ?? [];
    expect(regional).toEqual([]);
    expect(template.Resources.ApiService!.Properties.Environment.Variables.REGION).toEqual({ Ref: "AWS::Region" });
  });

  it("a deployment replicates nothing into another region (F24)", () => {
    for (const bucket of only("AWS::S3::Bucket")) expect(bucket.ReplicationConfiguration).toBeUndefined();
    expect(ofType(template, "AWS::DynamoDB::GlobalTable")).toEqual([]);
  });

  it("what is named for the whole account has its region in the name (F24)", () => {
    const names = [
      ...only("AWS::CloudFront::OriginAccessControl").map((it) => it.OriginAccessControlConfig.Name),
      ...only("AWS::CloudFront::ResponseHeadersPolicy").map((it) => it.ResponseHeadersPolicyConfig.Name),
      ...only("AWS::CloudFront::CachePolicy").map((it) => it.CachePolicyConfig.Name),
      ...only("AWS::CloudFront::Function").map((it) => it.Name),
      ...only("AWS::CloudWatch::Dashboard").map((it) => it.DashboardName),
    ];
    expect(names.length).toBeGreaterThan(4);
    for (const name of names) expect(textOf(name)).toContain("<AWS::Region>");
    for (const role of only("AWS::IAM::Role")) expect(role.RoleName).toBeUndefined();
    for (const bucket of only("AWS::S3::Bucket")) expect(bucket.BucketName).toBeUndefined();
  });

  it("a first deployment registers nobody but through the operator, until the settings say otherwise", () => {
    expect(template.Resources.ApiAuth!.Properties.Environment.Variables.REGISTRATION).toBe("closed");
    const { Resources } = synthesize({ context: { registration: "invite" } });
    expect(Resources.ApiAuth!.Properties.Environment.Variables.REGISTRATION).toBe("invite");
  });

  it("a deployment where anybody may register gives no workspace an SES identity by itself (D-EMAIL)", () => {
    const givenIn = ({ Resources }: Template) => Resources.VerifyChannel!.Properties.Environment.Variables.STRANGERS;

    expect(givenIn(synthesize({ context: { registration: "open" } }))).toBe("1");
    expect(givenIn(template)).toBe("0");
  });

  it("a first deployment sets every feature flag of the CDK that decides names and ids", () => {
    const missing = Object.keys(recommendedFlags).filter((flag) => !Object.hasOwn(context, flag));
    expect(missing).toEqual([]);
  });

  it("a first deployment limits the stage, and names no route there: one that is named could not be removed or rolled back (D5)", () => {
    const [{ DefaultRouteSettings, RouteSettings }] = only("AWS::ApiGatewayV2::Stage");
    expect(DefaultRouteSettings).toEqual({ ThrottlingRateLimit: 2_000, ThrottlingBurstLimit: 1_000 });
    expect(RouteSettings).toBeUndefined();
  });

  it("a first deployment limits publishable keys, and asks a web ACL if there is one", () => {
    const limitsIn = ({ Resources }: Template) => {
      const { SDK_REQUESTS_PER_ADDRESS: address, SDK_REQUESTS_PER_KEY: key } =
        Resources.ApiSubscribers!.Properties.Environment.Variables;
      return [address, key];
    };
    expect(limitsIn(template)).toEqual(["6000", "60000"]);
    expect(limitsIn(whole())).toEqual(["70", "700"]);
    const aclOf = (of: Template) =>
      ofType(of, "AWS::CloudFront::Distribution")[0]![1].Properties.DistributionConfig.WebACLId;
    expect([aclOf(template), aclOf(whole())]).toEqual([undefined, EVERYTHING.webAclArn]);
  });
});
