// The calls that this page made, with status, time and request id, as curl and as SDK code.
import { useState } from "preact/hooks";
import { routes } from "../../sdk/src/routes.gen.ts";
import { Button } from "../components/button.tsx";
import { Code } from "../components/page.tsx";
import { type Call, calls } from "./api.ts";
import { panel } from "./keys.ts";

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function asCurl({ method, path, body }: Pick<Call, "method" | "path" | "body">): string {
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}"$BASE_URL"${quoted(path)}`,
    `-H "Authorization: Bearer $ACCESS_TOKEN"`,
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`]),
  ];
  return lines.join(" \\\n  ");
}

function asSdk({ operation, path, body }: Pick<Call, "operation" | "path" | "body">): string {
  const [group = "", method = ""] = operation.split(".");
  const route = routes[group]?.[method];
  if (!route) return "";
  const { pathname, searchParams } = new URL(path, "http://localhost");
  const given = pathname.split("/");
  const ids = (route.route.split(" ")[1] ?? "")
    .split("/")
    .flatMap((segment, n) => (segment.startsWith(":") ? [JSON.stringify(given[n])] : []));
  const query = [...searchParams].length > 0 ? [JSON.stringify(Object.fromEntries(searchParams), null, 2)] : [];
  const bodies = body === undefined ? [] : [JSON.stringify(body, null, 2)];
  return `await client.${operation}(${[...ids, ...bodies, ...query].join(", ")});`;
}

export function Drawer() {
  const [kind, setKind] = useState<"curl" | "sdk">("curl");
  const shown = calls.value.filter(({ operation }) => operation && !operation.startsWith("auth."));
  return (
    <aside class="drawer" aria-label="API calls">
      <header>
        <h2>API calls</h2>
        <div class="actions">
          <Button kind="quiet" pressed={kind === "curl"} onClick={() => setKind("curl")}>
            curl
          </Button>
          <Button kind="quiet" pressed={kind === "sdk"} onClick={() => setKind("sdk")}>
            SDK
          </Button>
          <Button kind="quiet" icon="cross" label="Close" onClick={() => (panel.value = "")} />
        </div>
      </header>
      <p class="hint">What the console does, your own code can do. The newest call is first.</p>
      <div>
        {shown.slice(0, 40).map((call) => (
          <details key={call.id} class="call">
            <summary>
              <b class={call.status >= 400 || call.status === 0 ? "fault" : "dim"}>{call.status || "–"}</b>
              <code>
                {call.method} {call.path.split("?")[0]}
              </code>
              <small>{call.ms} ms</small>
            </summary>
            <div>
              <Code text={kind === "curl" ? asCurl(call) : asSdk(call)} />
              {call.requestId && <span class="hint">Request {call.requestId}</span>}
            </div>
          </details>
        ))}
      </div>
    </aside>
  );
}
