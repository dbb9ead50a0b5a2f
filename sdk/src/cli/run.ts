// Runs one command, and explains what went wrong.
import { ServiceError } from "../errors.ts";
import { type Command, CommandError, EXIT, helpOf, overview, readArguments } from "./command.ts";
import { apply, diff, exportConfiguration } from "./commands/configuration.ts";
import { fromPinpoint } from "./commands/from-pinpoint.ts";
import { importFile } from "./commands/import.ts";
import { listen } from "./commands/listen.ts";
import { login, logout, whoami } from "./commands/login.ts";
import { explain, exportSubscriber, why } from "./commands/person.ts";
import { send } from "./commands/send.ts";
import { simulate } from "./commands/simulate.ts";
import { tail } from "./commands/tail.ts";
import { hasCredentials } from "./connection.ts";
import type { Io } from "./io.ts";

const commands: readonly Command[] = [
  // The commands in the order of the help.
  login,
  logout,
  whoami,
  send,
  tail,
  explain,
  why,
  listen,
  importFile,
  simulate,
  exportConfiguration,
  diff,
  apply,
  fromPinpoint,
  exportSubscriber,
];

/**
 * Runs `engagement <words>`.
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage, 3 not allowed, 4 service not reached, 5 differences, 6 blocked
 */
export async function runCli(words: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = words;
  const isJson = rest.includes("--json");
  try {
    if (name === undefined || name === "help" || name === "--help" || name === "-h") {
      const about = rest.find((word) => !word.startsWith("-"));
      io.out(about === undefined ? overview(commands) : helpOf(commandOf(about)));
      return name === undefined ? EXIT.usage : EXIT.ok;
    }
    const found = commandOf(name);
    const call = readArguments(found, rest, io);
    if (call === "help") {
      io.out(helpOf(found));
      return EXIT.ok;
    }
    return await found.run(call);
  } catch (error) {
    const failure = ofFile(error);
    if (!(failure instanceof CommandError || failure instanceof ServiceError)) throw error;
    if (isJson) io.out(JSON.stringify({ error: describe(failure) }));
    else for (const line of linesOf(failure, name === login.name ? undefined : hintOf(io))) io.note(line);
    return codeOf(failure);
  }
}

/** @throws for wrong usage, if there is none of that name */
function commandOf(name: string): Command {
  const found = commands.find((command) => command.name === name);
  if (!found) throw new CommandError(`There is no command ${name}. See: engagement --help`, EXIT.usage);
  return found;
}

/** A file that cannot be read or written is named by the message of the system. */
const ofFile = (error: unknown): unknown =>
  error instanceof Error && "syscall" in error ? new CommandError(error.message) : error;

/** A hint for refused credentials. */
const hintOf = ({ env }: Io): string =>
  hasCredentials(env) ? "Check the credentials in the environment (ENGAGEMENT_…)." : "Log in again: engagement login";

function codeOf(error: CommandError | ServiceError): number {
  if (error instanceof CommandError) return error.exitCode;
  if (error.status === 0) return EXIT.unreachable;
  return error.status === 401 || error.status === 403 ? EXIT.denied : EXIT.failed;
}

function describe(error: CommandError | ServiceError): object {
  if (error instanceof CommandError) return { code: "COMMAND_FAILED", message: error.message };
  const { code, status, message, fields, requestId } = error;
  return { code, status, message, ...(fields && { fields }), ...(requestId && { request_id: requestId }) };
}

function linesOf(error: CommandError | ServiceError, onDenied: string | undefined): string[] {
  if (error instanceof CommandError) return [`Error: ${error.message}`];
  const fields = Object.entries(error.fields ?? {}).map(([field, reason]) => `  ${field}: ${reason}`);
  const hint = error.status === 401 && onDenied !== undefined ? [`  ${onDenied}`] : [];
  const id = error.requestId ? [`  request ${error.requestId}`] : [];
  return [`Error: ${error.message} (${error.code})`, ...fields, ...hint, ...id];
}
