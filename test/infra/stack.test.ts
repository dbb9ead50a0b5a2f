// The stack as a whole: size, costs at rest, data protection and alarms.
import { createRequire } from "node:module";
import { describe, expect, it, vi } from "vitest";
import { contents, deployedFunctions, logicalIdOf } from "../../infra/functions.ts";
import { type Endpoint, endpoints, group } from "../../shared/http/endpoint.ts";
import { platformWrite, storeWrite } from "../../shared/resources.ts";
import { tableDefinition } from "../../shared/store/definition.ts";
import { statementsOf } from "./support/policies.ts";
import { context, deployed, ofType, synthesize, type Template, textOf } from "./support/template.ts";

/** CloudFormation allows 500. */
const MAX_RESOURCES = 410;
const COMING_ROUTES = 170;
const COMING_GROUPS = 26;

vi.setConfig({ testTimeout: 60_000 });

const recommendedFlags = createRequire(import.meta.url)("aws-cdk-lib/recommended-feature-flags.json") as object;

const template: Template = deployed();
const EVERYTHING = {
  sdkRequestsPerAddress: "70",
  sdkRequestsPerKey: "700",
  accountConcurrency: "500",
  monthlyBudget: 50,
  webAclArn: "arn:aws:wafv2:us-east-1:1:global/webacl/x/y",
  domain: { name: "api.example.com", certificateArn: "arn:aws:acm:us-east-1:1:certificate/x" },
  emailIdentity: "mail.example.com",
  alarmEmail: "ops@example.com",
};

let made: Template | undefined;
/** With everything that one may ask for, under the rules of cdk-nag. */
const whole = (): Template => {
  made ??= synthesize({ context: { ...EVERYTHING, streamConcurrency: "50" }, rules: true });
  return made;
};

const only = (type: string) => ofType(template, type).map(([, { Properties }]) => Properties);

describe("size", () => {
  it("stays under 410 resources, also with 170 routes in 26 groups", () => {
    expect(Object.keys(template.Resources).length).toBeLessThanOrEqual(MAX_RESOURCES);
    const endpoint = endpoints({ credentials: ["server"], uses: [storeWrite, platformWrite] });
    const routes = Array.from({ length: COMING_ROUTES }, (_, n) =>
      endpoint(`GET /api/v1/planted-${n}/:id`, {}, { summary: "Planted" }, async () => undefined),
    );
    const groups = Array.from({ length: COMING_GROUPS }, (_, n) =>
      group(
        `planted-${n}`,
        "Planted.",
        routes.filter((_, i) => i % COMING_GROUPS === n),
      ),
    );
    const { Resources } = synthesize({ contents: { ...contents, groups } });
    expect(Object.keys(Resources.Api!.Properties.Body.paths)).toHaveLength(COMING_ROUTES + 1);
    expect(Object.keys(Resources).length).toBeLessThanOrEqual(MAX_RESOURCES);
  });

  it("takes a planted endpoint from its declaration alone: route, function, env and rights", () => {
    const endpoint = endpoints({ credentials: ["server"], uses: [platformWrite] });
    const route: Endpoint = endpoint("POST /v1/planted/:id/things", {}, { summary: "Planted" }, async () => undefined);
    const groups = [...contents.groups, group("planted", "Planted.", [route])];
    const { Resources } = synthesize({ contents: { ...contents, groups } });
    expect(Resources.Api!.Properties.Body.paths["/v1/planted/{id}/things"].post).toMatchObject({
      "x-amazon-apigateway-integration": { $ref: "#/components/x-amazon-apigateway-integrations/api-planted" },
      parameters: [{ name: "id", in: "path", required: true }],
    });
    expect(Resources.ApiPlanted!.Properties.Environment.Variables).toHaveProperty("TABLE_NAME");
    expect(Resources.ApiPlantedInvoke!.Properties.Principal).toBe("apigateway.amazonaws.com");
  });

  it("refuses a declaration that names what the stack has not", () => {
    const odd = {
      as: "odd",
      env: [],
      grants: [{ actions: ["s3:GetObject"], on: "moon" }],
      open: () => () => undefined,
    };
    const endpoint = endpoints({ credentials: [], uses: [odd] });
    const route = endpoint("GET /v1/odd", {}, { summary: "Odd" }, async () => undefined);
    const groups = [group("odd", "Odd.", [route])];
    expect(() => synthesize({ contents: { ...contents, groups } })).toThrow("api-odd declares a grant on moon");
  });

  it("refuses a setting it does not understand, by name", () => {
    expect(() => synthesize({ context: { defaultPlan: "gold" } })).toThrow("The context defaultPlan is wrong");
  });
});

