// The console beside the gateway, as CloudFront serves it (docs/edge.md): built at the start and when its sources change.
import { buildConsole, type ConsoleFiles, consoleChangedAt } from "../console/build.ts";
import { ACCEPTED_PAGE, documentOf, isConsole, toConsole } from "../console/policy.ts";
import { answerFile, type Gateway, type GatewayResponse, isRead, pathOf } from "./gateway.ts";

type ConsoleFile = NonNullable<ReturnType<ConsoleFiles["get"]>>;

/** The gateway together with the console, under one address. */
export function withConsole(gateway: Gateway): Gateway {
  const files = createBuilds();
  return {
    ...gateway,
    handle: async (request) => {
      const path = pathOf(request.path);
      if (path === "/" && isRead(request) && ACCEPTED_PAGE.test(String(request.headers.accept ?? "")))
        return { ...toConsole, body: Buffer.alloc(0) };
      if (!isConsole(path)) return gateway.handle(request);
      return answerFile(request, async () => (await files(path)).get(documentOf(path)), answer);
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

const answer = ({ headers, content }: ConsoleFile): GatewayResponse => ({ status: 200, headers, body: content });
