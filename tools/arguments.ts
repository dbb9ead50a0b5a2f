// The command lines of our scripts: `--help`, options by name, and one line that says what is wrong.
import { type ParseArgsConfig, parseArgs } from "node:util";

/** Says what is wrong and how the command begins, and ends the process with 1. */
export function refuse(problem: string, usage: string): never {
  console.error(`${problem}\n${usage.split("\n")[0]}\nMore with --help.`);
  process.exit(1);
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
    return parseArgs(config);
  } catch (error) {
    return refuse((error as Error).message, usage);
  }
}

/** A whole number of at least `min`, in decimal digits. Anything else ends the process. */
export function wholeNumber(usage: string, name: string, text: string, min = 0): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= min) return number;
  return refuse(`${name} must be a whole number of at least ${min}, not "${text}".`, usage);
}