describe("cost at rest", () => {
  it("has nothing that is billed by the hour", () => {
    const types = new Set(Object.values(template.Resources).map(({ Type }) => Type));
    const free = [
      "AWS::ApiGatewayV2::Api",
      "AWS::ApiGatewayV2::Stage",
      "AWS::CloudFront::CachePolicy",
      "AWS::CloudFront::Distribution",
      "AWS::CloudFront::Function",
      "AWS::CloudFront::OriginAccessControl",
      "AWS::CloudFront::ResponseHeadersPolicy",
      "AWS::Events::Rule",
      "AWS::IAM::Role",
      "AWS::Lambda::EventSourceMapping",
      "AWS::Lambda::Function",
      "AWS::Lambda::Permission",
      "AWS::Lambda::Url",
      "AWS::Logs::LogGroup",
      "AWS::Logs::QueryDefinition",
      "AWS::S3::Bucket",
      "AWS::S3::BucketPolicy",
      "AWS::SQS::Queue",
      "AWS::SQS::QueuePolicy",
      "AWS::Scheduler::Schedule",
      "AWS::Scheduler::ScheduleGroup",
      "AWS::DynamoDB::Table",
    ];
    const whenAskedFor = [
      "AWS::Budgets::Budget",
      "AWS::SES::ConfigurationSet",
      "AWS::SES::ConfigurationSetEventDestination",
      "AWS::SES::EmailIdentity",
      "AWS::SNS::Subscription",
      "AWS::SNS::Topic",
      "AWS::SNS::TopicPolicy",
    ];
    const byTheMonth = ["AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard", "AWS::KMS::Key"];
    expect([...types].filter((type) => ![...free, ...byTheMonth].includes(type))).toEqual([]);
    const more = new Set(Object.values(whole().Resources).flatMap(({ Type }) => (types.has(Type) ? [] : [Type])));
    expect([...more].sort()).toEqual(whenAskedFor);
    expect(only("AWS::DynamoDB::Table").map(({ BillingMode }) => BillingMode)).toEqual(["PAY_PER_REQUEST"]);
    expect(ofType(template, "AWS::Lambda::Function").filter(([, { Properties }]) => Properties.SnapStart)).toEqual([]);
    expect(only("AWS::KMS::Key")).toHaveLength(2);
    expect(only("AWS::CloudWatch::Dashboard")).toHaveLength(1);
  });
});

