// Runs of journeys that wait, branch, are paused, stay on their version and end (JND-13, JNY-17 to JNY-19, D-JNY-RUN).
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { putItem } from "../../shared/store/item.ts";
import { countsOf } from "../../shared/store/journeys/counts.ts";
import { RunEntry, runEntryKey } from "../../shared/store/journeys/run-items.ts";
import { attribute, branch, countedSetting, delayed, graphOf } from "../support/journeys.ts";
import { operate } from "../support/people.ts";
import type { Tenant } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async () => countedSetting(await fresh());
const statuses = (runs: { status: string }[]) => runs.map(({ status }) => status);

describe("waits and branches", () => {
  const waiting = (more: object = {}) =>
    graphOf({
      wait: { wait_for_event: { event_name: "paid", within: "1h", on_event: "yes", on_timeout: "no", ...more } },
      yes: "exit",
      no: "exit",
    });

  it("an event counts up to the end of the window, and not after it (JND-13)", async () => {
    const { world, active, person, track, stats, at } = await setting();
    const id = await active(waiting());
    for (const who of ["ada", "bob"]) {
      await person(who);
      await track(who, "signed_up");
    }
    await world.advance(HOUR - 1_000);
    await track("ada", "paid", { occurred_at: at(HOUR - 1_000) });
    await world.advance(2_000);
    await track("bob", "paid");

    expect((await stats(id)).steps.wait.outcomes).toEqual({ "wait:event": 1, "wait:timeout": 1 });
  });

  it("the event that started the run does not end its wait (AMB-75)", async () => {
    const { active, person, track, stats, onEvent } = await setting();
    const id = await active(waiting(), { trigger: onEvent("paid"), entry_rules: { allow_reentry: true } });
    await person("ada");
    await track("ada", "paid");
    expect((await stats(id)).steps.wait).toEqual({ active: 1, outcomes: {} });
    await track("ada", "paid");
    expect((await stats(id)).steps.wait.outcomes).toEqual({ "wait:event": 1 });
  });

  it("one event ends one wait, also where the next one waits for the same (JND-13)", async () => {
    const { world, active, person, track, stats } = await setting();
    const wait = (on_event: string) => ({ wait_for_event: { event_name: "paid", on_event } });
    const id = await active(graphOf({ one: wait("two"), two: wait("end"), end: "exit" }));
    await person("ada");
    await track("ada", "signed_up");
    await track("ada", "paid");
    await world.advance(MINUTE);
    expect((await stats(id)).steps).toMatchObject({ one: { outcomes: { "wait:event": 1 } }, two: { active: 1 } });
    await track("ada", "paid");
    expect((await stats(id)).runs.completed).toBe(1);
  });

  it("the filter of a wait may refer to the trigger: keyed waits (D-JNY-RUN)", async () => {
    const { active, person, track, stats } = await setting();
    const id = await active(waiting({ where: { cart: { $eq: "{{trigger.cart}}" }, n: { $gte: "{{ trigger.n }}" } } }));
    await person("ada");
    await track("ada", "signed_up", { properties: { cart: "c1", n: 2 } });
    await track("ada", "paid", { properties: { cart: "c2", n: 2 } });
    await track("ada", "paid", { properties: { cart: "c1", n: 1 } });
    expect((await stats(id)).steps.wait.active).toBe(1);
    await track("ada", "paid", { properties: { cart: "c1", n: 3 } });
    expect((await stats(id)).steps.wait.outcomes).toEqual({ "wait:event": 1 });
  });

  it("a run without else or on_timeout is completed, and one without within waits on (AMB-11)", async () => {
    const { world, active, person, track, runs } = await setting();
    const wait = { event_name: "paid", on_event: "end" };
    const branching = await active(graphOf({ a: branch(attribute("x", 1), "end"), end: "exit" }));
    const timing = await active(graphOf({ wait: { wait_for_event: { ...wait, within: "1h" } }, end: "exit" }));
    const waiting = await active(graphOf({ wait: { wait_for_event: wait }, end: "exit" }));
    await person("ada");
    await track("ada", "signed_up");
    await world.advance(30 * DAY);

    expect(await runs(branching)).toMatchObject([{ status: "completed", end_reason: "branch:else" }]);
    expect(await runs(timing)).toMatchObject([{ status: "completed", end_reason: "wait:timeout" }]);
    expect(statuses(await runs(waiting))).toEqual(["active"]);
  });

  it("the anonymous side of a subscriber counts (JND-6)", async () => {
    const { world, tenant, active, person, stats, track } = await setting();
    const id = await active(waiting());
    const ada = await person("ada");
    await track("ada", "signed_up");
    const body = { anonymous_id: "anon-1", subscriber_id: ada };
    await world.call("POST /v1/events/identify", { as: tenant.server, body });
    const events = [{ event_name: "paid", anonymous_id: "anon-1" }];
    await world.call("POST /v1/events", { as: tenant.server, body: { events } });
    await world.settle();

    expect((await stats(id)).steps.wait.outcomes).toEqual({ "wait:event": 1 });
  });
});

