// npm run operate -- <command>: what the operator of a deployment sees and repairs, through the operator function.
import { readFileSync } from "node:fs";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { deadQueueOf, isOfStream } from "../shared/contract/messages.ts";
import { awsClients } from "../shared/runtime/aws.ts";
import { argumentsIn } from "../tools/arguments.ts";
import { deployedMonitoring } from "./monitoring.ts";
import { deployedName } from "./names.ts";
import { commands, type OperateRequest, refuse, tableOf } from "./operate-commands.ts";
import { serveOperateConsole } from "./operate-console.ts";
import { type Invoke, redriveRecords } from "./redrive-records.ts";
import { type AlarmsRequest, lookAfterAlarms } from "./ring-alarm.ts";
import { STACK_NAME } from "./settings.ts";
import { requireSweep, switchWorkers } from "./workers.ts";

const HELP = `npm run operate -- <command> [--stack NAME | --local URL] [--json]

  workspaces [--near PERCENT]   all workspaces: usage, and the limit that is nearest
  cost [YYYY-MM]                what workspaces used in a month, last month by default, and its cost in dollars
  dead-letters [QUEUE]          how many messages used up their attempts, by queue; with a queue the messages
  redrive QUEUE                 sends the dead letters of a queue again; of react and publish-events, handles the failed records again
  events-on-bus TENANT_ID on|off  whether the events that a workspace receives go to the event bus too
  console [--port PORT]         the operator page of the console on this machine, until Ctrl-C
  recount TENANT_ID             compares the counters of a workspace with its rows now, and repairs them
  workers off|on                stops all sending, importing and computing of a deployment at once, and starts it again
  alarms [ring NAME]            the alarms of a deployment and their states; rings one, to see that its mail arrives

  --stack NAME   the deployment; by default stackName of cdk.json, else Engagement
  --local URL    the local service instead, such as http://127.0.0.1:3000
  --json         the answers as JSON

Credentials and region are those of the environment or the profile, as for npm run deploy. docs/operate.md says more.

Example: npm run operate -- workspaces --near 80`;

const options = {
  stack: { type: "string" },
  local: { type: "string" },
  near: { type: "string" },
  port: { type: "string" },
  json: { type: "boolean" },
} as const;
/** The command that serves until it is stopped. */
const CONSOLE = "console";
/** Commands with a subject and an object. */
const TAKES_TWO = ["alarms", "events-on-bus"];
/** Commands of a deployment alone: the local service has no event sources. */
const DEPLOYED_ONLY = ["workers"];

const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) <= 65_535;

/** @throws an error that names the argument. */
export function requestOf(words: readonly string[]): OperateRequest {
  const { values, positionals } = argumentsIn({ args: [...words], options, allowPositionals: true });
  const { json: isJson = false, ...commandOptions } = values;
  const [command, subject, object, ...more] = positionals;
  if (command === undefined) return refuse("Name a command.");
  if (command !== CONSOLE && !Object.hasOwn(commands, command)) return refuse(`The command ${command} is unknown.`);
  const tooMany = TAKES_TWO.includes(command) ? more[0] : object;
  if (tooMany !== undefined) return refuse(`${tooMany} is one argument too many.`);
  if (commandOptions.local !== undefined && DEPLOYED_ONLY.includes(command))
    return refuse(`${command} is of a deployment, not of the local service.`);
  if (commandOptions.near !== undefined && !/^\d{1,3}$/.test(commandOptions.near))
    return refuse("--near takes a percentage.");
  if (commandOptions.port !== undefined && !isPort(commandOptions.port)) return refuse("--port takes a port number.");
  if (commandOptions.local !== undefined && !URL.canParse(commandOptions.local)) return refuse("--local takes a URL.");
  return { command, subject, object, options: commandOptions, isJson };
}

