// A pause of a journey stops the time of its runs (AMB-136).
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { delayed, graphOf } from "../support/journeys.ts";
import { ends, stallingSetting, wait } from "../support/stalling.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async () => stallingSetting(await fresh());

describe("pauses", () => {
  it("what a delay had left before a pause, it has left after it (AMB-136)", async () => {
    const { active, activate, call, outcomes, runs, at, track, world } = await setting();
    const id = await active(delayed("1h"));
    await track("ada", "signed_up");
    await world.advance(20 * MINUTE);
    await call(`POST /api/v1/journeys/${id}/pause`);
    await world.advance(10 * DAY);
    await activate(id);
    await world.advance(39 * MINUTE);
    expect(await runs(id)).toMatchObject([{ status: "active", waiting_until: at(10 * DAY + HOUR) }]);
    await world.advance(2 * MINUTE);
    expect((await outcomes(id)).pause).toEqual({ delayed: 1 });
  });

  it("a wait goes on for what it had left, and takes what happened in the pause (AMB-136)", async () => {
    const { active, activate, call, outcomes, person, track, world } = await setting();
    const id = await active(graphOf({ one: wait("paid", "done"), ...ends }));
    await person("bob");
    await track("ada", "signed_up");
    await track("bob", "signed_up");
    await world.advance(50 * MINUTE);
    await call(`POST /api/v1/journeys/${id}/pause`);
    await world.advance(DAY);
    await track("ada", "paid");
    await activate(id);
    await world.advance(9 * MINUTE);
    expect((await outcomes(id)).one).toEqual({ "wait:event": 1 });
    await world.advance(2 * MINUTE);
    expect((await outcomes(id)).one).toEqual({ "wait:event": 1, "wait:timeout": 1 });
  });

  it("a second pause is counted like the first (AMB-136)", async () => {
    const { active, activate, call, outcomes, track, world } = await setting();
    const id = await active(delayed("1h"));
    await track("ada", "signed_up");
    for (let n = 0; n < 2; n++) {
      await world.advance(20 * MINUTE);
      await call(`POST /api/v1/journeys/${id}/pause`);
      await world.advance(DAY);
      await activate(id);
    }
    await world.advance(19 * MINUTE);
    expect(await outcomes(id)).toEqual({});
    await world.advance(MINUTE + 10 * SECOND);
    expect((await outcomes(id)).pause).toEqual({ delayed: 1 });
  });

  it("a wait that began before a pause and is looked at after it lasts as long as any other (AMB-136)", async () => {
    const { active, activate, at, call, runs, stall, track, world } = await setting();
    const id = await active(
      graphOf({ first: { delay: { duration: "30m", next: "one" } }, one: wait("paid", "done"), ...ends }),
    );
    await track("ada", "signed_up");
    stall(40 * MINUTE);
    await call(`POST /api/v1/journeys/${id}/pause`);
    await world.advance(DAY);
    await activate(id);
    await world.settle();

    expect(await runs(id)).toMatchObject([{ status: "active", waiting_until: at(DAY + 30 * MINUTE + HOUR) }]);
  });
});
