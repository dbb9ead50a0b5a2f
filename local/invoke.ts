// `npm run invoke -- <function> <event.json>`: runs one function on one event, in a fresh service in memory.
import { existsSync, readFileSync } from "node:fs";
import { readArguments, refuse } from "../tools/arguments.ts";
import { isFunctionFailure } from "./lambda-payloads.ts";
import { createLocalService, type LocalService } from "./local-service.ts";
import { openTenancy } from "./tenancy.ts";

const STREAM_MS = 2_000;

const USAGE = `npm run invoke -- <function> <event.json>: runs one function on one event, in a fresh service in memory.

Example: npm run invoke -- due events/due.json
The events of all functions are in events/. Placeholders as {access_token} are filled in.`;

/** Credentials and a subscriber of a workspace, by the placeholders of the sample events, such as `{access_token}`. */
export type Placeholders = Readonly<Record<string, string>>;

export const fillIn = (event: string, found: Placeholders): unknown =>
  JSON.parse(event.replaceAll(/\{(\w+)\}/g, (text, name: string) => found[name] ?? text));

/** Runs a function of the service on an event. @returns its result, or what a stream wrote until `cut` ended it. */
export async function invoke(
  service: LocalService,
  name: string,
  event: unknown,
  cut: () => Promise<unknown>,
): Promise<unknown> {
  if (name !== "stream") return service.host.invoke(name, event);
  const written: { status: number; body: string } = { status: 0, body: "" };
  const ended = service.host.invokeStreaming(name, event, {
    start: (status) => {
      written.status = status;
    },
    write: (chunk) => {
      written.body += chunk;
      return true;
    },
    end: () => undefined,
  });
  await Promise.race([ended, cut()]);
  return written;
}

/** Makes a demo workspace, and returns the values of its placeholders. */
export async function placeholdersFor(service: LocalService): Promise<Placeholders> {
  const tenancy = openTenancy(service.depsFor("invoke"));
  const { tenant_id, sdk_key, server_key, agent_key, access_token } = await tenancy.createWorkspace({ name: "Demo" });
  await tenancy.changeWorkspace(tenant_id, { kind: "agency" });
  const { id } = await tenancy.upsertSubscriber(tenant_id, "ada", {});
  return { tenant_id, sdk_key, server_key, agent_key, access_token, subscriber_id: id };
}

/** An event of the file, with the credentials of a workspace; ends the process where it is not JSON. */
function eventIn(file: string, found: Placeholders): unknown {
  try {
    return fillIn(readFileSync(file, "utf8"), found);
  } catch (error) {
    return refuse(`${file} is not JSON: ${(error as Error).message}.`);
  }
}

/** Prints why there is no answer, as Lambda reports it, and ends the process. */
function explain(error: unknown, name: string): never {
  if (error instanceof Error && error.name === "ResourceNotFoundException")
    return refuse(`There is no function ${name}; each has an event in events/.`);
  if (!isFunctionFailure(error)) throw error;
  console.error(error.report.trace.join("\n"));
  console.error(`\n${name} failed. An event that it takes is events/${name}.json.`);
  process.exit(1);
}

async function main(): Promise<void> {
  const [name, file, ...more] = readArguments(USAGE, { allowPositionals: true }).positionals;
  if (!name || !file || more.length > 0) return refuse("Name one function and one event.");
  if (!existsSync(file)) return refuse(`There is no file ${file}.`);
  const service = await createLocalService({
    start: Date.now(),
    ticking: true,
    log: (entry) => console.error(JSON.stringify(entry)),
  });
  service.time.start();
  const event = eventIn(file, await placeholdersFor(service));
  const cut = () => new Promise((resolve) => setTimeout(resolve, STREAM_MS));
  const answer = await invoke(service, name, event, cut).catch((error: unknown) => explain(error, name));
  console.log(JSON.stringify(answer, null, 2));
  process.exit(0);
}

if (process.argv[1]?.endsWith("local/invoke.ts")) await main();
