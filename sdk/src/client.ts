// The client for servers: every endpoint as a method of its group.
import { withKeys } from "./events.ts";
import { csvImporter, type ImportOptions } from "./import.ts";
import { routes } from "./routes.gen.ts";
import { type Credentials, methodsOf, type Secret, type Settings } from "./transport.ts";
import type { Endpoints, ImportsImportListsAnswer } from "./types.gen.ts";

export interface ClientSettings extends Settings {
  /** `service_srv_…`; for events, hooks, subscribers of an integration. */
  serverKey?: Secret;
  /** A dashboard access token, or a function that returns a valid one. */
  accessToken?: Secret;
  /** The publishable key, for endpoints that apps usually call themselves. */
  sdkKey?: Secret;
}

export interface Client extends Endpoints {
  /** Imports a CSV file of up to 50 MB into a list; a large one is uploaded first. */
  importCsv(listId: string, file: Blob, options?: ImportOptions): Promise<ImportsImportListsAnswer>;
}

/**
 * `createClient({ baseUrl, accessToken }).templates.create({ name, content })`.
 * Retries 500, 503 and 429 (not quotas), sends an idempotency key where the endpoint takes one.
 * Every method throws `ServiceError`.
 */
export function createClient({ serverKey, accessToken, sdkKey, ...settings }: ClientSettings): Client {
  const credentials: Credentials = { server: serverKey, dashboard: accessToken, sdk: sdkKey };
  const endpoints = methodsOf<Endpoints>(routes, settings, credentials);
  const { create } = endpoints.events;
  endpoints.events.create = (body, ...more) => create(withKeys(body), ...more);
  return { ...endpoints, importCsv: csvImporter(endpoints.imports, settings) };
}
