// Queries of the logs that are saved in the account, for CloudWatch Logs Insights (docs/operate.md).
import type { Stack } from "aws-cdk-lib";
import { CfnQueryDefinition } from "aws-cdk-lib/aws-logs";
import type { DeployedFunction } from "./functions.ts";
import type { Lambdas } from "./lambdas.ts";
import type { Settings } from "./settings.ts";

/** The fields that a line of our log may have. */
const FIELDS = "fields @timestamp, @log, level, message, tenant, route, status, ms, error, stack";
const NEWEST = "sort @timestamp desc\n| limit 200";
const FAILED = 'filter level in ["error", "ERROR", "warn", "WARN"]';

/** By the functions whose logs they read: a query reads 50 log groups at most. */
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
  for (const [of, some] of Object.entries(queries)) {
    const logGroupNames = declared
      .filter(({ kind }) => (kind === "worker") === (of === "workers"))
      .map(({ name }) => lambdas.get(name)!.logGroup.logGroupName);
    for (const [id, [name, filter]] of Object.entries<readonly [string, string]>(some))
      new CfnQueryDefinition(stack, id, {
        name: `${stackName}/${name}`,
        logGroupNames,
        queryString: [FIELDS, filter, NEWEST].join("\n| "),
      });
  }
}
