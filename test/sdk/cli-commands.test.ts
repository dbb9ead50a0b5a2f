// What the options of the command line's commands do: sends, imports and simulations (F5).
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { cliOf, openedCli } from "../support/cli.ts";
import { BASE_URL, fetchOf } from "../support/embedded-fetch.ts";
import { branch, graphOf } from "../support/journeys.ts";
import { outboxOf } from "../support/reached.ts";

/** A workspace with Ada in it. */
async function withAda() {
  const found = await openedCli();
  const ada = await found.tenant.upsert({ external_id: "ada", attributes: { plan: "pro" } });
  return { ...found, ada };
}

describe("send", () => {
  it("a send by a template and named channels is what the service got (F5)", async () => {
    const { world, tenant, cli, ada } = await withAda();
    await tenant.call("POST /api/v1/templates", { name: "Welcome", content: { title: "Hi", body: "b" } });
    const [channel] = (await tenant.call("GET /api/v1/channels")).body.channels;

    const sent = await cli.json("send", "--to", "ada", "--template", "Welcome", "--channel", channel.name);

    expect(sent).toMatchObject({ subscriber_id: ada, state: "delivered", channel: "in_app" });
    await world.settle();
    const [job] = (await tenant.call("GET /api/v1/notifications")).body.items;
    expect(job).toMatchObject({ id: sent.notification_id, title: "Hi", channel_ids: [channel.id] });
    expect(await outboxOf(world)).toEqual([]);
  });

  it("a send without waiting is accepted, and its outcome is not asked for (F5)", async () => {
    const { cli } = await withAda();

    const sent = await cli.run("send", "--to", "ada", "--title", "t", "--body", "b", "--no-wait");

    expect(sent).toMatchObject({ code: 0, out: [expect.stringMatching(/^Accepted as [0-9a-f-]{36}\.$/)] });
  });

  it("a send whose outcome cannot be read says that it was accepted, so that nobody sends it again (F5)", async () => {
    const { world, tenant } = await withAda();
    vi.spyOn(Math, "random").mockReturnValue(0);
    onTestFinished(() => void vi.restoreAllMocks());
    const service = fetchOf(world);
    const fetch: typeof globalThis.fetch = async (url, init) => {
      if (String(url).includes("/recipients")) throw new TypeError("fetch failed");
      return service(url, init);
    };
    const cli = await cliOf(world, tenant, { fetch });

    const sent = await cli.run("send", "--to", "ada", "--title", "t", "--body", "b");

    expect(sent).toMatchObject({
      code: 0,
      out: [expect.stringMatching(/^Accepted as [0-9a-f-]{36}\.$/)],
      notes: [expect.stringContaining("could not be read")],
    });
  });

  it("a server key sends a title and a body, and says by its exit code that there is nobody (F5)", async () => {
    const { world, tenant } = await withAda();
    const key = String((await tenant.backend()).authorization).slice("Bearer ".length);
    const cli = await cliOf(world, tenant, { env: { ENGAGEMENT_URL: BASE_URL, ENGAGEMENT_SERVER_KEY: key } });
    const say = (to: string, ...more: string[]) => cli.run("send", "--to", to, "--title", "t", "--body", "b", ...more);

    expect((await say("ada")).code).toBe(0);
    expect((await say("nobody")).code).toBe(1);
    expect(await say("ada", "--channel", "In-app")).toMatchObject({
      code: 2,
      notes: [expect.stringContaining("only --title and --body")],
    });
  });
});

