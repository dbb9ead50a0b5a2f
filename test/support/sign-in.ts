// A world with an identity provider, and the ways to sign in: by password, and there.
import { mailedToken } from "./accounts.ts";
import { bearerOf } from "./credentials.ts";
import { CLIENT, ISSUER, openIdProvider, type Person } from "./openid-provider.ts";
import { type Answer, type Headers, testWorld } from "./world.ts";

export const PASSWORD = "correct horse battery";
export const PROVIDER_ROUTE = "/api/v1/auth/identity-provider";
export const ADA = { sub: "ada-1", email: "ada@lovelace.example", email_verified: true, name: "Ada" };
export const GRACE = { sub: "grace-1", email: "grace@lovelace.example", email_verified: true, name: "Grace" };
export const SETTINGS = {
  issuer: ISSUER,
  client_id: CLIENT.id,
  client_secret: CLIENT.secret,
  domains: ["lovelace.example"],
};

export async function signInWorld(options: Parameters<typeof testWorld>[0] = {}) {
  const world = await testWorld(options);
  const provider = openIdProvider(world);
  const post = (path: string, body: object, as: Headers = {}): Promise<Answer> =>
    world.call(`POST /api/v1/auth/${path}`, { body, as });
  const register = (email: string = ADA.email, workspace_name = "Engines") =>
    post("register", { email, password: PASSWORD, name: "Ada", workspace_name });
  /** A registered user whose address is confirmed. */
  const confirmed = async (): Promise<Answer> => {
    const owner = await register();
    await post("email/confirm", { token: await mailedToken(world, ADA.email, "Confirm") });
    return owner;
  };
  const set = (session: Answer, more: object = {}) =>
    world.call(`PUT ${PROVIDER_ROUTE}`, { as: bearerOf(session), body: { ...SETTINGS, ...more } });
  const say = (record: { record_name: string; record_value: string }) =>
    world.call("POST /_local/dns", { body: { name: record.record_name, text: record.record_value } });

  return {
    world,
    provider,
    post,
    register,
    confirmed,
    /** Sets the provider of the workspace of a session. */
    set,
    /** Publishes what a domain must say in DNS. */
    say,
    me: (session: Answer) => world.call("GET /api/v1/me", { as: bearerOf(session) }),
    topics: (session: Answer) => world.call("GET /api/v1/topics", { as: bearerOf(session) }),
    /** An owner with a provider whose domain is proven, and the workspace. */
    connected: async (more: object = {}) => {
      const owner = await confirmed();
      await say((await set(owner, more)).body.domains[0]);
      await set(owner, more);
      const invite = (email: string, role: string) =>
        world.call("POST /api/v1/team/invitations", { as: bearerOf(owner), body: { email, role } });
      return { owner, invite, tenant: String(owner.body.tenant.id), user: owner.body.user };
    },
    begin: async (wanted: object): Promise<{ url: string; binding: string }> =>
      (await post("sign-in/begin", wanted)).body,
    /** The whole way of a browser. */
    signIn: async (person: Person, wanted: object): Promise<Answer> => {
      const { url, binding } = (await post("sign-in/begin", wanted)).body;
      return post("sign-in/finish", { ...provider.signIn(url, person), binding });
    },
  };
}
