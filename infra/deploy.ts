// npm run deploy -- [--anyway] [--drop] [-c name=value …] [arguments of cdk deploy]: the preflight, then `cdk deploy`, both with
// the same settings.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { refusal } from "../tools/arguments.ts";
import { commitOf } from "../tools/release.ts";
import { preflight, type Report, takenFromAnother } from "./preflight.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

const HELP = `npm run deploy -- [--anyway] [--drop] [-c name=value …] [arguments of cdk deploy]

Checks the account, compares the settings with those of the last deployment, then runs cdk deploy.

  -c, --context name=value  a setting, as in docs/deploy.md; an object is JSON text
  --profile, --region NAME  the account and region, of the checks and of cdk deploy
  --anyway                  deploy in spite of what the checks found
  --drop                    let settings of the last deployment go that are named neither here nor in cdk.json
  --yes                     do not ask about changed settings; cdk deploy does not ask either
  --check                   only check

Example: npm run deploy -- -c stackName=Staging --require-approval never`;

interface Arguments {
  context: Record<string, string>;
  /** Environment variables that choose the account for the checks. */
  account: Record<string, string>;
  anyway: boolean;
  drop: boolean;
  check: boolean;
  help: boolean;
  /** The arguments that are passed on to `cdk deploy`. */
  rest: string[];
}

/** The arguments without a value. */
const NONE = { anyway: false, drop: false, check: false, help: false };

/** @throws an error that names the argument. */
export function argumentsOf(args: readonly string[]): Arguments {
  const read: Arguments = { context: {}, account: {}, ...NONE, rest: [] };
  const words = [...args];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === "--anyway") read.anyway = true;
    else if (word === "--drop") read.drop = true;
    else if (word === "--yes" || word === "-y") read.rest.push("--yes");
    else if (word === "--check") read.check = true;
    else if (word === "--help" || word === "-h") read.help = true;
    else if (word === "-c" || word === "--context") note(read, words.shift() ?? "");
    else if (word.startsWith("--context=")) note(read, word.slice("--context=".length));
    else if (word.startsWith("-c=")) note(read, word.slice("-c=".length));
    // The CDK would read a context from such a group, which the checks would not see.
    else if (/^-[A-Za-z]{2}/.test(word)) throw refusal(`Options of one letter stand apart, unlike '${word}'.`);
    else if (Object.hasOwn(ACCOUNT, nameOf(word))) noteAccount(read, word, words);
    else if (word.startsWith("--") && !cdkOptions().has(nameOf(word))) throw refusal(`Unknown option '${word}'.`);
    else read.rest.push(word);
  }
  return read;
}

const nameOf = (word: string) => word.replace(/^--(?:no-)?|=.*$/gs, "");

/** The options that choose the account and region → the variables that the SDK reads in their place. */
const ACCOUNT: Record<string, string> = { profile: "AWS_PROFILE", region: "AWS_REGION" };

function noteAccount({ account, rest }: Arguments, word: string, words: string[]): void {
  const value = word.includes("=") ? word.slice(word.indexOf("=") + 1) : words.shift();
  if (!value) throw refusal(`--${nameOf(word)} needs a value.`);
  account[ACCOUNT[nameOf(word)]!] = value;
  rest.push(`--${nameOf(word)}`, value);
}

/** The options of `cdk deploy`, which itself ignores those that it does not know: a misspelt `--check` would deploy. */
function cdkOptions(): Set<string> {
  const file = new URL("../node_modules/aws-cdk/lib/cli/cli-type-registry.json", import.meta.url);
  const { globalOptions, commands } = JSON.parse(readFileSync(file, "utf8")) as {
    globalOptions: object;
    commands: { deploy: { options: object } };
  };
  return new Set([...Object.keys(globalOptions), ...Object.keys(commands.deploy.options)]);
}

function note({ context, rest }: Arguments, pair: string): void {
  const at = pair.indexOf("=");
  if (at < 1) throw refusal(`--context takes name=value, and was given "${pair}".`);
  context[pair.slice(0, at)] = pair.slice(at + 1);
  // `cdk deploy` reads the first line of a value only.
  rest.push("--context", pair.replace(/\s*\n\s*/g, " "));
}

/** The context that the CDK reads beside what is given: later ones win. */
export function contextOfFiles(project: string, home: string): Record<string, unknown> {
  const read = (file: string): Record<string, unknown> =>
    existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  const of = (file: string) => Object(read(file).context) as Record<string, unknown>;
  return {
    ...of(join(home, ".cdk.json")),
    ...read(join(project, "cdk.context.json")),
    ...of(join(project, "cdk.json")),
  };
}

/** Why nothing is deployed. */
export function stopsOf({ faults, dropped, isCompared }: Report, { anyway, drop }: Arguments): string[] {
  const found = anyway ? [] : faults;
  // If a fault prevented the comparison, the changes are reported after the fault is mended.
  if (drop || (!isCompared && found.length > 0)) return found;
  if (!isCompared)
    return [...found, "The settings of the last deployment are not known. To deploy all the same, give --drop."];
  return [...found, ...dropped.map((name) => `${name} was set, and is not now: put it into cdk.json, or give --drop.`)];
}

/** Whether a person has to agree: something changes, and no argument has agreed to it in advance. */
export const asks = ({ changes }: Report, { rest }: Arguments): boolean =>
  changes.length > 0 && !rest.includes("--yes");

/** Arguments that are added for `cdk deploy`. Outside a Git repository the caller may name the commit. */
export const addedTo = (
  named: Record<string, unknown>,
  { chosen }: Pick<Report, "chosen">,
): Record<string, string> => ({
  commit: named.commit ? String(named.commit) : commitOf(),
  ...chosen,
});

async function isAgreed(): Promise<boolean> {
  if (!process.stdin.isTTY) throw refusal("Settings change, and nobody can be asked: give --yes.");
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question("Deploy with these settings? (y/N) ");
  terminal.close();
  return /^y(?:es)?$/i.test(answer.trim());
}

async function main(): Promise<number> {
  const args = argumentsOf(process.argv.slice(2));
  const { context, account, check, help, rest } = args;
  if (help) {
    console.log(HELP);
    return 0;
  }
  Object.assign(process.env, account);
  const file = contextOfFiles(root, homedir());
  const report = await preflight({ ...file, ...context });
  report.faults.push(...takenFromAnother(file, context));
  for (const line of report.fine) console.log(`ok    ${line}`);
  for (const line of report.notes) console.log(`note  ${line}`);
  for (const line of report.changes) console.log(`new   ${line}`);
  const stops = stopsOf(report, args);
  for (const line of new Set([...report.faults, ...stops])) console.error(`stop  ${line}`);
  if (check) return report.faults.length + stops.length > 0 ? 1 : 0;
  if (stops.length > 0 || (asks(report, args) && !(await isAgreed()))) return 1;

  const more = Object.entries(addedTo({ ...file, ...context }, report)).flatMap(([name, value]) => [
    "--context",
    `${name}=${value}`,
  ]);
  // The CDK reads its context from this variable before it reads its arguments.
  const { CDK_CONTEXT: _, ...env } = process.env;
  const { status } = spawnSync("npx", ["cdk", "deploy", ...rest, ...more], { stdio: "inherit", env });
  return status ?? 1;
}

if (import.meta.main)
  process.exitCode = await main().catch((error: Error & { exitCode?: number }) => {
    console.error(error.message);
    return error.exitCode ?? 1;
  });
