// Who is signed in: the access token in memory, the refresh token in a cookie that this page cannot read.
import { computed, signal } from "@preact/signals";
import { ServiceError } from "../../sdk/src/errors.ts";
import type { AccountGetMeAnswer } from "../../sdk/src/types.gen.ts";
import { api, clientOf, setToken } from "./api.ts";
import { place } from "./router.ts";
import { store, stored } from "./stored.ts";
import { setCurrency, setServiceTime } from "./time.ts";
import { say } from "./toast.ts";

type Me = AccountGetMeAnswer & { now?: string };

type State = { kind: "opening" } | { kind: "closed"; reason?: string } | { kind: "open"; me: Me };

export const session = signal<State>({ kind: "opening" });
export const me = computed(() => (session.value.kind === "open" ? session.value.me : undefined));

/** Whether a send to many waits for another member here. */
export const asksSecondPerson = (): boolean => me.value?.tenant.approval_required === true;

/** Set while the session of an open page has ended: call it with a new access token, or with "" to give up. */
export const ended = signal<((token: string) => void) | undefined>(undefined);
let signedInAgain: Promise<string> | undefined;

/** All requests that were refused wait for one sign-in. */
function untilSignedIn(): Promise<string> {
  signedInAgain ??= new Promise<string>((resolve) => {
    ended.value = resolve;
  }).finally(() => {
    ended.value = undefined;
    signedInAgain = undefined;
  });
  return signedInAgain;
}

/** Only the local service has a control surface. */
export const isLocal = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(location.hostname);

const LAST = "workspace";
export const lastWorkspace = (): string => stored("localStorage", LAST);

/** Without storage, the next visit asks for the workspace. */
const remember = (tenant: string): boolean => store("localStorage", LAST, tenant);

/** Tabs queue, because each refresh replaces the token of the cookie. */
function exclusively<T>(tenant: string, work: () => Promise<T>): Promise<T> {
  return "locks" in navigator ? navigator.locks.request(`r.${tenant}`, work) : work();
}

const viaKey = (client: string): string => `via.${client}`;

/** The agency through whose session this tab has a client's workspace open; empty for any other workspace. */
export const agencyOf = (tenant: string): string => stored("sessionStorage", viaKey(tenant));

/** From now on this tab opens a client's workspace through the workspace that is open. */
export const openClient = (client: string): void => sessionStorage.setItem(viaKey(client), place.value.tenant);

const refresh = (tenant: string) => exclusively(tenant, () => api.auth.refreshBrowser({ tenant_id: tenant }));

/** A client's workspace has no cookie: its token follows from the session of the agency, whose own is not used here. */
async function freshToken(tenant: string): Promise<{ access_token: string }> {
  const agency = agencyOf(tenant);
  if (!agency) return refresh(tenant);
  const { access_token } = await refresh(agency);
  return clientOf(access_token).auth.sessionAgencyWorkspace(tenant);
}

/** A transient error: a retry may succeed. */
const isTransient = ({ status }: ServiceError): boolean => status === 0 || status === 429 || status >= 500;

async function renew(tenant: string): Promise<string> {
  try {
    const answer = await freshToken(tenant);
    setToken(answer.access_token, () => renew(tenant));
    return answer.access_token;
  } catch (error) {
    if (!(error instanceof ServiceError) || isTransient(error)) throw error;
    const fresh = me.value && (await untilSignedIn());
    if (fresh) return fresh;
    setToken("", undefined);
    session.value = { kind: "closed", reason: "Your session has ended. Sign in again to go on." };
    return "";
  }
}

/** The message of an error, in one sentence. */
export const sentenceOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/** Opens the workspace of the address by its cookie. @param ahead asks what the page needs, as soon as that can be asked */
export async function open(tenant: string, ahead?: () => Promise<void>): Promise<void> {
  session.value = { kind: "opening" };
  try {
    const fresh = tenant && (await renew(tenant));
    if (!fresh) {
      session.value = { kind: "closed" };
      return;
    }
    void ahead?.();
    await readMe();
    remember(tenant);
  } catch (error) {
    session.value = { kind: "closed", reason: sentenceOf(error) };
  }
}

export async function readMe(): Promise<void> {
  const found: Me = await api.account.getMe();
  if (found.now) setServiceTime(Date.parse(found.now));
  setCurrency(found.tenant.currency);
  session.value = { kind: "open", me: found };
}

interface NewSession {
  tenant: { id: string };
  access_token: string;
  refresh_token: string;
}

/** Moves a new session into the cookie of its workspace. @returns the workspace. */
export async function begin({ tenant, access_token, refresh_token }: NewSession): Promise<string> {
  const before = me.value;
  await api.auth.keepBrowser({ refresh_token });
  setToken(access_token, () => renew(tenant.id));
  await readMe();
  remember(tenant.id);
  // The page may show only what this person may see.
  const isSame = me.value?.user.id === before?.user.id && tenant.id === before?.tenant.id;
  if (ended.value && !isSame) location.reload();
  else ended.value?.(access_token);
  return tenant.id;
}

export async function switchTo(tenant: string): Promise<string> {
  return begin(await api.auth.switch({ tenant_id: tenant }));
}

async function signOut(): Promise<void> {
  const tenant = agencyOf(place.value.tenant) || place.value.tenant;
  await exclusively(tenant, () => api.auth.logoutBrowser({ tenant_id: tenant }));
  setToken("", undefined);
  // Drafts are not for the next person at this browser.
  sessionStorage.clear();
  session.value = { kind: "closed" };
}

export const leave = () =>
  void signOut().catch((cause: unknown) => say(`You are still signed in. ${sentenceOf(cause)}`));

/** Signs in as the owner of the demo workspace of a local service. @returns the workspace. */
export async function continueAsDemo(): Promise<string> {
  const { tenant_id } = (await local("demo")) as { tenant_id: string };
  const { access_token } = (await local("tokens", { tenant_id })) as { access_token: string };
  setToken(access_token, undefined);
  return switchTo(tenant_id);
}

/** The page of `npm run operate -- console` has its key in the fragment of its address. */
const operateKey = place.value.tenant === "" && place.value.page === "operate" ? place.value.hash.slice(1) : "";

/** A call of the local service's control surface. @throws an error with what it refuses, in one sentence. */
export async function local(name: string, body?: object, method?: "DELETE"): Promise<unknown> {
  const headers = { "content-type": "application/json", ...(operateKey && { "x-operate-key": operateKey }) };
  const response = await fetch(`/_local/${name}`, {
    ...(body && { method: "POST", body: JSON.stringify(body), headers }),
    ...(method && { method }),
  }).catch((cause: unknown) => {
    throw new Error("The service cannot be reached.", { cause });
  });
  const answer: unknown = response.status === 204 ? undefined : await response.json();
  if (response.ok) return answer;
  const { message } = Object(answer) as { message?: string };
  throw new Error(message ?? `The local service answered ${response.status}.`);
}
