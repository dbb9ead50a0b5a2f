// What would have started a run and did not, counted by reason (AMB-147).
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { countRefused } from "../../shared/store/journeys/refusals.ts";
import { attribute, delayed, graphOf, journeySetting } from "../support/journeys.ts";
import { operate } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const setting = async () => {
  const found = await journeySetting(await fresh());
  return { ...found, refused: async (id: string) => (await found.stats(id)).refused };
};

describe("refused entries", () => {
  const eligibility = attribute("plan", "pro");
  it.each<[who: string, reason: string, duration: string, entry_rules: object, expected: number[]]>([
    ["whose run is active", "already_active", "1h", {}, [0, 1, 2]],
    ["who may not enter again yet", "reentry_window", "1m", { allow_reentry: true, reentry_window: "1d" }, [0, 1, 2]],
    ["who does not meet the rules", "not_eligible", "1m", { eligibility }, [1, 2, 3]],
  ])("refused entries of a person %s count as %s (AMB-147)", async (_, reason, duration, entry_rules, expected) => {
    const { world, active, person, track, refused } = await setting();
    const id = await active(delayed(duration), { entry_rules });
    await person("ada", { plan: "free" });
    for (const count of expected) {
      await track("ada", "signed_up");
      await world.advance(2 * MINUTE);
      expect((await refused(id))[reason] ?? 0).toBe(count);
    }
  });

  it("refused entries by old and by historical events count as too_old and historical (AMB-147)", async () => {
    const { world, active, person, tenant, track, refused, send } = await setting();
    const id = await active(graphOf({ only: send("Hi") }));
    await person("ada");
    const occurred_at = new Date(world.clock.now() - 10 * DAY).toISOString();
    await track("ada", "signed_up", { occurred_at });
    const body = { historical: true, events: [{ event_name: "signed_up", external_id: "ada" }] };
    await world.call("POST /v1/events", { as: tenant.server, body });
    await world.settle();

    expect(await refused(id)).toEqual({ historical: 1, too_old: 1 });
  });

  it.each([true, false])(
    "refused entries by a segment (dynamic: %s) that historical events changed count as historical (AMB-147)",
    async (is_dynamic) => {
      const { world, active, person, tenant, call, refused, send } = await setting();
      const segment = { name: "Buyers", rule: { event: { name: "bought" } }, is_dynamic };
      const { id: segment_id } = (await call("POST /api/v1/segments", segment)).body;
      await world.settle();
      const id = await active(graphOf({ only: send("Hi") }), { trigger: { type: "segment_entered", segment_id } });
      const ada = await person("ada");
      const body = { historical: true, events: [{ event_name: "bought", external_id: "ada" }] };
      await world.call("POST /v1/events", { as: tenant.server, body });
      await world.settle();
      if (!is_dynamic) await call(`POST /api/v1/segments/${segment_id}/recompute`);
      await world.settle();

      expect(await refused(id)).toEqual({ historical: 1 });
      const { triggers } = (await call(`GET /api/v1/journeys/${id}/subscribers/${ada}`)).body;
      expect(triggers).toMatchObject([{ outcome: "historical" }]);
    },
  );

  it("an entry by history is told as such after its window has ended, and that end starts runs as any other (AMB-134, AMB-147)", async () => {
    const { world, active, person, tenant, call, refused, send } = await setting();
    const rule = { event: { name: "bought", within: "30d", frequency: { min: 1 } } };
    const { id: segment_id } = (await call("POST /api/v1/segments", { name: "Buyers", rule, is_dynamic: true })).body;
    await world.settle();
    const entering = await active(graphOf({ only: send("Hi") }), { trigger: { type: "segment_entered", segment_id } });
    const leaving = await active(graphOf({ only: send("Bye") }), { trigger: { type: "segment_exited", segment_id } });
    const ada = await person("ada");
    const body = { historical: true, events: [{ event_name: "bought", external_id: "ada" }] };
    await world.call("POST /v1/events", { as: tenant.server, body });
    await world.settle();

    await world.advance(31 * DAY);

    const outcomes = async (id: string) =>
      (await call(`GET /api/v1/journeys/${id}/subscribers/${ada}`)).body.triggers.map(
        ({ outcome }: { outcome: string }) => outcome,
      );
    expect([await outcomes(entering), await outcomes(leaving)]).toEqual([["historical"], ["entered"]]);
    expect([await refused(entering), await refused(leaving)]).toEqual([{ historical: 1 }, {}]);
  });

  it("refused entries while the journey is paused count as paused (AMB-147)", async () => {
    const { active, person, track, refused, send, call, stats } = await setting();
    const id = await active(graphOf({ only: send("Hi") }));
    await call(`POST /api/v1/journeys/${id}/pause`);
    await person("ada");
    await track("ada", "signed_up");

    expect(await refused(id)).toEqual({ paused: 1 });
    expect((await stats(id)).runs.completed).toBe(0);
  });

  it("beyond the quota count as over_quota, and those that still fit enter (AMB-147)", async () => {
    const { world, active, person, tenant, refused, send, stats, inbox } = await setting();
    const id = await active(graphOf({ only: send("Hi") }));
    const people = [];
    for (const name of ["ada", "bob", "cyd"]) people.push(await person(name));
    await operate(world, tenant, { monthly_send_cap: 2 });
    const events = ["ada", "bob", "cyd"].map((external_id) => ({ event_name: "signed_up", external_id }));
    await world.call("POST /v1/events", { as: tenant.server, body: { events } });
    await world.settle();

    expect(await refused(id)).toEqual({ over_quota: 1 });
    expect((await stats(id)).runs.completed).toBe(2);
    expect((await Promise.all(people.map(inbox))).flat()).toEqual(["Hi", "Hi"]);
  });

  it("who has entered by another worker, which used up the quota, is not refused (AMB-147)", async () => {
    const world = await fresh({
      queueFaults: { duplicate: () => true, reorder: () => true },
      hooks: (name) => (name === "step-journey" ? { before: () => nextTurn() } : {}),
    });
    const { active, person, tenant, track, stats, send } = await journeySetting(world);
    const id = await active(graphOf({ only: send("Hi") }), { entry_rules: { allow_reentry: true } });
    await person("ada");
    await operate(world, tenant, { monthly_send_cap: 1 });

    await track("ada", "signed_up");

    const { refused, runs } = await stats(id);
    expect([refused, runs.completed]).toEqual([{}, 1]);
  });

  it("a run that goes on beyond the quota ends at its step as failed, and no message goes out (AMB-142)", async () => {
    const { world, active, person, tenant, track, refused, send, stats, inbox } = await setting();
    const id = await active(graphOf({ wait: { delay: { duration: "1h", next: "late" } }, late: send("Hi") }));
    const ada = await person("ada");
    await track("ada", "signed_up");
    await operate(world, tenant, { monthly_send_cap: 0 });
    await world.advance(HOUR);

    expect((await stats(id)).steps.late.outcomes).toEqual({ failed: 1 });
    expect(await refused(id)).toEqual({});
    expect(await inbox(ada)).toEqual([]);
  });

  it("beyond the quota are let in once there are sends again (AMB-147)", async () => {
    const { world, active, person, tenant, track, refused, send, inbox } = await setting();
    const id = await active(graphOf({ only: send("Hi") }));
    const ada = await person("ada");
    await operate(world, tenant, { monthly_send_cap: 0 });
    await track("ada", "signed_up");
    expect(await inbox(ada)).toEqual([]);
    await operate(world, tenant, { monthly_send_cap: null });
    await track("ada", "signed_up");
    expect(await refused(id)).toEqual({ over_quota: 1 });
    expect(await inbox(ada)).toEqual(["Hi"]);
  });

  it("refused entries of a run whose delay was over before the trigger are none, however late its worker is (AMB-136)", async () => {
    const { world, tenant, active, person, refused, runs } = await setting();
    const id = await active(delayed("1h"), { entry_rules: { allow_reentry: true } });
    await person("ada");
    const accept = () =>
      world.call("POST /v1/events", {
        as: tenant.server,
        body: { events: [{ event_name: "signed_up", external_id: "ada" }] },
      });
    await accept();
    await world.settle();
    world.clock.jumpTo(world.clock.now() + 2 * HOUR);
    await accept();
    await world.settle();

    expect(await refused(id)).toEqual({});
    expect((await runs(id)).map(({ status }: { status: string }) => status)).toEqual(["active", "completed"]);
  });

  it("refused entries are judged as of the trigger, also by a worker that is hours behind (AMB-136)", async () => {
    const { world, tenant, active, person, refused, stats, send } = await setting();
    const rule = { event: { name: "visited", within: "1h" } };
    const id = await active(graphOf({ only: send("Hi") }), { entry_rules: { eligibility: rule } });
    await person("ada");
    const body = {
      events: ["visited", "signed_up"].map((event_name) => ({ event_name, external_id: "ada" })),
    };
    await world.call("POST /v1/events", { as: tenant.server, body });
    world.clock.jumpTo(world.clock.now() + 3 * HOUR);
    await world.settle();

    expect(await refused(id)).toEqual({});
    expect((await stats(id)).runs.completed).toBe(1);
  });

  it("refused entries are counted once however often their message is delivered (AMB-147)", async () => {
    const { tenant, refused, active } = await setting();
    const id = await active(delayed("1h"));
    const some = [{ reason: "not_eligible", subscriber: "a", key: "event#1" }] as const;
    await countRefused(tenant.store, id, some);
    for (let n = 2; n <= 90; n++) await countRefused(tenant.store, id, [{ ...some[0], key: `event#${n}` }]);
    await countRefused(tenant.store, id, some);

    expect(await refused(id)).toEqual({ not_eligible: 90 });
  });
});
