// Policies: what a function declared, resource by resource, and the base statements of its kind.
import type { Stack } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import { isOfStream, PUBLISHER, queueNames } from "../shared/contract/messages.ts";
import { tableDefinition } from "../shared/store/definition.ts";
import { ASSETS_PATH } from "../shared/store/files/assets.ts";
import { MAILS_FOLDER } from "../shared/store/files/mails.ts";
import { queueVariable } from "../shared/store/queue-sender.ts";
import type { DeployedFunction } from "./functions.ts";
import { lookUp } from "./names.ts";
import type { Queues } from "./queues.ts";
import type { Schedules } from "./schedules.ts";
import type { Storage } from "./storage.ts";

export interface StackResources {
  storage: Storage;
  queues: Queues;
  schedules: Schedules;
  /** The bus that is published to, if there is one. */
  eventBus?: string | undefined;
  /** The sender of the service's own mail. */
  mailSender?: string | undefined;
}

type Allow = (actions: readonly string[]) => PolicyStatement[];

const allow = (actions: readonly string[], ...resources: string[]): PolicyStatement[] =>
  actions.length === 0 ? [] : [new PolicyStatement({ actions: [...actions], resources })];

/** Allows the actions only for requests in which these condition keys have these values. */
const allowWhere =
  (resource: string, values: Readonly<Record<string, string>>): Allow =>
  (actions) => [
    new PolicyStatement({ actions: [...actions], resources: [resource], conditions: { StringEquals: values } }),
  ];

/** The resources that a declaration may name in `on`, and the statements for their actions. */
function allowances(
  stack: Stack,
  { storage, queues, schedules, eventBus, mailSender = "nobody" }: StackResources,
): ReadonlyMap<string, Allow> {
  const { tableArn } = storage.table;
  const indexArns = Object.values(tableDefinition.indexes).map(({ name }) => `${tableArn}/index/${name}`);
  const isQuery = (action: string) => action === "dynamodb:Query";
  const scheduleArn = stack.formatArn({
    service: "scheduler",
    resource: "schedule",
    resourceName: `${schedules.group.ref}/due-*`,
  });
  const forPurpose = purposesOf(storage.encryptionKey.keyArn);
  return new Map<string, Allow>([
    [
      "table",
      (actions) => [
        ...allow(actions.filter(isQuery), tableArn, ...indexArns),
        ...allow(
          actions.filter((action) => !isQuery(action)),
          tableArn,
        ),
      ],
    ],
    // The addresses that a workspace sends from are known only when it sends.
    ["email-identities", (actions) => allow(actions, stack.formatArn({ service: "ses", resource: "*" }))],
    // GetAccount takes no resource.
    ["email-account", (actions) => allow(actions, "*")],
    // SES counts the configuration set as a resource too. The condition limits the sender.
    ["own-mail", allowWhere(stack.formatArn({ service: "ses", resource: "*" }), { "ses:FromAddress": mailSender })],
    ["event-bus", onBus(stack, eventBus)],
    ...inBuckets(storage),
    ["encryption-key", forPurpose("root-secrets")],
    ["credentials-key", forPurpose("channel-credentials")],
    ["second-factor-key", forPurpose("second-factor")],
    ["client-secret-key", forPurpose("client-secret")],
    ["signing-key", (actions) => allow(actions, storage.signingKey.keyArn)],
    ["schedule-group", (actions) => allow(actions, scheduleArn)],
    ["scheduler-role", allowWhere(schedules.role.roleArn, { "iam:PassedToService": "scheduler.amazonaws.com" })],
    ...[...queues.live].map(([name, { queueArn }]): [string, Allow] => [
      `queue:${name}`,
      (actions) => allow(actions, queueArn),
    ]),
    // The publisher may not be deployed; then it has no dead-letter queue.
    [`dead:${PUBLISHER}`, () => []],
    ...[...queues.dead].map(([name, { queueArn }]): [string, Allow] => [
      `dead:${name}`,
      (actions) => allow(actions, queueArn),
    ]),
  ]);
}

/** Objects of the buckets, and the right to list them. */
const inBuckets = (storage: Storage): [string, Allow][] => [
  ["archive", (actions) => within(storage.archive, "records/*", actions)],
  ["publish-failures", (actions) => within(storage.failures.get(PUBLISHER), "refused/*", actions)],
  ["assets", (actions) => allow(actions, storage.assets.arnForObjects(`${ASSETS_PATH.slice(1)}*`))],
  ["assets-bucket", (actions) => allow(actions, storage.assets.bucketArn)],
  ["mails", (actions) => allow(actions, storage.assets.arnForObjects(`${MAILS_FOLDER}*`))],
  ["site", (actions) => allow(actions, storage.site.arnForObjects("*"))],
  ["site-bucket", (actions) => allow(actions, storage.site.bucketArn)],
  ["imports", (actions) => allow(actions, storage.imports.arnForObjects("*"))],
  ["imports-bucket", (actions) => allow(actions, storage.imports.bucketArn)],
];

