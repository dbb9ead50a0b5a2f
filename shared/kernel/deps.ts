// The dependencies of every function: its clients, clock, ids, settings and log are passed in
// (docs/decisions/0021#composition-root).
import type { Clock } from "./clock.ts";
import type { Ids, TenantId } from "./ids.ts";

/** The side of an AWS SDK client that the product uses. */
export interface Client {
  // biome-ignore lint/suspicious/noExplicitAny: each SDK client types its own commands; callers name the client class
  send(command: any): Promise<any>;
}

export type ClientClass<C extends Client> = new (configuration: object) => C;

/**
 * Hands out one client per class, so that a bundle holds only the clients its capabilities name. A `configuration` of
 * its own (fewer attempts) applies when the client is created.
 */
export type Aws = <C extends Client>(clientClass: ClientClass<C>, configuration?: object) => C;

export interface LogEntry {
  level: "info" | "warn" | "error";
  message: string;
  [field: string]: unknown;
}

export interface Deps {
  aws: Aws;
  clock: Clock;
  ids: Ids;
  /** Environment variables of the function, named by its capabilities. */
  env: Readonly<Record<string, string | undefined>>;
  log(entry: LogEntry): void;
  /** In functions of the API: waits before a retry, as long as the request may still wait (`shared/kernel/retries.ts`). */
  pauseBeforeRetry?: (ms: number) => Promise<void>;
  /** In functions that act for a sandbox: its workspace. `clock` is the time of the sandbox (docs/decisions/0072). */
  sandbox?: Sandbox;
  /** Locally: resolves when no other function works and nothing is ready to be worked on. */
  rest?: () => Promise<void>;
  /** In tests: called for every row that is read, with its declaration. */
  onRead?(item: object, row: object): void;
  /** Locally: aborts at the next write to a partition, so that a wait may end early. */
  writeSignal?: (partition: string) => AbortSignal;
}

export interface Sandbox {
  tenant: TenantId;
  /** The real time of the service, for links and other things that leave the workspace. */
  wall: Clock;
}

/** A grant in the function's policy. `on` names a resource of the stack. */
export interface Grant {
  actions: readonly string[];
  on: string;
}

/**
 * A right of a function: the property `as` of its context, its env variables and its IAM grants in one
 * (docs/decisions/0001). `open` runs once per environment; its result runs once per request, bound to the tenant.
 */
export interface Capability<As extends string = string, Value = unknown> {
  as: As;
  env: readonly string[];
  grants: readonly Grant[];
  open(deps: Deps): (tenant: TenantId) => Value;
}

/** A capability that is the same for every workspace. @param make runs once per environment */
export function perEnvironment<const As extends string, Value>(
  as: As,
  { env = [], grants = [] }: Partial<Pick<Capability, "env" | "grants">>,
  make: (deps: Deps) => Value,
): Capability<As, Value> {
  const open = (deps: Deps) => {
    const made = make(deps);
    return () => made;
  };
  return { as, env, grants, open };
}

export type Uses = readonly Capability[];

/** For capabilities that are bound to no workspace. */
export const NO_TENANT = "" as TenantId;

type ValueOf<C> = C extends Capability<string, infer V> ? V : never;

/** The context that a list of capabilities gives: use of an undeclared one does not compile. */
export type Context<U extends Uses> = { [C in U[number] as C["as"]]: ValueOf<C> };

/** Opens each capability once; the result binds a list of them to a tenant. */
export function opener(deps: Deps): <U extends Uses>(uses: U) => (tenant: TenantId) => Context<U> {
  const cache = new Map<Capability, (tenant: TenantId) => unknown>();
  const open = (capability: Capability) => {
    const bind = cache.get(capability) ?? capability.open(deps);
    cache.set(capability, bind);
    return bind;
  };
  return <U extends Uses>(uses: U) => {
    const opened = uses.map((capability) => [capability.as, open(capability)] as const);
    return (tenant) => Object.fromEntries(opened.map(([as, bind]) => [as, bind(tenant)])) as Context<U>;
  };
}

/** The same for one list of them. */
export const openAll = <U extends Uses>(uses: U, deps: Deps): ((tenant: TenantId) => Context<U>) => opener(deps)(uses);

export function settingAmong<const T extends string>(deps: Pick<Deps, "env">, name: string, allowed: readonly T[]): T {
  const value = setting(deps, name);
  const found = allowed.find((name) => name === value);
  if (!found) throw new Error(`${name} is ${value}, which is none of ${allowed.join(", ")}.`);
  return found;
}

/** A required setting: a function without it does not start. */
export function setting(deps: Pick<Deps, "env">, name: string): string {
  const value = deps.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set.`);
  return value;
}
