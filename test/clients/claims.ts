// What a check is: one sentence about this service, and software of others that shows whether it is true.
import { existsSync, readFileSync } from "node:fs";
import { scopes } from "../../shared/contract/roles.ts";
import type { ServiceProcess } from "../support/service-process.ts";

export interface Claim {
  /** True of the service, in one sentence. */
  says: string;
  /** The software that shows it: a package of this folder, or the name of a program on this machine. */
  tool: string;
  /** @returns its version, where `tool` is not a package of this folder */
  version?(): string | Promise<string>;
  /** @throws where the sentence is not true */
  prove(service: ServiceProcess): Promise<void>;
}

export interface Workspace {
  tenant_id: string;
  access_token: string;
  sdk_key: string;
  agent_key: string;
  server_key: string;
}

/** The folder of these checks, and of what they installed. */
export const FOLDER = new URL("./", import.meta.url);

/** The version of a package that this folder installed, or else the project. @throws where neither did */
export function versionOf(name: string): string {
  const [own, projects] = ["node_modules", "../../node_modules"].map(
    (modules) => new URL(`${modules}/${name}/package.json`, FOLDER),
  ) as [URL, URL];
  return JSON.parse(readFileSync(existsSync(own) ? own : projects, "utf8")).version;
}

/** Calls the service as any client would. @throws where it does not answer with a 2xx */
export async function call(
  { url }: Pick<ServiceProcess, "url">,
  route: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: unknown } = {},
  // biome-ignore lint/suspicious/noExplicitAny: a check reads whatever JSON came back
): Promise<any> {
  const [method, path] = route.split(" ") as [string, string];
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...json,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${route} answered ${response.status}: ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}

/** A new workspace, with a credential of each kind: its server key has every scope. */
export async function newWorkspace(service: ServiceProcess): Promise<Workspace> {
  const workspace: Workspace = await call(service, "POST /_local/workspaces", { body: {} });
  const input = { name: "checks", scopes };
  const { key } = await call(service, "POST /api/v1/server-keys", { headers: asOwner(workspace), body: input });
  return { ...workspace, server_key: key };
}

/** Waits until all work that is due is done. */
export const settle = (service: ServiceProcess): Promise<unknown> => call(service, "POST /_local/settle");

export const asOwner = ({ access_token }: Workspace) => ({ authorization: `Bearer ${access_token}` });
export const asServer = ({ server_key }: Workspace) => ({ authorization: `Bearer ${server_key}` });
export const asApp = ({ sdk_key }: Workspace) => ({ "x-sdk-key": sdk_key });
