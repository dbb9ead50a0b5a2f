// Walks, runs and replays of random people in random journeys are the same (RDA-13, F3).
import { expect, it } from "vitest";
import { HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { suppressAddress } from "../../shared/store/subscribers/addresses.ts";
import { randomFrom } from "../support/crash.ts";
import { branch, graphOf, journeySetting } from "../support/journeys.ts";
import { openChannels } from "../support/reached.ts";
import { type Taken, takenBy } from "../support/simulations.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const random = randomFrom(7);
const isLucky = (share: number) => random() < share;
const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

/** Twelve people with and without an address, consent, a topic. @returns their ids by external id */
async function randomPeople({ tenant, call }: Awaited<ReturnType<typeof journeySetting>>) {
  const people = new Map<string, string>();
  for (let n = 0; n < 12; n++) {
    const external_id = `r${n}`;
    const consent = isLucky(0.3) ? { consent: { status: "opted_out" } } : {};
    const address = isLucky(0.8) ? { email: `${external_id}@example.com` } : {};
    const attributes = { plan: oneOf(["pro", "free"]), n };
    const id = await tenant.upsert({ external_id, ...address, ...consent, attributes });
    people.set(external_id, id);
    if (isLucky(0.2))
      await suppressAddress(tenant.store, { kind: "email", address: `${external_id}@example.com`, reason: "manual" });
    if (isLucky(0.3))
      await call(`POST /api/v1/subscribers/${id}/consents`, { channel: "topic:news", status: "opted_out" });
  }
  return people;
}

/** Five steps in a row, each a send by some channels, a delay or a branch to the end. */
function randomGraph(channelSets: readonly string[][]) {
  const step = (next: string) => {
    const send = {
      channel_ids: oneOf(channelSets),
      content: { title: "t", body: "b" },
      ...(isLucky(0.3) && { topic: "news" }),
      next,
    };
    if (isLucky(0.2)) return branch({ attribute: { n: { $gte: Math.floor(random() * 12) } } }, next, "end");
    return isLucky(0.3) ? { delay: { duration: "1h", next } } : { send };
  };
  const names = Array.from({ length: 5 }, (_, n) => `s${n}`);
  const nodes = names.map((name, n) => [name, step(names[n + 1] ?? "end")] as const);
  return graphOf({ ...Object.fromEntries(nodes), end: "exit" });
}

it("the walks of random people through random journeys are what the journeys then do, and their replay (RDA-13, F3)", async () => {
  const setting = await journeySetting(await fresh());
  const { world, tenant, call, channel, create, activate, runs } = setting;
  const { email = "", ios = "" } = await openChannels(world, tenant, "email", "ios-push");
  await call("POST /api/v1/topics", { key: "news", name: "News", default: "in" });
  const people = await randomPeople(setting);
  for (let round = 0; round < 6; round++) {
    const event_name = `start${round}`;
    const id = await create(randomGraph([[email], [ios], [channel], [email, ios]]), {
      trigger: { type: "event", event_name },
      entry_rules: { eligibility: { attribute: { plan: { $in: oneOf([["pro"], ["pro", "free"]]) } } } },
    });
    const begun = timestamp(world.clock.now());
    const simulate = (body: object) => call(`POST /api/v1/journeys/${id}/simulate`, body);

    const walks = new Map<string, string[]>();
    for (const subscriber_id of people.values()) {
      const { body } = await simulate({ subscriber_id, events: [{ event_name, occurred_at: begun }] });
      if (body.steps.length > 0) walks.set(subscriber_id, takenBy(body.steps));
    }
    await activate(id);
    const events = [...people.keys()].map((external_id) => ({ event_name, external_id, occurred_at: begun }));
    await world.call("POST /v1/events", { as: tenant.server, body: { events } });
    await world.advance(6 * HOUR);
    const real: { subscriber_id: string; steps: Taken[] }[] = await runs(id);
    expect(new Map(real.map((run) => [run.subscriber_id, takenBy(run.steps)]))).toEqual(walks);

    const { id: simulation } = (await simulate({ from: begun, to: timestamp(world.clock.now()) })).body;
    await world.settle();
    const { result } = (await call(`GET /api/v1/journeys/${id}/simulations/${simulation}`)).body;
    const counted: Record<string, number> = {};
    for (const [step, { outcomes }] of Object.entries(result.steps as Record<string, { outcomes: object }>))
      for (const [outcome, count] of Object.entries(outcomes)) counted[`${step} ${outcome}`] = count;
    const walked = Map.groupBy([...walks.values()].flat(), (taken) => taken);
    expect(counted).toEqual(Object.fromEntries([...walked].map(([taken, all]) => [taken, all.length])));
  }
});
