// The command line at work: sends, the activity, webhooks on this machine, imports and simulations; and what it refuses.
import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { verifyWebhook } from "../../sdk/src/webhook.ts";
import { HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { cliOf, openedCli } from "../support/cli.ts";
import { BASE_URL, fetchOf } from "../support/embedded-fetch.ts";
import { listenOnLoopback } from "../support/loopback.ts";
import { addPeople } from "../support/people.ts";
import { testWorld } from "../support/world.ts";

/** A server of this machine. */
async function receiver() {
  const received: { body: string; headers: IncomingHttpHeaders; signature: string | undefined }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({
      body: Buffer.concat(chunks).toString(),
      headers: request.headers,
      signature: String(request.headers["x-service-signature"]),
    });
    response.end();
  });
  const port = await listenOnLoopback(server);
  onTestFinished(() => void server.close());
  return { to: `http://127.0.0.1:${port}/hooks`, received };
}

it.runIf(existsSync("/proc"))(
  "a folder that the system does not make is named, and the export ends (F17)",
  async () => {
    const { cli } = await openedCli();
    expect(await cli.run("export", "/proc/x")).toMatchObject({ code: 1, notes: [expect.stringContaining("/proc/x")] });
  },
);

it("a file is imported from the command line, and its rejected rows are told", async () => {
  const { cli } = await openedCli();
  cli.write("people.csv", "external_id,email,first_name\nada,ada@example.com,Ada\nbob,not-an-address,Bob\n");
  const imported = await cli.run("import", "people.csv", "--list", "Readers", "--create");

  expect(imported.out.join("\n")).toMatch(/completed: 2 rows, 1 rejected[\s\S]*line 3/);
  expect(imported.code).toBe(1);
});

it("a send from the command line says what became of it, and the tail shows it", async () => {
  const { tenant, cli } = await openedCli();
  await tenant.upsert({ external_id: "ada" });

  expect(await cli.run("send", "--to", "ada", "--title", "Hello", "--body", "b")).toMatchObject({
    code: 0,
    out: [expect.stringMatching(/^delivered/)],
  });
  expect((await cli.run("tail", "--once")).out).toEqual([expect.stringMatching(/delivered.*in_app.*ada/)]);
});

it("a send to nobody fails", async () => {
  const { cli } = await openedCli();

  expect((await cli.run("send", "--to", "nobody", "--title", "t", "--body", "b")).code).toBe(1);
});

/** A command line beside Ada, and a journey that begins when she signs up. */
async function withJourney() {
  const opened = await openedCli();
  await opened.tenant.upsert({ external_id: "ada" });
  const steps = { start: "end", steps: { end: { id: "end", type: "exit" } } };
  const body = { name: "Onboarding", trigger: { type: "event", event_name: "signed_up" }, steps };
  expect((await opened.tenant.call("POST /api/v1/journeys", body)).status).toBe(201);
  return opened;
}

it("a journey is simulated for one subscriber", async () => {
  const { cli } = await withJourney();

  expect(await cli.run("simulate", "Onboarding", "--subscriber", "ada")).toMatchObject({
    code: 0,
    out: [expect.stringContaining("exit"), expect.stringContaining("on end")],
  });
});

it("a journey is simulated against what happened", async () => {
  const { world, tenant, cli } = await withJourney();
  await world.call("POST /v1/events", { as: tenant.server, body: { event_name: "signed_up", external_id: "ada" } });
  await world.advance(1_000);
  const window = ["--from", timestamp(world.clock.now() - HOUR), "--to", timestamp(world.clock.now())];

  expect(await cli.run("simulate", "Onboarding", ...window)).toMatchObject({
    code: 0,
    out: expect.arrayContaining(["1 runs of 1 subscribers: 0 active, 1 completed, 0 exited"]),
  });
});

it("the command line says why a person got a send, and what a journey did with a person, in words", async () => {
  const { tenant, cli } = await openedCli();
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
    pauses++;
    if (pauses === 1) await send({ external_ids: ["p7"] });
    return pauses < 3;
  };
  const cli = await cliOf(world, tenant, { pause });
  const { out } = await cli.run("tail", "--lines", "3");
  expect(out).toHaveLength(4);
  expect(out[3]).toMatch(/delivered.*in_app.*p7 {2}t$/);
});

/** A webhook that is told of new subscribers, two of them, and a receiver on this machine. */
async function withHook() {
  const opened = await openedCli();
  const hook = { target_url: "https://hooks.example.com/in", events: ["subscriber.created"] };
  expect((await opened.tenant.call("POST /api/v1/webhooks", hook)).status).toBe(201);
  for (const external_id of ["ada", "bob"]) await opened.tenant.upsert({ external_id });
  await opened.world.settle();
  const { to, received } = await receiver();
  const told = () => received.map(({ body }) => JSON.parse(body).data.external_id);
  return { ...opened, to, received, told };
}

it("a listener forwards nothing from before it began, unless it is asked for (F11)", async () => {
  const { cli, to, told } = await withHook();

  expect((await cli.run("listen", "--to", to, "--once")).code).toBe(0);
  expect(told()).toEqual([]);
});

