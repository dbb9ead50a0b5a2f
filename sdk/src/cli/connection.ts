// The service, with the credentials that the environment or a saved login gives.
import { type Client, createClient } from "../client.ts";
import { ServiceError } from "../errors.ts";
import { routes } from "../routes.gen.ts";
import { methodsOf } from "../transport.ts";
import type { Session } from "../types.gen.ts";
import { CommandError, EXIT, usageError } from "./command.ts";
import type { Io } from "./io.ts";
import { readLogins, saveLogin } from "./logins.ts";
import { isObject, type Resource } from "./resource.ts";

type AnyMethod = (...args: unknown[]) => Promise<Resource>;

export interface Connection {
  url: string;
  client: Client;
  /** Calls an endpoint whose body the service alone checks: `call("templates.create", body)`. */
  call(method: string, ...args: unknown[]): Promise<Resource>;
  /** A client that calls what apps call, too. */
  withSdkKey(sdkKey: string): Client;
  /** Whether only a server key was given. */
  hasServerKeyOnly: boolean;
  /** Ends a session that was begun for this command. */
  close(): Promise<void>;
}

export const DEFAULT_PROFILE = "default";
/** An access token is renewed this long before its end. */
const RENEW_MS = 30_000;

interface ConnectionOptions {
  profile?: string;
  url?: string;
  /** Whether the command works with a server key. */
  takesServerKey?: boolean;
}

export const hasCredentials = ({
  ENGAGEMENT_TOKEN: token,
  ENGAGEMENT_SERVER_KEY: key,
  ENGAGEMENT_PASSWORD: password,
}: Io["env"]): boolean => token !== undefined || key !== undefined || password !== undefined;

/** @throws CommandError for an address to which credentials would be sent unencrypted. */
export function checkedUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw usageError(`${text} is not an address such as https://api.example.com.`);
  }
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname) || url.hostname.endsWith(".localhost");
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal))
    throw usageError(`${text} must begin with https://; http:// is for this machine alone.`);
  return text.replace(/\/+$/, "");
}

function connectionOf(
  io: Io,
  url: string,
  credentials: { accessToken?: () => Promise<string>; serverKey?: string },
  close: () => Promise<void> = async () => {},
): Connection {
  const settings = { baseUrl: url, fetch: io.fetch };
  const { accessToken, serverKey } = credentials;
  const endpoints = methodsOf<Record<string, Record<string, AnyMethod>>>(routes, settings, {
    dashboard: accessToken,
    server: serverKey,
  });
  return {
    url,
    client: createClient({ ...settings, ...credentials }),
    withSdkKey: (sdkKey) => createClient({ ...settings, ...credentials, sdkKey }),
    call: (method, ...args) => {
      const [group = "", name = ""] = method.split(".");
      const found = endpoints[group]?.[name];
      if (!found) throw new CommandError(`This version of the SDK has no ${method}.`);
      return found(...args);
    },
    hasServerKeyOnly: accessToken === undefined,
    close,
  };
}

/**
 * Begins a session.
 * @throws ServiceError if email address or password are wrong; CommandError if the address is that of something else
 */
export async function beginSession(
  io: Io,
  url: string,
  body: { email: string; password: string; code?: string; tenant_id?: string },
): Promise<Session> {
  const session = await createClient({ baseUrl: url, fetch: io.fetch })
    .auth.login(body)
    .catch((error: unknown) => {
      if (error instanceof ServiceError && isOfSomethingElse(error)) throw notTheApi(url, error.status);
      throw error;
    });
  if (!isObject(session) || !("access_token" in session)) throw notTheApi(url, 200);
  return session;
}

/** Pages, other services and addresses below the service have no login, or answer in another form. */
function isOfSomethingElse({ status, code, body, cause }: ServiceError): boolean {
  if (status === 0) return cause instanceof SyntaxError;
  if (status >= 500 || status === 429) return false;
  return status === 404 || !isObject(body) || body.code !== code;
}

function notTheApi(url: string, status: number): CommandError {
  const { origin, pathname } = new URL(url);
  const answer = status === 0 || status === 200 ? "is not that of the API" : `is ${status}, and not that of the API`;
  const hint = pathname === "/" ? "" : ` Try it without the path: ${origin}`;
  return usageError(`${url} does not seem to be the address of the API: its answer to a login ${answer}.${hint}`);
}

/**
 * The credentials of a command: from the environment, else from the saved login. @throws CommandError if there are
 * none.
 */