describe("import", () => {
  const FILE = "external_id,email\nada,ada@example.com\n";

  it("an import into a list that is there uses that list, by its name or id (F5)", async () => {
    const { tenant, cli, ada } = await withAda();
    const { id } = (await tenant.call("POST /api/v1/lists", { name: "Readers" })).body;
    cli.write("people.csv", FILE);

    for (const list of ["Readers", id]) {
      const job = await cli.json("import", "people.csv", "--list", list, "--create");
      expect(job).toMatchObject({ status: "completed", failed_rows: 0 });
    }

    expect((await tenant.call("GET /api/v1/lists")).body.items).toHaveLength(1);
    const { items } = (await tenant.call(`GET /api/v1/lists/${id}/subscribers`)).body;
    expect(items).toMatchObject([{ subscriber_id: ada }]);
  });

  it("an import makes a list once, however its name is spelt (F5)", async () => {
    const { tenant, cli } = await withAda();
    cli.write("people.csv", FILE);

    for (const list of ["Les  lecteurs", " Les lecteurs"])
      expect((await cli.run("import", "people.csv", "--list", list, "--create")).code).toBe(0);

    expect((await tenant.call("GET /api/v1/lists")).body.items).toMatchObject([{ name: "Les lecteurs" }]);
  });

  it("an import reads a file as the command says (F5, AMB-133)", async () => {
    const { tenant, cli } = await openedCli();
    cli.write("people.csv", "Who,Note,Number,Newsletter,Since\nada,x,0151 1234567,yes,03/04/2026\n");
    const reading = ["--mapping", '{"Who": "external_id", "Since": "consent_at", "Note": "ignore"}'];
    const options = ["--date-format", "dd/mm/yyyy", "--time-zone", "Asia/Tokyo", "--consent-source", "Checkout"];

    expect(await cli.json("import", "people.csv", "--list", "R", "--create", ...reading, ...options)).toMatchObject({
      status: "completed",
      consent_summary: { opted_in: 1 },
    });

    const [ada] = (await tenant.call("GET /api/v1/subscribers")).body.items;
    expect(JSON.parse(ada.attributes)).not.toHaveProperty("note");
    expect((await tenant.call(`GET /api/v1/subscribers/${ada.id}/consents`)).body.items).toMatchObject([
      { source: "Checkout", consented_at: "2026-04-02T15:00:00.000Z" },
    ]);
  });

  it("a dry run says that nothing was written (F5, F13)", async () => {
    const { tenant, cli } = await openedCli();
    await tenant.call("POST /api/v1/lists", { name: "Readers" });
    cli.write("people.csv", FILE);

    const { code, out } = await cli.run("import", "people.csv", "--list", "Readers", "--dry-run");

    expect(code).toBe(0);
    expect(out[0]).toBe("completed: 1 rows, 0 rejected, nothing was written");
    expect((await tenant.call("GET /api/v1/subscribers")).body.items).toEqual([]);
  });

  it("a dry run makes no list (F5, F13)", async () => {
    const { tenant, cli } = await openedCli();
    cli.write("people.csv", FILE);

    const { code, notes } = await cli.run("import", "people.csv", "--list", "Readers", "--create", "--dry-run");

    expect([code, notes]).toEqual([2, [expect.stringContaining("a dry run makes none")]]);
    expect((await tenant.call("GET /api/v1/lists")).body.items).toEqual([]);
  });

  it.each([
    ["without a list", ["people.csv"], 2, "--list is required"],
    ["of an unknown format", ["people.csv", "--list", "Readers", "--source", "xls"], 2, "--source must be one of csv"],
    ["with a mapping that is none", ["people.csv", "--list", "R", "--mapping", "email"], 2, "--mapping must be a JSON"],
    ["of a file that is not there", ["none.csv", "--list", "Readers"], 1, "There is no file none.csv."],
    ["into a list that is not there", ["people.csv", "--list", "Readers"], 1, "Readers"],
  ])("an import %s says so (F5)", async (_, words, code, note) => {
    const { cli } = await openedCli();
    cli.write("people.csv", FILE);

    expect(await cli.run("import", ...words)).toMatchObject({ code, notes: [expect.stringContaining(note)] });
  });
});

describe("simulate", () => {
  /** A draft that asks for a plan and then waits for an event. */
  async function withDraft() {
    const found = await withAda();
    const wait = { wait_for_event: { event_name: "paid", within: "1d", on_event: "end", on_timeout: "end" } };
    const body = {
      name: "Onboarding",
      trigger: { type: "event", event_name: "signed_up" },
      steps: graphOf({ ask: branch({ attribute: { plan: { $eq: "pro" } } }, "wait", "end"), wait, end: "exit" }),
    };
    expect((await found.tenant.call("POST /api/v1/journeys", body)).status).toBe(201);
    const simulate = (...words: string[]) => found.cli.run("simulate", "Onboarding", ...words);
    return { ...found, simulate };
  }

  it("a walk of made-up attributes takes their branch, at the given start (F5, RDA-13)", async () => {
    const { simulate } = await withDraft();
    const start = "2026-11-20T08:00:00.000Z";

    const { code, out } = await simulate("--attributes", '{"plan":"free"}', "--start", start);

    expect(code).toBe(0);
    expect(out[0]).toMatch(new RegExp(`^${start}  ask `));
    expect(out.join("\n")).not.toContain("wait");
  });

  it("a walk meets the events of a file (F5, RDA-13)", async () => {
    const { cli, simulate } = await withDraft();
    const start = "2026-11-20T08:00:00.000Z";
    cli.write("events.json", [{ event_name: "paid", occurred_at: "2026-11-20T09:00:00.000Z", properties: {} }]);

    const { out } = await simulate("--subscriber", "ada", "--start", start, "--events", "events.json");

    expect(out.at(-1)).toMatch(/^2026-11-20T09:00:00\.000Z {2}completed on end/);
  });

  it("a simulation of the past has a line for each way that was taken (F5, F3)", async () => {
    const { world, tenant, simulate } = await withDraft();
    await world.call("POST /v1/events", { as: tenant.server, body: { event_name: "signed_up", external_id: "ada" } });
    await world.advance(1_000);
    const window = ["--from", timestamp(world.clock.now() - HOUR), "--to", timestamp(world.clock.now())];

    const { code, out } = await simulate(...window, "--percent", "100");

    expect(code).toBe(0);
    expect(out).toEqual(expect.arrayContaining([expect.stringMatching(/^1 {2}ask -> wait \(/)]));
    expect(out.at(-1)).toMatch(/^cost at list prices: \$0\.0000/);
  });

  it.each([
    ["of nobody", [], 2, "One of --subscriber"],
    ["of a person in a window", ["--subscriber", "ada", "--from", "2026-11-01", "--to", "2026-11-02"], 2, "only one"],
    ["of a window without its end", ["--subscriber", "ada", "--from", "2026-11-01T00:00:00Z"], 2, "belong together"],
    ["of a stranger", ["--subscriber", "bob"], 1, "There is no subscriber with the external id bob."],
    ["with attributes that are no JSON", ["--attributes", "{plan"], 2, "--attributes is not JSON."],
    [
      "with a file that is not there",
      ["--subscriber", "ada", "--events", "none.json"],
      1,
      "There is no file none.json.",
    ],
  ])("a simulation %s says so (F5)", async (_, words, code, note) => {
    const { simulate } = await withDraft();

    expect(await simulate(...words)).toMatchObject({ code, notes: [expect.stringContaining(note)] });
  });
});