describe("what is kept", () => {
  it("has the table as declared, recoverable and hard to delete", () => {
    const [table] = only("AWS::DynamoDB::Table");
    expect(table).toMatchObject({
      KeySchema: [
        { AttributeName: tableDefinition.partitionKey, KeyType: "HASH" },
        { AttributeName: tableDefinition.sortKey, KeyType: "RANGE" },
      ],
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      DeletionProtectionEnabled: true,
      StreamSpecification: { StreamViewType: tableDefinition.stream },
      TimeToLiveSpecification: { AttributeName: tableDefinition.timeToLive, Enabled: true },
    });
    expect(
      table.GlobalSecondaryIndexes.map((index: { IndexName: string; KeySchema: object[]; Projection: object }) => ({
        name: index.IndexName,
        keys: index.KeySchema,
        ...index.Projection,
      })),
    ).toEqual(
      Object.entries(tableDefinition.indexes).map(([prefix, { name, projection }]) => ({
        name,
        keys: [
          { AttributeName: `${prefix}pk`, KeyType: "HASH" },
          { AttributeName: `${prefix}sk`, KeyType: "RANGE" },
        ],
        ProjectionType: projection,
      })),
    );
  });

  it("rotates the encryption key, signs with RSA 2048, and outlives the stack", () => {
    const keys = only("AWS::KMS::Key");
    expect(keys.find(({ KeySpec }) => KeySpec === undefined)).toMatchObject({ EnableKeyRotation: true });
    expect(keys.find(({ KeySpec }) => KeySpec === "RSA_2048")).toMatchObject({ KeyUsage: "SIGN_VERIFY" });
    for (const type of ["AWS::DynamoDB::Table", "AWS::KMS::Key", "AWS::S3::Bucket"])
      for (const [, { DeletionPolicy }] of ofType(template, type)) expect(DeletionPolicy).toBe("RetainExceptOnCreate");
    const trial = synthesize({ context: { removal: "destroy" } });
    expect(ofType(trial, "AWS::DynamoDB::Table")[0]![1]).toMatchObject({
      DeletionPolicy: "Delete",
      Properties: { DeletionProtectionEnabled: false },
    });
  });

  it("encrypts buckets and queues, opens no bucket, and refuses plain HTTP", () => {
    for (const bucket of only("AWS::S3::Bucket")) {
      expect(Object.values(bucket.PublicAccessBlockConfiguration)).toEqual([true, true, true, true]);
      expect(bucket.BucketEncryption).toBeDefined();
      expect(bucket.LifecycleConfiguration.Rules[0].AbortIncompleteMultipartUpload).toEqual({ DaysAfterInitiation: 1 });
      expect(bucket.VersioningConfiguration).toBeUndefined();
    }
    const kept = ofType(template, "AWS::S3::Bucket").map(([id, { Properties }]) => [
      id.slice(0, -8),
      Properties.LifecycleConfiguration.Rules[0].ExpirationInDays,
    ]);
    expect(Object.fromEntries(kept)).toEqual({ Failures: 30, Imports: 7, Assets: undefined });
    for (const queue of only("AWS::SQS::Queue")) expect(queue.SqsManagedSseEnabled).toBe(true);
    for (const type of ["AWS::S3::BucketPolicy", "AWS::SQS::QueuePolicy"])
      for (const { PolicyDocument } of only(type))
        expect(JSON.stringify(PolicyDocument)).toContain('"Bool":{"aws:SecureTransport":"false"}');
  });
});

describe("functions", () => {
  it("run on Node 24 and arm64, traced, each with a log that ends", () => {
    for (const spec of deployedFunctions(contents)) {
      const { Properties } = template.Resources[logicalIdOf(spec.name)]!;
      expect(Properties).toMatchObject({
        FunctionName: `Engagement-${spec.name}`,
        Runtime: "nodejs24.x",
        Architectures: ["arm64"],
        Handler: "index.handler",
        MemorySize: spec.memoryMb,
        Timeout: { api: 29, fallback: 29, operator: 29, worker: 60, stream: 120 }[spec.kind],
        TracingConfig: { Mode: "Active" },
        LoggingConfig: { LogFormat: "JSON", SystemLogLevel: "WARN" },
      });
      expect(Properties.ReservedConcurrentExecutions).toBeUndefined();
    }
    const memoryOf = (name: string) => template.Resources[logicalIdOf(name)]!.Properties.MemorySize;
    expect(["deliver", "react", "due", "stream", "api-templates"].map(memoryOf)).toEqual([
      1_024, 1_024, 1_024, 128, 512,
    ]);
    for (const { RetentionInDays } of only("AWS::Logs::LogGroup")) expect(RetentionInDays).toBe(30);
    expect(only("AWS::Lambda::Function")).toHaveLength(deployedFunctions(contents).length);
  });

  it("OPS-2 reserve concurrency for live streams only where one asks for it", () => {
    expect(whole().Resources.Stream!.Properties).toMatchObject({
      ReservedConcurrentExecutions: 50,
      Environment: { Variables: { STREAM_CONCURRENCY: "50" } },
    });
    // Otherwise they may use half of what the account has.
    const { Variables } = template.Resources.Stream!.Properties.Environment;
    expect(Variables.STREAM_CONCURRENCY).toBe("500");
  });
});

