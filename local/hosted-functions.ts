// Registers the functions of the product with the local host of Lambda.
import { groups as everyGroup, operator, stream, workers } from "../functions/index.ts";
import { WORKER_TIMEOUT_SECONDS } from "../shared/contract/messages.ts";
import { type Endpoint, type Group, routeKeyOf, routesOf } from "../shared/http/endpoint.ts";
import { answerUnknown, knownRoutes } from "../shared/http/fallback.ts";
import { serve } from "../shared/http/serve.ts";
import type { FunctionDeps } from "../shared/runtime/deps.ts";
import { sendsToItself } from "../shared/runtime/worker.ts";
import type { GatewayRoute } from "./gateway.ts";
import type { LambdaHost } from "./lambda.ts";
import { awslambda } from "./lambda-stream.ts";

export const API_TIMEOUT_SECONDS = 29;
const STREAM_TIMEOUT_SECONDS = 120;
const STREAM_CONCURRENCY = 1_000;

/** Here a file of any size reaches its function, which rejects it with the product's own error (docs/local.md). */
const UPLOAD_LIMIT = 64 * 1024 * 1024;

const FALLBACK = "fallback";
const takesFile = ({ shape }: Endpoint) => shape.form !== undefined;

const routesMade = new WeakMap<readonly Group[], readonly GatewayRoute[]>();

/** The gateway's routes to the functions of these groups and to the others; for the same groups the same list. */
function gatewayRoutes(groups: readonly Group[]): readonly GatewayRoute[] {
  const made = routesMade.get(groups);
  if (made) return made;

  const ofGroups = groups.flatMap((group) =>
    routesOf(group).map(({ routeKey, endpoint }) => ({
      routeKey,
      function: `api-${group.name}`,
      ...(takesFile(endpoint) && { bodyLimitBytes: UPLOAD_LIMIT }),
    })),
  );
  const streamKey = routeKeyOf(stream.endpoint.route);
  const ofStream = [streamKey, streamKey.replace("GET ", "HEAD ")].map((routeKey) => ({
    routeKey,
    function: stream.name,
    functionUrl: true,
  }));
  const routes = [...ofGroups, ...ofStream, { routeKey: "$default", function: FALLBACK }];
  routesMade.set(groups, routes);
  return routes;
}

/** Registers every function of the product with the host. @returns the gateway's routes to them. */
export function hostFunctions(
  host: LambdaHost,
  depsFor: (name: string) => FunctionDeps,
  groups: readonly Group[] = everyGroup,
): readonly GatewayRoute[] {
  for (const group of groups) {
    const name = `api-${group.name}`;
    const sizes = group.endpoints.some(takesFile) ? { payloadLimit: false } : {};
    const create = () => serve(group, depsFor(name));
    host.register({ name, timeoutSeconds: API_TIMEOUT_SECONDS, ...sizes, create });
  }
  for (const worker of workers) {
    const { name, uses } = worker;
    const allowsLoops = sendsToItself(
      name,
      uses.flatMap(({ grants }) => grants),
    );
    const create = () => worker.create(depsFor(name));
    host.register({ name, timeoutSeconds: WORKER_TIMEOUT_SECONDS, allowsLoops, create });
  }
  host.register({
    name: operator.name,
    timeoutSeconds: API_TIMEOUT_SECONDS,
    create: () => operator.create(depsFor(operator.name)),
  });
  Object.assign(globalThis, { awslambda });
  const sizes = { timeoutSeconds: STREAM_TIMEOUT_SECONDS, concurrency: STREAM_CONCURRENCY };
  host.registerStreaming({ name: stream.name, ...sizes, create: () => stream.create(depsFor(stream.name)) });
  const endpoints = [...groups.flatMap((group) => group.endpoints), stream.endpoint];
  host.register({
    name: FALLBACK,
    timeoutSeconds: API_TIMEOUT_SECONDS,
    create: () => answerUnknown(knownRoutes(endpoints), depsFor(FALLBACK)),
  });
  return gatewayRoutes(groups);
}
