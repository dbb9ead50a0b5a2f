// npm run operate -- <command>: what the operator of a deployment sees and repairs, through the operator function.
import { readFileSync } from "node:fs";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { deadQueueOf, isOfStream } from "../shared/contract/messages.ts";
import { awsClients } from "../shared/runtime/aws.ts";
import { REFUSED } from "../tools/arguments.ts";
import { columnsOf } from "../tools/text-table.ts";
import { deployedCloudWatch } from "./cloudwatch.ts";
import { deployedName } from "./names.ts";
import { serveOperateConsole } from "./operate-console.ts";
import { type Invoke, redriveRecords } from "./redrive-records.ts";
import { type AlarmsWish, lookAfterAlarms, type SeenAlarm } from "./ring-alarm.ts";
import { switchWorkers } from "./workers.ts";

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

interface Wish {
  command: string;
  subject: string | undefined;
  /** The alarm that is rung, or what is switched. */
  object: string | undefined;
  options: Record<string, string>;
  isJson: boolean;
}

const OPTIONS = ["stack", "local", "near", "port"];
/** Not a report: it serves. */
const CONSOLE = "console";
/** What a subject is named for, and what is done to it. */
const TAKES_TWO = ["alarms", "events-on-bus"];
/** Of a deployment alone: the local service has no event sources and no alarms in an account. */
const DEPLOYED_ONLY = ["workers", "alarms"];

/** @throws an error that names the argument. */
export function wishOf(words: readonly string[]): Wish {
  const rest = [...words];
  const positionals: string[] = [];
  const options: Record<string, string> = {};
  let isJson = false;
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [name = "", value] = word.startsWith("--") ? word.slice(2).split(/=(.*)/s) : [];
    if (!word.startsWith("--")) positionals.push(word);
    else if (name === "json") isJson = true;
    else if (OPTIONS.includes(name)) options[name] = value ?? rest.shift() ?? refuse(`--${name} needs a value.`);
    else refuse(`${word} is unknown.`);
  }
  const [command, subject, object, ...more] = positionals;
  if (command === undefined) return refuse("Name a command.");
  if (command !== CONSOLE && !Object.hasOwn(commands, command)) return refuse(`The command ${command} is unknown.`);
  const tooMany = TAKES_TWO.includes(command) ? more[0] : object;
  if (tooMany !== undefined) return refuse(`${tooMany} is one argument too many.`);
  if (options.local !== undefined && DEPLOYED_ONLY.includes(command))
    return refuse(`${command} is of a deployment, not of the local service.`);
  if (options.near !== undefined && !/^\d{1,3}$/.test(options.near)) return refuse("--near takes a percentage.");
  if (options.port !== undefined && !/^\d{1,5}$/.test(options.port)) return refuse("--port takes a port number.");
  if (options.local !== undefined && !URL.canParse(options.local)) return refuse("--local takes a URL.");
  return { command, subject, object, options, isJson };
}

function refuse(problem: string): never {
  throw Object.assign(new Error(`${problem} More with --help.`), { exitCode: REFUSED });
}

type Row = Record<string, string | number>;
interface Report {
  /** What the function answered, for `--json`. */
  answer: unknown;
  rows: Row[];
  /** One line below the table. */
  note: string;
}
type Command = (operate: Invoke, wish: Wish, now: number) => Promise<Report>;

interface Workspace {
  id: string;
  name: string;
  plan: string;
  status: string;
  usage: Record<string, number>;
  nearest: { limit: string; used: number; max: number; percent: number } | null;
}
interface Cost {
  id: string;
  name: string;
  sends: number;
  events: number;
  dollars: number;
  dollars_at_most: number;
}
interface DeadLetter {
  id: string;
  sent_at: string | null;
  received: number;
  message: unknown;
}

