// npm run check:clients: what others' software makes of this service. See USAGE.
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readArguments, refuse } from "../../tools/arguments.ts";
import { columnsOf } from "../../tools/text-table.ts";
import { cleanUp, type ServiceProcess, startService } from "../support/service-process.ts";
import { type Claim, FOLDER, versionOf } from "./claims.ts";
import { install } from "./install.ts";
import { run } from "./run.ts";

/** Imported when the software is installed. */
const areas: Record<string, () => Promise<{ claims: readonly Claim[] }>> = {
  document: () => import("./document.ts"),
  segment: () => import("./segment.ts"),
  webhooks: () => import("./webhooks.ts"),
  streams: () => import("./streams.ts"),
  agents: () => import("./agents.ts"),
  mail: () => import("./mail.ts"),
  languages: () => import("./languages.ts"),
};

const USAGE = `npm run check:clients -- [--only AREA]: tries clients that others wrote against the local service.

  --only AREA         ${Object.keys(areas).join(", ")}; by default all of them

The first run installs them into test/clients, by a lockfile of its own. Progress goes to stderr, a table to stdout.
Ends with 1 if a claim is not true.

Example: npm run check:clients -- --only document`;

/** A long claim says at least this often that it goes on. */
const TELL_MS = 5_000;

const { values } = readArguments(USAGE, { options: { only: { type: "string" } } });
if (values.only !== undefined && !Object.hasOwn(areas, values.only)) refuse(`There is no area "${values.only}".`);

interface Outcome {
  claim: Claim;
  version: string;
  /** What was wrong, where something was. */
  failure?: string;
}

const tell = (progress: string) => console.error(progress);

async function outcomeOf(claim: Claim, service: ServiceProcess): Promise<Outcome> {
  let version = "none";
  try {
    version = (await claim.version?.()) ?? versionOf(claim.tool);
    await claim.prove(service);
    return { claim, version };
  } catch (error) {
    return { claim, version, failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

async function proveAll(claims: readonly Claim[], service: ServiceProcess): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const [n, claim] of claims.entries()) {
    const which = `${n + 1} of ${claims.length}: ${claim.says} (${claim.tool})`;
    const start = performance.now();
    const seconds = () => `${((performance.now() - start) / 1000).toFixed(1)} s`;
    const timer = setInterval(() => tell(`${which}: ${seconds()} so far`), TELL_MS);
    const outcome = await outcomeOf(claim, service);
    clearInterval(timer);
    tell(`${which}: ${outcome.failure ? "fails" : "passes"} after ${seconds()}`);
    if (outcome.failure) tell(outcome.failure);
    outcomes.push(outcome);
  }
  return outcomes;
}

const tableOf = (outcomes: readonly Outcome[]): string =>
  columnsOf(
    [
      ["claim", "tool", "version", "result"],
      ...outcomes.map(({ claim, version, failure }) => [claim.says, claim.tool, version, failure ? "fails" : "passes"]),
    ],
    ["claim", "tool", "version", "result"],
  );

await install(tell);
mkdirSync(new URL("generated/", FOLDER), { recursive: true });
await run(process.execPath, ["../../node_modules/typescript/bin/tsc", "-p", fileURLToPath(FOLDER)]);

const chosen = Object.entries(areas).filter(([name]) => values.only === undefined || name === values.only);
const claims = (await Promise.all(chosen.map(([, open]) => open()))).flatMap((area) => area.claims);

tell("starting the local service");
const service = await startService({
  DATA_DIR: ":memory:",
  WEBHOOK_ALLOW_LOOPBACK: "1",
  PROVIDERS_ALLOW_LOOPBACK: "1",
});
try {
  const outcomes = await proveAll(claims, service);
  console.log(tableOf(outcomes));
  const failed = outcomes.filter(({ failure }) => failure !== undefined).length;
  console.log(`\n${outcomes.length - failed} passed, ${failed} failed`);
  process.exitCode = failed > 0 || outcomes.length === 0 ? 1 : 0;
} finally {
  await cleanUp();
}
