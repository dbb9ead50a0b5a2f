// Every role against its declaration: nothing missing, nothing more, no wildcard where a name would do.
import { describe, expect, it } from "vitest";
import { contents, deployedFunctions } from "../../infra/functions.ts";
import { logicalIdOf } from "../../infra/names.ts";
import { isOfStream, maxConcurrency, queueNames } from "../../shared/contract/messages.ts";
import { tableDefinition } from "../../shared/store/definition.ts";
import { placesOf, rightsOf, statementsOf } from "./support/policies.ts";
import { ofType, publishing, type Resource, type Template, textOf, whole } from "./support/template.ts";

const template: Template = publishing();

const functions = deployedFunctions(contents);
const logArn = (id: string) =>
  textOf({ "Fn::GetAtt": [template.Resources[id]!.Properties.LoggingConfig.LogGroup.Ref, "Arn"] });

/** What the declaration says, in the template's words: an index is reached by Query alone. */
function declaredRights(grants: (typeof functions)[number]["grants"]): string[] {
  const places = placesOf(template);
  const indexes = Object.values(tableDefinition.indexes).map(({ name }) => `${places.table}/index/${name}`);
  return grants.flatMap(({ actions, on }) =>
    actions.flatMap((action) => {
      const resources = action === "dynamodb:Query" ? [places[on], ...indexes] : [places[on]];
      return resources.map((resource) => `${action} on ${resource}`);
    }),
  );
}

function standingRights(id: string, name: string, kind: string): string[] {
  const places = placesOf(template);
  const [stream] = ofType(template, "AWS::DynamoDB::Table").map(([table]) => `<${table}.StreamArn>`);
  const [bucket] = ofType(template, "AWS::S3::Bucket").flatMap(([id]) =>
    id.startsWith(name === "react" ? "Failures" : "PublishFailures") ? [`<${id}.Arn>`] : [],
  );
  const isQueueWorker = kind === "worker" && queueNames.some((queue) => queue === name);
  return [
    `logs:CreateLogStream on ${logArn(id)}`,
    `logs:PutLogEvents on ${logArn(id)}`,
    "xray:PutTraceSegments on *",
    "xray:PutTelemetryRecords on *",
    ...(isQueueWorker
      ? ["ReceiveMessage", "DeleteMessage", "GetQueueAttributes"].map(
          (do_) => `sqs:${do_} on ${places[`queue:${name}`]}`,
        )
      : []),
    ...(isOfStream(name)
      ? [
          ...["DescribeStream", "GetRecords", "GetShardIterator"].map((action) => `dynamodb:${action} on ${stream}`),
          "dynamodb:ListStreams on *",
          `s3:ListBucket on ${bucket}`,
          `s3:PutObject on ${bucket}/*`,
        ]
      : []),
  ];
}

describe.each(functions.map((spec) => [spec.name, spec] as const))("%s", (name, { kind, grants, env }) => {
  const id = logicalIdOf(name);

  it("a function may do what it declares and nothing more", () => {
    const expected = new Set([...declaredRights(grants), ...standingRights(id, name, kind)]);
    expect(rightsOf(statementsOf(template, id))).toEqual([...expected].sort());
  });

  it("a function has the env variables it declares and nothing more", () => {
    const given = Object.keys(template.Resources[id]!.Properties.Environment?.Variables ?? {}).sort();
    const optional = [
      "MAIL_SENDER",
      "CONFIRM_ADDRESSES",
      "EDGE_ONLY",
      "TOKEN_JWKS",
      "SIGN_IN_ISSUER",
      "SIGN_IN_CLIENT_ID",
    ];
    expect(given).toEqual(env.filter((variable) => !optional.includes(variable)));
  });
});

