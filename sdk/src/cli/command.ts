// A command of the command line: its options, its help, and how its arguments are read.
import { parseArgs } from "node:util";
import type { Io } from "./io.ts";

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  /** Not logged in, or not allowed. */
  denied: 3,
  unreachable: 4,
  /** `diff --exit-code` found differences. */
  different: 5,
  /** `apply` left out what cannot be changed now. */
  blocked: 6,
} as const;

/** A failure that is explained to the user. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message);
    this.name = "CommandError";
    this.exitCode = exitCode;
  }
}

export const usageError = (message: string) => new CommandError(message, EXIT.usage);

interface Option {
  type: "string" | "boolean";
  about: string;
  /** The placeholder of the value in the help: `<file>`. */
  value?: string;
}

type Options = Readonly<Record<string, Option>>;

type Values<O extends Options> = { [K in keyof O]?: O[K]["type"] extends "boolean" ? boolean : string };

export interface Call<O extends Options = Options> {
  io: Io;
  args: string[];
  options: Values<O> & { json?: boolean; profile?: string; url?: string };
}

export interface Command {
  name: string;
  /** `<folder>` */
  args: string;
  summary: string;
  /** More lines of the help. */
  about?: string;
  options: Options;
  run(call: Call): Promise<number>;
}

/** Options that every command has. */
const common = {
  json: { type: "boolean", about: "Print JSON" },
  profile: { type: "string", value: "<name>", about: "The saved login to use (default: default)" },
  url: { type: "string", value: "<address>", about: "The address of the service" },
  help: { type: "boolean", about: "Show this help" },
} as const satisfies Options;

/** Declares a command: `run` gets the options that are declared, with their types. */
export const command = <const O extends Options>(
  given: Omit<Command, "options" | "run"> & {
    options: O;
    run(call: Call<O>): Promise<number>;
  },
): Command => ({ ...given, run: (call) => given.run(call as Call<O>) });

/** Reads the arguments of a command. @throws CommandError for an argument that the command does not take. */
export function readArguments(of: Command, words: readonly string[], io: Io): Call | "help" {
  const options = { ...of.options, ...common };
  let read: ReturnType<typeof parseArgs>;
  try {
    read = parseArgs({ args: [...words], options, allowPositionals: true, strict: true });
  } catch (error) {
    const [reason = ""] = String((error as Error).message).split(". To specify");
    throw usageError(`${reason} See: engagement ${of.name} --help`);
  }
  if (read.values.help === true) return "help";
  const { length: max } = of.args.split(" ").filter(Boolean);
  const { length: min } = of.args.split(" ").filter((word) => word.startsWith("<"));
  const { positionals: args } = read;
  if (args.length < min || args.length > max)
    throw usageError(`Usage: engagement ${of.name} ${of.args}\nSee: engagement ${of.name} --help`);
  return { io, args, options: read.values as Call["options"] };
}

const column = (left: string, right: string, width: number) => `  ${left.padEnd(width)}  ${right}`;

export function helpOf({ name, args, summary, about, options }: Command): string {
  const rows = Object.entries({ ...options, ...common }).map(
    ([key, { value, about: text }]: [string, Option]) => [`--${key}${value ? ` ${value}` : ""}`, text] as const,
  );
  const width = Math.max(...rows.map(([left]) => left.length));
  return [
    `engagement ${name} ${args}`.trim(),
    "",
    `${summary}.`,
    ...(about ? ["", about] : []),
    "",
    "Options:",
    ...rows.map(([left, right]) => column(left, right, width)),
  ].join("\n");
}

export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    "engagement <command> [options]: the command line of the engagement messaging service.",
    "",
    ...commands.map(({ name, summary }) => column(name, summary, width)),
    "",
    "Help for a command: engagement <command> --help",
    "",
    "Without a saved login: ENGAGEMENT_URL with ENGAGEMENT_TOKEN, or with ENGAGEMENT_EMAIL and ENGAGEMENT_PASSWORD,",
    "or with ENGAGEMENT_SERVER_KEY for `send`. ENGAGEMENT_CONFIG is the folder of saved logins.",
    "",
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not logged in or not allowed, 4 service not reached,",
    "5 differences (diff --exit-code), 6 apply left something out.",
  ].join("\n");
}
