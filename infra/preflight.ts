// Checks before `cdk deploy`: finds early what would make it fail late or deploy the wrong thing.
import { readFileSync } from "node:fs";
import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { GetAccountSettingsCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { App } from "aws-cdk-lib";
import { awsClients } from "../shared/aws.ts";
import type { Client } from "../shared/deps.ts";
import { readSettings, type Settings } from "./settings.ts";

export interface Report {
  /** Checks that passed. */
  fine: string[];
  /** What the deployment does not need, and what to check by hand. */
  notes: string[];
  /** What the deployment would fail on. */
  faults: string[];
}

/** Lambda keeps this much of an account's concurrency unreserved. */
const UNRESERVED = 100;

/** The parameter with the version of the CDK's bootstrap, and the oldest version that accepts our assets. */
const BOOTSTRAP_VERSION = "/cdk-bootstrap/hnb659fds/version";
const OLDEST_BOOTSTRAP = 6;

interface PreflightInput {
  context: Record<string, unknown>;
  region: string | undefined;
  /** The three services that are called. */
  table: Client;
  parameters: Client;
  functions: Client;
}

export async function runPreflight({ context, region, ...services }: PreflightInput): Promise<Report> {
  const report: Report = { fine: [], notes: [], faults: [] };
  const settings = settingsOf(context, report);
  if (settings) noteSettings(settings, report);
  if (region === undefined) {
    report.faults.push("No region is chosen: set AWS_REGION, or a region in the AWS profile.");
    return report;
  }
  const worksAt = await services.table.send(new ListTablesCommand({ Limit: 1 })).then(
    () => report.fine.push(`The credentials work in ${region}.`),
    (error: Error) => {
      report.faults.push(`AWS rejected a first call in ${region}: ${error.name}: ${error.message}`);
      return 0;
    },
  );
  if (worksAt === 0) return report;
  await checkBootstrap(services.parameters, report);
  await checkConcurrency(services.functions, settings?.streamConcurrency, report);
  return report;
}

function settingsOf(context: Record<string, unknown>, { faults }: Report): Settings | undefined {
  try {
    return readSettings(new App({ context, analyticsReporting: false }).node);
  } catch (error) {
    faults.push((error as Error).message);
    return undefined;
  }
}

async function checkBootstrap(parameters: Client, { fine, notes, faults }: Report): Promise<void> {
  const todo = "run `npx cdk bootstrap` once for this account and region";
  await parameters.send(new GetParameterCommand({ Name: BOOTSTRAP_VERSION })).then(
    ({ Parameter }: { Parameter?: { Value?: string } }) => {
      const version = Number(Parameter?.Value ?? 0);
      if (version < OLDEST_BOOTSTRAP) faults.push(`The CDK's bootstrap is of version ${version}: ${todo}.`);
      else fine.push(`The CDK's bootstrap is there, version ${version}.`);
    },
    (error: Error) => {
      if (error.name === "ParameterNotFound") faults.push(`The CDK's bootstrap is missing: ${todo}.`);
      else
        notes.push(`The version of the CDK's bootstrap could not be read (${error.name}). If it is missing, ${todo}.`);
    },
  );
}

async function checkConcurrency(
  functions: Client,
  streams: number | undefined,
  { fine, notes, faults }: Report,
): Promise<void> {
  await functions.send(new GetAccountSettingsCommand({})).then(
    ({ AccountLimit = {} }: { AccountLimit?: { UnreservedConcurrentExecutions?: number } }) => {
      const free = AccountLimit.UnreservedConcurrentExecutions ?? 0;
      if (streams === undefined)
        notes.push(
          `Live streams share ${free} invocations at once with all other functions: set streamConcurrency before going live` +
            `${free < UNRESERVED ? ", and request more from AWS first" : ""}.`,
        );
      else if (streams > free - UNRESERVED)
        faults.push(
          `streamConcurrency ${streams} cannot be reserved: of ${free} invocations at once ${UNRESERVED} must stay free. ` +
            "Request more from AWS, or reserve less.",
        );
      else fine.push(`${streams} of ${free} invocations at once can be reserved for live streams.`);
    },
    (error: Error) => notes.push(`The account's Lambda limit could not be read (${error.name}).`),
  );
}

function noteSettings({ domain, alarmEmail, emailIdentity, removal }: Settings, { notes, faults }: Report): void {
  if (domain && !domain.certificateArn.includes(":acm:us-east-1:"))
    faults.push("The certificate of the domain must be in us-east-1, because CloudFront accepts no other region.");
  if (alarmEmail === undefined) notes.push("No alarmEmail: alarms change their state without notifying anyone.");
  if (removal === "destroy") notes.push("removal is destroy: deleting the stack deletes every workspace's data.");
  if (emailIdentity)
    notes.push(`After the deployment, put the outputs DkimRecord1 to 3 into the DNS of ${emailIdentity}.`);
}

async function main(): Promise<void> {
  const { context } = JSON.parse(readFileSync(new URL("../cdk.json", import.meta.url), "utf8")) as {
    context: Record<string, unknown>;
  };
  const aws = awsClients();
  const table = aws(DynamoDBClient);
  const services = { table, parameters: aws(SSMClient), functions: aws(LambdaClient) };
  const region = await table.config.region().catch(() => undefined);
  const { fine, notes, faults } = await runPreflight({ context, region, ...services });
  for (const line of fine) console.log(`ok    ${line}`);
  for (const line of notes) console.log(`note  ${line}`);
  for (const line of faults) console.error(`stop  ${line}`);
  process.exitCode = faults.length > 0 ? 1 : 0;
}

if (import.meta.main) await main();
