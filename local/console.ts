// The console beside the gateway, as CloudFront serves it (docs/edge.md): built at the start and when its sources change.
import { buildConsole, type ConsoleFiles, consoleChangedAt } from "../console/build.ts";
import { isConsole } from "../console/packed.ts";
import { documentOf } from "../console/policy.ts";
import { type Gateway, type GatewayRequest, type GatewayResponse, pathOf, refusal } from "./gateway.ts";

/** The gateway together with the console, under one address. */
export function withConsole(gateway: Gateway): Gateway {
  const files = createBuilds();
  return {
    ...gateway,
    plan: (method, path) =>
      isConsole(pathOf(path)) ? { streaming: false, bodyLimitBytes: 0 } : gateway.plan(method, path),
    handle: async (request) =>
      isConsole(pathOf(request.path)) ? answer(request, await files(pathOf(request.path))) : gateway.handle(request),
  };
}

/** Builds once, and again where a document is asked for after a change. Files of earlier builds stay, for open tabs. */
function createBuilds(): (path: string) => Promise<ConsoleFiles> {
  const kept = new Map<string, NonNullable<ReturnType<ConsoleFiles["get"]>>>();
  let builtFrom = -1;
  let building: Promise<void> | undefined;
  const build = async (changedAt: number) => {
    for (const [path, file] of await buildConsole()) kept.set(path, file);
    builtFrom = changedAt;
  };
  const refresh = async () => {
    const changedAt = consoleChangedAt();
    if (changedAt === builtFrom) return;
    building ??= build(changedAt).finally(() => {
      building = undefined;
    });
    await building;
  };
  return async (path) => {
    if (documentOf(path).endsWith(".html")) await refresh();
    return kept;
  };
}

function answer({ method, path }: GatewayRequest, files: ConsoleFiles): GatewayResponse {
  if (method !== "GET" && method !== "HEAD") return refusal(404, "Not Found");
  const file = files.get(documentOf(pathOf(path)));
  if (!file) return refusal(404, "Not Found");
  return { status: 200, headers: file.headers, body: method === "HEAD" ? Buffer.alloc(0) : file.content };
}
