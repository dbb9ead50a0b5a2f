// Before `cdk deploy`: what would make it fail late or deploy the wrong thing, said early and in plain words.
import { readFileSync } from "node:fs";
import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { App } from "aws-cdk-lib";
import { awsClients } from "../shared/aws.ts";
import type { Client } from "../shared/parts.ts";
import { readSettings, type Settings } from "./settings.ts";

export interface Report {
  /** What was found to be in order. */
  fine: string[];
  /** What the deployment can do without, and what to look at by hand. */
  notes: string[];
  /** What it would fail on. */
  faults: string[];
}

/** Lambda keeps this much of an account's concurrency unreserved. */
const UNRESERVED = 100;

interface Surroundings {
  context: Record<string, unknown>;
  region: string | undefined;
  table: Client;
}

export async function checkSurroundings({ context, region, table }: Surroundings): Promise<Report> {
  const report: Report = { fine: [], notes: [], faults: [] };
  try {
    noteSettings(readSettings(new App({ context, analyticsReporting: false }).node), report);
  } catch (error) {
    report.faults.push((error as Error).message);
  }
  if (region === undefined) report.faults.push("No region is chosen: set AWS_REGION, or a region in the AWS profile.");
  else
    await table.send(new ListTablesCommand({ Limit: 1 })).then(
      () => report.fine.push(`The credentials work in ${region}.`),
      (error: Error) => report.faults.push(`AWS refused a first call in ${region}: ${error.name}: ${error.message}`),
    );
  report.notes.push(
    "Bootstrap: once per account and region, `npx cdk bootstrap`; `cdk deploy` says so where it is missing.",
  );
  return report;
}

function noteSettings({ domain, alarmEmail, streamConcurrency, removal }: Settings, { notes, faults }: Report): void {
  if (domain && !domain.certificateArn.includes(":acm:us-east-1:"))
    faults.push("The certificate of the domain must lie in us-east-1: CloudFront takes no other.");
  if (alarmEmail === undefined) notes.push("No alarmEmail: alarms change colour and tell nobody.");
  if (removal === "destroy") notes.push("removal is destroy: deleting the stack deletes every workspace's data.");
  notes.push(
    streamConcurrency === undefined
      ? "Live streams share the account's Lambda concurrency (a new account has 10): set streamConcurrency before going live."
      : `${streamConcurrency} reserved for live streams needs an account limit of at least ${streamConcurrency + UNRESERVED}: ` +
          "`aws lambda get-account-settings --query AccountLimit.ConcurrentExecutions`.",
  );
}

async function main(): Promise<void> {
  const { context } = JSON.parse(readFileSync(new URL("../cdk.json", import.meta.url), "utf8")) as {
    context: Record<string, unknown>;
  };
  const table = awsClients()(DynamoDBClient);
  const region = await table.config.region().catch(() => undefined);
  const { fine, notes, faults } = await checkSurroundings({ context, region, table });
  for (const line of fine) console.log(`ok    ${line}`);
  for (const line of notes) console.log(`note  ${line}`);
  for (const line of faults) console.error(`stop  ${line}`);
  process.exitCode = faults.length > 0 ? 1 : 0;
}

if (import.meta.main) await main();