describe("all roles", () => {
  it("roles name actions one by one, and every resource but where AWS knows none", () => {
    const unavoidable = ["xray:PutTraceSegments", "xray:PutTelemetryRecords", "dynamodb:ListStreams", "ses:GetAccount"];
    for (const { name } of functions)
      for (const { actions, resources } of statementsOf(template, logicalIdOf(name))) {
        expect(actions.filter((action) => action.includes("*"))).toEqual([]);
        if (resources.includes("*")) expect(actions.filter((action) => !unavoidable.includes(action))).toEqual([]);
      }
  });

  it("roles are one per function, and a passed role goes to the scheduler alone", () => {
    const roles = ofType(template, "AWS::Lambda::Function").map(([, { Properties }]) => textOf(Properties.Role));
    expect(new Set(roles).size).toBe(functions.length);
    const passing = statementsOf(template, "React").filter(({ actions }) => actions.includes("iam:PassRole"));
    expect(passing.map(({ conditions }) => conditions)).toEqual([
      { StringEquals: { "iam:PassedToService": "scheduler.amazonaws.com" } },
    ]);
  });

  it("roles leave signing to the function that logs people in", () => {
    const signers = functions.filter(({ name }) =>
      statementsOf(template, logicalIdOf(name)).some(({ actions }) => actions.includes("kms:Sign")),
    );
    for (const { name } of signers) expect(name).toBe("api-auth");
  });

  it("let open root secrets or a workspace's credentials, each as declared, by what they were sealed for (ARC-13)", () => {
    for (const { name, grants } of functions) {
      const declared = (on: string) => grants.filter((grant) => grant.on === on).flatMap(({ actions }) => actions);
      const allowed = (purpose: string) =>
        statementsOf(template, logicalIdOf(name))
          .filter(({ conditions }) =>
            JSON.stringify(conditions)?.includes(`"kms:EncryptionContext:purpose":"${purpose}"`),
          )
          .flatMap(({ actions }) => actions)
          .sort();
      expect([name, allowed("root-secrets")]).toEqual([name, declared("encryption-key")]);
      expect([name, allowed("second-factor")]).toEqual([name, declared("second-factor-key").sort()]);
      expect([name, allowed("client-secret")]).toEqual([name, declared("client-secret-key").sort()]);
      expect([name, allowed("channel-credentials")]).toEqual([name, declared("credentials-key")]);
    }
    const sealing = functions.filter(({ grants }) =>
      grants.some(({ actions }) => actions.includes("kms:GenerateDataKey")),
    );
    expect(sealing.map(({ name }) => name)).toEqual(["api-channels"]);
  });

  it("the role of the scheduler may send to the due queue alone", () => {
    const places = placesOf(template);
    const [, role] = ofType(template, "AWS::IAM::Role").find(([id]) => `<${id}.Arn>` === places["scheduler-role"])!;
    const [statement] = role.Properties.Policies[0].PolicyDocument.Statement;
    expect([statement.Action, textOf(statement.Resource)]).toEqual(["sqs:SendMessage", places["queue:due"]]);
  });
});

it("functions that any caller reaches have no rights beyond what they do (docs/decisions/0031) (ARC-13)", () => {
  const actionsOf = (name: string) =>
    functions
      .find((one) => one.name === name)!
      .grants.flatMap(({ actions }) => actions.map((action) => action.split(":")[1]));
  expect(actionsOf("api-service")).toEqual(["BatchGetItem", "GetItem", "Query"]);
  for (const name of ["api-mail", "api-inbound"])
    for (const action of ["DeleteItem", "BatchWriteItem", "Scan"]) expect(actionsOf(name)).not.toContain(action);
});

it("docs/decisions/0017 the table is scanned by the purge alone, two at a time at most (D-TENANT)", () => {
  const scans = functions.filter(({ grants }) => grants.some(({ actions }) => actions.includes("dynamodb:Scan")));
  expect(scans.map(({ name }) => name)).toEqual(["purge"]);
  expect(maxConcurrency).toEqual({ purge: 2 });
});

/** What a service of AWS may do here, and on whose behalf. */
function trustedServices({ Type, Properties = {} }: Resource): { service: string; source: unknown }[] {
  const { Principal, SourceArn, SourceAccount } = Properties;
  if (Type === "AWS::Lambda::Permission") return [{ service: textOf(Principal), source: SourceArn ?? SourceAccount }];
  const { PolicyDocument, AssumeRolePolicyDocument, KeyPolicy } = Properties;
  return [PolicyDocument, AssumeRolePolicyDocument, KeyPolicy]
    .flatMap((policy) => policy?.Statement ?? [])
    .filter(({ Effect, Principal: by }) => Effect === "Allow" && by?.Service !== undefined)
    .map(({ Principal: by, Condition = {} }) => ({
      service: textOf(by.Service),
      source: Object.values<Record<string, unknown>>(Condition)
        .flatMap((compared) => Object.entries(compared))
        .find(([key]) => /^aws:source(arn|account)$/i.test(key))?.[1],
    }));
}

it("a service of AWS acts here for this account alone, and not for whoever knows a name (D1)", () => {
  const resources = Object.values(whole().Resources);
  const trusted = resources.flatMap(trustedServices).filter(({ service }) => service !== "lambda.amazonaws.com");

  expect(new Set(trusted.map(({ service }) => service))).toContain("cloudwatch.amazonaws.com");
  expect(trusted.filter(({ source }) => source === undefined)).toEqual([]);
});