describe("pause, versions, ends", () => {
  it("runs do not move while paused; activation takes what happened, and what was left goes on (JNY-17, JNY-18, AMB-73)", async () => {
    const { world, call, active, activate, person, track, runs, stats } = await setting();
    const id = await active(
      graphOf({
        first: { delay: { duration: "1h", next: "wait" } },
        wait: { wait_for_event: { event_name: "paid", within: "3h", on_event: "yes", on_timeout: "no" } },
        yes: "exit",
        no: "exit",
      }),
    );
    for (const who of ["ada", "bob", "eve", "new"]) await person(who);
    await track("ada", "signed_up");
    await track("bob", "signed_up");
    await world.advance(HOUR);
    await track("eve", "signed_up");
    await call(`POST /api/v1/journeys/${id}/pause`);
    await track("ada", "paid");
    await track("new", "signed_up");
    await world.advance(5 * HOUR);
    await track("bob", "paid");
    expect((await stats(id)).steps).toMatchObject({ first: { active: 1 }, wait: { active: 2, outcomes: {} } });
    expect(await runs(id)).toHaveLength(3);
    await activate(id);
    await world.settle();
    expect((await stats(id)).steps).toMatchObject({
      first: { active: 1 },
      wait: { active: 0, outcomes: { "wait:event": 2 } },
    });
    expect(await runs(id)).toHaveLength(3);
  });

  /** Entries of runs without their rows, so many that this run is neither on the first page of its shard nor at the end. */
  const surround = (tenant: Tenant, journey: string, run: string) =>
    tenant.store.writeAll(
      ["00000000", "ffffffff"].flatMap((first) =>
        Array.from({ length: 150 }, (_, n) => {
          const other = `${first}-0000-7000-8000-${String(n).padStart(11, "0")}${run.at(-1)}`;
          return putItem(RunEntry, runEntryKey(journey, other), { subscriber: other, status: "active" });
        }),
      ),
    );

  it("a suspension that meets the activation holds what was due before the pause, and reactivation sends it (JNY-18, AMB-112)", async () => {
    const { world, tenant, call, active, activate, person, track, send, inbox, runs, stats } = await setting();
    const id = await active(graphOf({ pause: { delay: { duration: "1h", next: "hello" } }, hello: send("Hello") }));
    const [ada, bob] = [await person("ada"), await person("bob")];
    await track("ada", "signed_up");
    await track("bob", "signed_up");
    for (const run of await runs(id)) await surround(tenant, id, run.id);
    // The delays are over, and no worker looks.
    world.clock.jumpTo(world.clock.now() + HOUR);
    await call(`POST /api/v1/journeys/${id}/pause`);
    await world.advance(2 * HOUR);
    await activate(id);
    await operate(world, tenant, { status: "suspended" });
    await world.advance(3 * HOUR);
    await operate(world, tenant, { status: "active" });
    expect((await stats(id)).steps.pause.active).toBe(2);
    await world.advance(6 * MINUTE);
    expect(await inbox(ada)).toEqual(["Hello"]);
    expect(await inbox(bob)).toEqual(["Hello"]);
    expect((await stats(id)).runs).toMatchObject({ active: 0, completed: 2 });
  });

  it("runs stay on the version they entered, and still react to what it names (D-JNY-RUN, AMB-12)", async () => {
    const { call, active, activate, definition, person, track, runs, stats } = await setting();
    const waitFor = (event_name: string, end: string) =>
      graphOf({ wait: { wait_for_event: { event_name, on_event: end } }, [end]: "exit" });
    const id = await active(waitFor("old", "a"));
    await person("ada");
    await person("bob");
    await track("ada", "signed_up");
    await call(`POST /api/v1/journeys/${id}/pause`);
    await call(`PUT /api/v1/journeys/${id}`, definition(waitFor("new", "b")));
    await activate(id);
    await track("bob", "signed_up");
    expect((await runs(id)).map(({ version }: { version: number }) => version).sort()).toEqual([1, 2]);
    await track("ada", "new");
    await track("bob", "old");
    expect((await stats(id)).runs.active).toBe(2);
    await track("ada", "old");
    await track("bob", "new");
    expect((await stats(id)).steps).toMatchObject({ a: { outcomes: { exit: 1 } }, b: { outcomes: { exit: 1 } } });
  });

  /** A run of Ada's in a journey that was archived meanwhile. */
  const archived = async () => {
    const here = await setting();
    const { world, call, active, person, track } = here;
    const id = await active(delayed("1h"));
    const ada = await person("ada");
    await track("ada", "signed_up");
    await call(`POST /api/v1/journeys/${id}/pause`);
    await call(`POST /api/v1/journeys/${id}/archive`);
    await world.settle();
    return { ...here, id, ada };
  };

  it("the archiving of a journey cancels its active runs (D-JNY-ARCHIVE, AMB-10)", async () => {
    const { id, runs, recounted } = await archived();

    expect(await runs(id)).toMatchObject([{ status: "canceled", end_reason: "the journey was archived" }]);
    expect((await recounted(id)).runs).toMatchObject({ active: 0, canceled: 1 });
  });

  it("the deletion of a journey removes all of its runs, with every trace (D-JNY-ARCHIVE, JNY-19)", async () => {
    const { world, tenant, call, id, ada } = await archived();

    await call(`DELETE /api/v1/journeys/${id}`);
    await world.advance(HOUR);
    const { items } = await tenant.rows.query({ pk: `T#${tenant.id}#U#${ada}`, prefix: "J" });
    expect(items).toEqual([]);
    expect((await countsOf(tenant.store, [id]))[0]!.runs).toMatchObject({ canceled: 0 });
  });

  it("a run is canceled by a user, once (AMB-74)", async () => {
    const { call, world, active, person, track, runs, stats } = await setting();
    const id = await active(delayed("1h"), { entry_rules: { allow_reentry: true } });
    await person("ada");
    await track("ada", "signed_up");
    const [run] = await runs(id);
    const cancel = () => call(`POST /api/v1/journeys/${id}/runs/${run.id}/cancel`);
    const first = await cancel();
    expect(first.status).toBe(200);
    expect(first.body.status).toBe("canceled");
    expect((await cancel()).status).toBe(200);
    await track("ada", "signed_up");
    await world.advance(2 * HOUR);
    expect((await stats(id)).runs).toEqual({ active: 0, completed: 1, exited: 0, canceled: 1 });
    const [newest] = await runs(id, "?status=completed");
    expect((await call(`POST /api/v1/journeys/${id}/runs/${newest.id}/cancel`)).status).toBe(409);
  });

  it("an erasure cancels the runs of its subscriber and leaves the numbers (AMB-10, SUB-9)", async () => {
    const { call, world, active, person, track, runs, recounted } = await setting();
    const id = await active(
      graphOf({ a: branch(attribute("x", 1), "b", "b"), b: { delay: { duration: "1h", next: "c" } }, c: "exit" }),
    );
    const ada = await person("ada");
    await track("ada", "signed_up");
    await call(`DELETE /api/v1/subscribers/${ada}`);
    await world.advance(2 * HOUR);
    expect(await runs(id)).toEqual([]);
    const { runs: numbers, steps } = await recounted(id);
    expect(numbers.canceled).toBe(1);
    expect(numbers.active).toBe(0);
    expect(steps.a!.outcomes).toEqual({ "branch:else": 1 });
  });

  it("runs are listed newest first, 100 a page, by status and subscriber (D-JNY-RUN)", async () => {
    const { world, call, tenant, active, person } = await setting();
    const id = await active(delayed("1h"));
    const events = [];
    for (let n = 0; n < 103; n++) events.push({ event_name: "signed_up", subscriber_id: await person(`p${n}`) });
    await world.call("POST /v1/events", { as: tenant.server, body: { events } });
    await world.settle();
    const seen: string[] = [];
    let cursor = "";
    do {
      const { items, next_cursor } = (await call(`GET /api/v1/journeys/${id}/runs${cursor && `?cursor=${cursor}`}`))
        .body;
      expect(items.length).toBeLessThanOrEqual(100);
      seen.push(...items.map((run: { id: string }) => run.id));
      cursor = next_cursor;
    } while (cursor);

    expect(seen.length).toBe(103);
    expect(seen).toEqual([...new Set(seen)].sort().reverse());
    expect((await call(`GET /api/v1/journeys/${id}/runs?status=nothing`)).status).toBe(422);
  });
});

describe("sends", () => {
  it("the outcome names why a subscriber got nothing; a deleted template fails the step and the run continues (D-JNY-RUN)", async () => {
    const { call, channel, active, person, track, stats, tenant, world } = await setting();
    const template = (await call("POST /api/v1/templates", { name: "t", content: { title: "t", body: "b" } })).body.id;
    const email = await call("POST /api/v1/channels", { name: "mail", type: "email" });
    const id = await active(
      graphOf({
        a: { send: { channel_ids: [channel], template_id: template, next: "b" } },
        b: { send: { channel_ids: [email.body.id], content: { title: "t", body: "b" }, next: "end" } },
        end: "exit",
      }),
    );
    await tenant.rows.remove({ pk: `T#${tenant.id}#template`, sk: template });
    await person("ada");
    await track("ada", "signed_up");
    await world.settle();

    expect((await stats(id)).steps).toMatchObject({
      a: { outcomes: { failed: 1 } },
      b: { outcomes: { failed: 1 } },
      end: { outcomes: { exit: 1 } },
    });
  });
});
