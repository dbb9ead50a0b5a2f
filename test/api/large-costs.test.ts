// What a call of one campaign, journey, template or person costs for each KB of it: docs/access.md says how much at most.
import { expect, it } from "vitest";
import { eachOf, LARGE_UNITS, recordedCosts } from "../../docs/generate/costs.ts";
import { DAY, timestamp } from "../../shared/kernel/clock.ts";
import { withCampaigns } from "../support/campaigns.ts";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { addPeople } from "../support/people.ts";
import { spent } from "../support/spending.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const MESSAGES = 50;
const PEOPLE = 2_000;
const body = "b".repeat(3_900);

interface Large {
  world: TestWorld;
  tenant: Tenant;
  id: string;
  /** What a change gives anew. */
  whole: object;
}

async function withSteps() {
  const { world, tenant, channel, active, create, definition } = await journeySetting(await fresh());
  const ids = Array.from({ length: 30 }, (_, n) => `m${n}`);
  const nodes = ids.map((id, n) => {
    const send = { channel_ids: [channel], content: { title: id, body }, next: ids[n + 1] ?? "end" };
    return [id, { send }];
  });
  const steps = graphOf({ ...Object.fromEntries(nodes), end: "exit" });
  return { world, tenant, active, create, whole: definition(steps) };
}

const kinds = {
  campaign: async (): Promise<Large> => {
    const world = await fresh();
    const { tenant, call, channel_ids } = await withCampaigns(world);
    const messages = Array.from({ length: MESSAGES }, (_, n) => ({ content: { title: `m${n}`, body }, channel_ids }));
    const whole = { name: "Large", messages };
    return { world, tenant, id: (await call("POST /api/v1/campaigns", whole)).body.id, whole };
  },
  journey: async (): Promise<Large> => {
    const { active, ...rest } = await withSteps();
    return { ...rest, id: await active(rest.whole.steps) };
  },
  draft: async (): Promise<Large> => {
    const { create, ...rest } = await withSteps();
    return { ...rest, id: await create(rest.whole.steps) };
  },
  template: async (): Promise<Large> => {
    const world = await fresh();
    const { tenant, call } = await withCampaigns(world);
    const content = { title: "Hello", body, by_channel: { email: { subject: "s", html: "h".repeat(90_000) } } };
    const whole = { name: "Large", content };
    return { world, tenant, id: (await call("POST /api/v1/templates", whole)).body.id, whole };
  },
};

it.each<[kind: keyof typeof kinds, route: string, given?: "whole"]>([
  ["campaign", "GET /api/v1/campaigns/:id"],
  ["campaign", "GET /api/v1/campaigns/:id/report"],
  ["campaign", "PUT /api/v1/campaigns/:id", "whole"],
  ["campaign", "POST /api/v1/campaigns/:id/duplicate"],
  ["campaign", "POST /api/v1/campaigns/:id/release"],
  ["campaign", "DELETE /api/v1/campaigns/:id"],
  ["journey", "GET /api/v1/journeys/:id"],
  ["journey", "GET /api/v1/journeys/:id/versions"],
  ["journey", "GET /api/v1/journeys/:id/versions/1/diff/1"],
  ["journey", "GET /api/v1/journeys/:id/stats"],
  ["journey", "GET /api/v1/journeys/:id/brakes"],
  ["draft", "PUT /api/v1/journeys/:id", "whole"],
  ["draft", "POST /api/v1/journeys/:id/activate"],
  ["draft", "DELETE /api/v1/journeys/:id"],
  ["journey", "POST /api/v1/journeys/:id/pause"],
  ["journey", "POST /api/v1/journeys/:id/duplicate"],
  ["template", "GET /api/v1/templates/:id"],
  ["template", "GET /api/v1/templates/:id/usage"],
  ["template", "PATCH /api/v1/templates/:id", "whole"],
  ["template", "DELETE /api/v1/templates/:id"],
])("of a large %s %s costs for each KB what docs/access.md says (D2)", async (kind, route, given) => {
  const { world, tenant, id, whole } = await kinds[kind]();
  const as = await tenant.dashboard();
  let status = 0;
  const { wcu, rcu } = await spent(world, async () => {
    status = (await world.call(route.replace(":id", id), { as, ...(given && { body: whole }) })).status;
  });
  const kilobytes = JSON.stringify(whole).length / 1_024;
  const named = route.replace("1/diff/1", ":version/diff/:other");
  const own = recordedCosts()?.routes[named]?.dashboard?.units ?? 0;
  expect(status).toBeLessThan(300);
  const ofMessages = kind === "campaign" ? MESSAGES * (eachOf(named)?.units ?? 0) : 0;
  expect(wcu + rcu).toBeLessThanOrEqual(own + ofMessages + kilobytes * LARGE_UNITS);
});

it("what a message of a large campaign reads for its recipients does not grow with the other messages (D2)", async () => {
  const unitsWith = async (characters: number): Promise<number> => {
    const world = await fresh();
    const { tenant, call, channel_ids, release } = await withCampaigns(world);
    await addPeople(world, tenant, PEOPLE);
    const later = timestamp(world.clock.now() + DAY);
    const others = Array.from({ length: MESSAGES - 1 }, (_, n) => ({
      content: { title: `m${n}`, body: "b".repeat(characters) },
      channel_ids,
      scheduled_at: later,
    }));
    const messages = [{ content: { title: "Now", body: "b" }, channel_ids }, ...others];
    const made = await call("POST /api/v1/campaigns", { name: "All", target: { type: "all" }, messages });
    expect((await release(made.body.id)).status).toBe(200);
    const { rcu } = await spent(world, () => world.settle());
    return rcu;
  };
  const [small, large] = [await unitsWith(10), await unitsWith(3_900)];
  // The campaign itself has 200 KB, 50 units: what reacts to its release reads it some times, and no chunk of a send does.
  expect(large - small).toBeLessThan(9 * 50);
});
