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

it("a login is saved for its owner alone, renewed, and ended", async () => {
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
  expect((await cli.run("whoami")).code).toBe(3);
  expect((await cli.run("login", "--url", "http://api.example.com")).code).toBe(2);
  expect(await cli.run("login", "--url", BASE_URL)).toMatchObject({
    code: 0,
    out: [expect.stringContaining("Company")],
  });
  const file = join(cli.folder, "config/credentials.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).not.toContain(PASSWORD);
  await world.advance(16 * 60_000);
  const whoami = await Promise.all([cli.run("whoami"), cli.run("whoami")]);
  expect(whoami.map(({ code }) => code)).toEqual([0, 0]);
  expect(refreshes).toHaveLength(1);
  // The clock of this machine is a day behind: the service refuses a token that seems valid.
  const saved = JSON.parse(readFileSync(file, "utf8"));
  saved.default.expires_at += 24 * 3_600_000;
  writeFileSync(file, JSON.stringify(saved));
  await world.advance(16 * 60_000);
  expect((await cli.run("whoami")).code).toBe(0);
  expect(refreshes).toHaveLength(2);
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

it("a login at an address that is not that of the API says so", async () => {
  const { world, tenant } = await openedCli();
  const page = () => new Response("<!doctype html>", { headers: { "content-type": "text/html" } });
  const answers: [string, () => Response][] = [
    [`${BASE_URL}/console`, () => Response.json({ message: "Request Entity Too Large" }, { status: 413 })],
    [`${BASE_URL}/other`, () => Response.json({ code: "NOT_FOUND", message: "No such endpoint." }, { status: 404 })],
    ["https://www.example.com", page],
    ["https://other.example.com", () => Response.json({ ok: true })],
  ];
  for (const [url, answer] of answers) {
    const env = { ENGAGEMENT_EMAIL: EMAIL, ENGAGEMENT_PASSWORD: PASSWORD };
    const cli = await cliOf(world, tenant, { env, fetch: async () => answer() });
    const login = { code: 2, notes: [expect.stringContaining(`${url} does not seem to be the address of the API`)] };
    expect(await cli.run("login", "--url", url)).toMatchObject(login);
    expect(await cli.run("export", "--url", url)).toMatchObject(login);
  }
  const refusing = async () => Response.json({ code: "UNAUTHORIZED", message: "Wrong password." }, { status: 401 });
  const cli = await cliOf(world, tenant, { fetch: refusing, answers: [EMAIL, PASSWORD] });
  expect(await cli.run("login", "--url", BASE_URL)).toMatchObject({
    code: 3,
    notes: ["Error: Wrong password. (UNAUTHORIZED)"],
  });
});
