// The AWS resources of the local service: those that `cdk deploy` creates, created once in the embedded services.
import {
  deadQueueOf,
  MAX_RECEIVES,
  type QueueName,
  queueNames,
  streamWorkers,
  VISIBILITY_SECONDS,
} from "../shared/contract/messages.ts";
import type { Clock } from "../shared/kernel/clock.ts";
import { type Deps, NO_TENANT } from "../shared/kernel/deps.ts";
import type { Ids } from "../shared/kernel/ids.ts";
import type { PlanName } from "../shared/rules/plans.ts";
import { platformWrite } from "../shared/store/context.ts";
import { tableDefinition } from "../shared/store/definition.ts";
import { minuteOf, SweepItem } from "../shared/store/platform-items.ts";
import { queueVariable } from "../shared/store/queue-sender.ts";
import { UNKNOWN_COMMIT, versionOf } from "../tools/release.ts";
import { isAwsFailure, type Services, type SesEvent, type Sqs, type Wire } from "./aws/index.ts";
import { ACCOUNT, REGION } from "./lambda.ts";
import { HOST } from "./local-clients.ts";
import type { State } from "./state.ts";

export const TABLE = "engagement";
export const ASSETS_BUCKET = "engagement-assets";
export const IMPORTS_BUCKET = "engagement-imports";
/** The bucket of events that the event bus refused permanently. */
const PUBLISH_FAILURES = "engagement-unpublished";
const SITE_BUCKET = "engagement-site";
/** The queue whose URL shows the prefix of all queues' URLs. */
const FIRST_QUEUE: QueueName = "due";
const SCHEDULE_GROUP = "engagement";
const SWEEP = "sweep";
const SWEEP_EVERY = "rate(5 minutes)";
const ENCRYPTION_ALIAS = "alias/engagement-encryption";
const SIGNING_ALIAS = "alias/engagement-signing";

export const queueArn = (name: string) => `arn:aws:sqs:${REGION}:${ACCOUNT}:${name}`;
const SCHEDULER_ROLE = `arn:aws:iam::${ACCOUNT}:role/engagement-scheduler`;

/** Resources that exist only if the settings name them. */
interface OptionalResources {
  eventBus?: string | undefined;
  archiveBucket?: string | undefined;
}

interface EnvironmentOptions {
  plan?: PlanName | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  baseUrl?: (() => string) | undefined;
}

/** Creates the table, queues, keys and buckets. @returns the environment variables of all functions. */
export async function environmentOf(
  { plan, env, baseUrl = () => HOST }: EnvironmentOptions,
  services: Services,
  table: string,
) {
  return {
    ...(await makeResources(services, table, { eventBus: env?.EVENT_BUS, archiveBucket: env?.ARCHIVE_BUCKET })),
    TOKEN_ISSUER: HOST,
    get BASE_URL() {
      return baseUrl();
    },
    TOKEN_AUDIENCE: "engagement-dashboard",
    DEFAULT_PLAN: plan ?? "enterprise",
    REGISTRATION: "open",
    MAIL_SENDER: "no-reply@example.com",
    VERSION: versionOf(),
    COMMIT: UNKNOWN_COMMIT,
    REGION: "local",
    ...env,
  };
}

/** Creates what is missing. @returns the environment variables that name the resources. */
export async function makeResources(
  { dynamodb, sqs, scheduler, kms, s3, eventbridge }: Services,
  table = TABLE,
  { eventBus: Name, archiveBucket }: OptionalResources = {},
): Promise<Record<string, string>> {
  const urls: Record<string, string> = {};
  for (const worker of streamWorkers) await sqs.operate("CreateQueue", { QueueName: deadQueueOf(worker) });
  await unlessThere("ResourceInUseException", () => dynamodb.operate("CreateTable", tableInput(table)));
  await unlessThere("ValidationException", () =>
    dynamodb.operate("UpdateTimeToLive", {
      TableName: table,
      TimeToLiveSpecification: { Enabled: true, AttributeName: tableDefinition.timeToLive },
    }),
  );

  for (const name of queueNames) {
    const dead = deadQueueOf(name);
    await sqs.operate("CreateQueue", { QueueName: dead, Attributes: { MessageRetentionPeriod: "1209600" } });
    const redrive = { deadLetterTargetArn: queueArn(dead), maxReceiveCount: MAX_RECEIVES };
    const { QueueUrl } = await sqs.operate("CreateQueue", {
      QueueName: name,
      Attributes: { VisibilityTimeout: String(VISIBILITY_SECONDS), RedrivePolicy: JSON.stringify(redrive) },
    });
    urls[queueVariable(name)] = String(QueueUrl);
  }

  await unlessThere("ConflictException", () => scheduler.operate("CreateScheduleGroup", { Name: SCHEDULE_GROUP }));
  await unlessThere("ConflictException", () => scheduler.operate("CreateSchedule", sweepSchedule()));
  const published = Name || archiveBucket ? [PUBLISH_FAILURES] : [];
  for (const Bucket of [
    ASSETS_BUCKET,
    IMPORTS_BUCKET,
    SITE_BUCKET,
    ...published,
    ...(archiveBucket ? [archiveBucket] : []),
  ])
    await s3?.operate("CreateBucket", { Bucket });
  if (Name)
    await unlessThere("ResourceAlreadyExistsException", async () => eventbridge?.operate("CreateEventBus", { Name }));
  await makeKey(kms, ENCRYPTION_ALIAS, { KeySpec: "SYMMETRIC_DEFAULT", KeyUsage: "ENCRYPT_DECRYPT" });
  await makeKey(kms, SIGNING_ALIAS, { KeySpec: "RSA_2048", KeyUsage: "SIGN_VERIFY" });

  return {
    ...urls,
    TABLE_NAME: table,
    ASSETS_BUCKET,
    IMPORTS_BUCKET,
    PUBLISH_FAILURES,
    SITE_BUCKET,
    ENCRYPTION_KEY_ID: ENCRYPTION_ALIAS,
    SIGNING_KEY_ID: SIGNING_ALIAS,
    SCHEDULE_GROUP,
    SCHEDULER_ROLE_ARN: SCHEDULER_ROLE,
    DUE_QUEUE_ARN: queueArn("due"),
    QUEUE_URL_PREFIX: String(urls[queueVariable(FIRST_QUEUE)]).slice(0, -FIRST_QUEUE.length),
    QUEUE_ARN_PREFIX: queueArn(""),
  };
}

