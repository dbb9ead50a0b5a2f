// The command lines of our scripts: `--help`, options by name, and one line that says what is wrong.
import { type ParseArgsConfig, parseArgs } from "node:util";

/** The exit code of a command line that was refused: nothing was begun. */
const REFUSED = 2;

/** Says in one line what is wrong, and ends the process with 2. */
export function refuse(problem: string): never {
  console.error(refusal(problem).message);
  process.exit(REFUSED);
}

/** What a command line is refused for, to be thrown. */
export const refusal = (problem: string) =>
  Object.assign(new Error(`${problem} More with --help.`), { exitCode: REFUSED });

/** The first sentence of what `parseArgs` says; the others explain its own conventions. */
const problemOf = ({ message }: Error) => `${message.split(/\.?(?:\s*\n|\s(?=To )|$)/)[0]}.`;

/** The options and positionals, as `parseArgs` of node:util describes them. @throws a refusal of what is none. */
export function argumentsIn<const T extends ParseArgsConfig>(config: T) {
  try {
    return parseArgs(config);
  } catch (error) {
    throw refusal(problemOf(error as Error));
  }
}

/**
 * The options and positionals of this process, as `parseArgs` of node:util describes them.
 * `--help` prints `usage`, an unknown or incomplete option says what is wrong; both end the process.
 */
export function readArguments<const T extends ParseArgsConfig>(usage: string, config: T) {
  const words = process.argv.slice(2);
  if (words.includes("--help") || words.includes("-h")) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return argumentsIn(config);
  } catch (error) {
    console.error((error as Error).message);
    process.exit(REFUSED);
  }
}

/** A day of the calendar, as in 2026-11-21. Anything else ends the process. */
export function dayOf(text: string): string {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(Date.parse(text)).toJSON()?.startsWith(text);
  return isDay ? text : refuse("Name the day of the release, as in 2026-11-21.");
}

/** A whole number of at least `min`, in decimal digits. Anything else ends the process. */
export function wholeNumber(name: string, text: string, min = 0): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= min) return number;
  return refuse(`${name} must be a whole number of at least ${min}, not "${text}".`);
}
