// How a person signs in on the command line, and where the session is kept.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { shownCode } from "../support/accounts.ts";
import { cliOf, openedCli } from "../support/cli.ts";
import { BASE_URL, fetchOf } from "../support/embedded-fetch.ts";
import { CLIENT, ISSUER, openIdProvider } from "../support/openid-provider.ts";
import { testWorld } from "../support/world.ts";

const EMAIL = "ada@company.example";
const PASSWORD = "correct horse battery staple";
/** Behind the life of an access token. */
const TOKEN_LIVES_MS = 16 * 60_000;

/** Ada, who has an account, at a command line that keeps its configuration in a folder of its own. */
async function atCommandLine() {
  const { world, tenant } = await openedCli();
  const registered = { email: EMAIL, password: PASSWORD, name: "Ada", workspace_name: "Company" };
  expect((await world.call("POST /api/v1/auth/register", { body: registered })).status).toBe(201);
  const refreshes: string[] = [];
  const fetch: typeof globalThis.fetch = (url, init) => {
    if (String(url).endsWith("/refresh")) refreshes.push(String(url));
    return fetchOf(world)(url, init);
  };
  const env: Record<string, string> = {};
  const cli = await cliOf(world, tenant, { env, fetch, answers: [EMAIL, PASSWORD] });
  env.ENGAGEMENT_CONFIG = join(cli.folder, "config");
  const login = () => cli.run("login", "--url", BASE_URL);
  return { world, cli, login, refreshes, file: join(cli.folder, "config/credentials.json") };
}

it("a command without a login says that there is none", async () => {
  const { cli } = await atCommandLine();

  expect((await cli.run("whoami")).code).toBe(3);
});

it("a login by plain HTTP is refused before anything is asked", async () => {
  const { cli } = await atCommandLine();

  expect((await cli.run("login", "--url", "http://api.example.com")).code).toBe(2);
});

it("a login is saved for its owner alone, without the password", async () => {
  const { login, file } = await atCommandLine();

  expect(await login()).toMatchObject({ code: 0, out: [expect.stringContaining("Company")] });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).not.toContain(PASSWORD);
});

it("a session that is over is renewed once, also where two commands need it together", async () => {
  const { world, cli, login, refreshes } = await atCommandLine();
  await login();
  await world.advance(TOKEN_LIVES_MS);
  const both = await Promise.all([cli.run("whoami"), cli.run("whoami")]);

  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(refreshes).toHaveLength(1);
});

it("a session that only the service knows to be over is renewed: the clock of this machine may be behind", async () => {
  const { world, cli, login, refreshes, file } = await atCommandLine();
  await login();
  const saved = JSON.parse(readFileSync(file, "utf8"));
  saved.default.expires_at += 24 * 3_600_000;
  writeFileSync(file, JSON.stringify(saved));
  await world.advance(TOKEN_LIVES_MS);

  expect((await cli.run("whoami")).code).toBe(0);
  expect(refreshes).toHaveLength(1);
});

it("a logout ends the session", async () => {
  const { cli, login } = await atCommandLine();
  await login();

  expect((await cli.run("logout")).code).toBe(0);
  expect((await cli.run("whoami")).code).toBe(3);
});

it("a login asks for the code of a second factor (ACC-11)", async () => {
  const { world, tenant } = await openedCli();
  const registered = { email: EMAIL, password: PASSWORD, name: "Ada", workspace_name: "Company" };
  const { access_token } = (await world.call("POST /api/v1/auth/register", { body: registered })).body;
  const as = { authorization: `Bearer ${access_token}` };
  const begun = { as, body: { current_password: PASSWORD } };
  const { key } = (await world.call("POST /api/v1/auth/second-factor/begin", begun)).body;
  const codeNow = () => shownCode(key, world.clock.now());
  const confirmed = { as, body: { code: codeNow() } };
  expect((await world.call("POST /api/v1/auth/second-factor/confirm", confirmed)).status).toBe(200);
  await world.advance(30_000);
  const cli = await cliOf(world, tenant, { answers: [EMAIL, PASSWORD, codeNow()] });
  expect(await cli.run("login", "--url", BASE_URL)).toMatchObject({ code: 0 });
});

