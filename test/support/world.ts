// A whole service of its own for one test: frozen clock, memory, one shared signing key, calls without sockets.
import { generateKeyPairSync } from "node:crypto";
import { GetAccountCommand, SESv2Client } from "@aws-sdk/client-sesv2";
import { contents as deployed, deployedFunctions } from "../../infra/functions.ts";
import { beginSweeps } from "../../local/account.ts";
import { createControl } from "../../local/control.ts";
import { createFaults, UNDISTURBED } from "../../local/faults.ts";
import { createLocalService, type LocalService, type LocalServiceOptions } from "../../local/local-service.ts";
import { openTenancy } from "../../local/tenancy.ts";
import { type AgentScope, type Role, type Scope, scopes } from "../../shared/contract/roles.ts";
import { secretsMaker, tokenSigner } from "../../shared/http/signing.ts";
import { DAY, MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import type { LogEntry } from "../../shared/kernel/deps.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import type { PlanName } from "../../shared/rules/plans.ts";
import { secrets } from "../../shared/store/capabilities.ts";
import { platformWrite, type Store, storeWrite } from "../../shared/store/context.ts";
import { openRows, type Rows } from "../../shared/store/rows.ts";
import { register, type WorkspaceKind } from "../../shared/store/workspaces/identity.ts";
import { MemberItem, MembershipItem } from "../../shared/store/workspaces/identity-items.ts";
import { createAgentKey, createServerKey } from "../../shared/store/workspaces/keys.ts";
import { sdkKeyFor } from "../../shared/store/workspaces/sdk-keys.ts";
import { checkRow } from "./checked-rows.ts";
import { faultsOfAnswer } from "./described.ts";
import { document } from "./document.ts";
import { limitedTo } from "./rights.ts";

export const START = Date.parse("2026-11-20T12:00:00.000Z");
/** An id that nothing has. */
export const UNKNOWN = "00000000-0000-4000-8000-000000000000";

const rightsOnTable = new Map(
  deployedFunctions(deployed).map(({ name, grants }) => [
    name,
    grants.flatMap(({ on, actions }) => (on === "table" ? actions : [])),
  ]),
);

/** The private key of every test world, half as long as that of a deployment: it signs in a fifth of the time. */
export const signingKey = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey.export({
  format: "pem",
  type: "pkcs8",
});

export interface Answer {
  status: number;
  headers: Record<string, string | string[]>;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever JSON came back
  body: any;
}

export interface Headers {
  [name: string]: string;
}

export interface Tenant {
  id: TenantId;
  owner: string;
  sdkKey: string;
  serverKey: string;
  /** Headers of each credential. */
  sdk: Headers;
  server: Headers;
  /** A dashboard token, by default of the owner. Within a minute the same one: to sign one takes a millisecond. */
  dashboard(role?: Role, options?: { readOnly?: boolean }): Promise<Headers>;
  /** Calls as the owner on the dashboard. */
  call(route: string, body?: unknown): Promise<Answer>;
  /** Creates or changes a subscriber as the app does. @returns its id */
  upsert(person: object): Promise<string>;
  /** A new server key of these scopes; of all if none is named. */
  backend(...scopes: Scope[]): Promise<Headers>;
  /** A key of an agent. */
  agent(...scopes: AgentScope[]): Promise<string>;
  store: Store;
  /** The table by raw keys, for data that no endpoint writes or shows. */
  rows: Rows;
}

export interface TestWorld extends LocalService {
  logs: LogEntry[];
  /** Calls an endpoint, or the control surface under `/_local/`. */
  call(route: string, options?: { as?: Headers; body?: unknown; headers?: Headers; raw?: Buffer }): Promise<Answer>;
  tenant(options?: { plan?: PlanName; name?: string; kind?: WorkspaceKind }): Promise<Tenant>;
  settle(): Promise<void>;
  /** Moves service time forward by milliseconds, running what falls due. */
  advance(ms: number): Promise<void>;
}

let isWarm = false;
/**
 * The first request of a real client looks for files of the machine. In real time that is long enough for the time limit
 * of a mail to pass, because service time moves on while nothing else happens.
 */
async function warmUp({ depsFor, ses }: LocalService): Promise<void> {
  if (isWarm) return;
  isWarm = true;
  await depsFor("test").aws(SESv2Client, { maxAttempts: 1 }).send(new GetAccountCommand({}));
  ses.resetMeter();
}

export async function testWorld(options: Partial<LocalServiceOptions> = {}): Promise<TestWorld> {
  const logs: LogEntry[] = [];
  const faults = createFaults();
  const { hooks = faults.hooks } = options;
  const world = await createLocalService({
    start: START,
    signingKey: String(signingKey),
    log: (entry) => void logs.push(entry),
    onRead: checkRow,
    providerFaults: faults,
    // An expired row may be read for days: no rule may be left to its deletion.
    faults: { expiryLag: () => 2 * DAY },
    areClientsDirect: options.dynamodbEndpoint || process.env.SDK ? undefined : () => true,
    ...options,
    hooks: (name) => limitedTo(name, rightsOnTable.get(name), hooks(name)),
  });
  await warmUp(world);
  const control = createControl({ service: world, tenancy: openTenancy(world.depsFor(UNDISTURBED)), faults });
  await beginSweeps(world.depsFor("test"));
  let tenants = 0;

  // Every answer that a test sees must be as the published document says.
  const call: TestWorld["call"] = async (route, { as = {}, body, headers = {}, raw, ...unknown } = {}) => {
    const [method = "GET", path = "/"] = route.split(" ");
    const [surplus] = Object.keys(unknown);
    if (surplus !== undefined) throw new Error(`A call has no option "${surplus}": as, body, headers and raw.`);
    const payload = raw ?? (body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body)));
    const answer = path.startsWith("/_local/") ? control : world.gateway.handle;
    const response = await answer({
      method,
      path,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...as, ...headers },
      body: payload,
      sourceIp: "203.0.113.7",
    });
    const text = response.body.toString();
    const isJson = String(response.headers["content-type"] ?? "").includes("json");
    const read: Answer = {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(text) : text,
    };
    const faults = response.headers["x-request-id"] ? faultsOfAnswer(document, read, route) : [];
    if (faults.length > 0) throw new Error(`Not as docs/openapi.json says: ${faults.slice(0, 3).join("; ")}`);
    return read;
  };

  const tenant: TestWorld["tenant"] = async ({ plan = "enterprise", name, kind } = {}) => {
    const deps = world.depsFor("test");
    const none = "" as TenantId;
    const platform = platformWrite.open(deps)(none);
    const storeOf = storeWrite.open(deps);
    await secretsMaker.open(deps)(none).ensure();
    const email = `owner${++tenants}@example.com`;
    const workspace_name = name ?? `Workspace ${tenants}`;
    const { user, tenant: id } = await register(platform, storeOf, {
      email,
      secret: "",
      name: "Owner",
      workspace_name,
      plan,
      kind,
      isConfirmed: true,
    });
    const signer = tokenSigner.open(deps)(none);
    const sdkKey = sdkKeyFor(await secrets.open(deps)(none).root(), id);
    const store = storeOf(id);
    const { key: serverKey } = await createServerKey(store, platform, { name: "default" });
    const dashboards = new Map<string, Headers>();
    const made: Tenant = {
      id,
      owner: user.id,
      sdkKey,
      serverKey,
      store,
      rows: openRows(world.depsFor("test"))(() => true),
      sdk: { "x-sdk-key": sdkKey },
      server: { authorization: `Bearer ${serverKey}` },
      backend: async (...held) => {
        const granted = held.length > 0 ? held : [...scopes];
        const { key } = await createServerKey(store, platform, { name: "backend", scopes: granted });
        return { authorization: `Bearer ${key}` };
      },
      agent: async (...held) =>
        (await createAgentKey(store, platform, { name: "agent", scopes: held, days: 1_000 })).key,
      dashboard: async (role = "owner", { readOnly = false } = {}) => {
        const name = [role, readOnly, Math.floor(world.clock.now() / MINUTE)].join();
        const cached = dashboards.get(name);
        if (cached) return cached;
        const member = role === "owner" ? user.id : `${role}-${id}`;
        if (role !== "owner") {
          const known = await platform.get(MemberItem, { tenant: id, user: member });
          const { created_at = timestamp(world.clock.now()) } = known ?? {};
          const row = { user_id: member, tenant: id, role, email: `${role}@example.com`, name: role, created_at };
          await platform.put(MemberItem, { tenant: id, user: member }, row);
          await platform.put(MembershipItem, { user: member, tenant: id }, row);
        }
        const headers = {
          authorization: `Bearer ${await signer.accessToken({ user: member, tenant: id, role, readOnly })}`,
        };
        dashboards.set(name, headers);
        return headers;
      },
      call: async (route, body) => call(route, { as: await made.dashboard(), ...(body !== undefined && { body }) }),
      upsert: async (body) => {
        const answer = await call("POST /api/v1/subscribers/upsert", { as: made.sdk, body });
        if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
        return answer.body.id;
      },
    };
    return made;
  };

  return {
    ...world,
    logs,
    call,
    tenant,
    settle: () => world.time.settle(),
    advance: async (ms) => {
      await world.time.advance(world.clock.now() + ms);
    },
  };
}
