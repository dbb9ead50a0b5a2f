// The mails of accounts, as their recipients read them.
import { expect } from "vitest";
import { secretsMaker, tokenSigner } from "../../shared/http/signing.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { platformWrite, storeWrite } from "../../shared/store/context.ts";
import { hashPassword, register as registerUser } from "../../shared/store/workspaces/identity.ts";
import { beginSession } from "../../shared/store/workspaces/refresh.ts";
import { totpCode } from "../../shared/store/workspaces/totp.ts";
import { bearerOf } from "./credentials.ts";
import type { Answer, Headers, TestWorld } from "./world.ts";
import type { worlds } from "./worlds.ts";

/** The token of the last mail to an address whose subject begins so. It is sent by a worker, so what is due runs first. */
export async function mailedToken(world: TestWorld, to: string, title = ""): Promise<string> {
  await world.settle();
  const { items } = (await world.call("GET /_local/outbox?channel=email&limit=1000")).body;
  const mail = items.findLast((item: { to: string; title: string }) => item.to === to && item.title.startsWith(title));
  return /Your token: ([\w-]{43})\b/.exec(mail?.body ?? "")?.[1] ?? "";
}

/** The answer to an invitation, with the token of its mail. */
export const withMailedToken = async (world: TestWorld, answer: Answer): Promise<Answer> =>
  answer.body.mailed
    ? { ...answer, body: { ...answer.body, token: await mailedToken(world, answer.body.email, "You are invited") } }
    : answer;

/** A workspace whose owner invites, and whose members come in. */
export async function inviting({ withTenant }: Pick<ReturnType<typeof worlds>, "withTenant">) {
  const { world, tenant } = await withTenant();
  const owner = await tenant.dashboard();
  return {
    world,
    tenant,
    owner,
    invite: async (email: string, role: string, as = owner): Promise<Answer> =>
      withMailedToken(world, await world.call("POST /api/v1/team/invitations", { as, body: { email, role } })),
    accept: (token: string, password = PASSWORD): Promise<Answer> =>
      world.call("POST /api/v1/auth/invitations/accept", { body: { token, name: "Grace", password } }),
    members: async (as: Headers): Promise<{ role: string }[]> =>
      (await world.call("GET /api/v1/team/members", { as })).body.items,
  };
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** What an authenticator shows now for a key in base32. */
export function shownCode(key: string, now: number): string {
  const bits = [...key].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  return totpCode(Buffer.from(bytes), Math.floor(now / 30_000));
}

export const PASSWORD = "correct horse battery";
/** Another password. */
export const NEW = "a staple of another kind";
export const EMAIL = "ada@lovelace.example";
const SECRET = hashPassword(PASSWORD, Buffer.alloc(16));

/** What a user of `world` does with passwords, addresses and sessions. */
export function accountsIn(world: () => TestWorld) {
  const post = (path: string, body: object, as = {}, headers = {}): Promise<Answer> =>
    world().call(`POST /api/v1/auth/${path}`, { body, as, headers });
  /** A user with a session, as a registration leaves them, without the cost of hashing the password again. */
  async function register(email = EMAIL): Promise<Answer> {
    const deps = world().depsFor("test");
    const platform = platformWrite.open(deps)("" as TenantId);
    await secretsMaker
      .open(deps)("" as TenantId)
      .ensure();
    const account = {
      email,
      secret: await SECRET,
      name: "Ada",
      workspace_name: "Difference Engines",
      isConfirmed: false,
    };
    const { user, tenant } = await registerUser(platform, storeWrite.open(deps), { ...account, plan: "enterprise" });
    const session = await beginSession(platform, { user: user.id, tenant });
    const subject = { user: user.id, tenant, role: "owner", session: session!.id };
    const access_token = await tokenSigner
      .open(deps)("" as TenantId)
      .accessToken(subject);
    const body = { user, tenant: { id: tenant }, access_token, refresh_token: session!.token };
    return { status: 201, headers: {}, body };
  }
  const login = (password = PASSWORD, headers = {}) => post("login", { email: EMAIL, password }, {}, headers);
  const me = async (answer: Answer) => (await world().call("GET /api/v1/me", { as: bearerOf(answer) })).status;
  const refresh = ({ body }: Answer) => post("refresh", { refresh_token: body.refresh_token });
  const reset = (token: string, password = NEW) => post("password/reset", { token, password });
  const change = (session: Answer, current_password: string, password = NEW) =>
    post("password/change", { current_password, password }, bearerOf(session));
  const forgot = async (email = EMAIL) => {
    expect((await post("password/forgot", { email })).status).toBe(202);
    return mailedToken(world(), email, "Reset your password");
  };

  /** A session that neither its access token nor its refresh token continues. */
  async function expectEnded(session: Answer) {
    expect(await me(session)).toBe(401);
    expect((await refresh(session)).status).toBe(401);
  }
  return { post, register, login, me, refresh, reset, change, forgot, expectEnded };
}
