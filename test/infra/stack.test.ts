// The stack as a whole: size, costs at rest, what is kept, functions and e-mail.
import { describe, expect, it } from "vitest";
import { contents, deployedFunctions } from "../../infra/functions.ts";
import { logicalIdOf } from "../../infra/names.ts";
import { type Endpoint, endpoints, group } from "../../shared/http/endpoint.ts";
import { platformWrite, storeWrite } from "../../shared/store/context.ts";
import { tableDefinition } from "../../shared/store/definition.ts";
import {
  deployed,
  ofType,
  only,
  type Resource,
  standardContents,
  synthesize,
  type Template,
  textOf,
  whole,
} from "./support/template.ts";

/** CloudFormation allows 500. */
const MAX_RESOURCES = 450;
const COMING_ROUTES = 170;
const COMING_GROUPS = 26;

const template: Template = deployed();

describe("size", () => {
  it("the stack stays under 450 resources, also with 170 routes in 26 groups", () => {
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

  it("the stack takes a planted endpoint from its declaration alone: route, function, env and rights", () => {
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

  it("the stack refuses a declaration that names what the stack has not", () => {
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

  it("the stack refuses a setting it does not understand, by name", () => {
    expect(() => synthesize({ context: { defaultPlan: "gold" } })).toThrow("The context defaultPlan is wrong");
  });

  it("the stack refuses a setting that there is not: one that is misspelt would be left out (F6)", () => {
    expect(() => synthesize({ context: { alarmsEmail: "ops@shop.example" } })).toThrow(
      "The context alarmsEmail is wrong: there is no such setting.",
    );
  });
});

describe("cost at rest", () => {
  it("the stack has nothing that is billed by the hour (F6)", () => {
    const types = new Set(Object.values(template.Resources).map(({ Type }) => Type));
    const free = [
      "AWS::ApiGatewayV2::Api",
      "AWS::ApiGatewayV2::Stage",
      "AWS::CloudFormation::CustomResource",
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
      "AWS::SSM::Parameter",
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
  it("the stack has the table as declared, recoverable and hard to delete", () => {
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

  it("the table is warmed with its indexes where one asks for it (RDA-19)", () => {
    const throughputsOf = (of: Template) => {
      const [{ Properties }] = ofType(of, "AWS::DynamoDB::Table").map(([, table]) => table) as [Resource];
      return [Properties, ...Properties.GlobalSecondaryIndexes].map(({ WarmThroughput }) => WarmThroughput);
    };
    expect(new Set(throughputsOf(template))).toEqual(new Set([undefined]));
    expect(throughputsOf(whole())).toEqual(
      throughputsOf(template).map(() => ({ ReadUnitsPerSecond: 40_000, WriteUnitsPerSecond: 20_000 })),
    );
    expect(() => synthesize({ context: { warmThroughput: { reads: 1, writes: 4_000 } } })).toThrow("warmThroughput");
  });

  it("the stack rotates the encryption key, signs with RSA 2048, and outlives the stack", () => {
    const keys = only("AWS::KMS::Key");
    expect(keys.find(({ KeySpec }) => KeySpec === undefined)).toMatchObject({ EnableKeyRotation: true });
    expect(keys.find(({ KeySpec }) => KeySpec === "RSA_2048")).toMatchObject({ KeyUsage: "SIGN_VERIFY" });
    for (const type of ["AWS::DynamoDB::Table", "AWS::KMS::Key", "AWS::S3::Bucket"])
      for (const [id, { DeletionPolicy }] of ofType(template, type))
        expect([id, DeletionPolicy]).toEqual([id, id.startsWith("Site") ? "Delete" : "RetainExceptOnCreate"]);
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
    expect(Object.fromEntries(kept)).toEqual({ Failures: 30, Imports: 7, Assets: undefined, Site: undefined });
    for (const queue of only("AWS::SQS::Queue")) expect(queue.SqsManagedSseEnabled).toBe(true);
    for (const type of ["AWS::S3::BucketPolicy", "AWS::SQS::QueuePolicy"])
      for (const { PolicyDocument } of only(type))
        expect(JSON.stringify(PolicyDocument)).toContain('"Bool":{"aws:SecureTransport":"false"}');
  });
});

describe("functions", () => {
  it("functions run on Node 24 and arm64, traced, each with a log that ends", () => {
    for (const spec of deployedFunctions(standardContents)) {
      const { Properties } = template.Resources[logicalIdOf(spec.name)]!;
      expect(Properties).toMatchObject({
        FunctionName: `Engagement-${spec.name}`,
        Runtime: "nodejs24.x",
        Architectures: ["arm64"],
        Handler: "index.handler",
        MemorySize: spec.memoryMb,
        Timeout: { api: 29, fallback: 29, operator: 29, worker: 60, stream: 120, site: 120 }[spec.kind],
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
    expect(only("AWS::Lambda::Function")).toHaveLength(deployedFunctions(standardContents).length);
  });

  it("reserve concurrency for live streams only where one asks for it (OPS-2)", () => {
    expect(whole().Resources.Stream!.Properties).toMatchObject({
      ReservedConcurrentExecutions: 50,
      Environment: { Variables: { STREAM_CONCURRENCY: "50" } },
    });
    // Otherwise they may use half of what the account has.
    const { Variables } = template.Resources.Stream!.Properties.Environment;
    expect(Variables.STREAM_CONCURRENCY).toBe("500");
  });
});

describe("e-mail", () => {
  it("mailing costs and makes nothing until a domain is set", () => {
    expect(Object.values(template.Resources).filter(({ Type }) => Type.startsWith("AWS::SES"))).toEqual([]);
    expect(() => synthesize({ context: { emailIdentity: "someone@example.com" } })).toThrow("emailIdentity is wrong");
  });

  const mailing = whole();
  const the = (type: string) => ofType(mailing, type).map(([id, { Properties }]) => ({ id, ...Properties }))[0];
  const destination = () => the("AWS::SES::ConfigurationSetEventDestination").EventDestination;
  /** Of the rule for what SES reports. */
  const ruleOfMails = () =>
    ofType(mailing, "AWS::Events::Rule")
      .map(([, { Properties }]) => Properties)
      .find(({ EventPattern }) => EventPattern.source[0] === "aws.ses")!;

  it("mail is sent by one address of the domain alone", () => {
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
  });

  it("mail is signed as the domain, and goes by TLS", () => {
    const set = the("AWS::SES::ConfigurationSet");
    expect(set).toMatchObject({ Name: "Engagement", DeliveryOptions: { TlsPolicy: "REQUIRE" } });
    expect(the("AWS::SES::EmailIdentity")).toMatchObject({
      EmailIdentity: "mail.example.com",
      ConfigurationSetAttributes: { ConfigurationSetName: { Ref: set.id } },
    });
    expect(Object.keys(mailing.Outputs)).toEqual(expect.arrayContaining(["DkimRecord1", "DkimRecord2", "DkimRecord3"]));
  });

  it("what becomes of each mail is queued", () => {
    const { MatchingEventTypes, EventBridgeDestination } = destination();
    expect(MatchingEventTypes).toEqual(expect.arrayContaining(["delivery", "bounce", "complaint"]));
    expect(textOf(EventBridgeDestination.EventBusArn)).toMatch(/:event-bus\/default$/);
    const { EventPattern, Targets } = ruleOfMails();
    expect(EventPattern.detail.mail.tags).toEqual({ "ses:configuration-set": ["Engagement"] });
    const [target] = Targets;
    const queue = mailing.Resources[target.Arn["Fn::GetAtt"][0]]!.Properties;
    expect(queue).toMatchObject({ QueueName: "Engagement-mail-event" });
    expect(queue.RedrivePolicy.deadLetterTargetArn).toEqual(target.DeadLetterConfig.Arn);
  });

  it("an alarm watches mails of which it is not known what became", () => {
    const [target] = ruleOfMails().Targets;
    const alarm = Object.values(mailing.Resources).find(
      ({ Type, Properties }) => Type === "AWS::CloudWatch::Alarm" && /mails/.test(Properties.AlarmDescription),
    );
    expect(JSON.stringify(alarm!.Properties.Dimensions)).toContain(target.DeadLetterConfig.Arn["Fn::GetAtt"][0]);
  });
});
