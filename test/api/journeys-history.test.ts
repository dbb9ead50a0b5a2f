// A journey on the events of the past (F3): it counts what the real runs counted, and nothing is written or sent.
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import { bucket } from "../../shared/rules/split.ts";
import { branch, graphOf, journeySetting } from "../support/journeys.ts";
import { wholeTable } from "../support/people.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

async function setting(options: Parameters<typeof fresh>[0] = {}) {
  const world = await fresh(options);
  const rest = await journeySetting(world);
  const now = () => timestamp(world.clock.now());
  const begin = async (id: string, body: object = {}) =>
    rest.call(`POST /api/v1/journeys/${id}/simulate`, { from: timestamp(START), to: now(), ...body });
  const get = (id: string, simulation: string) => rest.call(`GET /api/v1/journeys/${id}/simulations/${simulation}`);
  /** Begins a simulation and waits for its end. */
  const simulate = async (id: string, body: object = {}) => {
    const begun = await begin(id, body);
    if (begun.status !== 200) return begun;
    await world.settle();
    return get(id, begun.body.id);
  };
  /** Events of nobody in particular, which fill pages. */
  const fill = async (n: number) => {
    for (let left = n; left > 0; left -= 1_000) {
      const events = Array.from({ length: Math.min(left, 1_000) }, (_, i) => ({
        event_name: "seen",
        anonymous_id: `visitor-${i % 7}`,
      }));
      expect((await world.call("POST /v1/events", { as: rest.tenant.server, body: { events } })).status).toBe(202);
    }
    await world.settle();
  };
  return { ...rest, begin, get, simulate, fill };
}

it("a journey that was live has the counts of its runs, by step, status and edge (F3)", async () => {
  const { world, tenant, send, active, person, stats, simulate, inbox } = await setting();
  const steps = graphOf(
    {
      welcome: send("Hi", "paying"),
      paying: branch({ attribute: { plan: { $eq: "pro" } } }, "thanks", "pause"),
      thanks: send("Thanks"),
      pause: { delay: { duration: "1d", next: "busy" } },
      busy: branch({ event: { name: "opened", frequency: { min: 2 }, within: "2d" } }, "wait", "pause_again"),
      pause_again: { delay: { duration: "12h", next: "busy" } },
      wait: {
        wait_for_event: {
          event_name: "bought",
          where: { code: { $eq: "{{trigger.code}}" } },
          within: "2d",
          on_event: "congratulate",
          on_timeout: "end",
        },
      },
      congratulate: send("Bought", "end"),
      end: "exit",
    },
    [{ event: { name: "left" } }],
  );
  const id = await active(steps, { entry_rules: { allow_reentry: true, reentry_window: "2d" } });
  const people: string[] = [];
  for (const [name, plan] of [
    ["ada", "pro"],
    ["bob", "free"],
    ["cay", "free"],
    ["dan", "free"],
    ["eve", "free"],
  ])
    people.push(await person(name!, { plan }));
  const all = async (event_name: string, names: string[], properties = {}) => {
    const events = names.map((external_id) => ({ event_name, external_id, properties }));
    expect((await world.call("POST /v1/events", { as: tenant.server, body: { events } })).status).toBe(202);
    await world.settle();
  };
  await all("signed_up", ["ada", "bob", "cay", "dan", "eve"], { code: "A" });
  await world.advance(HOUR);
  await all("opened", ["bob", "cay", "dan"]);
  await world.advance(HOUR);
  await all("opened", ["bob", "cay"]);
  await world.advance(DAY);
  await all("bought", ["bob"], { code: "B" });
  await world.advance(HOUR);
  await all("bought", ["bob"], { code: "A" });
  await all("left", ["eve"]);
  await world.advance(DAY + HOUR);
  await all("signed_up", ["ada", "bob", "cay", "dan"], { code: "C" });
  await world.advance(DAY + MINUTE);
  const { refused: _, ...real } = await stats(id);
  const before = await wholeTable(world);
  const { status, body } = await simulate(id);
  expect([status, body.status, body.progress]).toEqual([200, "completed", 1]);
  const { result } = body;
  expect({ runs: { ...result.runs, canceled: 0 }, steps: result.steps }).toEqual(real);
  const added = (await wholeTable(world)).filter((row) => !JSON.stringify(row).includes(body.id));
  expect(added).toHaveLength(before.length);
  expect(result.subscribers).toBe(5);
  expect(result.loops.busy).toBeGreaterThan(0);
  const messages = (await Promise.all(people.map(inbox))).flat();
  expect(result.sends.reduce((sum: number, { sent }: { sent: number }) => sum + sent, 0)).toBe(messages.length);
  expect(result.sends[0]).toMatchObject({ day: timestamp(START).slice(0, 10), channel: "in_app", sent: 6 });
  const taken = (from: string, by: string) =>
    result.edges.find((edge: { from: string; by: string }) => edge.from === from && edge.by === by).taken;
  expect(taken("wait", "wait:event")).toBe(real.steps.wait.outcomes["wait:event"]);
  expect(taken("welcome", "next")).toBe(real.steps.welcome.outcomes.sent);
  expect(result.cost.dollars).toBeGreaterThan(0);
});

