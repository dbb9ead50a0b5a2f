// The walk of one person, the replay of what happened, and what the journey did are the same (design: one simulator). More
// cases by hand: WALKS=400 SEED=1 npx vitest run test/api/journeys-walk.test.ts
import { expect, it } from "vitest";
import { DAY, MINUTE } from "../../shared/kernel/clock.ts";
import { suppressAddress } from "../../shared/store/subscribers/addresses.ts";
import { randomFrom } from "../simulator/random.ts";
import { journeySetting } from "../support/journeys.ts";
import { QUIET } from "../support/quiet-hours.ts";
import { happeningsOf, journeyOf, personOf } from "../support/random-journeys.ts";
import { openChannels } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const CASES = Number(process.env.WALKS ?? 8);
const SEED = Number(process.env.SEED ?? 1);
const LAST_MS = 40 * DAY;

type Outcomes = Record<string, number>;

const countOf = (all: readonly { step: string; outcome: string; count?: number }[]): Outcomes => {
  const counts: Outcomes = {};
  for (const { step, outcome, count = 1 } of all) {
    const name = `${step} ${outcome}`;
    counts[name] = (counts[name] ?? 0) + count;
  }
  return counts;
};

const sorted = (counts: Outcomes): string[] =>
  Object.entries(counts)
    .filter(([, n]) => n > 0)
    .map(([name, n]) => `${name} ${n}`)
    .sort();

it(
  "what a walk says, what a replay counts and what the journey did are the same (RDA-13, AMB-147, AMB-136, F3)",
  async () => {
    const world = await fresh();
    const { tenant, call, channel, create, activate, track } = await journeySetting(world);
    const { email = "" } = await openChannels(world, tenant, "email");
    await call("PATCH /api/v1/workspace", {
      quiet_hours: QUIET,
      frequency_caps: [{ category: "marketing", max: 2, per: "day" }],
    });
    await call("POST /api/v1/topics", { key: "news", name: "News", default: "in" });
    const start = world.clock.now() + MINUTE;
    const cases = [];
    for (let i = 0; i < CASES; i++) {
      const random = randomFrom(SEED * 100_000 + i);
      const name = `p${i}`;
      const { profile, suppressed, topic } = personOf(random, name);
      const { id: subscriber } = (
        await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: profile })
      ).body;
      if (suppressed) await suppressAddress(tenant.store, { kind: "email", address: suppressed, reason: "manual" });
      if (topic)
        await call(`POST /api/v1/subscribers/${subscriber}/consents`, { channel: "topic:news", status: topic });
      const { steps, entry_rules } = journeyOf(random, [email, channel]);
      const trigger = `begin${i}`;
      const id = await create(steps, { name, trigger: { type: "event", event_name: trigger }, entry_rules });
      const events = happeningsOf(random, trigger);
      const given = events.map(({ after, event_name, n }) => ({
        event_name,
        occurred_at: new Date(start + after).toISOString(),
        properties: { n },
      }));
      cases.push({ name, subscriber, id, trigger, events, given, steps });
    }
    await world.advance(30_000);
    const walks = [];
    for (const { id, subscriber, given } of cases) {
      const answer = await call(`POST /api/v1/journeys/${id}/simulate`, { subscriber_id: subscriber, events: given });
      expect(answer.status).toBe(200);
      expect(answer.body.fields).toBeUndefined();
      walks.push(answer.body);
    }
    for (const { id } of cases) await activate(id);

    const all = cases
      .flatMap(({ name, events }) => events.map((event) => ({ name, ...event })))
      .sort((a, b) => a.after - b.after);
    for (const { name, after, event_name, n } of all) {
      const at = start + after;
      if (at > world.clock.now()) await world.advance(at - world.clock.now());
      await track(name, event_name, { properties: { n } });
    }
    const end = start + LAST_MS;
    await world.advance(end - world.clock.now());

    const found = [];
    const expected: object[] = [];
    for (const [i, { name, id, steps }] of cases.entries()) {
      const walk = walks[i];
      const { items } = (await call(`GET /api/v1/journeys/${id}/runs`)).body;
      const [run] = items;
      const told = JSON.stringify({ name, steps });
      const lived = run
        ? { told, steps: sorted(countOf(run.steps)), status: run.status, at: run.ended_at }
        : { told, steps: [], status: "refused", at: walk.ended.at };
      const replayed = await call(`POST /api/v1/journeys/${id}/simulate`, {
        from: new Date(start - MINUTE).toISOString(),
        to: new Date(end).toISOString(),
      });
      await world.settle();
      const simulation = (await call(`GET /api/v1/journeys/${id}/simulations/${replayed.body.id}`)).body;
      const outcomes = Object.entries(simulation.result.steps as Record<string, { outcomes: Outcomes }>).flatMap(
        ([step, { outcomes: some }]) => Object.entries(some).map(([outcome, count]) => ({ step, outcome, count })),
      );
      found.push({ ...lived, replay: sorted(countOf(outcomes)) });
      const steps_ = sorted(countOf(walk.steps));
      expected.push({ told, steps: steps_, status: walk.ended.status, at: walk.ended.at, replay: steps_ });
    }

    expect(
      found
        .map((one, i) => [one, expected[i]])
        .filter(([one, other]) => JSON.stringify(one) !== JSON.stringify(other))
        .map(([one, other]) => ({ lived: one, walk: other })),
    ).toEqual([]);
  },
  30_000 + CASES * 5_000,
);
