// The requests of signing in at an identity provider, which answers in the process.
import type { Call, Setting, Settings } from "./example-settings.ts";
import { CLIENT, ISSUER, openIdProvider } from "./openid-provider.ts";
import type { TestWorld } from "./world.ts";

const email = "ada@example.com";
const settings = { issuer: ISSUER, client_id: CLIENT.id, domains: ["example.com"], default_role: "viewer" };
const ROUTE = "/api/v1/auth/identity-provider";

export function providerSettings(world: TestWorld, call: Call): Settings {
  const provider = openIdProvider(world);
  const connected = async (): Promise<Setting> => {
    const { record_name: name, record_value: text } = (await call(`PUT ${ROUTE}`, settings)).domains[0];
    await world.call("POST /_local/dns", { body: { name, text } });
    await call(`PUT ${ROUTE}`, settings);
    return {};
  };
  const back = async (): Promise<Setting> => {
    await connected();
    const { url, binding } = await call("POST /api/v1/auth/sign-in/begin", { email }, {});
    return { body: { ...provider.signIn(url, { sub: "ada", email, email_verified: true }), binding } };
  };
  return {
    [`GET ${ROUTE}`]: connected,
    [`DELETE ${ROUTE}`]: connected,
    "POST /api/v1/auth/sign-in/begin": connected,
    "POST /api/v1/auth/sign-in/finish": back,
  };
}
