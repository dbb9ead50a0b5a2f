// What would happen to the resources of a stack that was deployed from the recorded template (docs/operate.md).
import { readFileSync } from "node:fs";
import type { Resource, Template } from "./template.ts";

/** Properties of which another value makes CloudFormation create another resource: those of @aws-cdk/aws-service-spec 0.1.216. */
const replacing: Readonly<Record<string, readonly string[]>> = {
  "AWS::ApiGatewayV2::Api": ["ProtocolType"],
  "AWS::ApiGatewayV2::Stage": ["ApiId", "StageName"],
  "AWS::Budgets::Budget": ["NotificationsWithSubscribers"],
  "AWS::CloudFormation::CustomResource": ["ServiceToken"],
  "AWS::CloudFront::CachePolicy": [],
  "AWS::CloudFront::Distribution": [],
  "AWS::CloudFront::Function": ["Name"],
  "AWS::CloudFront::OriginAccessControl": [],
  "AWS::CloudFront::ResponseHeadersPolicy": [],
  "AWS::CloudWatch::Alarm": ["AlarmName"],
  "AWS::CloudWatch::Dashboard": ["DashboardName"],
  "AWS::DynamoDB::Table": ["ImportSourceSpecification", "KeySchema", "TableName"],
  "AWS::Events::Rule": ["EventBusName", "Name"],
  "AWS::IAM::Role": ["Path", "RoleName"],
  "AWS::KMS::Key": [],
  "AWS::Lambda::EventSourceMapping": [
    "AmazonManagedKafkaEventSourceConfig",
    "EventSourceArn",
    "SelfManagedEventSource",
    "SelfManagedKafkaEventSourceConfig",
    "StartingPosition",
    "StartingPositionTimestamp",
  ],
  "AWS::Lambda::Function": ["FunctionName", "PackageType", "TenancyConfig"],
  "AWS::Lambda::Permission": [
    "Action",
    "EventSourceToken",
    "FunctionName",
    "FunctionUrlAuthType",
    "InvokedViaFunctionUrl",
    "Principal",
    "PrincipalOrgID",
    "SourceAccount",
    "SourceArn",
  ],
  "AWS::Lambda::Url": ["Qualifier", "TargetFunctionArn"],
  "AWS::Logs::LogGroup": ["LogGroupName"],
  "AWS::Logs::QueryDefinition": [],
  "AWS::S3::Bucket": ["BucketName", "BucketNamePrefix", "BucketNamespace", "ObjectLockEnabled"],
  "AWS::S3::BucketPolicy": ["Bucket"],
  "AWS::SES::ConfigurationSet": ["Name"],
  "AWS::SES::ConfigurationSetEventDestination": ["ConfigurationSetName"],
  "AWS::SES::EmailIdentity": ["EmailIdentity"],
  "AWS::SNS::Subscription": ["Endpoint", "Protocol", "TopicArn"],
  "AWS::SNS::Topic": ["FifoTopic", "TopicName"],
  "AWS::SNS::TopicPolicy": [],
  "AWS::SQS::Queue": ["FifoQueue", "QueueName"],
  "AWS::SQS::QueuePolicy": [],
  "AWS::SSM::Parameter": ["Name"],
  "AWS::Scheduler::Schedule": ["Name"],
  "AWS::Scheduler::ScheduleGroup": ["Name"],
};

export const RECORD = new URL("../deployed-resources.json", import.meta.url);

interface RecordedResource {
  type: string;
  /** The properties that cannot change in place, as they are in the template. */
  fixed: Record<string, unknown>;
  /** What becomes of it when it is no longer in the template. */
  kept?: string;
}
type Resources = Readonly<Record<string, RecordedResource>>;

/** @throws an error with the type whose properties are not known here */
export const resourcesOf = ({ Resources }: Pick<Template, "Resources">): Resources =>
  Object.fromEntries(Object.entries(Resources).map(([id, resource]) => [id, recordedOf(resource)]));

function recordedOf({ Type, Properties = {}, DeletionPolicy }: Resource): RecordedResource {
  const names = replacing[Type];
  if (names === undefined) throw new Error(`Which properties of a ${Type} replace it is to be said in this file.`);
  const fixed = Object.fromEntries(names.flatMap((name) => (name in Properties ? [[name, Properties[name]]] : [])));
  return { type: Type, fixed, ...(DeletionPolicy !== undefined && { kept: DeletionPolicy }) };
}

export const recorded = (): Resources =>
  (JSON.parse(readFileSync(RECORD, "utf8")) as { resources: Resources }).resources;

interface Change {
  id: string;
  type: string;
  kind: "replaced" | "removed";
  /** The properties that replace it. */
  because: string[];
  /** Why CloudFormation would stop, in the update or in its rollback. */
  stops?: string;
}

/** What an update from `before` to `after` replaces or removes. The way back is the same with both exchanged. */
export function changesBetween(before: Resources, after: Resources): Change[] {
  const nameAfter = new Map(Object.entries(after).flatMap(([id, one]) => namesOf(one).map((name) => [name, id])));
  return Object.entries(before).flatMap(([id, old]) => {
    const now = after[id]?.type === old.type ? after[id] : undefined;
    const because = now ? differing(old.fixed, now.fixed) : [];
    if (now && because.length === 0) return [];
    // The new one is created before the old one is deleted, and what is retained is never deleted.
    const taken = namesOf(old).find((name) => nameAfter.has(name));
    const change: Change = { id, type: old.type, kind: now ? "replaced" : "removed", because };
    return [taken === undefined ? change : { ...change, stops: `the name ${taken} is taken` }];
  });
}

const differing = (before: Record<string, unknown>, after: Record<string, unknown>): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );

/** Names that are given, not made by CloudFormation, of which there can be one in an account and region. */
const namesOf = ({ type, fixed }: RecordedResource): string[] =>
  Object.entries(fixed)
    .filter(([name, value]) => OWN_NAMES.has(`${type}.${name}`) && value !== undefined)
    .map(([name, value]) => `${type}.${name} ${JSON.stringify(value)}`);

const OWN_NAMES = new Set([
  "AWS::CloudFront::Function.Name",
  "AWS::CloudWatch::Dashboard.DashboardName",
  "AWS::Lambda::Function.FunctionName",
  "AWS::Logs::LogGroup.LogGroupName",
  "AWS::SES::ConfigurationSet.Name",
  "AWS::SES::EmailIdentity.EmailIdentity",
  "AWS::SQS::Queue.QueueName",
  "AWS::SSM::Parameter.Name",
  "AWS::Scheduler::Schedule.Name",
  "AWS::Scheduler::ScheduleGroup.Name",
]);