it("says who could not be sent to, and which ways nobody took; a sample is a share; later versions do not count (F3)", async () => {
  const { world, call, send, create, active, person, track, simulate } = await setting();
  const frequency_caps = [{ category: "marketing", max: 1, per: "day" }];
  expect((await call("PATCH /api/v1/workspace", { frequency_caps })).status).toBe(200);
  const id = await create(
    graphOf({
      first: send("One", "second"),
      second: send("Two", "never"),
      never: branch({ attribute: { plan: { $eq: "gold" } } }, "gold", "end"),
      gold: send("Gold"),
      end: "exit",
    }),
  );
  const people: string[] = [];
  for (const name of ["ada", "bob", "cay", "dan"]) {
    people.push(await person(name));
    await track(name, "signed_up");
  }
  await world.advance(MINUTE);
  const { result } = (await simulate(id)).body;
  expect(result.runs).toEqual({ active: 0, completed: 4, exited: 0 });
  expect(result.skipped).toEqual({ capped: 4 });
  expect(result.dead).toEqual([
    { from: "never", by: "branch:then", to: "gold" },
    { from: "gold", by: "next", to: null },
  ]);
  const shares = [];
  for (const sample of [1, 40, 100]) shares.push((await simulate(id, { sample })).body.result);
  const within = (sample: number) => people.filter((one) => bucket("split", id, one) < sample * 100).length;
  expect(shares.map(({ entered }) => entered)).toEqual([within(1), within(40), 4]);
  const live = await active(graphOf({ end: "exit" }));
  await call(`POST /api/v1/journeys/${live}/pause`);
  const changed = { name: "n", trigger: { type: "event", event_name: "other" }, steps: graphOf({ end: "exit" }) };
  expect((await call(`PUT /api/v1/journeys/${live}`, changed)).status).toBe(200);
  const entered = async (version?: number) => {
    const { body } = await simulate(live, { version });
    return [body.version, body.result.entered];
  };
  expect([await entered(), await entered(1)]).toEqual([
    [2, 0],
    [1, 4],
  ]);
});

it("a simulation is a job with progress over many pages, and can be canceled; three are computed at once (F3)", async () => {
  const { world, call, create, person, track, fill, begin, get } = await setting();
  const id = await create(graphOf({ end: "exit" }));
  await person("ada");
  await track("ada", "signed_up");
  await world.advance(MINUTE);
  await fill(2_100);
  await world.advance(MINUTE);
  await person("bob");
  await track("bob", "signed_up");
  await world.advance(MINUTE);
  const { body } = await begin(id);
  expect([body.status, body.progress, body.result.entered]).toEqual(["pending", 0, 0]);
  const other = (await begin(id)).body;
  const canceled = await call(`POST /api/v1/journeys/${id}/simulations/${other.id}/cancel`);
  expect([canceled.status, canceled.body.status]).toEqual([200, "canceled"]);
  await world.settle();
  expect((await get(id, body.id)).body).toMatchObject({
    status: "completed",
    progress: 1,
    result: { entered: 2, subscribers: 2 },
  });
  expect((await get(id, other.id)).body).toMatchObject({ status: "canceled", result: { entered: 0 } });
  expect((await call(`POST /api/v1/journeys/${id}/simulations/${body.id}/cancel`)).status).toBe(409);
  for (let open = 0; open < 3; open++) expect((await begin(id)).status).toBe(200);
  expect((await begin(id)).body).toMatchObject({ code: "QUOTA_EXCEEDED" });
});

