// The command line at work: logins, sends, the activity, webhooks on this machine, imports and simulations.
import { once } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { verifyWebhook } from "../../sdk/src/webhook.ts";
import { HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { shownCode } from "../support/accounts.ts";
import { cliOf } from "../support/cli.ts";
import { BASE_URL, fetchOf } from "../support/embedded-fetch.ts";
import { CLIENT, ISSUER, openIdProvider } from "../support/openid-provider.ts";
import { addPeople } from "../support/people.ts";
import { testWorld } from "../support/world.ts";

const EMAIL = "ada@company.example";
const PASSWORD = "correct horse battery staple";

/** A server of this machine. */
async function receiver() {
  const received: { body: string; signature: string | undefined }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({
      body: Buffer.concat(chunks).toString(),
      signature: String(request.headers["x-service-signature"]),
    });
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { to: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`, received };
}

async function opened() {
  const world = await testWorld();
  const tenant = await world.tenant();
  const local: typeof fetch = (url, init) =>
    String(url).startsWith(BASE_URL) ? fetchOf(world)(url, init) : fetch(url, init);
  return { world, tenant, cli: await cliOf(world, tenant, { fetch: local }) };
}

it("a login is saved for its owner alone, renewed, and ended", async () => {
  const { world, tenant } = await opened();
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
  const { world, tenant } = await opened();
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
  expect(await visited).toEqual([404, 200]);
  expect((await cli.run("whoami")).code).toBe(0);
});

it("a login at an address that is not that of the API says so", async () => {
  const { world, tenant } = await opened();
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

it.runIf(existsSync("/proc"))(
  "a folder that the system does not make is named, and the export ends (F17)",
  async () => {
    const { cli } = await opened();
    expect(await cli.run("export", "/proc/x")).toMatchObject({ code: 1, notes: [expect.stringContaining("/proc/x")] });
  },
);

it("sends to one subscriber, tails it, imports a file and simulates a journey", async () => {
  const { world, tenant, cli } = await opened();
  cli.write("people.csv", "external_id,email,first_name\nada,ada@example.com,Ada\nbob,not-an-address,Bob\n");
  const imported = await cli.run("import", "people.csv", "--list", "Readers", "--create");
  expect(imported.out.join("\n")).toMatch(/completed: 2 rows, 1 rejected[\s\S]*line 3/);
  expect(imported.code).toBe(1);
  const sent = await cli.run("send", "--to", "ada", "--title", "Hello {{ subscriber.first_name }}", "--body", "b");
  expect(sent).toMatchObject({ code: 0, out: [expect.stringMatching(/^delivered/)] });
  expect((await cli.run("tail", "--once")).out).toEqual([expect.stringMatching(/delivered.*in_app.*ada/)]);
  const steps = { start: "end", steps: { end: { id: "end", type: "exit" } } };
  const body = { name: "Onboarding", trigger: { type: "event", event_name: "signed_up" }, steps };
  expect((await tenant.call("POST /api/v1/journeys", body)).status).toBe(201);
  const simulated = await cli.run("simulate", "Onboarding", "--subscriber", "ada");
  expect(simulated).toMatchObject({
    code: 0,
    out: [expect.stringContaining("exit"), expect.stringContaining("on end")],
  });
  await world.call("POST /v1/events", { as: tenant.server, body: { event_name: "signed_up", external_id: "ada" } });
  await world.advance(1_000);
  const window = ["--from", timestamp(world.clock.now() - HOUR), "--to", timestamp(world.clock.now())];
  const history = await cli.run("simulate", "Onboarding", ...window);
  expect(history).toMatchObject({
    code: 0,
    out: expect.arrayContaining(["1 runs of 1 subscribers: 0 active, 1 completed, 0 exited"]),
  });
  expect((await cli.run("send", "--to", "nobody", "--title", "t", "--body", "b")).code).toBe(1);
});

it("says why a person got a send, and what a journey did with a person, in words", async () => {
  const { tenant, cli } = await opened();
  await tenant.upsert({ external_id: "ada" });
  await cli.run("send", "--to", "ada", "--title", "Hello", "--body", "b");
  expect(await cli.run("explain", "Hello", "ada")).toMatchObject({ code: 0, out: ["Delivered by In-app."] });
  const steps = { start: "end", steps: { end: { id: "end", type: "exit" } } };
  const trigger = { type: "event", event_name: "signed_up" };
  await tenant.call("POST /api/v1/journeys", { name: "Onboarding", trigger, steps });
  const told = await cli.run("why", "Onboarding", "ada");
  expect(told).toMatchObject({ code: 0, out: [expect.stringContaining("nothing happened that starts this journey")] });
  expect((await cli.run("explain", "Nothing", "ada")).code).toBe(1);
});

it("tail goes on with what is new, and leaves out what is older than where it began", async () => {
  const world = await testWorld();
  const tenant = await world.tenant();
  await addPeople(world, tenant, 120);
  const send = async (target: object) => {
    await tenant.call("POST /api/v1/notifications", { title: "t", body: "b", ...target });
    await world.settle();
  };
  await send({ target: { type: "all" } });
  await world.advance(1_000);
  let pauses = 0;
  const pause = async () => {
    if (++pauses === 1) await send({ external_ids: ["p7"] });
    return pauses < 3;
  };
  const cli = await cliOf(world, tenant, { pause });
  const { out } = await cli.run("tail", "--lines", "3");
  expect(out).toHaveLength(4);
  expect(out[3]).toMatch(/delivered.*in_app.*p7/);
});

it("forwards the deliveries of a webhook to this machine, and replays those before (F11)", async () => {
  const { world, tenant, cli } = await opened();
  const hook = { target_url: "https://hooks.example.com/in", events: ["subscriber.created"] };
  expect((await tenant.call("POST /api/v1/webhooks", hook)).status).toBe(201);
  for (const external_id of ["ada", "bob"]) await tenant.upsert({ external_id });
  await world.settle();
  const { to, received } = await receiver();
  expect((await cli.run("listen", "--to", to, "--once")).code).toBe(0);
  expect(received).toEqual([]);
  const replayed = await cli.run("listen", "--to", to, "--once", "--since", "1h", "--secret", "s");
  expect(replayed.code).toBe(0);
  // Changes of two subscribers are announced in any order.
  expect(received.map(({ body }) => JSON.parse(body).data.external_id).sort()).toEqual(["ada", "bob"]);
  for (const { body, signature } of received) expect(verifyWebhook("s", body, signature)).toBe(true);

  let pauses = 0;
  const pause = async () => {
    if (++pauses === 1) await tenant.upsert({ external_id: "carla" });
    return pauses < 5;
  };
  const isDown = () => pauses === 1 || pauses === 2;
  const fetch: typeof globalThis.fetch = (url, init) => {
    if (!String(url).startsWith(BASE_URL)) return globalThis.fetch(url, init);
    return isDown() ? Promise.resolve(new Response("", { status: 502 })) : fetchOf(world)(url, init);
  };
  const following = await cliOf(world, tenant, { pause, fetch });
  const { code, notes } = await following.run("listen", "--to", to, "--secret", "s");
  expect(code).toBe(0);
  expect(notes.filter((note) => note.endsWith("Trying again."))).toHaveLength(1);
  expect(received.slice(2).map(({ body }) => JSON.parse(body).data.external_id)).toEqual(["carla"]);
});

it("what is misspelt or refused is explained, with its exit code", async () => {
  const { world, tenant, cli } = await opened();
  expect(await cli.run("--help")).toMatchObject({ code: 0 });
  expect((await cli.run("apply", "--help")).out[0]).toBe("engagement apply [folder]");
  for (const words of [["aply"], ["help", "aply"]])
    expect(await cli.run(...words)).toMatchObject({ code: 2, notes: [expect.stringContaining("no command aply")] });
  expect(await cli.run("send", "--two", "ada")).toMatchObject({ code: 2, notes: [expect.stringContaining("--two")] });
  expect((await cli.json("send", "--to", "ada")).error).toMatchObject({ message: expect.stringContaining("--title") });
  expect(await cli.run("diff")).toMatchObject({ code: 1, notes: [expect.stringContaining("There is no folder")] });
  cli.write("file", "");
  expect(await cli.run("diff", "file")).toMatchObject({
    code: 1,
    notes: [expect.stringContaining("There is no folder")],
  });
  cli.write("engagement/segments/a.json", { name: "A" });
  cli.write("engagement/segments/b.json", { name: "A" });
  cli.write("engagement/segmnts/c.json", {});
  cli.write("engagement/segments/d.json", "{");
  expect((await cli.run("diff")).notes[0]).toMatch(
    /segmnts[\s\S]*b\.json: segments\/a\.json has the name A too[\s\S]*d\.json: is not JSON/,
  );
  const local = ["listen", "--to", "localhost:4000/hooks"];
  expect(await cli.run(...local)).toMatchObject({ code: 2, notes: [expect.stringContaining("http://localhost:4000")] });
  cli.write("refused/segments/x.json", { name: "X", rule: { attribut: {} } });
  for (const command of ["diff", "apply"])
    expect((await cli.run(command, "refused")).notes[0]).toBe("Stopped at segments/X (segments/x.json).");
  cli.write("new/webhooks/w.json", {
    name: "W",
    target_url: "https://hooks.example.com/w",
    events: ["subscriber.created"],
  });
  const unwritable = await cli.run("apply", "new", "--secrets", "none/secrets.jsonl");
  expect(unwritable).toMatchObject({ code: 1, notes: [expect.stringContaining("none/secrets.jsonl")] });
  expect((await cli.json("diff", "new")).steps).toMatchObject([{ action: "create" }]);
  cli.write("plain/lists/l.json", { name: "L" });
  expect((await cli.run("apply", "plain", "--secrets", "secrets.jsonl")).code).toBe(0);
  expect(existsSync(join(cli.folder, "secrets.jsonl"))).toBe(false);
  const env = { ENGAGEMENT_URL: BASE_URL, ENGAGEMENT_SERVER_KEY: "service_srv_x" };
  const { code, notes } = await (await cliOf(world, tenant, { env })).run("tail");
  expect({ code, notes }).toEqual({ code: 3, notes: [expect.stringContaining("server key")] });
});
