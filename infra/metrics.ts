// The metrics that alarms and the dashboard read: those of AWS, and those that lines of the log count.
import { Duration } from "aws-cdk-lib";
import { type IMetric, MathExpression, Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { counted, dimensionOf, NAMESPACE } from "../shared/runtime/metrics.ts";
import { tableDefinition } from "../shared/store/definition.ts";
import type { Api } from "./api.ts";

export const PERIOD = Duration.minutes(5);

/**
 * Throttled reads and writes of the table, and writes that a full index refuses, which the table does not count.
 * Throttled
 * reads of an index have no metric here, which would cost 0.10 dollars each: their requests fail, and other alarms count those.
 */
export function throttlesOf(TableName: string): MathExpression {
  const throttled = (metricName: string, index: Record<string, string> = {}) => {
    const dimensionsMap = { TableName, ...index };
    return new Metric({ namespace: "AWS/DynamoDB", metricName, dimensionsMap, statistic: Stats.SUM, period: PERIOD });
  };
  const ofIndexes = Object.entries(tableDefinition.indexes).map(([id, { name: GlobalSecondaryIndexName }]) => [
    id,
    throttled("WriteThrottleEvents", { GlobalSecondaryIndexName }),
  ]);
  const usingMetrics: Record<string, Metric> = {
    reads: throttled("ReadThrottleEvents"),
    writes: throttled("WriteThrottleEvents"),
    ...Object.fromEntries(ofIndexes),
  };
  return sumOf(usingMetrics);
}

/** Some metrics have data only when something happened, and without data an alarm on DynamoDB keeps its state. */
export function sumOf(usingMetrics: Record<string, IMetric>): MathExpression {
  const expression = Object.keys(usingMetrics)
    .map((id) => `FILL(${id}, 0)`)
    .join(" + ");
  return new MathExpression({ expression, usingMetrics, period: PERIOD });
}

/** A metric that lines of the log count. @param value of the metric's dimension */
export function ownMetric(message: keyof typeof counted, value: string): Metric {
  const { metric: metricName, by } = counted[message]!;
  const dimensionsMap = { [dimensionOf(by)]: value };
  return new Metric({ namespace: NAMESPACE, metricName, dimensionsMap, statistic: Stats.SUM, period: PERIOD });
}

export const apiMetric = (api: Api, metricName: string, options: { statistic: string; period: Duration }): Metric =>
  new Metric({ namespace: "AWS/ApiGateway", metricName, dimensionsMap: { ApiId: api.id }, ...options });
