// What the roles of the synthesized stack allow, as statements and as an answer to "may this function do that".
import { logicalIdOf } from "../../../infra/names.ts";
import { deadQueueNames, PUBLISHER, queueNames } from "../../../shared/contract/messages.ts";
import { BUS, ofType, type Template, textOf } from "./template.ts";

interface Statement {
  actions: string[];
  resources: string[];
  conditions: unknown;
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

/** The statements of the role that a function runs in. */
export function statementsOf(template: Template, functionId: string): Statement[] {
  const [roleId] = template.Resources[functionId]!.Properties.Role["Fn::GetAtt"];
  const role = template.Resources[roleId]!.Properties;
  if (role.ManagedPolicyArns) throw new Error(`${functionId} has a managed policy.`);
  const elsewhere = ofType(template, "AWS::IAM::Policy").filter(([, { Properties }]) =>
    Properties.Roles.some((other: { Ref?: string }) => other.Ref === roleId),
  );
  if (elsewhere.length > 0) throw new Error(`${functionId} has a policy beside its role.`);
  return (role.Policies as { PolicyDocument: { Statement: Record<string, unknown>[] } }[])
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .map(({ Effect, Action, Resource, Condition }) => {
      if (Effect !== "Allow") throw new Error(`${functionId} has a statement that denies.`);
      return { actions: listOf(Action).map(String), resources: listOf(Resource).map(textOf), conditions: Condition };
    });
}

/** `action on resource`, one entry each, sorted. */
export const rightsOf = (statements: readonly Statement[]): string[] =>
  [
    ...new Set(
      statements.flatMap(({ actions, resources }) =>
        actions.flatMap((action) => resources.map((on) => `${action} on ${on}`)),
      ),
    ),
  ].sort();

/** Where the resources of the declarations are in the template, by the name that grants use. */
export function placesOf(template: Template): Record<string, string> {
  /** `signing-key` is the one resource of its kind whose logical id is `SigningKey` and a hash. */
  const arnOf = (name: string, type: string) => {
    const id = new RegExp(`^${logicalIdOf(name)}[0-9A-F]{8}$`);
    const found = ofType(template, type).filter(([logicalId]) => id.test(logicalId));
    if (found.length !== 1) throw new Error(`${found.length} resources of type ${type} are ${name}.`);
    return `<${found[0]![0]}.Arn>`;
  };
  const within = (service: string, what: string) =>
    `arn:<AWS::Partition>:${service}:<AWS::Region>:<AWS::AccountId>:${what}`;
  const bucket = (name: string) => arnOf(name, "AWS::S3::Bucket");
  const key = (name: string) => arnOf(name, "AWS::KMS::Key");
  return {
    table: arnOf("table", "AWS::DynamoDB::Table"),
    "encryption-key": key("encryption-key"),
    "credentials-key": key("encryption-key"),
    "second-factor-key": key("encryption-key"),
    "client-secret-key": key("encryption-key"),
    "signing-key": key("signing-key"),
    assets: `${bucket("assets")}/assets/*`,
    "assets-bucket": bucket("assets"),
    mails: `${bucket("assets")}/mails/*`,
    site: `${bucket("site")}/*`,
    "site-bucket": bucket("site"),
    imports: `${bucket("imports")}/*`,
    "imports-bucket": bucket("imports"),
    "email-identities": within("ses", "*"),
    "email-account": "*",
    "own-mail": within("ses", "*"),
    "schedule-group": within("scheduler", "schedule/<ScheduleGroup>/due-*"),
    "scheduler-role": arnOf("scheduler-role", "AWS::IAM::Role"),
    ...Object.fromEntries(queueNames.map((name) => [`queue:${name}`, arnOf(`${name}-queue`, "AWS::SQS::Queue")])),
    ...(ofType(template, "AWS::S3::Bucket").some(([id]) => id.startsWith("Archive")) && {
      archive: `${bucket("archive")}/records/*`,
    }),
    ...(ofType(template, "AWS::S3::Bucket").some(([id]) => id.startsWith("PublishFailures")) && {
      "publish-failures": `${bucket("publish-failures")}/refused/*`,
    }),
    "event-bus": within("events", `event-bus/${BUS}`),
    ...Object.fromEntries(
      deadQueueNames
        .filter((name) => name !== PUBLISHER || logicalIdOf(name) in template.Resources)
        .map((name) => [`dead:${name}`, arnOf(`${name}-dead-queue`, "AWS::SQS::Queue")]),
    ),
  };
}

type Input = Record<string, unknown>;
const writes = { Put: "PutItem", Update: "UpdateItem", Delete: "DeleteItem", ConditionCheck: "ConditionCheckItem" };

/** The rights that an SDK call needs, with the resources of the local service put in the template's words. */
export function neededRights(places: Record<string, string>, service: string, operation: string, input: Input) {
  const table = places.table!;
  if (service === "dynamodb") {
    if (operation === "TransactWriteItems")
      return (input.TransactItems as object[]).map((item) => {
        const [kind] = Object.keys(item) as (keyof typeof writes)[];
        return `dynamodb:${writes[kind!]} on ${table}`;
      });
    return [`dynamodb:${operation} on ${input.IndexName ? `${table}/index/${input.IndexName}` : table}`];
  }
  if (service === "sqs") {
    const queue = String(input.QueueUrl).split("/").at(-1);
    return [`sqs:${operation.replace(/Batch$/, "")} on ${places[`queue:${queue}`]}`];
  }
  if (service === "s3") {
    const ofSite = String(input.Bucket).endsWith("-site");
    if (operation === "ListObjectsV2") return [`s3:ListBucket on ${places[ofSite ? "site-bucket" : "imports-bucket"]}`];
    if (ofSite) return [`s3:${operation} on ${places.site}`];
    const { assets, imports, archive: records, "publish-failures": refused } = places;
    const place = { assets, imports, rejected: imports, records, refused };
    const folder = String(input.Key).split("/", 1)[0] as keyof typeof place;
    const action = operation === "HeadObject" ? "GetObject" : operation;
    const actions = input.Tagging === undefined ? [action] : [action, "PutObjectTagging"];
    return actions.map((one) => `s3:${one} on ${place[folder] ?? `${input.Bucket}/${input.Key}`}`);
  }
  if (service === "kms") {
    const key = String(input.KeyId ?? "encryption").includes("signing") ? "signing-key" : "encryption-key";
    return [`kms:${operation} on ${places[key]}`];
  }
  if (service === "eventbridge") return [`events:${operation} on ${places["event-bus"]}`];
  if (service === "ses") {
    // A raw message needs both rights.
    const actions = operation === "SendEmail" ? ["SendEmail", "SendRawEmail"] : [operation];
    const place = operation === "GetAccount" ? "email-account" : "email-identities";
    return actions.map((action) => `ses:${action} on ${places[place]}`);
  }
  const named = String(input.Name).startsWith("due-") ? places["schedule-group"] : input.Name;
  return [`scheduler:${operation} on ${named}`, `iam:PassRole on ${places["scheduler-role"]}`];
}