/** Finds our table in another DynamoDB: that of an earlier start, else one with the usual name if the name is free. */
export async function remoteTable({ dynamodb }: Pick<Services, "dynamodb">, state: State, ids: Ids): Promise<string> {
  const found = state.read<string>("remote-table");
  if (found) return found;
  const taken = await unlessThere("ResourceNotFoundException", () =>
    dynamodb.operate("DescribeTable", { TableName: TABLE }),
  );
  const table = taken ? `${TABLE}-${ids.bytes(4).toString("hex")}` : TABLE;
  state.write("remote-table", table);
  return table;
}

function tableInput(table: string): Wire {
  const { partitionKey, sortKey, indexes, stream } = tableDefinition;
  const schema = (pk: string, sk: string) => [
    { AttributeName: pk, KeyType: "HASH" },
    { AttributeName: sk, KeyType: "RANGE" },
  ];
  const names = [partitionKey, sortKey, ...Object.keys(indexes).flatMap((prefix) => [`${prefix}pk`, `${prefix}sk`])];
  return {
    TableName: table,
    BillingMode: "PAY_PER_REQUEST",
    KeySchema: schema(partitionKey, sortKey),
    AttributeDefinitions: names.map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
    GlobalSecondaryIndexes: Object.entries(indexes).map(([prefix, { name, projection }]) => ({
      IndexName: name,
      KeySchema: schema(`${prefix}pk`, `${prefix}sk`),
      Projection: { ProjectionType: projection },
    })),
    StreamSpecification: { StreamEnabled: true, StreamViewType: stream },
  };
}

const sweepSchedule = (): Wire => ({
  Name: SWEEP,
  GroupName: SCHEDULE_GROUP,
  ScheduleExpression: SWEEP_EVERY,
  FlexibleTimeWindow: { Mode: "OFF" },
  Target: { Arn: queueArn("due"), RoleArn: SCHEDULER_ROLE, Input: JSON.stringify({ kind: "sweep" }) },
});

async function makeKey(kms: Services["kms"], alias: string, spec: Wire): Promise<void> {
  const found = await unlessThere("NotFoundException", () => kms.operate("DescribeKey", { KeyId: alias }));
  if (found) return;
  const { KeyMetadata } = (await kms.operate("CreateKey", spec)) as { KeyMetadata: { KeyId: string } };
  await kms.operate("CreateAlias", { AliasName: alias, TargetKeyId: KeyMetadata.KeyId });
}

async function unlessThere(failure: string, make: () => Promise<Wire | undefined>): Promise<Wire | undefined> {
  try {
    return await make();
  } catch (error) {
    if (isAwsFailure(error) && error.name === failure) return undefined;
    throw error;
  }
}

const MAIL_QUEUE: QueueName = "mail-event";
const mailDetailTypes: Partial<Record<SesEvent["eventType"], string>> = {
  Delivery: "Email Delivered",
  Bounce: "Email Bounced",
  Complaint: "Email Complaint Received",
};

/** EventBridge between SES and the queue of mail events: the same envelope, for the events that the stack subscribes to. */
export function mailEventsTo(sqs: Pick<Sqs, "operate">, { clock, ids }: { clock: Clock; ids: Ids }) {
  return async (detail: SesEvent): Promise<void> => {
    const type = mailDetailTypes[detail.eventType];
    if (!type) return;
    const { QueueUrl } = await sqs.operate("GetQueueUrl", { QueueName: MAIL_QUEUE });
    const envelope = {
      version: "0",
      id: ids.uuid(),
      "detail-type": type,
      source: "aws.ses",
      account: ACCOUNT,
      time: new Date(clock.now()).toISOString(),
      region: REGION,
      resources: [],
      detail,
    };
    await sqs.operate("SendMessage", { QueueUrl, MessageBody: JSON.stringify(envelope) });
  };
}

/** A sweep skips the last three minutes, whose due rows are still being forwarded. */
const SWEPT_MINUTES_AGO = 4;

/** A new table has no timers of the past: its first sweep would look back an hour, in hundreds of queries. */
export async function beginSweeps(deps: Deps): Promise<void> {
  const minute = minuteOf(deps.clock.now()) - SWEPT_MINUTES_AGO;
  await platformWrite.open(deps)(NO_TENANT).put(SweepItem, {}, { minute });
}
