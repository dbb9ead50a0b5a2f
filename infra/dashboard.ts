// What an operator opens in the console of AWS: a dashboard, and saved queries of the logs (docs/operate.md).
import type { Stack } from "aws-cdk-lib";
import { Dashboard, GraphWidget, type IMetric, type IWidget, MathExpression, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { CfnQueryDefinition } from "aws-cdk-lib/aws-logs";
import { isOfStream } from "../shared/contract/messages.ts";
import { counted, dimensionOf, NAMESPACE } from "../shared/runtime/metrics.ts";
import type { Api } from "./api.ts";
import type { DeployedFunction } from "./functions.ts";
import type { Lambdas } from "./lambdas.ts";
import { apiMetric, PERIOD } from "./metrics.ts";
import { lookUp } from "./names.ts";
import type { Queues } from "./queues.ts";
import type { Settings } from "./settings.ts";
import type { Storage } from "./storage.ts";

const HALF = 12;

interface Shown {
  queues: Queues;
  lambdas: Lambdas;
  api: Api;
  storage: Storage;
}

export function addDashboard(stack: Stack, { stackName }: Settings, { queues, lambdas, api, storage }: Shown): void {
  const sum = { statistic: Stats.SUM, period: PERIOD };
  const maximum = { statistic: Stats.MAXIMUM, period: PERIOD };
  const slowest = { statistic: Stats.percentile(99), period: PERIOD };
  const graph = (title: string, left: IMetric[]) => new GraphWidget({ title, left, width: HALF });
  const functions = [...lambdas];
  const ofStream = functions.filter(([name]) => isOfStream(name));
  const age = ([label, lambda]: (typeof functions)[number]) => lambda.metric("IteratorAge", { ...maximum, label });
  const table = storage.table;

  /** One line for each value of the metric's dimension. CloudWatch searches the values when the dashboard is opened. */
  const widgets = Object.values(counted).map(({ metric, by }) =>
    graph(`${metric} by ${by}`, [
      new MathExpression({
        expression: `SEARCH('{${NAMESPACE},${dimensionOf(by)}} MetricName="${metric}"', 'Sum', ${PERIOD.toSeconds()})`,
        label: "",
        period: PERIOD,
      }),
    ]),
  );

  const rows: IWidget[][] = [
    [
      graph(
        "Requests and errors",
        ["Count", "4xx", "5xx"].map((name) => apiMetric(api, name, sum)),
      ),
      graph("Answer time, p99", [apiMetric(api, "Latency", slowest), apiMetric(api, "IntegrationLatency", slowest)]),
    ],
    [
      graph(
        "Errors by function",
        functions.map(([label, lambda]) => lambda.metricErrors({ ...sum, label })),
      ),
      graph(
        "Longest run by function",
        functions.map(([label, lambda]) => lambda.metricDuration({ ...maximum, label })),
      ),
    ],
    [
      graph(
        "Messages waiting",
        [...queues.live].map(([label, queue]) => queue.metricApproximateNumberOfMessagesVisible({ ...maximum, label })),
      ),
      graph(
        "Messages given up",
        [...queues.dead].map(([label, queue]) => queue.metricApproximateNumberOfMessagesVisible({ ...maximum, label })),
      ),
    ],
    [
      graph(
        "Oldest message, seconds",
        [...queues.live].map(([label, queue]) => queue.metricApproximateAgeOfOldestMessage({ ...maximum, label })),
      ),
      graph("Workers of the stream behind, ms", ofStream.map(age)),
    ],
    [
      graph("Table units", [table.metricConsumedReadCapacityUnits(sum), table.metricConsumedWriteCapacityUnits(sum)]),
      graph("Live streams open", [lookUp(lambdas, "stream").metric("ConcurrentExecutions", maximum)]),
    ],
    widgets.slice(0, 2),
    widgets.slice(2, 4),
    widgets.slice(4),
  ];
  // Dashboards belong to the account, not to a region.
  new Dashboard(stack, "Dashboard", { dashboardName: `${stackName}-${stack.region}`, widgets: rows });
}

/** The fields that a line of our log may have. */
const FIELDS =
  "fields @timestamp, @log, level, message, request_id, worker, message_id, tenant, route, status, ms, error, stack";
const NEWEST = "sort @timestamp desc\n| limit 200";
const FAILED = 'filter level in ["error", "ERROR", "warn", "WARN"]';

/** Queries by the functions whose logs they read, because a query reads at most 50 log groups. */
const queries = {
  requests: {
    RequestQuery: ["one-request", 'filter request_id = "REQUEST_ID" or requestId = "REQUEST_ID"'],
    WorkspaceRequestsQuery: ["requests-of-a-workspace", 'filter tenant = "TENANT_ID"'],
    FailedRequestsQuery: ["failed-requests", FAILED],
  },
  workers: {
    WorkspaceWorkQuery: ["work-for-a-workspace", 'filter tenant = "TENANT_ID"'],
    FailedWorkQuery: ["failed-work", FAILED],
  },
} as const;

export function addQueries(
  stack: Stack,
  { stackName }: Settings,
  declared: readonly DeployedFunction[],
  lambdas: Lambdas,
): void {
  for (const [of, queriesOfGroup] of Object.entries(queries)) {
    const logGroupNames = declared
      .filter(({ kind }) => (kind === "worker") === (of === "workers"))
      .map(({ name }) => lookUp(lambdas, name).logGroup.logGroupName);
    for (const [id, [name, filter]] of Object.entries<readonly [string, string]>(queriesOfGroup))
      new CfnQueryDefinition(stack, id, {
        name: `${stackName}/${name}`,
        logGroupNames,
        queryString: [FIELDS, filter, NEWEST].join("\n| "),
      });
  }
}
