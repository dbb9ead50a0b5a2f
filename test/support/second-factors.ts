// One-time codes beside the password, made by an authenticator library of others.
import { authenticator } from "otplib";
import { expect } from "vitest";
import { SECOND } from "../../shared/kernel/clock.ts";
import { accountsIn, EMAIL, mailedToken, PASSWORD, withMailedToken } from "./accounts.ts";
import { bearerOf } from "./credentials.ts";
import type { Answer, TestWorld } from "./world.ts";

/** How long a code is shown. */
export const STEP_MS = 30 * SECOND;

/** What users of `world` do who have second factors. */
export function secondFactorsIn(world: () => TestWorld) {
  const accounts = accountsIn(world);
  const { post } = accounts;
  const codeOf = (key: string) => authenticator.clone({ epoch: world().clock.now() }).generate(key);
  const login = (more: object = {}) => post("login", { email: EMAIL, password: PASSWORD, ...more });
  const begin = (session: Answer, current_password = PASSWORD) =>
    post("second-factor/begin", { current_password }, bearerOf(session));
  const confirm = (session: Answer, code: string) => post("second-factor/confirm", { code }, bearerOf(session));
  const remove = (session: Answer, code: string) => post("second-factor/remove", { code }, bearerOf(session));

  /** Sets up the second factor in a session. The next step of time begins, so that a new code is there. */
  async function enrol(session: Answer): Promise<{ key: string; recovery: string[] }> {
    const { status, body } = await begin(session);
    expect(status).toBe(201);
    const confirmed = await confirm(session, codeOf(body.key));
    expect(confirmed.status).toBe(200);
    await world().advance(STEP_MS);
    return { key: body.key, recovery: confirmed.body.recovery_codes };
  }

  /** Ada with a second factor, whose address is confirmed. */
  async function enrolled() {
    const account = { email: EMAIL, password: PASSWORD, name: "Ada", workspace_name: "Difference Engines" };
    const session = await post("register", account);
    await post("email/confirm", { token: await mailedToken(world(), EMAIL, "Confirm") });
    return { session, ...(await enrol(session)) };
  }

  /** The token of an invitation. */
  async function invitedBy(as: Record<string, string>, email: string, role: string): Promise<string> {
    const invited = await world().call("POST /api/v1/team/invitations", { as, body: { email, role } });
    return (await withMailedToken(world(), invited)).body.token;
  }
  return { ...accounts, codeOf, login, begin, confirm, remove, enrol, enrolled, invitedBy };
}
