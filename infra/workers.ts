// Stops and starts all workers of a deployment at once: their event sources, without a deployment.
import {
  type EventSourceMappingConfiguration,
  ListEventSourceMappingsCommand,
  UpdateEventSourceMappingCommand,
} from "@aws-sdk/client-lambda";
import { ListSchedulesCommand } from "@aws-sdk/client-scheduler";
import { queueNames, STREAM_WORKER, streamWorkers } from "../shared/contract/messages.ts";
import type { Client } from "../shared/kernel/deps.ts";
import { deployedName } from "./names.ts";

const OFF = ["Disabled", "Disabling"];

/** The worker's function and its event source. */
interface Source {
  worker: string;
  id: string;
  isOff: boolean;
}

async function sourcesOf(functions: Client, stackName: string): Promise<Source[]> {
  const workers = new Set([...queueNames, ...streamWorkers].map((name) => deployedName(stackName, name)));
  const sources: Source[] = [];
  let Marker: string | undefined;
  do {
    const page: { EventSourceMappings?: EventSourceMappingConfiguration[]; NextMarker?: string } = await functions.send(
      new ListEventSourceMappingsCommand({ Marker }),
    );
    for (const { FunctionArn = "", UUID = "", State = "" } of page.EventSourceMappings ?? []) {
      const worker = FunctionArn.split(":")[6] ?? "";
      if (workers.has(worker)) sources.push({ worker, id: UUID, isOff: OFF.includes(State) });
    }
    Marker = page.NextMarker;
  } while (Marker !== undefined);
  return sources;
}

/** The name of the table whose changes wake the workers of a deployment. */
export async function deployedTable(functions: Client, stackName: string): Promise<string> {
  const FunctionName = deployedName(stackName, STREAM_WORKER);
  const { EventSourceMappings = [] }: { EventSourceMappings?: EventSourceMappingConfiguration[] } =
    await functions.send(new ListEventSourceMappingsCommand({ FunctionName }));
  return EventSourceMappings[0]?.EventSourceArn?.split("/")[1] ?? "";
}

export async function workersThatAreOff(functions: Client, stackName: string): Promise<string[]> {
  const sources = await sourcesOf(functions, stackName);
  return sources.filter(({ isOff }) => isOff).map(({ worker }) => worker);
}

/**
 * A deployment with workers off leaves the sweep of timers off too, and a deployment alone brings it back.
 * @throws an error that says so
 */
export async function requireSweep(schedules: Client, stackName: string): Promise<void> {
  let NextToken: string | undefined;
  do {
    const page: { Schedules?: object[]; NextToken?: string } = await schedules.send(
      new ListSchedulesCommand({ GroupName: stackName, State: "DISABLED", NextToken }),
    );
    // The sweep is the only schedule of the group that is ever disabled.
    if (page.Schedules?.length)
      throw new Error(
        `${stackName} was deployed with workers off, and its timers are off too: deploy it with \`-c workers=on\`.`,
      );
    NextToken = page.NextToken;
  } while (NextToken !== undefined);
}

/** @returns how many workers there are. @throws an error with those that could not be switched; the others are */
export async function switchWorkers(functions: Client, stackName: string, isOn: boolean): Promise<number> {
  const sources = await sourcesOf(functions, stackName);
  if (sources.length === 0) throw new Error(`${stackName} has no workers in this account and region.`);

  const failed: string[] = [];
  // One after another: Lambda takes few changes a second.
  for (const { worker, id, isOff } of sources) {
    if (isOff !== isOn) continue;
    await functions
      .send(new UpdateEventSourceMappingCommand({ UUID: id, Enabled: isOn }))
      .catch(({ name }: Error) => failed.push(`${worker}: ${name}`));
  }

  if (failed.length === 0) return sources.length;
  throw new Error(`Not switched, try again:\n${failed.join("\n")}`);
}
