// The way of each alarm, from what emits its metric to the mail that is sent (D1).
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Statement } from "../../local/topics.ts";
import { counted, dimensionOf, NAMESPACE, withMetrics } from "../../shared/runtime/metrics.ts";
import { mailOf } from "./support/alarm-account.ts";
import { EVERYTHING, ofType, type Resource, type Template, textOf, whole } from "./support/template.ts";

interface WatchedMetric {
  Namespace: string;
  MetricName: string;
  Dimensions?: { Name: string; Value: unknown }[];
}

/** What AWS reports, by the names of its dimensions (AWS's documentation of each service). */
const reported: Readonly<Record<string, readonly string[]>> = {
  "AWS/ApiGateway 5xx": ["ApiId"],
  "AWS/CloudFront 5xxErrorRate": ["DistributionId,Region"],
  "AWS/CloudFront Requests": ["DistributionId,Region"],
  "AWS/DynamoDB ReadThrottleEvents": ["TableName", "GlobalSecondaryIndexName,TableName"],
  "AWS/DynamoDB WriteThrottleEvents": ["TableName", "GlobalSecondaryIndexName,TableName"],
  "AWS/Lambda ConcurrentExecutions": ["", "FunctionName"],
  "AWS/Lambda Errors": ["", "FunctionName"],
  "AWS/Lambda IteratorAge": ["FunctionName"],
  "AWS/Lambda Throttles": ["", "FunctionName"],
  "AWS/SES Reputation.BounceRate": [""],
  "AWS/SES Reputation.ComplaintRate": [""],
  "AWS/SQS ApproximateAgeOfOldestMessage": ["QueueName"],
  "AWS/SQS ApproximateNumberOfMessagesVisible": ["QueueName"],
  "AWS/Scheduler TargetErrorCount": ["ScheduleGroup"],
};

/** The type of the resource that a dimension names. */
const named: Readonly<Record<string, string>> = {
  ApiId: "AWS::ApiGatewayV2::Api",
  DistributionId: "AWS::CloudFront::Distribution",
  FunctionName: "AWS::Lambda::Function",
  QueueName: "AWS::SQS::Queue",
  ScheduleGroup: "AWS::Scheduler::ScheduleGroup",
  TableName: "AWS::DynamoDB::Table",
};

const sources = ["functions", "shared"].flatMap((folder) => {
  const root = new URL(`../../${folder}/`, import.meta.url);
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".gen.ts") && file !== "runtime/metrics.ts")
    .map((file) => readFileSync(new URL(file, root), "utf8"));
});

const metricsOf = ({ Properties }: Resource): WatchedMetric[] =>
  (Properties.Metrics ?? [{ MetricStat: { Metric: Properties } }]).flatMap(
    ({ MetricStat }: { MetricStat?: { Metric: WatchedMetric } }) => (MetricStat ? [MetricStat.Metric] : []),
  );

/** Why a metric has no data ever; undefined where something emits it. */
function silence(template: Template, { Namespace, MetricName, Dimensions = [] }: WatchedMetric): string | undefined {
  if (Namespace === NAMESPACE) return ownSilence(MetricName, Dimensions);
  const dimensions = Dimensions.map(({ Name }) => Name).sort();
  if (!reported[`${Namespace} ${MetricName}`]?.includes(dimensions.join())) return "AWS reports no such metric";
  for (const { Name, Value } of Dimensions) {
    const type = named[Name];
    if (type === undefined) continue;
    const ids = ofType(template, type).filter(
      ([id, { Properties }]) =>
        textOf(Value).startsWith(`<${id}`) || JSON.stringify(Properties.Name) === JSON.stringify(Value),
    );
    if (ids.length !== 1) return `${Name} names no ${type} of the template`;
  }
  return undefined;
}

/** A line of our log emits it under this name and dimension, and our code writes that line. */
function ownSilence(name: string, dimensions: { Name: string; Value: unknown }[]): string | undefined {
  const [message, { by } = { by: "" }] = Object.entries(counted).find(([, { metric }]) => metric === name) ?? [];
  if (message === undefined) return "no line of the log is counted under this name";
  const written = sources.some((source) => source.includes(`"${message}"`));
  if (!written) return `no code writes "${message}"`;

  const value = dimensions[0]?.Value;
  const emitted = withMetrics({ level: "warn", message, [by]: value } as never, 0) as Record<string, unknown>;
  const { CloudWatchMetrics } = emitted._aws as { CloudWatchMetrics: object[] };
  const declared = { Namespace: NAMESPACE, Dimensions: [dimensions.map(({ Name }) => Name)] };
  expect(CloudWatchMetrics).toEqual([{ ...declared, Metrics: [{ Name: name, Unit: "Count" }] }]);
  expect(emitted).toMatchObject({ [dimensionOf(by)]: value, [name]: 1 });
  return undefined;
}

const alarms = () => ofType(whole(), "AWS::CloudWatch::Alarm");

it("each alarm watches metrics that AWS or our own log emits under that very name and dimension (D1)", () => {
  const silent = alarms().flatMap(([id, alarm]) =>
    metricsOf(alarm).flatMap((metric) => {
      const why = silence(whole(), metric);
      return why === undefined ? [] : [`${id}: ${metric.MetricName}: ${why}`];
    }),
  );
  expect(silent).toEqual([]);
});

it("each alarm is switched on, and its topic takes what CloudWatch publishes to an address (D1)", () => {
  for (const [id, { Properties }] of alarms()) {
    expect([id, Properties.ActionsEnabled ?? true, Properties.AlarmActions.length]).toEqual([id, true, 1]);
    expect([id, mailOf(whole(), Properties.AlarmActions[0].Ref)]).toEqual([
      id,
      { kind: "mailed", to: [EVERYTHING.alarmEmail] },
    ]);
  }
});

it("a topic whose policy only denies, one without an address, and one with a key of its own are found (D1)", () => {
  const template = whole();
  const [[topic] = []] = ofType(template, "AWS::SNS::Topic");
  const [[policy, { Properties }] = [] as never] = ofType(template, "AWS::SNS::TopicPolicy");
  const [[subscription] = []] = ofType(template, "AWS::SNS::Subscription");
  const lost = (reason: string) => ({ kind: "lost", reason });
  const problemWith = (id: string, changes: object) => {
    const { Resources } = template;
    const changed = { ...Resources, [id]: { ...Resources[id]!, ...changes } };
    return mailOf({ ...template, Resources: changed }, topic!);
  };
  const denies = Properties.PolicyDocument.Statement.filter(({ Effect }: Statement) => Effect === "Deny");
  expect(denies).toHaveLength(1);
  const onlyDenies = { Properties: { ...Properties, PolicyDocument: { Statement: denies } } };
  expect(problemWith(policy, onlyDenies)).toEqual(lost("CloudWatch may not publish"));
  expect(problemWith(subscription!, { Type: "none" })).toEqual(lost("nobody is subscribed to the topic"));
  const withKey = { Properties: { KmsMasterKeyId: { Ref: "none" } } };
  expect(problemWith(topic!, withKey)).toEqual(lost("CloudWatch may not use the key of the topic"));
});
