// The requests of a second factor, each by a user who has none, or has just set one up.
import { shownCode } from "./accounts.ts";
import type { Call, Setting, Settings } from "./example-settings.ts";
import type { TestWorld } from "./world.ts";

const account = { email: "codes@example.com", password: "correct horse battery staple" };

export function factorSettings(world: TestWorld, call: Call): Settings {
  let registered: Promise<unknown> | undefined;
  const session = async (): Promise<Setting & { as: Record<string, string> }> => {
    registered ??= call("POST /api/v1/auth/register", { ...account, name: "Ada", workspace_name: "Codes" }, {});
    await registered;
    await world.host.invoke("operator", { forget_second_factor: { email: account.email } });
    const { access_token } = await call("POST /api/v1/auth/login", account, {});
    return { as: { authorization: `Bearer ${access_token}` } };
  };
  const offered = async () => {
    const { as } = await session();
    const given = { current_password: account.password };
    const { key } = await call("POST /api/v1/auth/second-factor/begin", given, as);
    return { as, body: { code: shownCode(key, world.clock.now()) } };
  };
  const enrolled = async () => {
    const { as, body } = await offered();
    const { recovery_codes } = await call("POST /api/v1/auth/second-factor/confirm", body, as);
    return { as, body: { code: recovery_codes[0] } };
  };
  return {
    "POST /api/v1/auth/second-factor/begin": async () => ({
      ...(await session()),
      body: { current_password: account.password },
    }),
    "POST /api/v1/auth/second-factor/confirm": offered,
    "POST /api/v1/auth/second-factor/remove": enrolled,
    "POST /api/v1/auth/recovery-codes/renew": enrolled,
  };
}
