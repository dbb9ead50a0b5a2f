// The metrics that the alarms of a template watch: log lines count them, in CloudWatch's embedded metric format, or AWS does.
import { SECOND } from "../shared/kernel/clock.ts";
import type { LogEntry } from "../shared/kernel/deps.ts";
import type { Counted } from "./account-metrics.ts";
import { type LocalStack, textIn } from "./template.ts";

interface Metric {
  Namespace: string;
  MetricName: string;
  Dimensions?: { Name: string; Value: unknown }[];
}

/** The definition of an alarm in the template, as CloudFormation spells it. */
export interface Definition extends Partial<Metric> {
  AlarmDescription?: string;
  AlarmActions?: unknown[];
  ActionsEnabled?: boolean;
  Metrics?: { Id: string; Expression?: string; ReturnData?: boolean; MetricStat?: Stat & { Metric: Metric } }[];
  Period?: number;
  Statistic?: string;
  Threshold: number;
  EvaluationPeriods: number;
  DatapointsToAlarm?: number;
  ComparisonOperator: string;
}

interface Stat {
  /** Seconds. */
  Period: number;
  Stat: string;
}

export interface Point {
  at: number;
  value: number;
}

export const comparisons: Readonly<Record<string, (value: number, threshold: number) => boolean>> = {
  GreaterThanThreshold: (value, threshold) => value > threshold,
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
  LessThanOrEqualToThreshold: (value, threshold) => value <= threshold,
};

const keyOf = (namespace: unknown, name: unknown, dimensions: [name: string, value: unknown][]) =>
  [namespace, name, ...dimensions.map(([dimension, value]) => `${dimension}=${value}`).sort()].join(" ");

export const keyOfMetric = ({ Namespace, MetricName, Dimensions = [] }: Partial<Metric>) =>
  keyOf(
    Namespace,
    MetricName,
    Dimensions.map(({ Name, Value }) => [Name, textIn(Value)]),
  );

/** The data points that a line of the log adds. */
export function pointsOf(line: LogEntry): [key: string, point: Point][] {
  const { _aws } = line as { _aws?: { Timestamp: number; CloudWatchMetrics: EmbeddedMetric[] } };
  return (_aws?.CloudWatchMetrics ?? []).flatMap(({ Namespace, Dimensions, Metrics }) =>
    Dimensions.flatMap((names) =>
      Metrics.map(({ Name }): [string, Point] => [
        keyOf(
          Namespace,
          Name,
          names.map((name) => [name, line[name]]),
        ),
        { at: _aws!.Timestamp, value: Number(line[Name]) },
      ]),
    ),
  );
}

/** Dimensions that name the one resource of their kind. */
const ofTheOnly = ["ApiId", "TableName", "ScheduleGroup"];

/**
 * What is counted in the account under a metric of the template; undefined where nothing is. A resource is called there as in the
 * template, without the name of the stack that stands before.
 */
export function countedAs({ name, template }: LocalStack, { Namespace, MetricName, Dimensions = [] }: Partial<Metric>) {
  const [dimension, ...more] = Dimensions;
  if (more.length > 0) return undefined;
  const resourceOf = (value: unknown) => template.Resources[textIn(value).split(".")[0]!]?.Properties ?? {};
  const { FunctionName, QueueName = FunctionName } = resourceOf(dimension?.Value ?? "");
  const of = !dimension || ofTheOnly.includes(dimension.Name) ? "" : textIn(QueueName).slice(name.length + 1);
  return [Namespace, MetricName, of].join(" ");
}

export const keyOfCounted = ({ namespace, name, of = "" }: Counted) => [namespace, name, of].join(" ");

interface EmbeddedMetric {
  Namespace: string;
  Dimensions: string[][];
  Metrics: { Name: string }[];
}

type Points = ReadonlyMap<string, readonly Point[]>;

/** The sum or the maximum of a metric in a period that ended so many periods ago; undefined without data. */
function statisticIn(
  points: Points,
  { metric, Period: periodSeconds, Stat }: WatchedMetric,
  now: number,
  ago: number,
): number | undefined {
  const end = now - ago * periodSeconds * SECOND;
  const within = (points.get(keyOfMetric(metric)) ?? []).filter(
    ({ at }) => at <= end && at > end - periodSeconds * SECOND,
  );
  const values = within.map(({ value }) => value);
  if (values.length === 0) return undefined;
  if (Stat === "Maximum") return Math.max(...values);
  return Stat === "Sum" ? values.reduce((sum, value) => sum + value, 0) : undefined;
}

interface WatchedMetric {
  id: string | undefined;
  metric: Partial<Metric>;
  Period: number;
  Stat: string | undefined;
}

export function metricsOf({ Metrics, Period = 0, Statistic, ...metric }: Definition): WatchedMetric[] {
  if (!Metrics) return [{ id: undefined, metric, Period, Stat: Statistic }];
  return Metrics.flatMap(({ Id: id, MetricStat }) =>
    MetricStat ? [{ id, metric: MetricStat.Metric, Period: MetricStat.Period, Stat: MetricStat.Stat }] : [],
  );
}

/**
 * An alarm's value in a period that ended so many periods ago: of one metric, or of a sum of metrics, where a metric
 * without data counts as zero. What CloudFront and SES count has no data here.
 */
export function valueIn(definition: Definition, points: Points, now: number, ago: number): number | undefined {
  const sums = metricsOf(definition).map((watched) => ({
    term: `FILL(${watched.id}, 0)`,
    sum: statisticIn(points, watched, now, ago),
  }));
  const { Expression } = definition.Metrics?.find(({ ReturnData }) => ReturnData) ?? {};
  if (Expression === undefined) return sums[0]?.sum;
  const isSum = Expression === sums.map(({ term }) => term).join(" + ");
  return isSum ? sums.reduce((all, { sum = 0 }) => all + sum, 0) : undefined;
}
