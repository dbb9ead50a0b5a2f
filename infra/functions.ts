// Every function that is deployed, derived from the contents page: name, sizes, what it touches, how its bundle begins.
import { groups, stream, workers } from "../functions/index.ts";
import type { Group } from "../shared/http/endpoint.ts";
import type { KnownRoute } from "../shared/http/fallback.ts";
import { servingUses } from "../shared/http/serve.ts";
import { WORKER_TIMEOUT_SECONDS } from "../shared/messages.ts";
import type { Uses } from "../shared/parts.ts";
import type { Worker } from "../shared/worker.ts";

export interface Contents {
  groups: readonly Group[];
  workers: readonly Worker[];
  stream: typeof stream;
}

export const contents: Contents = { groups, workers, stream };

/** The gateway gives up after 30 seconds: a function answers, or is ended, before that. */
export const API_TIMEOUT_SECONDS = 29;
export const STREAM_TIMEOUT_SECONDS = 900;
const MEMORY_MB = 512;
/** Held for as long as a stream is open, so it is what a stream costs (decision 28). */
const STREAM_MEMORY_MB = 128;

export interface DeployedFunction {
  /** `api-templates`, `fan-out`, `stream`, `fallback`: as in the local service. */
  name: string;
  kind: "api" | "worker" | "stream" | "fallback";
  about: string;
  uses: Uses;
  memoryMb: number;
  timeoutSeconds: number;
}

export function deployedFunctions({ groups, workers, stream }: Contents): DeployedFunction[] {
  const api = { memoryMb: MEMORY_MB, timeoutSeconds: API_TIMEOUT_SECONDS };
  return [
    ...groups.map((group) => ({
      ...{ name: `api-${group.name}`, kind: "api" as const, about: group.about, ...api },
      uses: [...servingUses, ...group.endpoints.flatMap(({ uses }) => uses)],
    })),
    { ...{ name: "fallback", kind: "fallback", about: "Answers where no route does.", ...api }, uses: [] },
    {
      ...{ name: stream.name, kind: "stream", about: stream.about },
      uses: [...servingUses, ...stream.endpoint.uses],
      memoryMb: STREAM_MEMORY_MB,
      timeoutSeconds: STREAM_TIMEOUT_SECONDS,
    },
    ...workers.map(({ name, about, uses }) => ({
      ...{ name, kind: "worker" as const, about, uses },
      memoryMb: MEMORY_MB,
      timeoutSeconds: WORKER_TIMEOUT_SECONDS,
    })),
  ];
}

/** What the fallback knows: every route, and who may call it. */
export const knownRoutes = ({ groups, stream }: Contents): KnownRoute[] =>
  [...groups.flatMap(({ endpoints }) => endpoints), stream.endpoint].map(({ route, access }) => ({
    route,
    credentials: access.credentials,
  }));