it("a simulation that is canceled while it is computed stays canceled; a suspension or a deleted draft does not stop one (F3)", async () => {
  let rival: (() => Promise<unknown>) | undefined;
  const { world, tenant, call, create, person, track, begin, get } = await setting({
    hooks: (name) => ({
      after: async (_, operation) => {
        if (name !== "import-rows" || operation !== "UpdateItem") return;
        const now = rival;
        rival = undefined;
        await now?.();
      },
    }),
  });
  await person("ada");
  await track("ada", "signed_up");
  await world.advance(MINUTE);
  /** A simulation of a new draft, while a page of which something else happens. */
  const during = async (act: (draft: string, simulation: string) => Promise<{ status: number }>) => {
    const draft = await create(graphOf({ end: "exit" }));
    const { id } = (await begin(draft)).body;
    let status = 0;
    rival = async () => {
      ({ status } = await act(draft, id));
    };
    await world.settle();
    return { status, read: async () => (await get(draft, id)).body };
  };
  const canceled = await during((draft, id) => call(`POST /api/v1/journeys/${draft}/simulations/${id}/cancel`));
  expect(canceled.status).toBe(200);
  expect(await canceled.read()).toMatchObject({ status: "canceled", result: { entered: 0 } });

  const change = (status: string) => call(`PATCH /_local/workspaces/${tenant.id}`, { status });
  const suspended = await during(() => change("suspended"));
  expect(suspended.status).toBe(200);
  expect(await suspended.read()).toMatchObject({ code: "TENANT_SUSPENDED" });
  await change("active");
  expect(await suspended.read()).toMatchObject({ status: "completed", result: { entered: 1 } });

  const deleted = await during((draft) => call(`DELETE /api/v1/journeys/${draft}`));
  expect(deleted.status).toBe(204);
  expect(await deleted.read()).toMatchObject({ status: "completed", result: { entered: 1 } });
});

it("members of a segment enter when they entered it; refuses other windows, versions and triggers (F3)", async () => {
  const { world, call, create, person, simulate } = await setting();
  const made = await call("POST /api/v1/segments", { name: "Pro", rule: { attribute: { plan: { $eq: "pro" } } } });
  const trigger = { type: "segment_entered", segment_id: made.body.id };
  const id = await create(graphOf({ end: "exit" }), { trigger });
  await person("ada", { plan: "pro" });
  await person("bob", { plan: "free" });
  await world.settle();
  await world.advance(MINUTE);
  expect((await simulate(id)).body.result).toMatchObject({ entered: 1, steps: { end: { outcomes: { exit: 1 } } } });
  const leaving = await create(graphOf({ end: "exit" }), { trigger: { ...trigger, type: "segment_exited" } });
  const draft = await create({ start: "first", steps: {} });
  const refused = async (of: string, body: object) => Object.keys((await simulate(of, body)).body.fields ?? {});
  expect(await refused(id, { to: timestamp(START - DAY) })).toEqual(["to"]);
  expect(await refused(id, { to: timestamp(START + DAY) })).toEqual(["to"]);
  expect(await refused(id, { from: timestamp(START - 91 * DAY) })).toEqual(["to"]);
  expect(await refused(id, { version: 7 })).toEqual(["version"]);
  expect(await refused(id, { sample: 0 })).toEqual(["sample"]);
  expect(await refused(id, { sample: { attributes: {} } })).toEqual(["sample"]);
  expect(await refused(id, { subscriber_id: id })).toEqual(["subscriber_id"]);
  expect(await refused(id, { from: undefined })).toEqual(["from"]);
  expect(await refused(leaving, {})).toEqual(["trigger"]);
  expect(await refused(draft, {})).not.toEqual([]);
});
