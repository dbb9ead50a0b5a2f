// npm run deploy -- [--anyway] [-c name=value …] [arguments of cdk deploy]: the preflight, then `cdk deploy`, both with
// the same settings.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { REFUSED } from "../tools/arguments.ts";
import { commitOf } from "../tools/release.ts";
import { preflight } from "./preflight.ts";

const HELP = `npm run deploy -- [--anyway] [-c name=value …] [arguments of cdk deploy]

Checks the account and the settings, then runs cdk deploy with the same settings.

  -c, --context name=value  a setting, as in docs/deploy.md; an object is JSON text
  --profile, --region NAME  the account and region, of the checks and of cdk deploy
  --anyway                  deploy in spite of what the checks found
  --check                   only check

Example: npm run deploy -- -c stackName=Staging --require-approval never`;

export interface Arguments {
  context: Record<string, string>;
  /** Of the account: environment variables for the checks. */
  account: Record<string, string>;
  anyway: boolean;
  check: boolean;
  help: boolean;
  /** For `cdk deploy`. */
  rest: string[];
}

/** @throws an error that names the argument. */
export function argumentsOf(given: readonly string[]): Arguments {
  const read: Arguments = { context: {}, account: {}, anyway: false, check: false, help: false, rest: [] };
  const words = [...given];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === "--anyway") read.anyway = true;
    else if (word === "--check") read.check = true;
    else if (word === "--help" || word === "-h") read.help = true;
    else if (word === "-c" || word === "--context") note(read, words.shift() ?? "");
    else if (word.startsWith("--context=")) note(read, word.slice("--context=".length));
    else if (Object.hasOwn(ACCOUNT, nameOf(word))) noteAccount(read, word, words);
    else if (word.startsWith("--") && !cdkOptions().has(nameOf(word))) throw refusal(`Unknown option '${word}'.`);
    else read.rest.push(word);
  }
  return read;
}

const nameOf = (word: string) => word.replace(/^--(?:no-)?|=.*$/gs, "");

/** Options that choose the account and region, and what the SDK reads instead. */
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

const refusal = (problem: string) => Object.assign(new Error(`${problem} More with --help.`), { exitCode: REFUSED });

function note({ context, rest }: Arguments, pair: string): void {
  const at = pair.indexOf("=");
  if (at < 1) throw refusal(`--context takes name=value, and was given "${pair}".`);
  context[pair.slice(0, at)] = pair.slice(at + 1);
  // `cdk deploy` reads the first line of a value only.
  rest.push("--context", pair.replace(/\s*\n\s*/g, " "));
}

async function main(): Promise<number> {
  const { context, account, anyway, check, help, rest } = argumentsOf(process.argv.slice(2));
  if (help) {
    console.log(HELP);
    return 0;
  }
  Object.assign(process.env, account);
  const file = JSON.parse(readFileSync(new URL("../cdk.json", import.meta.url), "utf8")) as { context: object };
  const { fine, notes, faults, chosen } = await preflight({ ...file.context, ...context });
  for (const line of fine) console.log(`ok    ${line}`);
  for (const line of notes) console.log(`note  ${line}`);
  for (const line of faults) console.error(`stop  ${line}`);
  if (check || (faults.length > 0 && !anyway)) return faults.length > 0 ? 1 : 0;
  const more = Object.entries({ commit: commitOf(), ...chosen }).flatMap(([name, value]) => [
    "--context",
    `${name}=${value}`,
  ]);
  const { status } = spawnSync("npx", ["cdk", "deploy", ...rest, ...more], { stdio: "inherit" });
  return status ?? 1;
}

if (import.meta.main)
  process.exitCode = await main().catch((error: Error & { exitCode?: number }) => {
    console.error(error.message);
    return error.exitCode ?? 1;
  });