it("a login at the identity provider ends in the browser of this machine (ACC-15)", async () => {
  const world = await testWorld();
  const provider = openIdProvider(world);
  const tenant = await world.tenant();
  const body = {
    issuer: ISSUER,
    client_id: CLIENT.id,
    domains: ["company.example"],
    default_role: "viewer",
  };
  const put = () => tenant.call("PUT /api/v1/auth/identity-provider", body);
  const { record_name: name, record_value: text } = (await put()).body.domains[0];
  await world.call("POST /_local/dns", { body: { name, text } });
  await put();
  let visited: Promise<number[]> = Promise.resolve([]);
  const browser: typeof globalThis.fetch = async (url, init) => {
    const answer = await fetchOf(world)(url, init);
    if (!String(url).endsWith("/sign-in/begin")) return answer;
    const to = String(((await answer.clone().json()) as { url: string }).url);
    const back = provider.signIn(to, { sub: "1", email: EMAIL, email_verified: true });
    const redirect = new URL(new URL(to).searchParams.get("redirect_uri")!);
    visited = (async () => {
      const visits: number[] = [];
      const elsewhere = new URL(`/signed-in/another?${new URLSearchParams({ ...back })}`, redirect);
      visits.push((await fetch(elsewhere)).status);
      for (const state of ["another", back.state]) {
        redirect.search = new URLSearchParams({ ...back, state }).toString();
        visits.push((await fetch(redirect)).status);
      }
      return visits;
    })();
    return answer;
  };
  const env: Record<string, string> = {};
  const cli = await cliOf(world, tenant, { env, fetch: browser });
  env.ENGAGEMENT_CONFIG = join(cli.folder, "config");
  const login = await cli.run("login", "--provider", "--email", EMAIL, "--url", BASE_URL);
  expect(login).toMatchObject({ code: 0, out: [expect.stringContaining(EMAIL)] });
  expect(login.notes.join()).toContain(ISSUER);
  expect(await visited).toEqual([404, 404, 200]);
  expect((await cli.run("whoami")).code).toBe(0);
});

it.each([
  [`${BASE_URL}/console`, () => Response.json({ message: "Request Entity Too Large" }, { status: 413 })],
  [`${BASE_URL}/other`, () => Response.json({ code: "NOT_FOUND", message: "No such endpoint." }, { status: 404 })],
  ["https://www.example.com", () => new Response("<!doctype html>", { headers: { "content-type": "text/html" } })],
  ["https://other.example.com", () => Response.json({ ok: true })],
])("a login and a command at %s, which is not the API, say so", async (url, answer) => {
  const { world, tenant } = await openedCli();
  const env = { ENGAGEMENT_EMAIL: EMAIL, ENGAGEMENT_PASSWORD: PASSWORD };
  const cli = await cliOf(world, tenant, { env, fetch: async () => answer() });
  const refused = { code: 2, notes: [expect.stringContaining(`${url} does not seem to be the address of the API`)] };

  expect(await cli.run("login", "--url", url)).toMatchObject(refused);
  expect(await cli.run("export", "--url", url)).toMatchObject(refused);
});

it("a command whose session cannot be ended afterwards has done its work, and says so (F5)", async () => {
  const { world, tenant } = await openedCli();
  const body = { email: EMAIL, password: PASSWORD, name: "Ada", workspace_name: "Company" };
  await world.call("POST /api/v1/auth/register", { body });
  const fetch: typeof globalThis.fetch = (url, init) =>
    String(url).endsWith("/logout") ? Promise.reject(new TypeError("cut")) : fetchOf(world)(url, init);
  const env = { ENGAGEMENT_URL: BASE_URL, ENGAGEMENT_EMAIL: EMAIL, ENGAGEMENT_PASSWORD: PASSWORD };
  const cli = await cliOf(world, tenant, { env, fetch });

  const { code, notes } = await cli.run("whoami");

  expect([code, notes]).toEqual([0, [expect.stringContaining("session of this command was not ended")]]);
});

it("a login with a wrong password is told what the service says", async () => {
  const { world, tenant } = await openedCli();
  const refusing = async () => Response.json({ code: "UNAUTHORIZED", message: "Wrong password." }, { status: 401 });
  const cli = await cliOf(world, tenant, { fetch: refusing, answers: [EMAIL, PASSWORD] });

  expect(await cli.run("login", "--url", BASE_URL)).toMatchObject({
    code: 3,
    notes: ["Error: Wrong password. (UNAUTHORIZED)"],
  });
});
