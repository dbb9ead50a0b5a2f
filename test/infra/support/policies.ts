// What the roles of the synthesized stack allow, as statements and as an answer to "may this function do that".
import { queueNames } from "../../../shared/messages.ts";
import { ofType, type Template, textOf } from "./template.ts";

export interface Statement {
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
  const only = (type: string, fits = (_: Record<string, unknown>) => true) => {
    const found = ofType(template, type).filter(([, { Properties }]) => fits(Properties));
    if (found.length !== 1) throw new Error(`${found.length} resources are ${type}.`);
    return found[0]![0];
  };
  const schedules = "arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule/<ScheduleGroup>/due-*";
  const queueArn = (name: string) =>
    `<${only("AWS::SQS::Queue", ({ QueueName }) => String(QueueName).endsWith(`-${name}`))}.Arn>`;
  return {
    table: `<${only("AWS::DynamoDB::Table")}.Arn>`,
    "encryption-key": `<${only("AWS::KMS::Key", ({ KeySpec }) => KeySpec === undefined)}.Arn>`,
    "credentials-key": `<${only("AWS::KMS::Key", ({ KeySpec }) => KeySpec === undefined)}.Arn>`,
    "signing-key": `<${only("AWS::KMS::Key", ({ KeySpec }) => KeySpec === "RSA_2048")}.Arn>`,
    assets: `<${only("AWS::S3::Bucket", ({ NotificationConfiguration }) => NotificationConfiguration === undefined)}.Arn>/assets/*`,
    "email-identities": "arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:*",
    "schedule-group": schedules,
    "scheduler-role": `<${only("AWS::IAM::Role", ({ Description }) => String(Description).startsWith("Lets schedules"))}.Arn>`,
    ...Object.fromEntries(queueNames.map((name) => [`queue:${name}`, queueArn(name)])),
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
    const inside = String(input.Key).startsWith("assets/");
    return [`s3:${operation} on ${inside ? places.assets : `${input.Bucket}/${input.Key}`}`];
  }
  if (service === "kms") {
    const key = String(input.KeyId ?? "encryption").includes("signing") ? "signing-key" : "encryption-key";
    return [`kms:${operation} on ${places[key]}`];
  }
  const named = String(input.Name).startsWith("due-") ? places["schedule-group"] : input.Name;
  return [`scheduler:${operation} on ${named}`, `iam:PassRole on ${places["scheduler-role"]}`];
}