const commands: Record<string, Command> = {
  workspaces: async (operate, { options }) => {
    const all = await everyPage<Workspace>(operate, (after) => ({ workspaces: after }));
    const near = Number(options.near ?? 0);
    const shown = all.filter(({ nearest }) => (nearest?.percent ?? 0) >= near);
    const rows = shown.map(({ id, name, plan, status, usage, nearest }) => ({
      id,
      name,
      plan,
      status,
      sends: usage.sends ?? 0,
      events: usage.events ?? 0,
      subscribers: usage.subscribers ?? 0,
      nearest: nearest ? `${nearest.percent} % of ${nearest.max} ${nearest.limit}` : "",
    }));
    return { answer: shown, rows, note: `${shown.length} of ${all.length} workspaces.` };
  },

  cost: async (operate, { subject }, now) => {
    const period = subject ?? lastMonth(now);
    const all = await everyPage<Cost>(operate, (after) => ({ cost: { period, ...after } }));
    const rows = all.filter(({ sends, events }) => sends + events > 0).map((one) => ({ ...one }));
    const sum = (of: "dollars" | "dollars_at_most") => all.reduce((total, one) => total + one[of], 0).toFixed(2);
    return {
      answer: { period, workspaces: all },
      rows,
      note: `${period}: ${sum("dollars")} to ${sum("dollars_at_most")} dollars in use, without what the deployment costs at rest and without the providers' prices (docs/deploy.md).`,
    };
  },

  "dead-letters": async (operate, { subject }) => {
    const answer = (await operate({ dead_letters: subject === undefined ? {} : { queue: subject } })) as {
      dead_letters: { queue: string; count: number }[];
      messages?: DeadLetter[];
    };
    const rows = (answer.messages ?? answer.dead_letters).map((row) =>
      "queue" in row
        ? { queue: row.queue, count: row.count }
        : { sent_at: row.sent_at ?? "", received: row.received, message: JSON.stringify(row.message) },
    );
    const total = answer.dead_letters.reduce((sum, { count }) => sum + count, 0);
    return { answer, rows, note: `${total} dead letters${subject === undefined ? "" : ` of ${subject}`}.` };
  },

  redrive: async (operate, { subject }) => {
    const answer = (await operate({ redrive: { queue: subject ?? refuse("Name a queue.") } })) as {
      redriven: { queue: string; count: number };
    };
    return { answer, rows: [], note: `${answer.redriven.count} messages of ${answer.redriven.queue} are sent again.` };
  },

  recount: async (operate, { subject }) => {
    const tenant_id = subject ?? refuse("Name a workspace by its id.");
    const answer = await operate({ recount: { tenant_id } });
    return {
      answer,
      rows: [],
      note: `The counters of ${tenant_id} are being recounted; the log of recount says what was wrong.`,
    };
  },

  "events-on-bus": async (operate, { subject, object }) => {
    const tenant_id = subject ?? refuse("Name a workspace by its id.");
    if (object !== "on" && object !== "off") return refuse("Say on or off.");
    const answer = await operate({ events_on_bus: { tenant_id, on: object === "on" } });
    return { answer, rows: [], note: `Events of ${tenant_id} on the event bus are ${object}, within about a minute.` };
  },

  workers: async (operate, { subject }) => {
    if (subject !== "on" && subject !== "off") return refuse("Say on or off.");
    const answer = (await operate({ workers: subject })) as { workers: number };
    return { answer, rows: [], note: `${answer.workers} workers are ${subject}, within about a minute.` };
  },

  alarms: async (operate, { subject, object }) => {
    if (subject === undefined) {
      const answer = (await operate({ alarms: {} })) as SeenAlarm[];
      const rows = answer.map(({ name, state, mails }) => ({ name, state, mails: mails ? "yes" : "no" }));
      return { answer, rows, note: `${answer.length} alarms.` };
    }
    if (subject !== "ring" || object === undefined) return refuse("Say alarms, or alarms ring NAME.");
    const answer = await operate({ alarms: { ring: object } });
    return { answer, rows: [], note: `${object} rings. Its mail arrives within a minute; it falls silent by itself.` };
  },
};

function tableOf(rows: readonly Row[]): string {
  const names = Object.keys(rows[0] ?? {});
  const texts = names.filter((name) => rows.some((row) => typeof row[name] === "string"));
  return columnsOf([names, ...rows.map((row) => names.map((name) => String(row[name])))], texts);
}

async function everyPage<T>(operate: Invoke, wish: (after: { after?: string }) => object): Promise<T[]> {
  const all: T[] = [];
  let after: string | undefined;
  do {
    const page = (await operate(wish(after === undefined ? {} : { after }))) as { workspaces: T[]; next?: string };
    all.push(...page.workspaces);
    after = page.next;
  } while (after !== undefined);
  return all;
}

function lastMonth(now: number): string {
  const date = new Date(now);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - 1, 1)).toISOString().slice(0, 7);
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
export async function run(wish: Wish, invoke: Invoke, now: number): Promise<string> {
  const operate = checked(invoke);
  const { answer, rows, note } = await commands[wish.command]!(operate, wish, now);
  if (wish.isJson) return JSON.stringify(answer, null, 2);
  return [...(rows.length > 0 ? [tableOf(rows)] : []), note].join("\n");
}

/** The function of a deployment. Failed records of the stream and the switch of the workers are handled from here. */
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
      alarms?: AlarmsWish;
    };
    if (alarms !== undefined) return lookAfterAlarms(await deployedCloudWatch(aws(LambdaClient)), stack, alarms);
    if (workers !== undefined) return { workers: await switchWorkers(aws(LambdaClient), stack, workers === "on") };
    const queue = redrive?.queue ?? "";
    if (!isOfStream(queue)) return invoke("operator", event);
    const count = await redriveRecords(aws, deployedName(stack, deadQueueOf(queue)), (batch) => invoke(queue, batch));
    return { redriven: { queue, count } };
  };
}

/** The function of the local service, through its control surface. */
export const local =
  (url: string): Invoke =>
  async (event) => {
    const response = await fetch(new URL("/_local/operator", url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(event),
    }).catch(() => {
      throw new Error(`${url} cannot be reached. Start it with npm start.`);
    });
    if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
    return response.json();
  };

function stackOf({ options }: Wish): string {
  if (options.stack !== undefined) return options.stack;
  const file = JSON.parse(readFileSync(new URL("../cdk.json", import.meta.url), "utf8"));
  return (file as { context: { stackName?: string } }).context.stackName ?? "Engagement";
}

async function main(words: string[]): Promise<void> {
  if (words.includes("--help") || words.includes("-h")) return console.log(HELP);
  const wish = wishOf(words);
  const invoke = wish.options.local === undefined ? deployed(stackOf(wish)) : local(wish.options.local);
  if (wish.command === CONSOLE) {
    const { url } = await serveOperateConsole(checked(invoke), Number(wish.options.port ?? 0));
    return console.log(`The operator page: ${url}\nStop with Ctrl-C.`);
  }
  console.log(await run(wish, invoke, Date.now()));
}

if (import.meta.main)
  await main(process.argv.slice(2)).catch((error: Error & { exitCode?: number }) => {
    const hasNoRegion = error.message === "Region is missing";
    console.error(
      hasNoRegion ? "No region is set: set AWS_REGION, or AWS_PROFILE to a profile with one." : error.message,
    );
    process.exitCode = error.exitCode ?? 1;
  });
