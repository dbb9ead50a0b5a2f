// Alarms. The description of each says what users lose while it rings.
import { Duration, type Stack } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, type IMetric, Metric, Stats, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import type { Api } from "./api.ts";
import { type Contents, logicalIdOf } from "./functions.ts";
import type { Lambdas } from "./lambdas.ts";
import { type Queues, STREAM_WORKER } from "./queues.ts";
import type { Settings } from "./settings.ts";

const PERIOD = Duration.minutes(5);
/** More server errors than this in five minutes are not transient. */
const FEW_ERRORS = 5;
/** How old the oldest unhandled write may be, in milliseconds. */
const OLDEST_REACTION_MS = 5 * 60_000;

interface Watched {
  declared: Contents;
  queues: Queues;
  lambdas: Lambdas;
  api: Api;
}

interface Warning {
  id: string;
  metric: IMetric;
  above: number;
  /** What users lose, and what to do. */
  lost: string;
}

export function addAlarms(stack: Stack, { alarmEmail }: Settings, watched: Watched): void {
  const actions = alarmEmail === undefined ? [] : [new SnsAction(mailTo(stack, alarmEmail))];
  for (const { id, metric, above, lost } of warnings(watched)) {
    const alarm = new Alarm(stack, `${id}Alarm`, {
      alarmDescription: lost,
      metric,
      threshold: above,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(...actions);
  }
}

function mailTo(stack: Stack, address: string): Topic {
  const topic = new Topic(stack, "AlarmTopic", { enforceSSL: true });
  topic.addSubscription(new EmailSubscription(address));
  return topic;
}

function warnings({ declared, queues, lambdas, api }: Watched): Warning[] {
  const stream = lambdas.get(declared.stream.name)!;
  const sum = { statistic: Stats.SUM, period: PERIOD };
  return [
    ...[...queues.dead].map(([name, queue]) => ({
      id: `${logicalIdOf(name)}Dead`,
      metric: queue.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, period: PERIOD }),
      above: 0,
      lost: deadSentence(declared, name),
    })),
    {
      id: "ReactionsLate",
      metric: lambdas.get(STREAM_WORKER)!.metric("IteratorAge", { statistic: Stats.MAXIMUM, period: PERIOD }),
      above: OLDEST_REACTION_MS,
      lost: "Writes have no effect yet: accepted sends do not start, timers are not set, erasures wait. After 24 hours the stream drops its records.",
    },
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
      metric: stream.metricErrors(sum),
      above: FEW_ERRORS,
      lost: "Open apps see no new in-app messages until they read the inbox. The messages themselves are stored.",
    },
    {
      id: "StreamFull",
      metric: stream.metricThrottles(sum),
      above: 0,
      lost: "Users who open the app now get no live stream, because all streams are in use. Their inbox still works.",
    },
  ];
}

const MAILS_UNKNOWN =
  "The outcomes of some mails are not recorded: bounces and complaints wait in the dead-letter queue, and their addresses still get mail.";

function deadSentence({ workers }: Contents, name: string): string {
  if (name === "mail-event") return MAILS_UNKNOWN;
  const about = workers.find((worker) => worker.name === name)?.about ?? name;
  return `${about} Some messages used up their attempts and wait in the dead-letter queue: their subscribers get nothing until they are sent again (docs/deploy.md, "When an alarm rings").`;
}

export const apiMetric = (api: Api, metricName: string, options: { statistic: string; period: Duration }): Metric =>
  new Metric({ namespace: "AWS/ApiGateway", metricName, dimensionsMap: { ApiId: api.id }, ...options });