/** Without the bucket there is nothing to allow. */
const within = (
  bucket: Pick<IBucket, "arnForObjects"> | undefined,
  keys: string,
  actions: readonly string[],
): PolicyStatement[] => (bucket === undefined ? [] : allow(actions, bucket.arnForObjects(keys)));

/** Without a bus there is nothing to allow. */
const onBus =
  (stack: Stack, resourceName: string | undefined): Allow =>
  (actions) =>
    resourceName === undefined
      ? []
      : allow(actions, stack.formatArn({ service: "events", resource: "event-bus", resourceName }));

/** One key, four purposes: the right to decrypt root secrets does not include the credentials of workspaces or users. */
const purposesOf =
  (key: string) =>
  (purpose: string): Allow =>
    allowWhere(key, { "kms:EncryptionContext:purpose": purpose });

/** Statements for the grants of a function. @throws if a declaration names a resource that the stack does not have. */
export function declaredStatements(
  stack: Stack,
  declared: DeployedFunction,
  resources: StackResources,
): PolicyStatement[] {
  const byResource = allowances(stack, resources);
  const each = declared.grants.flatMap(({ actions, on }) => {
    const statements = byResource.get(on);
    if (!statements)
      throw new Error(`${declared.name} declares a grant on ${on}, which infra/grants.ts does not have.`);
    return statements(actions);
  });
  return joined(each);
}

/** One statement for the same actions on several resources: a role's policies have at most 10,240 characters. */
function joined(statements: readonly PolicyStatement[]): PolicyStatement[] {
  const byRight = new Map<string, PolicyStatement>();
  for (const statement of statements) {
    const right = JSON.stringify([statement.actions, statement.conditions]);
    const first = byRight.get(right);
    if (first) first.addResources(...statement.resources);
    else byRight.set(right, statement);
  }
  return [...byRight.values()];
}

/** Statements that no declaration names: writing its log, tracing, and reading its event source. */
export function baseStatements(
  { name, kind }: DeployedFunction,
  logArn: string,
  resources: StackResources,
): PolicyStatement[] {
  const { queues, storage } = resources;
  const queue = [...queues.live].find(([queueName]) => kind === "worker" && queueName === name)?.[1];
  const failures = isOfStream(name) ? lookUp(storage.failures, name) : undefined;
  const stream = failures
    ? [
        ...allow(
          ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"],
          storage.table.tableStreamArn!,
        ),
        ...allow(["dynamodb:ListStreams"], "*"),
        ...allow(["s3:ListBucket"], failures.bucketArn),
        ...allow(["s3:PutObject"], failures.arnForObjects("*")),
      ]
    : [];
  return [
    ...allow(["logs:CreateLogStream", "logs:PutLogEvents"], logArn),
    ...allow(["xray:PutTraceSegments", "xray:PutTelemetryRecords"], "*"),
    ...(queue ? allow(["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"], queue.queueArn) : []),
    ...stream,
  ];
}

/** The env variables that follow from the stack's resources. */
export function variablesOf({ storage, queues, schedules }: StackResources): Record<string, string> {
  return {
    TABLE_NAME: storage.table.tableName,
    ENCRYPTION_KEY_ID: storage.encryptionKey.keyId,
    ASSETS_BUCKET: storage.assets.bucketName,
    IMPORTS_BUCKET: storage.imports.bucketName,
    SITE_BUCKET: storage.site.bucketName,
    SIGNING_KEY_ID: storage.signingKey.keyId,
    SCHEDULE_GROUP: schedules.group.ref,
    SCHEDULER_ROLE_ARN: schedules.role.roleArn,
    QUEUE_URL_PREFIX: queues.urlPrefix,
    QUEUE_ARN_PREFIX: queues.arnPrefix,
    ...Object.fromEntries(
      queueNames.flatMap((name) => {
        const variable = queueVariable(name);
        const { queueUrl, queueArn } = lookUp(queues.live, name);
        return [
          [variable, queueUrl],
          [variable.replace(/URL$/, "ARN"), queueArn],
        ];
      }),
    ),
  };
}
