// Two workers at once, an hour late or in time, bring a run to the same end with the same messages (AMB-136).
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { countedSetting, graphOf } from "../support/journeys.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

/** Of how many subscribers, so that messages of one worker are of several of them. */
const PEOPLE = 6;
const WORKER = "step-journey";

interface Run {
  /** Each message comes twice, its copies apart, and those who handle them take turns at each call. */
  isTwice?: boolean;
  /** No worker looks for three hours. */
  isBehind?: boolean;
}

const wait = (event_name: string, on_event: string, within: string) => ({
  wait_for_event: { event_name, within, on_event, on_timeout: "late" },
});

async function life({ isTwice = false, isBehind = false }: Run) {
  let most = 0;
  const world = await fresh({
    queueFaults: { duplicate: () => isTwice, reorder: () => isTwice },
    hooks: (name) => ({
      before: async () => {
        if (!isTwice || name !== WORKER) return;
        most = Math.max(most, world.host.running(WORKER));
        await nextTurn();
      },
    }),
  });
  const { active, person, tenant, inbox, send, recounted } = await countedSetting(world);
  const id = await active(
    graphOf(
      {
        paid: wait("paid", "thanks", "1h"),
        thanks: send("Thanks", "shipped"),
        shipped: wait("shipped", "pause", "30m"),
        pause: { delay: { duration: "1h", next: "done" } },
        late: send("Late", "done"),
        done: "exit",
      },
      [{ event: { name: "left" } }],
    ),
  );
  const names = Array.from({ length: PEOPLE }, (_, n) => `p${n}`);
  const ids = [];
  for (const name of names) ids.push(await person(name));
  const accept = async (minute: number, event_name: string, who: readonly string[]) => {
    world.clock.jumpTo(START + minute * MINUTE);
    for (const external_id of who) {
      const body = { events: [{ event_name, external_id }] };
      expect((await world.call("POST /v1/events", { as: tenant.server, body })).status).toBe(202);
    }
    if (!isBehind) await world.settle();
  };
  await accept(0, "signed_up", names);
  await accept(20, "paid", names.slice(0, 4));
  await accept(40, "shipped", names.slice(0, 2));
  await accept(45, "left", names.slice(5));
  world.clock.jumpTo(START + 3 * HOUR);
  await world.settle();
  await world.advance(DAY);
  const { runs, steps } = await recounted(id);
  // What is late is sent at once: its order says nothing.
  const inboxes = await Promise.all(ids.map(async (one) => (await inbox(one)).toSorted()));
  return { runs, steps, inboxes, isAtOnce: most > 1 };
}

it.each<[how: Run, isAtOnce: unknown]>([
  [{ isTwice: true }, true],
  [{ isBehind: true }, false],
  // One worker may take both copies.
  [{ isTwice: true, isBehind: true }, expect.any(Boolean)],
])("with %o the runs end as with one worker in time (AMB-136)", async (how, isAtOnce) => {
  const [alone, other] = [await life({}), await life(how)];
  const [both, paid, late] = [["Thanks"], ["Late", "Thanks"], ["Late"]];

  expect(alone).toMatchObject({ inboxes: [both, both, paid, paid, late, []], isAtOnce: false });
  expect(other).toEqual({ ...alone, isAtOnce });
});
