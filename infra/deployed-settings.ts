// The settings of the last deployment: the stack keeps them in a parameter, so a rollback restores them too.
import type { TableDescription } from "@aws-sdk/client-dynamodb";
import { GetParameterCommand } from "@aws-sdk/client-ssm";
import type { Stack } from "aws-cdk-lib";
import { CfnParameter } from "aws-cdk-lib/aws-ssm";
import type { Client } from "../shared/kernel/deps.ts";
import type { Settings } from "./settings.ts";

/** Settings of the release and of the account, which are read anew for each deployment. */
const READ_ANEW = new Set<string>(["commit", "accountConcurrency"] satisfies (keyof Settings)[]);

const parameterName = (stackName: string): string => `/engagement/${stackName}/settings`;

const kept = (settings: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(settings).filter(([name, value]) => value !== undefined && !READ_ANEW.has(name)));

export function rememberSettings(stack: Stack, settings: Settings): void {
  new CfnParameter(stack, "DeployedSettings", {
    name: parameterName(settings.stackName),
    description: "The settings of the last deployment, which npm run deploy compares.",
    type: "String",
    // The keys of an issuer may be longer than a parameter that is free of charge.
    tier: "Intelligent-Tiering",
    value: JSON.stringify(kept(settings)),
  });
}

export type DeployedSettings =
  | { kind: "first" }
  | { kind: "known"; settings: Record<string, unknown> }
  | { kind: "unreadable"; reason: string };

export const deployedSettings = (parameters: Client, stackName: string): Promise<DeployedSettings> =>
  parameters.send(new GetParameterCommand({ Name: parameterName(stackName) })).then(
    ({ Parameter }: { Parameter?: { Value?: string } }): DeployedSettings => ({
      kind: "known",
      settings: Object(JSON.parse(Parameter?.Value ?? "{}")),
    }),
    ({ name }: Error): DeployedSettings =>
      name === "ParameterNotFound" ? { kind: "first" } : { kind: "unreadable", reason: name },
  );

interface SettingChange {
  name: string;
  before: string;
  after: string;
  /** It was not named this time, so it falls back to its default. */
  isDropped: boolean;
}

/** @param named the settings that have a value this time, from the operator or from the account */
export function settingChanges(
  before: Record<string, unknown>,
  settings: Settings,
  named: ReadonlySet<string>,
): SettingChange[] {
  const after: Record<string, unknown> = kept(settings);
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].sort().flatMap((name) => {
    const [old, now] = [textOf(before[name]), textOf(after[name])];
    return old === now ? [] : [{ name, before: old, after: now, isDropped: !named.has(name) && name in before }];
  });
}

/** Whether the stack's own table is to be warmed otherwise than by the last deployment. */
export const changesWarmth = (before: Record<string, unknown>, { warmThroughput, existing }: Settings): boolean =>
  warmThroughput !== undefined && existing === undefined && textOf(before.warmThroughput) !== textOf(warmThroughput);

/**
 * The throughput of a table and each of its indexes: AWS also raises it with their use, and a rollback does not lower
 * it.
 */
export function warmthFaults(
  table: TableDescription,
  { reads, writes }: NonNullable<Settings["warmThroughput"]>,
): string[] {
  const reached = [table, ...(table.GlobalSecondaryIndexes ?? [])].map((index) => index.WarmThroughput ?? {});
  const most = {
    reads: Math.max(...reached.map(({ ReadUnitsPerSecond = 0 }) => ReadUnitsPerSecond)),
    writes: Math.max(...reached.map(({ WriteUnitsPerSecond = 0 }) => WriteUnitsPerSecond)),
  };
  return reads < most.reads || writes < most.writes
    ? [
        `warmThroughput of the table or an index is ${textOf(most)}: AWS raises it, and refuses to lower it. Set no less.`,
      ]
    : [];
}

const textOf = (value: unknown): string => (value === undefined ? "none" : JSON.stringify(value));