async function connect(io: Io, wanted: ConnectionOptions): Promise<Connection> {
  const { profile = DEFAULT_PROFILE, url: givenUrl } = wanted;
  const { ENGAGEMENT_URL, ENGAGEMENT_TOKEN: token, ENGAGEMENT_SERVER_KEY: serverKey } = io.env;
  const { ENGAGEMENT_EMAIL: email, ENGAGEMENT_PASSWORD: password, ENGAGEMENT_WORKSPACE: tenant_id } = io.env;
  if (hasCredentials(io.env)) {
    const address = givenUrl ?? ENGAGEMENT_URL;
    if (!address) throw usageError("ENGAGEMENT_URL or --url is required with credentials of the environment.");
    const url = checkedUrl(address);
    if (token) return connectionOf(io, url, { accessToken: async () => token });
    if (serverKey) {
      if (wanted.takesServerKey) return connectionOf(io, url, { serverKey });
      throw new CommandError(
        "A server key is for `send` and `whoami` alone. Use a login or ENGAGEMENT_TOKEN.",
        EXIT.denied,
      );
    }
    if (!email || !password) throw usageError("ENGAGEMENT_EMAIL and ENGAGEMENT_PASSWORD belong together.");
    return passingConnection(io, url, { email, password, ...(tenant_id && { tenant_id }) });
  }
  const login = readLogins(io)[profile];
  if (!login) {
    const which = profile === DEFAULT_PROFILE ? "" : ` --profile ${profile}`;
    throw new CommandError(`Not logged in. Run: engagement login${which} --url <address>`, EXIT.denied);
  }
  if (givenUrl !== undefined && checkedUrl(givenUrl) !== login.url)
    throw usageError(`The saved login is for ${login.url}. Log in to ${givenUrl} with another --profile.`);
  const renewing = { ...io, fetch: renewingFetch(io, profile) };
  return connectionOf(renewing, login.url, { accessToken: () => validToken(io, profile) });
}

/** Does the work of a command, and ends the session that was begun for it. @throws what `connect` and the work throw */
export async function withConnection<T>(
  io: Io,
  wanted: ConnectionOptions,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await connect(io, wanted);
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

/** Renews the token of the saved login if the service refuses it, because the clock of this machine may be behind. */
function renewingFetch(io: Io, profile: string): typeof fetch {
  return async (input, init) => {
    const answer = await io.fetch(input, init);
    const sent = new Headers(init?.headers).get("authorization");
    if (answer.status !== 401 || !sent) return answer;
    const token = await validToken(io, profile, sent.slice("Bearer ".length)).catch(() => undefined);
    if (token === undefined) return answer;
    const headers = { ...Object.fromEntries(new Headers(init?.headers)), authorization: `Bearer ${token}` };
    return io.fetch(input, { ...init, headers });
  };
}

/** A session for this command alone, such as in a pipeline. */
async function passingConnection(
  io: Io,
  url: string,
  body: { email: string; password: string; tenant_id?: string },
): Promise<Connection> {
  const session = { ...(await beginSession(io, url, body)) };
  const { auth } = createClient({ baseUrl: url, fetch: io.fetch });
  let expires = io.now() + session.expires_in * 1_000;
  let renewing: Promise<void> | undefined;
  const renew = async () => {
    try {
      Object.assign(session, await auth.refresh({ refresh_token: session.refresh_token }));
      expires = io.now() + session.expires_in * 1_000;
    } finally {
      renewing = undefined;
    }
  };
  const accessToken = async () => {
    if (expires - io.now() < RENEW_MS) {
      renewing = renewing ?? renew();
      await renewing;
    }
    return session.access_token;
  };
  return connectionOf(io, url, { accessToken }, async () => {
    await auth.logout({ refresh_token: session.refresh_token }).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
      // The command has succeeded, so a failure here is only noted. A 401 means that the session has ended already.
      if (error.status !== 401) io.note(`The session of this command was not ended: ${error.message}`);
    });
  });
}

const renewals = new Map<string, Promise<string>>();

/**
 * The token of the saved login, renewed and saved if it is about to end. Another process may have renewed it.
 * @param refused a token that the service refused
 */
async function validToken(io: Io, profile: string, refused?: string): Promise<string> {
  const login = readLogins(io)[profile];
  if (!login) throw new CommandError("The login was removed meanwhile. Log in again.", EXIT.denied);
  if (login.expires_at - io.now() >= RENEW_MS && login.access_token !== refused) return login.access_token;
  const renew = async () => {
    const { auth } = createClient({ baseUrl: login.url, fetch: io.fetch });
    const { access_token, refresh_token, expires_in } = await auth.refresh({ refresh_token: login.refresh_token });
    saveLogin(io, profile, { ...login, access_token, refresh_token, expires_at: io.now() + expires_in * 1_000 });
    return access_token;
  };
  const found = renewals.get(profile);
  if (found) return found;
  const started = renew().finally(() => renewals.delete(profile));
  renewals.set(profile, started);
  return started;
}
