// The console beside the gateway, as CloudFront serves it (docs/edge.md): built at the start and when its sources change.
import { buildConsole, type ConsoleFiles, consoleChangedAt } from "../console/build.ts";
import { ACCEPTED_PAGE, documentOf, isConsole, toConsole } from "../console/policy.ts";
import { type Gateway, type GatewayRequest, type GatewayResponse, pathOf, refusal } from "./gateway.ts";

type ConsoleFile = NonNullable<ReturnType<ConsoleFiles["get"]>>;

/** The gateway together with the console, under one address. */
export function withConsole(gateway: Gateway): Gateway {
  const files = createBuilds();
  return {
    ...gateway,
    handle: async (request) => {
      const path = pathOf(request.path);
      const isRead = request.method === "GET" || request.method === "HEAD";
      if (path === "/" && isRead && ACCEPTED_PAGE.test(String(request.headers.accept ?? "")))
        return { ...toConsole, body: Buffer.alloc(0) };
      if (!isConsole(path)) return gateway.handle(request);
      // CloudFront takes no other method there.
      if (!isRead) return refusal(403, "Forbidden");
      const file = (await files(path)).get(documentOf(path));
      return file ? answer(request, file) : { status: 404, headers: {}, body: Buffer.alloc(0) };
    },
  };
}

/** Builds once, and again where a document is asked for after a change. Files of earlier builds stay, for open tabs. */
function createBuilds(): (path: string) => Promise<ConsoleFiles> {
  const kept = new Map<string, ConsoleFile>();
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

const answer = ({ method }: GatewayRequest, { headers, content }: ConsoleFile): GatewayResponse => ({
  status: 200,
  headers,
  body: method === "HEAD" ? Buffer.alloc(0) : content,
});
