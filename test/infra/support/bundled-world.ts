// The service as it ships: built bundles with the env and the rights of the template, around the embedded AWS services.
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { build } from "esbuild";
import { bundleFile } from "../../../infra/bundle.ts";
import { contents, deployedFunctions } from "../../../infra/functions.ts";
import { logicalIdOf } from "../../../infra/names.ts";
import { awsFailure, startAwsPort, type Wire } from "../../../local/aws/index.ts";
import { matchesOne } from "../../../local/event-sources.ts";
import { createGateway } from "../../../local/gateway.ts";
import { createLambdaHost } from "../../../local/lambda.ts";
import { createMappings } from "../../../local/mappings.ts";
import { queues } from "../../../shared/contract/messages.ts";
import { publishedParts, streamSources } from "../../../shared/contract/stream-sources.ts";
import { routesOf } from "../../../shared/http/endpoint.ts";
import { sendsToItself } from "../../../shared/runtime/worker.ts";
import { testWorld } from "../../support/world.ts";
import type { Ask, Reply } from "./bundle-thread.ts";
import { neededRights, placesOf, rightsOf, statementsOf } from "./policies.ts";
import { BUS, publishing } from "./template.ts";

const functions = deployedFunctions(contents);

/** The environment of a function as JavaScript: to read its types away takes each thread longer than all else. */
const built = await build({
  entryPoints: [fileURLToPath(new URL("bundle-thread.ts", import.meta.url))],
  ...{ bundle: true, write: false, platform: "node", format: "esm" },
});
const thread = new URL(`data:text/javascript,${encodeURIComponent(built.outputFiles[0]!.text)}`);

export async function bundledWorld() {
  const template = publishing();
  const places = placesOf(template);
  const world = await testWorld({ start: Date.now(), env: { EVENT_BUS: BUS, ARCHIVE_BUCKET: "engagement-archive" } });
  const { dynamodb, sqs, kms, scheduler, s3, ses, eventbridge, clock, ids, database } = world;
  const closing: (() => unknown)[] = [];
  /** `function: right` for every right that was used. */
  const used = new Set<string>();
  const refused: string[] = [];

  /** The embedded services as one function may use them: what its role does not allow is denied. */
  const servicesFor = (name: string) => {
    const rights = new Set(rightsOf(statementsOf(template, logicalIdOf(name))));
    const guarded = <S extends { operate(operation: string, input: Wire): Promise<Wire> }>(
      service: string,
      it: S,
    ): S => ({
      ...it,
      operate: async (operation: string, input: Wire) => {
        for (const right of neededRights(places, service, operation, input)) {
          if (!rights.has(right)) {
            refused.push(`${name}: ${right}`);
            throw awsFailure("AccessDeniedException", `${name} may not ${right}.`);
          }
          used.add(`${name}: ${right}`);
        }
        return it.operate(operation, input);
      },
    });
    return {
      dynamodb: guarded("dynamodb", dynamodb),
      sqs: guarded("sqs", sqs),
      kms: guarded("kms", kms),
      scheduler: guarded("scheduler", scheduler),
      s3: guarded("s3", s3),
      ses: guarded("ses", ses),
      eventbridge: guarded("eventbridge", eventbridge),
    };
  };

  const environmentOf = (name: string, url: string): Record<string, string> => {
    const declared = template.Resources[logicalIdOf(name)]!.Properties.Environment?.Variables ?? {};
    const variables = Object.keys(declared).map((variable) => [
      variable,
      world.env[variable] ?? String(declared[variable]),
    ]);
    const platform = { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: "secret" };
    return { ...Object.fromEntries(variables), ...platform, AWS_ENDPOINT_URL: url };
  };

  const environments = new Map<string, Promise<Worker>>();
  /** The env variables of one function, with a port of its own to the services it may use. */
  const furnish = async (name: string): Promise<Record<string, string>> => {
    const port = await startAwsPort(servicesFor(name), 0, () => undefined);
    closing.push(() => port.close());
    return environmentOf(name, port.url);
  };
  const start = async (name: string): Promise<Worker> => {
    const worker = new Worker(thread, {
      env: await furnish(name),
      workerData: { file: pathToFileURL(bundleFile(name)).href },
      stdout: true,
    });
    closing.push(() => worker.terminate());
    return worker;
  };
  let asked = 0;
  const invoke = async (name: string, event: unknown, onReply: (reply: Reply) => void = () => undefined) => {
    if (!environments.has(name)) environments.set(name, start(name));
    const worker = await environments.get(name)!;
    const id = ++asked;
    return new Promise<unknown>((resolve, reject) => {
      const hear = (reply: Reply) => {
        if (reply.id !== id) return;
        onReply(reply);
        if (reply.kind !== "answer" && reply.kind !== "failure") return;
        worker.off("message", hear).off("error", reject);
        if (reply.kind === "answer") resolve(reply.answer);
        else reject(new Error(`${name}: ${reply.message}`));
      };
      worker.on("message", hear).once("error", reject);
      worker.postMessage({ id, event, streaming: name === contents.stream.name } satisfies Ask);
    });
  };

  const host = createLambdaHost({ clock, ids });
  for (const { name, kind, timeoutSeconds, grants } of functions)
    if (kind !== "stream") {
      const allowsLoops = sendsToItself(name, grants);
      host.register({ name, timeoutSeconds, allowsLoops, create: () => (event: unknown) => invoke(name, event) });
    }
  const routes = contents.groups.flatMap((group) =>
    routesOf(group).map(({ routeKey }) => ({ routeKey, function: `api-${group.name}` })),
  );
  routes.push({ routeKey: "$default", function: "fallback" });
  const trouble: string[] = [];
  const log = (message: string, details?: object) => void trouble.push(`${message} ${JSON.stringify(details)}`);
  const gateway = createGateway({ clock, ids, host, routes, log });
  const mappings = createMappings({ clock, database, sqs, dynamodb, host, log });
  for (const worker of contents.workers)
    if (worker.eventSource === "queue")
      mappings.mapQueue({ queue: worker.name, function: worker.name, batchSize: queues[worker.name].batch });
  for (const { worker, patterns, batchSize } of streamSources(publishedParts(world.env)))
    mappings.mapTableStream({
      table: String(world.env.TABLE_NAME),
      function: worker,
      batchSize,
      filter: (record) => matchesOne(patterns, record),
    });

  return {
    ...world,
    gateway,
    invoke,
    furnish,
    used,
    refused,
    trouble,
    /** Runs whatever wakes a worker until nothing does. */
    settle: async () => {
      for (let busy = true; busy; ) {
        busy = false;
        for (const mapping of mappings.all()) if (await mapping.pump()) busy = true;
      }
    },
    close: async () => {
      await Promise.all(closing.map((end) => end()));
      await world.close();
    },
  };
}