it("a listener replays the deliveries since a time, signed with the secret that it is given (F11)", async () => {
  const { cli, to, received, told } = await withHook();

  expect((await cli.run("listen", "--to", to, "--once", "--since", "1h", "--secret", "s")).code).toBe(0);
  // Changes of two subscribers are announced in any order.
  expect(told().sort()).toEqual(["ada", "bob"]);
  for (const { body, signature } of received) expect(verifyWebhook("s", body, signature)).toBe(true);
});

it("a listener signs as Standard Webhooks has it, with a secret that it prints (F11)", async () => {
  const { cli, to, received } = await withHook();

  const { notes } = await cli.run("listen", "--to", to, "--once", "--since", "1h");

  const [, key = ""] = /whsec_(\S+)$/m.exec(notes.join("\n")) ?? [];
  expect(received).toHaveLength(2);
  for (const { body, headers } of received) {
    const text = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
    const signature = createHmac("sha256", Buffer.from(key, "base64")).update(text).digest("base64");
    expect(headers["webhook-signature"]).toBe(`v1,${signature}`);
    expect(headers["x-signature-256"]).toBe(headers["x-service-signature"]);
  }
});

it("a listener goes on after the service was down, and forwards each delivery once (F11)", async () => {
  const { world, tenant, to, told } = await withHook();
  let pauses = 0;
  const pause = async () => {
    pauses++;
    if (pauses === 1) await tenant.upsert({ external_id: "carla" });
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
  expect(told()).toEqual(["carla"]);
});

describe("what is misspelt or refused is explained, with its exit code:", () => {
  it.each<[what: string, words: string[], code: number, note: string]>([
    ["an unknown command", ["aply"], 2, "no command aply"],
    ["help about an unknown command", ["help", "aply"], 2, "no command aply"],
    ["an unknown option", ["send", "--two", "ada"], 2, "--two"],
    ["a missing option", ["send", "--to", "ada"], 2, "--title"],
    ["a folder that is not there", ["diff"], 1, "There is no folder"],
    ["a file in place of a folder", ["diff", "people.csv"], 1, "There is no folder"],
    ["an address without its scheme", ["listen", "--to", "localhost:4000/hooks"], 2, "http://localhost:4000"],
  ])("%s", async (_, words, code, note) => {
    const { cli } = await openedCli();
    cli.write("people.csv", "");
    expect(await cli.run(...words)).toMatchObject({ code, notes: [expect.stringContaining(note)] });
  });

  it("a missing option, as JSON where that is asked for", async () => {
    const { cli } = await openedCli();
    const { error } = await cli.json("send", "--to", "ada");
    expect(error).toMatchObject({ message: expect.stringContaining("--title") });
  });

  it("every fault of the files of a configuration at once", async () => {
    const { cli } = await openedCli();
    cli.write("engagement/segments/a.json", { name: "A" });
    cli.write("engagement/segments/b.json", { name: "A" });
    cli.write("engagement/segmnts/c.json", {});
    cli.write("engagement/segments/d.json", "{");
    expect((await cli.run("diff")).notes[0]).toMatch(
      /segmnts[\s\S]*b\.json: segments\/a\.json has the name A too[\s\S]*d\.json: is not JSON/,
    );
  });

  it.each(["diff", "apply"])("the file that the service refuses, by %s", async (command) => {
    const { cli } = await openedCli();
    cli.write("refused/segments/x.json", { name: "X", rule: { attribut: {} } });
    expect((await cli.run(command, "refused")).notes[0]).toBe("Stopped at segments/X (segments/x.json).");
  });

  it("a file for secrets that cannot be written, before anything is made", async () => {
    const { cli } = await openedCli();
    const hook = { name: "W", target_url: "https://hooks.example.com/w", events: ["subscriber.created"] };
    cli.write("new/webhooks/w.json", hook);
    const unwritable = await cli.run("apply", "new", "--secrets", "none/secrets.jsonl");
    expect(unwritable).toMatchObject({ code: 1, notes: [expect.stringContaining("none/secrets.jsonl")] });
    expect((await cli.json("diff", "new")).steps).toMatchObject([{ action: "create" }]);
  });

  it("a server key where a person is asked for", async () => {
    const { world, tenant } = await openedCli();
    const env = { ENGAGEMENT_URL: BASE_URL, ENGAGEMENT_SERVER_KEY: "service_srv_x" };
    const { code, notes } = await (await cliOf(world, tenant, { env })).run("tail");
    expect({ code, notes }).toEqual({ code: 3, notes: [expect.stringContaining("server key")] });
  });
});

it("a configuration without secrets leaves no file of secrets", async () => {
  const { cli } = await openedCli();
  cli.write("plain/lists/l.json", { name: "L" });
  expect((await cli.run("apply", "plain", "--secrets", "secrets.jsonl")).code).toBe(0);
  expect(existsSync(join(cli.folder, "secrets.jsonl"))).toBe(false);
});

it("help says how the command line, and each command, is called", async () => {
  const { cli } = await openedCli();
  expect(await cli.run("--help")).toMatchObject({ code: 0 });
  expect((await cli.run("apply", "--help")).out[0]).toBe("engagement apply [folder]");
});