describe("adopted storage", () => {
  const existing = {
    table: { name: "restored", streamArn: "arn:aws:dynamodb:eu-west-1:123456789012:table/restored/stream/2026" },
    keys: {
      encryption: "arn:aws:kms:eu-west-1:123456789012:key/e",
      signing: "arn:aws:kms:eu-west-1:123456789012:key/s",
    },
    buckets: { assets: "old-assets", imports: "old-imports" },
  };

  it("D-HEALTH a restored table, the retained keys and buckets are used and none is created", () => {
    const adopted = synthesize({ context: { existing: JSON.stringify(existing) }, rules: true });
    for (const type of ["AWS::DynamoDB::Table", "AWS::KMS::Key"]) expect(ofType(adopted, type)).toEqual([]);
    expect(ofType(adopted, "AWS::S3::Bucket").map(([id]) => id.replace(/[0-9A-F]{8}$/, ""))).toEqual(["Failures"]);
    const { Variables } = adopted.Resources.Operator!.Properties.Environment;
    expect(Variables).toMatchObject({ TABLE_NAME: "restored", ENCRYPTION_KEY_ID: "e" });
    expect(adopted.Resources.ApiAuth!.Properties.Environment.Variables.SIGNING_KEY_ID).toBe("s");
    const sources = ofType(adopted, "AWS::Lambda::EventSourceMapping").map(
      ([, { Properties }]) => Properties.EventSourceArn,
    );
    expect(sources).toContain(existing.table.streamArn);
    const statements = statementsOf(adopted, "ApiTemplates").filter(({ actions }) =>
      actions.some((action) => action.startsWith("dynamodb:")),
    );
    for (const { resources } of statements)
      for (const on of resources) expect(on).toMatch(/:table\/restored(\/index\/|$)/);
    const policies = ofType(adopted, "AWS::S3::BucketPolicy").map(([, { Properties }]) => Properties);
    const ofAssets = policies.find(({ Bucket }) => Bucket === "old-assets")!.PolicyDocument.Statement;
    expect(ofAssets.map(({ Effect, Action }: { Effect: string; Action: string }) => `${Effect} ${Action}`)).toEqual([
      "Deny s3:*",
      "Allow s3:GetObject",
      "Allow s3:ListBucket",
    ]);
    expect(policies.map(({ Bucket }) => Bucket)).toContain("old-imports");
  });

  it("D-HEALTH a table without the key of its secrets is refused", () => {
    expect(() => synthesize({ context: { existing: { table: existing.table } } })).toThrow("existing.keys");
  });
});

