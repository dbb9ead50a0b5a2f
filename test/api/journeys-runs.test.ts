// Runs of journeys: entry, steps, waits, exits, pauses, versions and what is counted (JND, JST, D-JNY-RUN).
import { describe, expect, it } from "vitest";
import { DAY } from "../../shared/clock.ts";
import { countsOf, readCounts } from "../../shared/store/journey-counts.ts";
import { recountRuns } from "../../shared/store/runs.ts";
import { branch, graphOf, journeySetting } from "../support/journeys.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

async function setting() {
  const all = await journeySetting(await fresh());
  const { tenant } = all;
  /** The numbers are what the runs say. */
  const recounted = async (id: string) => {
    const [counted] = await countsOf(tenant.store, [id]);
    const recount = readCounts(await recountRuns(tenant.store, id));
    expect(counted).toEqual(recount);
    return counted!;
  };
  return { ...all, recounted };
}

describe("a story of 30 days", () => {
  it("JND-1 JND-3 JND-4 JND-5 JND-6 JND-7 JND-10 JND-13 JND-14 JND-15 JNY-6 JST-1 JST-2 JST-3 D-INTJOBS from an event to the exit", async () => {
    const { world, call, send, active, person, track, stats, runs, inbox, recounted } = await setting();
    const id = await active(
      graphOf({
        welcome: send("Welcome", "pause"),
        pause: { delay: { duration: "3d", next: "paying" } },
        paying: branch({ attribute: { plan: { $eq: "pro" } } }, "thanks", "wait"),
        thanks: send("Thanks"),
        wait: {
          wait_for_event: {
            event_name: "bought",
            where: { price: { $gte: 10 } },
            within: "7d",
            on_event: "congratulate",
            on_timeout: "again",
          },
        },
        congratulate: send("Congratulations", "end"),
        again: send("Come back", "last"),
        last: { delay: { duration: "20d", next: "end" } },
        end: "exit",
      }),
    );
    const [ada, bob, eve] = [await person("ada", { plan: "pro" }), await person("bob"), await person("eve")];
    for (const who of ["ada", "bob", "eve"]) await track(who, "signed_up");
    expect([await inbox(ada), await inbox(bob)]).toEqual([["Welcome"], ["Welcome"]]);
    expect((await stats(id)).steps.pause).toEqual({ active: 3, outcomes: {} });
    await world.advance(3 * DAY);
    expect([await inbox(ada), await inbox(bob)]).toEqual([["Welcome", "Thanks"], ["Welcome"]]);
    expect((await stats(id)).steps.wait.active).toBe(2);
    await world.advance(DAY);
    await track("bob", "bought", { properties: { price: 5 } });
    expect(await inbox(bob)).toEqual(["Welcome"]);
    await world.advance(DAY);
    await track("bob", "bought", { properties: { price: 10 } });
    expect(await inbox(bob)).toEqual(["Welcome", "Congratulations"]);
    await world.advance(5 * DAY);
    expect(await inbox(eve)).toEqual(["Welcome", "Come back"]);
    await world.advance(20 * DAY);
    const { runs: counts, steps } = await stats(id);
    expect(counts).toEqual({ active: 0, completed: 3, exited: 0, canceled: 0 });
    expect(steps).toEqual({
      welcome: { active: 0, outcomes: { sent: 3 } },
      pause: { active: 0, outcomes: { delayed: 3 } },
      paying: { active: 0, outcomes: { "branch:then": 1, "branch:else": 2 } },
      thanks: { active: 0, outcomes: { sent: 1 } },
      wait: { active: 0, outcomes: { "wait:event": 1, "wait:timeout": 1 } },
      congratulate: { active: 0, outcomes: { sent: 1 } },
      again: { active: 0, outcomes: { sent: 1 } },
      last: { active: 0, outcomes: { delayed: 1 } },
      end: { active: 0, outcomes: { exit: 2 } },
    });
    await recounted(id);
    const [listed] = (await call("GET /api/v1/journeys")).body.journeys;
    expect([listed.entered, listed.completed]).toEqual([3, 3]);
    expect((await call(`GET /api/v1/journeys/${id}`)).body).toMatchObject({ entered: 0, completed: 0 });
    const [run] = await runs(id, `?subscriber_id=${ada}`);
    expect(run).toMatchObject({ status: "completed", version: 1, current_step: "thanks", subscriber_id: ada });
    const sends = (await call(`GET /api/v1/notifications?source_type=journey&source_id=${id}`)).body.items;
    const ended = { status: "completed", counts: { sent: 1, delivered: 1 } };
    expect(sends).toHaveLength(6);
    for (const one of sends) expect(one).toMatchObject(ended);
  });
});