/** @throws an error with what the operator function refuses. */
export const checked =
  (invoke: Invoke): Invoke =>
  async (event) => {
    const answer = await invoke(event);
    const { error, message, fields } = Object(answer) as { error?: string; message?: string; fields?: object };
    if (error === undefined) return answer;
    throw new Error(message ?? (fields ? `Refused: ${JSON.stringify(fields)}` : "There is no such workspace."));
  };

/** What a command prints. @throws an error with what the operator function refuses. */
export async function run(request: OperateRequest, invoke: Invoke, now: number): Promise<string> {
  const operate = checked(invoke);
  const { answer, rows, note } = await commands[request.command]!(operate, request, now);
  if (request.isJson) return JSON.stringify(answer, null, 2);
  return [...(rows.length > 0 ? [tableOf(rows)] : []), note].join("\n");
}

/**
 * Calls the operator function of a deployment. Failed records of the stream and the switch of the workers are handled
 * here.
 */
function deployed(stack: string): Invoke {
  const aws = awsClients();
  const invoke = async (name: string, event: object): Promise<unknown> => {
    const FunctionName = deployedName(stack, name);
    const { Payload, FunctionError } = await aws(LambdaClient).send(
      new InvokeCommand({ FunctionName, Payload: Buffer.from(JSON.stringify(event)) }),
    );
    const text = Buffer.from(Payload ?? []).toString();
    if (FunctionError) throw new Error(`${FunctionName} failed: ${text}`);
    return JSON.parse(text);
  };
  return async (event) => {
    const { redrive, workers, alarms } = event as {
      redrive?: { queue: string };
      workers?: string;
      alarms?: AlarmsRequest;
    };
    if (alarms !== undefined) return lookAfterAlarms(await deployedMonitoring(aws(LambdaClient)), stack, alarms);
    if (workers === "on") await requireSweep(aws(SchedulerClient), stack);
    if (workers !== undefined) return { workers: await switchWorkers(aws(LambdaClient), stack, workers === "on") };
    const queue = redrive?.queue ?? "";
    if (!isOfStream(queue)) return invoke("operator", event);
    const count = await redriveRecords(aws, deployedName(stack, deadQueueOf(queue)), (batch) => invoke(queue, batch));
    return { redriven: { queue, count } };
  };
}

/** Calls the operator function of the local service, and its alarms, through its control surface. */
export const local =
  (url: string, stack = STACK_NAME): Invoke =>
  async (event) => {
    const { alarms } = event as { alarms?: AlarmsRequest };
    if (alarms === undefined) return ask(url, "operator", event);
    return lookAfterAlarms((operation, input) => ask(url, "cloudwatch", { operation, input }), stack, alarms);
  };

async function ask(url: string, call: string, body: object): Promise<unknown> {
  const response = await fetch(new URL(`/_local/${call}`, url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new Error(`${url} cannot be reached. Start it with npm start.`);
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

function stackOf({ options }: OperateRequest): string {
  if (options.stack !== undefined) return options.stack;
  const file = JSON.parse(readFileSync(new URL("../cdk.json", import.meta.url), "utf8"));
  return (file as { context?: { stackName?: string } }).context?.stackName || STACK_NAME;
}

async function main(words: string[]): Promise<void> {
  if (words.includes("--help") || words.includes("-h")) return console.log(HELP);
  const request = requestOf(words);
  const { local: url } = request.options;
  const invoke = url === undefined ? deployed(stackOf(request)) : local(url, stackOf(request));
  if (request.command === CONSOLE) {
    const { url } = await serveOperateConsole(checked(invoke), Number(request.options.port ?? 0));
    return console.log(`The operator page: ${url}\nStop with Ctrl-C.`);
  }
  console.log(await run(request, invoke, Date.now()));
}

if (import.meta.main)
  await main(process.argv.slice(2)).catch((error: Error & { exitCode?: number }) => {
    const hasNoRegion = error.message === "Region is missing";
    console.error(
      hasNoRegion ? "No region is set: set AWS_REGION, or AWS_PROFILE to a profile with one." : error.message,
    );
    process.exitCode = error.exitCode ?? 1;
  });