describe("a first deployment", () => {
  it("F24 two regions share nothing: no name of the account, no replica, and no region but its own is named", () => {
    const regional = JSON.stringify(template.Resources).match(/\b(?:us|eu|ap|sa|ca|me|af|il)-[a-z]+-\d\b/g) ?? [];
    expect(regional).toEqual([]);
    for (const bucket of only("AWS::S3::Bucket")) {
      expect(bucket.BucketName).toBeUndefined();
      expect(bucket.ReplicationConfiguration).toBeUndefined();
    }
    expect(ofType(template, "AWS::DynamoDB::GlobalTable")).toEqual([]);
    expect(template.Resources.ApiService!.Properties.Environment.Variables.REGION).toEqual({ Ref: "AWS::Region" });

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
  });

  it("registers nobody but through the operator, until the settings say otherwise", () => {
    expect(template.Resources.ApiAuth!.Properties.Environment.Variables.REGISTRATION).toBe("closed");
    const { Resources } = synthesize({ context: { registration: "invite" } });
    expect(Resources.ApiAuth!.Properties.Environment.Variables.REGISTRATION).toBe("invite");
  });

  it("sets every feature flag of the CDK that decides names and ids", () => {
    const missing = Object.keys(recommendedFlags).filter((flag) => !Object.hasOwn(context, flag));
    expect(missing).toEqual([]);
  });

  it("limits the stage, and more tightly the routes that anyone may call", () => {
    const [{ DefaultRouteSettings, RouteSettings }] = only("AWS::ApiGatewayV2::Stage");
    expect(DefaultRouteSettings).toEqual({ ThrottlingRateLimit: 2_000, ThrottlingBurstLimit: 1_000 });
    const open = contents.groups
      .flatMap(({ endpoints }) => endpoints)
      .filter(({ access, route }) => access.credentials.length === 0 && !route.startsWith("GET "));
    expect(Object.keys(RouteSettings).sort()).toEqual(open.map(({ route }) => route.replace(/:(\w+)/g, "{$1}")).sort());
    for (const limits of Object.values(RouteSettings))
      expect(limits).toEqual({ ThrottlingRateLimit: 50, ThrottlingBurstLimit: 50 });
  });

  it("limits publishable keys, and asks a web ACL if there is one", () => {
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

describe("alarms", () => {
  it("each say what a human loses", () => {
    for (const { AlarmDescription } of only("AWS::CloudWatch::Alarm")) {
      expect(AlarmDescription.length).toBeGreaterThan(60);
      expect(AlarmDescription).toMatch(/^[A-Z].*\.$/);
    }
  });

  it("watch every dead-letter queue, late reactions, failing answers, throttling and live streams", () => {
    const metrics = only("AWS::CloudWatch::Alarm").map(({ MetricName }) => MetricName);
    const dead = metrics.filter((name) => name === "ApproximateNumberOfMessagesVisible");
    expect(dead).toHaveLength(contents.workers.length);
    for (const name of [
      "IteratorAge",
      "5xx",
      "Throttles",
      "Errors",
      "TargetErrorCount",
      "5xxErrorRate",
      "ConcurrentExecutions",
    ])
      expect(metrics).toContain(name);
    const late = metrics.filter((name) => name === "ApproximateAgeOfOldestMessage");
    expect(late).toHaveLength(contents.workers.length - 1);
    const [[, edge] = []] = ofType(template, "AWS::CloudWatch::Alarm").filter(
      ([, { Properties }]) => Properties.MetricName === "5xxErrorRate",
    );
    expect(template.Conditions[edge!.Condition!]).toEqual({ "Fn::Equals": [{ Ref: "AWS::Region" }, "us-east-1"] });
    expect(JSON.stringify(only("AWS::CloudWatch::Alarm"))).toContain("WriteThrottleEvents");
  });

  it("D-HEALTH ring at what is near a limit: concurrency, throttles, late work, mails that bounce, money", () => {
    const alarms = ofType(whole(), "AWS::CloudWatch::Alarm").map(([, { Properties }]) => Properties);
    const thresholdsOf = (metric: string) => [
      ...new Set(alarms.filter(({ MetricName }) => MetricName === metric).map(({ Threshold }) => Threshold)),
    ];
    expect(
      Object.fromEntries(
        [
          ...["ApproximateNumberOfMessagesVisible", "ApproximateAgeOfOldestMessage", "IteratorAge"],
          ...["ConcurrentExecutions", "Throttles", "TargetErrorCount", "5xxErrorRate"],
          ...["Reputation.BounceRate", "Reputation.ComplaintRate"],
        ].map((metric) => [metric, thresholdsOf(metric)]),
      ),
    ).toEqual({
      ApproximateNumberOfMessagesVisible: [0],
      ApproximateAgeOfOldestMessage: [1_800],
      IteratorAge: [300_000],
      ConcurrentExecutions: [400],
      // Of streams any, of all functions more than a few.
      Throttles: [5, 0],
      TargetErrorCount: [0],
      "5xxErrorRate": [5],
      "Reputation.BounceRate": [0.04],
      "Reputation.ComplaintRate": [0.0008],
    });
    const table = JSON.stringify(alarms.find(({ Metrics }) => Metrics)?.Metrics);
    for (const metric of ["ReadThrottleEvents", "WriteThrottleEvents"]) expect(table).toContain(metric);
    const group = ofType(whole(), "AWS::Scheduler::ScheduleGroup")[0]![1].Properties.Name;
    expect(alarms.find(({ MetricName }) => MetricName === "TargetErrorCount").Dimensions).toEqual([
      { Name: "ScheduleGroup", Value: group },
    ]);
    const { Properties: budget } = ofType(whole(), "AWS::Budgets::Budget")[0]![1];
    expect(budget.Budget.BudgetLimit).toEqual({ Amount: 50, Unit: "USD" });
    expect(
      budget.NotificationsWithSubscribers.map(
        ({ Notification }: { Notification: { NotificationType: string; Threshold: number } }) => [
          Notification.NotificationType,
          Notification.Threshold,
        ],
      ),
    ).toEqual([
      ["ACTUAL", 80],
      ["FORECASTED", 100],
    ]);
  });

  it("write to an address if there is one; cdk-nag has nothing against the whole", () => {
    expect(only("AWS::CloudWatch::Alarm").flatMap(({ AlarmActions = [] }) => AlarmActions)).toEqual([]);
    const mailing = whole();
    const [, subscription] = ofType(mailing, "AWS::SNS::Subscription")[0]!;
    expect(subscription.Properties).toMatchObject({ Protocol: "email", Endpoint: "ops@example.com" });
    for (const [, { Properties }] of ofType(mailing, "AWS::CloudWatch::Alarm"))
      expect(Properties.AlarmActions).toHaveLength(1);
  });
});

it("RDA-19 queries of the logs are saved: 50 log groups at most each, all functions together", () => {
  const queries = only("AWS::Logs::QueryDefinition");
  const groups = queries.flatMap(({ LogGroupNames }) => LogGroupNames.map(textOf));
  for (const { LogGroupNames } of queries) expect(LogGroupNames.length).toBeLessThanOrEqual(50);
  expect(new Set(groups).size).toBe(ofType(template, "AWS::Lambda::Function").length);
  const ofRequests = queries.find(({ Name }) => Name === "Engagement/one-request");
  expect(ofRequests!.QueryString).toContain('filter request_id = "REQUEST_ID"');
});

describe("e-mail", () => {
  it("costs and makes nothing until a domain is set", () => {
    expect(Object.values(template.Resources).filter(({ Type }) => Type.startsWith("AWS::SES"))).toEqual([]);
    expect(() => synthesize({ context: { emailIdentity: "someone@example.com" } })).toThrow("emailIdentity is wrong");
  });

  it("signs as the domain, and queues what becomes of each mail", () => {
    const mailing = whole();
    const the = (type: string) => ofType(mailing, type).map(([id, { Properties }]) => ({ id, ...Properties }))[0];
    const senders = ofType(mailing, "AWS::Lambda::Function").flatMap(([, { Properties }]) => {
      const from = Properties.Environment?.Variables.MAIL_SENDER;
      return from ? [from] : [];
    });
    expect([...new Set(senders)]).toEqual(["no-reply@mail.example.com"]);
    const [, { Properties: role }] = ofType(mailing, "AWS::IAM::Role").find(([id]) => id.startsWith("ApiTeamRole"))!;
    const mail = role.Policies[0].PolicyDocument.Statement.find(({ Action }: { Action: string[] }) =>
      Action.includes("ses:SendEmail"),
    );
    expect(mail.Condition).toEqual({ StringEquals: { "ses:FromAddress": "no-reply@mail.example.com" } });
    const set = the("AWS::SES::ConfigurationSet");
    expect(set).toMatchObject({ Name: "Engagement", DeliveryOptions: { TlsPolicy: "REQUIRE" } });
    expect(the("AWS::SES::EmailIdentity")).toMatchObject({
      EmailIdentity: "mail.example.com",
      ConfigurationSetAttributes: { ConfigurationSetName: { Ref: set.id } },
    });
    expect(Object.keys(mailing.Outputs)).toEqual(expect.arrayContaining(["DkimRecord1", "DkimRecord2", "DkimRecord3"]));
    const { EventDestination } = the("AWS::SES::ConfigurationSetEventDestination");
    expect(EventDestination.MatchingEventTypes).toEqual(expect.arrayContaining(["delivery", "bounce", "complaint"]));
    expect(textOf(EventDestination.EventBridgeDestination.EventBusArn)).toMatch(/:event-bus\/default$/);
    const [rule] = ofType(mailing, "AWS::Events::Rule").filter(
      ([, { Properties }]) => Properties.EventPattern.source[0] === "aws.ses",
    );
    const [target] = rule![1].Properties.Targets;
    expect(rule![1].Properties.EventPattern.detail.mail.tags).toEqual({ "ses:configuration-set": ["Engagement"] });
    const queue = mailing.Resources[target.Arn["Fn::GetAtt"][0]]!.Properties;
    expect(queue).toMatchObject({ QueueName: "Engagement-mail-event" });
    expect(queue.RedrivePolicy.deadLetterTargetArn).toEqual(target.DeadLetterConfig.Arn);
    const alarm = Object.values(mailing.Resources).find(
      ({ Type, Properties }) => Type === "AWS::CloudWatch::Alarm" && /mails/.test(Properties.AlarmDescription),
    );
    expect(JSON.stringify(alarm!.Properties.Dimensions)).toContain(target.DeadLetterConfig.Arn["Fn::GetAtt"][0]);
  });
});
