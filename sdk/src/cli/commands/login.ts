// Saves a login, ends it, and says who is logged in.
import { createClient } from "../../client.ts";
import { ServiceError } from "../../errors.ts";
import type { Session } from "../../types.gen.ts";
import { type Call, command, EXIT, usageError } from "../command.ts";
import { beginSession, checkedUrl, DEFAULT_PROFILE, withConnection } from "../connection.ts";
import { loginsFile, readLogins, saveLogin } from "../logins.ts";
import { loginAtProvider } from "../provider-login.ts";

async function passwordOf({ io, options }: Call<typeof loginOptions>): Promise<string> {
  if (options["password-stdin"]) return (await io.readInput()).replace(/\r?\n$/, "");
  return io.env.ENGAGEMENT_PASSWORD ?? io.ask("Password: ", true);
}

/** A user with a second factor is asked for a code after the password was accepted. */
async function withCode(
  { io, options }: Call<typeof loginOptions>,
  begin: (code: { code?: string }) => Promise<Session>,
): Promise<Session> {
  if (options.code !== undefined) return begin({ code: options.code });
  try {
    return await begin({});
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "SECOND_FACTOR_REQUIRED") throw error;
    return begin({ code: await io.ask("Code of your authenticator, or a recovery code: ") });
  }
}

const loginOptions = {
  email: { type: "string", value: "<address>", about: "Your email address; asked for if left out" },
  workspace: { type: "string", value: "<id>", about: "The id of the workspace, if you belong to more than one" },
  code: { type: "string", value: "<code>", about: "The code of your authenticator; asked for if it is needed" },
  provider: { type: "boolean", about: "Sign in at your company's identity provider, in a browser of this machine" },
  "password-stdin": { type: "boolean", about: "Read the password from the standard input" },
} as const;

async function addressOf({ io, options }: Call<typeof loginOptions>): Promise<string> {
  const email = options.email ?? io.env.ENGAGEMENT_EMAIL ?? (await io.ask("Email address: "));
  if (email === "") throw usageError("An email address is required.");
  return email;
}

async function byPassword(call: Call<typeof loginOptions>, url: string): Promise<Session> {
  const { io, options } = call;
  const email = await addressOf(call);
  const password = await passwordOf(call);
  if (password === "") throw usageError("A password is required.");
  const body = { email, password, ...(options.workspace !== undefined && { tenant_id: options.workspace }) };
  return withCode(call, (code) => beginSession(io, url, { ...body, ...code }));
}

async function byProvider(call: Call<typeof loginOptions>, url: string): Promise<Session> {
  const { workspace: tenant_id } = call.options;
  return loginAtProvider(call.io, url, tenant_id === undefined ? { email: await addressOf(call) } : { tenant_id });
}

export const login = command({
  name: "login",
  args: "",
  summary: "Log in and save the tokens in a file that only you can read",
  about:
    "The password is asked for, or read from the standard input, or from ENGAGEMENT_PASSWORD. It is never an argument,\n" +
    "because other users of the machine can read arguments. It is not saved. With --provider no password is asked for.",
  options: loginOptions,
  run: async (call) => {
    const { io, options } = call;
    const address = options.url ?? io.env.ENGAGEMENT_URL;
    if (!address) throw usageError("--url is required: the address of the service.");
    const url = checkedUrl(address);
    const { user, tenant, access_token, refresh_token, expires_in } = await (options.provider
      ? byProvider
      : byPassword)(call, url);
    const { email } = user;
    const expires_at = io.now() + expires_in * 1_000;
    const saved = { url, email, workspace: tenant.name, access_token, refresh_token, expires_at };
    saveLogin(io, options.profile ?? DEFAULT_PROFILE, saved);
    const shown = { url, email, workspace: tenant.name, role: tenant.role, saved_in: loginsFile(io) };
    io.out(options.json ? JSON.stringify(shown) : `Logged in to ${tenant.name} as ${email} (${tenant.role}).`);
    return EXIT.ok;
  },
});

export const logout = command({
  name: "logout",
  args: "",
  summary: "End the session and remove the saved tokens",
  options: {},
  run: async ({ io, options }) => {
    const { profile = DEFAULT_PROFILE } = options;
    const found = readLogins(io)[profile];
    if (found) {
      const { auth } = createClient({ baseUrl: found.url, fetch: io.fetch });
      try {
        await auth.logout({ refresh_token: found.refresh_token });
      } catch (error) {
        // A 401 means that the session has ended already.
        if (!(error instanceof ServiceError) || error.status !== 401) throw error;
      }
      saveLogin(io, profile, undefined);
    }
    const said = found ? "Logged out." : "Nobody was logged in.";
    io.out(options.json ? JSON.stringify({ ended: found !== undefined }) : said);
    return EXIT.ok;
  },
});

export const whoami = command({
  name: "whoami",
  args: "",
  summary: "Show who is logged in, and to which workspace",
  options: {},
  run: async ({ io, options }) => {
    return withConnection(io, { ...options, takesServerKey: true }, async (connection) => {
      const { hasServerKeyOnly, client, url } = connection;
      const me = hasServerKeyOnly ? await client.account.getWhoami() : await client.account.getMe();
      if (options.json) io.out(JSON.stringify({ url, ...me }));
      else for (const [name, value] of Object.entries({ url, ...me })) io.out(`${name}: ${textOf(value)}`);
      return EXIT.ok;
    });
  },
});

const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
