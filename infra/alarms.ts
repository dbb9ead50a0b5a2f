// Alarms. The description of each says what users lose while it rings.
import { Aws, CfnCondition, Fn, type Stack } from "aws-cdk-lib";
import { CfnBudget } from "aws-cdk-lib/aws-budgets";
import {
  Alarm,
  type CfnAlarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  Stats,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { PUBLISHER, STREAM_WORKER } from "../shared/contract/messages.ts";
import { streamSources } from "../shared/contract/stream-sources.ts";
import { HOUR } from "../shared/kernel/clock.ts";
import type { Api } from "./api.ts";
import type { Contents } from "./functions.ts";
import type { Lambdas } from "./lambdas.ts";
import { apiMetric, ownMetric, PERIOD, sumOf, throttlesOf } from "./metrics.ts";
import { logicalIdOf, lookUp } from "./names.ts";
import type { Queues } from "./queues.ts";
import type { Schedules } from "./schedules.ts";
import type { Settings } from "./settings.ts";
import type { Storage } from "./storage.ts";

/** More server errors than this in five minutes are not transient. */
const FEW_ERRORS = 5;
/** How old the oldest unhandled write may be, in milliseconds. */
const OLDEST_REACTION_MS = 5 * 60_000;
/** How old the oldest unpublished write may be, in milliseconds: the archive gathers writes for less than that. */
const OLDEST_PUBLISHED_MS = 30 * 60_000;
/** How old the oldest message of a queue may be, in seconds: twice the longest delay of a message. */
const OLDEST_MESSAGE_SECONDS = 30 * 60;
/** Requests that CloudFront answered with an error of the service, in percent. */
const FAILED_PERCENT = 5;
/** With fewer requests in five minutes, one failure is no sign of a fault. */
const MANY_REQUESTS = 100;
/** SES reviews an account at a bounce rate of 0.05 and a complaint rate of 0.001. */
const BOUNCE_RATE = 0.04;
const COMPLAINT_RATE = 0.0008;
/** The share of the account's Lambda concurrency that raises an alarm. */
const NEAR_LIMIT = 0.8;
/** Percent of the budget at which a mail is sent, of what was spent and of what is forecast. */
const BUDGET_SPENT = 80;
const BUDGET_FORECAST = 100;

const sum = { statistic: Stats.SUM, period: PERIOD };
const maximum = { statistic: Stats.MAXIMUM, period: PERIOD };

interface WatchedResources {
  declared: Contents;
  queues: Queues;
  lambdas: Lambdas;
  api: Api;
  storage: Storage;
  schedules: Schedules;
  distributionId: string;
}

interface Warning {
  id: string;
  metric: IMetric;
  above: number;
  /** What users lose while it rings, and what the operator does. */
  lost: string;
  /**
   * The only region in which it exists: The only region in which it exists: CloudFront reports its metrics there and
   * nowhere else.
   */
  onlyIn?: "us-east-1";
}

export function addAlarms(stack: Stack, settings: Settings, watched: WatchedResources): void {
  const { alarmEmail, monthlyBudget } = settings;
  const actions = alarmEmail === undefined ? [] : [new SnsAction(mailTo(stack, alarmEmail))];
  const regions = new Map<string, CfnCondition>();
  for (const { id, metric, above, lost, onlyIn } of [...warnings(watched), ...warningsOfAccount(settings, watched)]) {
    const alarm = new Alarm(stack, `${id}Alarm`, {
      alarmDescription: lost,
      metric,
      threshold: above,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(...actions);
    if (onlyIn === undefined) continue;
    const expression = Fn.conditionEquals(Aws.REGION, onlyIn);
    const condition = regions.get(onlyIn) ?? new CfnCondition(stack, `Is${onlyIn}`, { expression });
    regions.set(onlyIn, condition);
    (alarm.node.defaultChild as CfnAlarm).cfnOptions.condition = condition;
  }
  if (alarmEmail !== undefined && monthlyBudget !== undefined) addBudget(stack, alarmEmail, monthlyBudget);
}

/** A budget of the whole account, because AWS cannot limit one to a stack. */
function addBudget(stack: Stack, address: string, amount: number): void {
  const subscribers = [{ subscriptionType: "EMAIL", address }];
  const above = (notificationType: string, threshold: number) => ({
    notification: { notificationType, comparisonOperator: "GREATER_THAN", threshold, thresholdType: "PERCENTAGE" },
    subscribers,
  });
  new CfnBudget(stack, "Budget", {
    budget: { budgetType: "COST", timeUnit: "MONTHLY", budgetLimit: { amount, unit: "USD" } },
    notificationsWithSubscribers: [above("ACTUAL", BUDGET_SPENT), above("FORECASTED", BUDGET_FORECAST)],
  });
}

function mailTo(stack: Stack, address: string): Topic {
  const topic = new Topic(stack, "AlarmTopic", { enforceSSL: true });
  // This policy replaces the default one, which lets services of the account publish.
  topic.addToResourcePolicy(
    new PolicyStatement({
      sid: "AlarmsPublish",
      principals: [new ServicePrincipal("cloudwatch.amazonaws.com")],
      actions: ["sns:Publish"],
      resources: [topic.topicArn],
      conditions: { StringEquals: { "aws:SourceAccount": Aws.ACCOUNT_ID } },
    }),
  );
  topic.addSubscription(new EmailSubscription(address));
  return topic;
}

/** Tells where the stream's records are that a worker did not handle. */
function givenUp(worker: string): string {
  const source = streamSources({ bus: true, archive: true }).find((streamSource) => streamSource.worker === worker);
  if (!source) throw new Error(`${worker} has no records of the stream.`);
  return `After ${source.maxRecordAgeMs / HOUR} hours the records go to a bucket and a dead-letter queue (docs/operate.md).`;
}

function warnings({ declared, queues, lambdas, api }: WatchedResources): Warning[] {
  const stream = lookUp(lambdas, declared.stream.name);
  const publisher = lambdas.get(PUBLISHER);
  return [
    ...[...queues.dead].map(([name, queue]) => ({
      id: `${logicalIdOf(name)}Dead`,
      metric: queue.metricApproximateNumberOfMessagesVisible(maximum),
      above: 0,
      lost: deadSentence(declared, name),
    })),
    {
      id: "ReactionsLate",
      metric: lookUp(lambdas, STREAM_WORKER).metric("IteratorAge", maximum),
      above: OLDEST_REACTION_MS,
      lost: `Writes have no effect yet: accepted sends do not start, timers are not set, erasures wait. ${givenUp(STREAM_WORKER)}`,
    },
    ...(publisher === undefined
      ? []
      : [
          {
            id: "PublishedLate",
            metric: publisher.metric("IteratorAge", maximum),
            above: OLDEST_PUBLISHED_MS,
            lost: `What happened does not reach the account's event bus or archive. Messages go on. ${givenUp(PUBLISHER)}`,
          },
        ]),
    {
      id: "ApiFails",
      metric: apiMetric(api, "5xx", sum),
      above: FEW_ERRORS,
      lost: "Callers get errors for correct requests: subscribers are not recorded, sends are not accepted.",
    },
    {
      id: "Throttled",
      metric: new Metric({ namespace: "AWS/Lambda", metricName: "Throttles", ...sum }),
      above: FEW_ERRORS,
      lost: "The account's Lambda concurrency is used up: requests get 503 and messages go out late. Request a higher limit from AWS, or reserve less for live streams.",
    },
    {
      id: "StreamFails",
      metric: sumOf({
        errors: stream.metricErrors(sum),
        unopened: ownMetric("a stream could not open", "500"),
        broken: ownMetric("a stream ended with an error", "warn"),
      }),
      above: FEW_ERRORS,
      lost: "Open apps see no new in-app messages until they read the inbox. The messages themselves are stored.",
    },
    {
      id: "StreamFull",
      metric: sumOf({ throttles: stream.metricThrottles(sum), refused: ownMetric("a stream could not open", "503") }),
      above: 0,
      lost: "Users who open the app now get no live stream, because all streams are in use, or DynamoDB throttles. Their inbox still works.",
    },
  ];
}

/** Alarms on limits of the account, and on the services around the functions. */
function warningsOfAccount({ accountConcurrency, emailIdentity }: Settings, watched: WatchedResources): Warning[] {
  const { queues, storage, schedules, distributionId } = watched;
  const edgeMetric = (metricName: string, statistic: string) =>
    new Metric({
      namespace: "AWS/CloudFront",
      metricName,
      dimensionsMap: { DistributionId: distributionId, Region: "Global" },
      statistic,
      period: PERIOD,
    });
  const reputation = (metricName: string) =>
    new Metric({ namespace: "AWS/SES", metricName: `Reputation.${metricName}`, ...maximum });
  return [
    ...[...queues.live].map(([name, queue]) => ({
      id: `${logicalIdOf(name)}Late`,
      metric: queue.metricApproximateAgeOfOldestMessage(maximum),
      above: OLDEST_MESSAGE_SECONDS,
      lost: `Messages for ${name} wait for more than half an hour: what they stand for is late for every workspace. Look at the errors and throttles of the function, and at workerConcurrency.`,
    })),
    {
      id: "TableThrottled",
      metric: throttlesOf(storage.table.tableName),
      above: FEW_ERRORS,
      lost: "DynamoDB throttles requests: callers wait or get 503, and messages go out late. Look for one workspace with far more load than the others, and raise warmThroughput before a large send.",
    },
    {
      id: "SchedulesFail",
      metric: new Metric({
        namespace: "AWS/Scheduler",
        metricName: "TargetErrorCount",
        dimensionsMap: { ScheduleGroup: schedules.group.name ?? schedules.group.ref },
        ...sum,
      }),
      above: 0,
      lost: "EventBridge Scheduler cannot reach the due queue: scheduled sends, journey delays and cron ticks wait for the sweep, which comes every five minutes, or never begin if it fails as well.",
    },
    {
      id: "NearConcurrency",
      metric: new Metric({ namespace: "AWS/Lambda", metricName: "ConcurrentExecutions", ...maximum }),
      above: Math.floor(accountConcurrency * NEAR_LIMIT),
      lost: "The account's Lambda concurrency is nearly used up: soon requests get 503, streams end and messages go out late. Request a higher limit from AWS.",
    },
    {
      id: "EdgeFails",
      metric: new MathExpression({
        expression: `IF(requests >= ${MANY_REQUESTS}, failed, 0)`,
        usingMetrics: {
          requests: edgeMetric("Requests", Stats.SUM),
          failed: edgeMetric("5xxErrorRate", Stats.AVERAGE),
        },
        label: "Requests that CloudFront answered with a server error, in percent",
        period: PERIOD,
      }),
      above: FAILED_PERCENT,
      lost: "CloudFront answers many requests with a server error: apps and backends cannot use the service, though its functions may be well.",
      onlyIn: "us-east-1",
    },
    ...(emailIdentity === undefined
      ? []
      : [
          {
            id: "MailsBounce",
            metric: reputation("BounceRate"),
            above: BOUNCE_RATE,
            lost: "Many mails bounce: above 5% SES reviews the account and may stop all of its mails. Pause the campaign whose addresses are old.",
          },
          {
            id: "MailsComplained",
            metric: reputation("ComplaintRate"),
            above: COMPLAINT_RATE,
            lost: "Many recipients report mails as spam: above 0.1% SES reviews the account and may stop all of its mails. Look at who was sent what without consent.",
          },
        ]),
  ];
}

const MAILS_UNKNOWN =
  "The outcomes of some mails are not recorded: bounces and complaints wait in the dead-letter queue, and their addresses still get mail.";

const NOT_PUBLISHED =
  "What happened was not published for 23 hours, or the event bus refuses it for good: its records wait in a bucket, for 30 days, until they are redriven (docs/operate.md). Messages went on.";

function deadSentence({ workers }: Contents, name: string): string {
  if (name === "mail-event") return MAILS_UNKNOWN;
  if (name === PUBLISHER) return NOT_PUBLISHED;
  const about = workers.find((worker) => worker.name === name)?.about ?? name;
  return `${about} Some messages used up their attempts and wait in the dead-letter queue: their subscribers get nothing until they are sent again (docs/operate.md).`;
}
