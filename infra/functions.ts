// Every deployed function, derived from functions/index.ts: its trigger, its limits, its grants.
import { groups, operator, stream, workers } from "../functions/index.ts";
import { furtherActions, listedActions } from "../functions/table-actions.ts";
import { PUBLISHER, WORKER_TIMEOUT_SECONDS } from "../shared/contract/messages.ts";
import type { Group } from "../shared/http/endpoint.ts";
import { servingUses } from "../shared/http/serving.ts";
import type { Grant, Uses } from "../shared/kernel/deps.ts";
import { byText } from "../shared/kernel/order.ts";
import type { Worker } from "../shared/runtime/worker.ts";
import { publishSite } from "./publish-site.ts";
import { publishes, type Settings } from "./settings.ts";

export interface Contents {
  groups: readonly Group[];
  workers: readonly Worker[];
  stream: typeof stream;
  operator: typeof operator;
}

export const contents: Contents = { groups, workers, stream, operator };

/** The contents of a deployment, without the publisher if nothing is published. */
export const contentsFor = (settings: Settings, all: Contents): Contents => ({
  ...all,
  workers: all.workers.filter(({ name }) => name !== PUBLISHER || publishes(settings)),
});

/** The gateway times out after 30 seconds, so a function must end before that. */
const API_TIMEOUT_SECONDS = 29;
/** The function that writes the site puts about a hundred small files. */
const SITE_TIMEOUT_SECONDS = 120;
/** A stream lives for 90 seconds. */
const STREAM_TIMEOUT_SECONDS = 120;
const MEMORY_MB = 512;
/**
 * A function's share of a CPU grows with its memory. Functions that mostly compute take half the time with twice the
 * memory, at the same cost.
 */
const COMPUTING_MEMORY_MB = 1_024;
const COMPUTING = new Set([
  "deliver",
  "due",
  "fan-out",
  "import-rows",
  "react",
  "recompute-segment",
  "segment",
  "step-journey",
]);
/** Memory is billed while a stream is open, so it decides a stream's cost (docs/decisions/0021#live-streams). */
const STREAM_MEMORY_MB = 128;

export interface DeployedFunction {
  /**
   * The name that the local service uses too, such as `api-templates`, `fan-out`, `stream`, `fallback` or `operator`.
   */
  name: string;
  kind: "api" | "fallback" | "stream" | "worker" | "operator" | "site";
  about: string;
  env: readonly string[];
  grants: readonly Grant[];
  memoryMb: number;
  timeoutSeconds: number;
}

export function deployedFunctions({ groups, workers, stream, operator }: Contents): DeployedFunction[] {
  const api = { memoryMb: MEMORY_MB, timeoutSeconds: API_TIMEOUT_SECONDS };
  return [
    ...groups.map(
      (group): DeployedFunction => ({
        name: `api-${group.name}`,
        kind: "api",
        about: group.about,
        ...api,
        ...limited(`api-${group.name}`, ofGroup(group)),
      }),
    ),
    {
      name: "fallback",
      kind: "fallback",
      about: "Answers requests that match no route.",
      ...api,
      env: [],
      grants: [],
    },
    {
      name: stream.name,
      kind: "stream",
      about: stream.about,
      memoryMb: STREAM_MEMORY_MB,
      timeoutSeconds: STREAM_TIMEOUT_SECONDS,
      ...limited(stream.name, environmentAndGrantsOf([...servingUses, ...stream.endpoint.uses])),
    },
    {
      name: operator.name,
      kind: "operator",
      about: operator.about,
      ...api,
      ...limited(operator.name, environmentAndGrantsOf(operator.uses)),
    },
    {
      name: publishSite.name,
      kind: "site",
      about: publishSite.about,
      memoryMb: MEMORY_MB,
      timeoutSeconds: SITE_TIMEOUT_SECONDS,
      ...environmentAndGrantsOf(publishSite.uses),
    },
    ...workers.map(
      ({ name, about, uses }): DeployedFunction => ({
        name,
        kind: "worker",
        about,
        memoryMb: COMPUTING.has(name) ? COMPUTING_MEMORY_MB : MEMORY_MB,
        timeoutSeconds: WORKER_TIMEOUT_SECONDS,
        ...limited(name, environmentAndGrantsOf(uses)),
      }),
    ),
  ];
}

type EnvironmentAndGrants = Pick<DeployedFunction, "env" | "grants">;

/** A group whose endpoints all take no credential needs no rights to check one. */
function ofGroup({ endpoints }: Group): EnvironmentAndGrants {
  const endpointUses = endpoints.flatMap(({ uses }) => uses);
  const all = environmentAndGrantsOf([...servingUses, ...endpointUses]);
  const isPublic = endpoints.every(({ access }) => access.credentials.length === 0);
  return isPublic ? { ...all, grants: environmentAndGrantsOf(endpointUses).grants } : all;
}

/** The listed actions on the table are limited to those of this function (functions/table-actions.ts). */
function limited(name: string, { env, grants }: EnvironmentAndGrants): EnvironmentAndGrants {
  const further = (furtherActions[name] ?? []).map((action) => `dynamodb:${action}`);
  const isLeft = (action: string) => further.includes(action) || !listed.includes(action);
  return {
    env,
    grants: grants.map(({ on, actions }) =>
      on === "table" ? { on, actions: actions.filter(isLeft) } : { on, actions },
    ),
  };
}
const listed = listedActions.map((action) => `dynamodb:${action}`);

/** Env variables and grants of a list of capabilities, without duplicates, in a fixed order. */
function environmentAndGrantsOf(uses: Uses): EnvironmentAndGrants {
  const env = [...new Set(uses.flatMap((use) => use.env))].sort();
  const byPlace = Map.groupBy(
    uses.flatMap(({ grants }) => grants),
    ({ on }) => on,
  );
  const grants = [...byPlace].map(([on, all]) => ({
    on,
    actions: [...new Set(all.flatMap(({ actions }) => actions))].sort(),
  }));
  return { env, grants: grants.sort(byText(({ on }) => on)) };
}
