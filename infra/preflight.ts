// Checks before `cdk deploy`: finds early what would make it fail late or deploy the wrong thing.
import {
  DescribeTableCommand,
  DynamoDBClient,
  ListTablesCommand,
  type TableDescription,
} from "@aws-sdk/client-dynamodb";
import { DescribeEventBusCommand, EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { GetAccountSettingsCommand, GetFunctionConcurrencyCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { App } from "aws-cdk-lib";
import type { Client } from "../shared/kernel/deps.ts";
import { awsClients } from "../shared/runtime/aws.ts";
import {
  changesWarmth,
  type DeployedSettings,
  deployedSettings,
  settingChanges,
  warmthFaults,
} from "./deployed-settings.ts";
import { deployedName } from "./names.ts";
import { FEWEST_INVOCATIONS, readSettings, type Settings, STACK_NAME, workerConcurrencyOf } from "./settings.ts";
import { deployedTable, workersThatAreOff } from "./workers.ts";

export interface Report {
  /** Checks that passed. */
  fine: string[];
  /** Settings that have no effect, and what to check by hand. */
  notes: string[];
  /** Faults that would stop the deployment, or break the service after it. */
  faults: string[];
  /** Settings that follow from the account, where the operator gave none. */
  chosen: Record<string, string>;
  /** The differences from the last deployment, one line each. */
  changes: string[];
  /** Settings of the last deployment that were not named this time. */
  dropped: string[];
  /** The last deployment's settings are known, or there is none. */
  isCompared: boolean;
}

/** The part of an account's concurrency that Lambda does not let a deployment reserve. */
const UNRESERVED = 100;
/** The function of the live streams, which alone has a reservation. */
const STREAM = "stream";
/** Service Quotas: "Concurrent executions" of Lambda. */
const CONCURRENCY_QUOTA = "L-B99A9384";

/** The parameter with the version of the CDK's bootstrap, and the oldest version that accepts our assets. */
const BOOTSTRAP_VERSION = "/cdk-bootstrap/hnb659fds/version";
const OLDEST_BOOTSTRAP = 6;

interface PreflightInput {
  context: Record<string, unknown>;
  region: string | undefined;
  /** The clients of the services that the checks call. */
  table: Client;
  parameters: Client;
  functions: Client;
  buses: Client;
}

export async function runPreflight({ context, region, ...services }: PreflightInput): Promise<Report> {
  const report: Report = { fine: [], notes: [], faults: [], chosen: {}, changes: [], dropped: [], isCompared: false };
  const settings = settingsOf(context, report);
  if (settings) noteSettings(settings, report);
  if (region === undefined) {
    report.faults.push("No region is chosen: set AWS_REGION, or a region in the AWS profile.");
    return report;
  }
  try {
    await services.table.send(new ListTablesCommand({ Limit: 1 }));
  } catch (error) {
    const { name, message } = error as Error;
    report.faults.push(`AWS rejected a first call in ${region}: ${name}: ${message}`);
    return report;
  }
  report.fine.push(`The credentials work in ${region}.`);
  await checkBootstrap(services.parameters, report);
  await checkConcurrency(services.functions, settings, report);
  if (!settings) return report;
  const deployed = await deployedSettings(services.parameters, settings.stackName);
  await checkSwitch(services.functions, settings, deployed, report);
  await checkBus(services.buses, settings, report);
  await checkWarmth(services, settings, deployed, report);
  compareWithDeployed(deployed, context, report);
  return report;
}

/** Any change of an event source by CloudFormation turns its worker on again. */
async function checkSwitch(
  functions: Client,
  { stackName, workers }: Settings,
  deployed: DeployedSettings,
  report: Report,
): Promise<void> {
  const wasDeployedOff = deployed.kind === "known" && deployed.settings.workers === "off";
  if (workers === "off" || wasDeployedOff) return;
  await workersThatAreOff(functions, stackName).then(
    (off) => {
      if (off.length === 0) return;
      report.faults.push(
        `${off.length} workers were switched off by hand, and a deployment may turn them on: run \`npm run operate -- ` +
          "workers on`, or set workers to off.",
      );
    },
    (error: Error) => report.notes.push(`Whether workers were switched off could not be read (${error.name}).`),
  );
}

/** EventBridge accepts entries for a bus that does not exist, and drops them. */
async function checkBus(buses: Client, { eventBus: Name }: Settings, { fine, notes, faults }: Report): Promise<void> {
  if (Name === undefined) return;
  await buses.send(new DescribeEventBusCommand({ Name })).then(
    () => fine.push(`The event bus ${Name} is there.`),
    ({ name }: Error) => {
      if (name === "ResourceNotFoundException")
        faults.push(`There is no event bus ${Name} in this region: events would be lost. Create it, or name another.`);
      else notes.push(`Whether there is an event bus ${Name} could not be read (${name}).`);
    },
  );
}

async function checkWarmth(
  { table, functions }: Pick<PreflightInput, "table" | "functions">,
  settings: Settings,
  deployed: DeployedSettings,
  { notes, faults }: Report,
): Promise<void> {
  const { warmThroughput: wanted, stackName } = settings;
  if (wanted === undefined || deployed.kind !== "known" || !changesWarmth(deployed.settings, settings)) return;
  await deployedTable(functions, stackName)
    .then((TableName) => table.send(new DescribeTableCommand({ TableName })))
    .then(
      ({ Table = {} }: { Table?: TableDescription }) => faults.push(...warmthFaults(Table, wanted)),
      ({ name }: Error) => notes.push(`What the table takes at once could not be read (${name}).`),
    );
}

/** It also compares the settings that follow from the account, so it comes last. */
function compareWithDeployed(deployed: DeployedSettings, context: object, report: Report): void {
  const chosen = { ...context, ...report.chosen };
  const settings = settingsOf(chosen, { ...report, faults: [] });
  if (!settings) return;
  report.isCompared = deployed.kind !== "unreadable";
  if (deployed.kind === "unreadable")
    report.notes.push(`The settings of the last deployment could not be read (${deployed.reason}).`);
  if (deployed.kind !== "known") return;
  const changes = settingChanges(deployed.settings, settings, new Set(Object.keys(chosen)));
  report.changes = changes.map(({ name, before, after }) => `${name}: ${before} -> ${after}`);
  report.dropped = changes.filter(({ isDropped }) => isDropped).map(({ name }) => name);
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

interface AccountLimit {
  ConcurrentExecutions?: number;
  UnreservedConcurrentExecutions?: number;
}

async function checkConcurrency(functions: Client, settings: Settings | undefined, report: Report): Promise<void> {
  const held = settings ? await heldByStreams(functions, settings.stackName) : 0;
  await functions.send(new GetAccountSettingsCommand({})).then(
    ({ AccountLimit = {} }: { AccountLimit?: AccountLimit }) => {
      const { UnreservedConcurrentExecutions = 0, ConcurrentExecutions: all } = AccountLimit;
      const free = UnreservedConcurrentExecutions + held;
      const limit = all ?? free;
      report.chosen.accountConcurrency = String(limit);
      judgeConcurrency(free, settings?.streamConcurrency, report);
      if (!settings) return;
      const each = workerConcurrencyOf({ ...settings, accountConcurrency: limit });
      report.fine.push(`Each queue runs at most ${each} of ${limit} invocations at once.`);
    },
    (error: Error) => report.notes.push(`The account's Lambda limit could not be read (${error.name}).`),
  );
}

/** The concurrency that the stack has reserved: a deployment releases it before it reserves anew. */
async function heldByStreams(functions: Client, stackName: string): Promise<number> {
  const FunctionName = deployedName(stackName, STREAM);
  return functions.send(new GetFunctionConcurrencyCommand({ FunctionName })).then(
    ({ ReservedConcurrentExecutions: held = 0 }: { ReservedConcurrentExecutions?: number }) => held,
    // It fails before the first deployment, and without the right to ask: then only the account's limit is known.
    () => 0,
  );
}

function judgeConcurrency(free: number, streams: number | undefined, { fine, notes, faults }: Report): void {
  if (free < FEWEST_INVOCATIONS)
    faults.push(
      `The account allows ${free} invocations at once, and the queues alone use ${FEWEST_INVOCATIONS}. Request more: ` +
        `aws service-quotas request-service-quota-increase --service-code lambda --quota-code ${CONCURRENCY_QUOTA} ` +
        "--desired-value 1000. For a trial, deploy with --anyway.",
    );
  if (streams === undefined)
    notes.push(`Live streams share ${free} invocations at once with all other functions: set streamConcurrency.`);
  else if (streams > free - UNRESERVED)
    faults.push(
      `streamConcurrency ${streams} cannot be reserved: of ${free} invocations at once ${UNRESERVED} must stay free. ` +
        "Request more from AWS, or reserve less.",
    );
  else fine.push(`${streams} of ${free} invocations at once can be reserved for live streams.`);
}

function noteSettings(settings: Settings, { notes, faults }: Report): void {
  const { alarmEmail, emailIdentity, existing, monthlyBudget, registration, removal, warmThroughput, workers } =
    settings;
  if (alarmEmail === undefined) notes.push("No alarmEmail: alarms change their state without notifying anyone.");
  if (monthlyBudget !== undefined && alarmEmail === undefined)
    faults.push("monthlyBudget needs alarmEmail: its warnings are mailed.");
  notes.push(registrationNote[registration]);
  notes.push(FIRST_DEPLOYMENT);
  if (workers === "off")
    notes.push("workers is off: the API answers, and nothing is sent or computed until a deployment without it.");
  if (removal === "destroy") notes.push("removal is destroy: deleting the stack deletes every workspace's data.");
  if (existing && warmThroughput)
    notes.push(
      `warmThroughput does not reach the adopted table: aws dynamodb update-table --table-name ${existing.table.name} ` +
        `--warm-throughput ReadUnitsPerSecond=${warmThroughput.reads},WriteUnitsPerSecond=${warmThroughput.writes}, and its indexes.`,
    );
  if (emailIdentity)
    notes.push(`After the deployment, put the outputs DkimRecord1 to 3 into the DNS of ${emailIdentity}.`);
}

const registrationNote: Record<Settings["registration"], string> = {
  open:
    "registration is open: anyone who reaches the address gets a workspace of the plan defaultPlan. Workspaces send by SES from " +
    "identities alone that you give them (docs/deploy.md).",
  invite: "registration is by invitation: the operator function invites addresses.",
  closed: "registration is closed: the operator function makes workspaces (docs/deploy.md).",
};
const FIRST_DEPLOYMENT =
  "A new account may have to be verified by AWS Support before it may use CloudFront. If the first deployment fails, see " +
  "docs/deploy.md.";

/**
 * Settings that only one deployment may have: AWS refuses some to a second one, and its workers would send everything
 * again.
 */
const OF_ONE_DEPLOYMENT = ["domain", "emailIdentity", "existing"];

/** The settings that a second deployment, by `-c stackName=…`, would take over from the first one by cdk.json. */
export function takenFromAnother(file: Record<string, unknown>, values: Record<string, unknown>): string[] {
  const { stackName: first = STACK_NAME } = file;
  if (values.stackName === undefined || values.stackName === first) return [];
  const taken = OF_ONE_DEPLOYMENT.filter((name) => file[name] !== undefined && values[name] === undefined);
  return taken.map(
    (name) => `${name} of cdk.json is of ${first}, and one deployment alone may have it: give -c ${name}= for none.`,
  );
}

/** The checks, with the credentials and the region of this machine. */
export async function preflight(context: Record<string, unknown>): Promise<Report> {
  const aws = awsClients();
  const table = aws(DynamoDBClient);
  const services = { table, parameters: aws(SSMClient), functions: aws(LambdaClient), buses: aws(EventBridgeClient) };
  const region = await table.config.region().catch(() => undefined);
  return runPreflight({ context, region, ...services });
}
