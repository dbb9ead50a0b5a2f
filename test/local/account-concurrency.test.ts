// What callers and messages meet where the account allows few invocations at once, as new accounts do (D9).
import { expect, it } from "vitest";
import { deadQueueOf, queueNames } from "../../shared/contract/messages.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { addPeople, inboxOf } from "../support/people.ts";
import { testWorld } from "../support/world.ts";

const PEOPLE = 200;
/** Of one moment: as many as a page of an app with its users at once. */
const REQUESTS = 150;

/** A send to everybody, and requests of one moment beside it. */
async function underLimit(accountConcurrency: number) {
  const world = await testWorld({ accountConcurrency });
  const tenant = await world.tenant();
  const ids = await addPeople(world, tenant, PEOPLE);
  const body = { subscriberIds: ids, title: "Hello", body: "To all" };
  const sent = await tenant.call("POST /api/v1/notifications", body);
  const asked = Array.from({ length: REQUESTS }, () => world.call("GET /v1/whoami", { as: tenant.server }));
  const working = world.settle();
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  await working;
  // What went back to its queue comes again within minutes.
  let minutes = 0;
  const jobNow = async () => (await tenant.call(`GET /api/v1/notifications/${sent.body.id}`)).body;
  while (minutes < 30 && (await jobNow()).status !== "completed") {
    await world.advance(MINUTE);
    await world.settle();
    minutes++;
  }
  let reached = 0;
  for (const id of ids) reached += (await inboxOf(world, tenant, id)).length;
  const dead = [...queueNames].reduce((sum, name) => sum + world.sqs.depth(deadQueueOf(name)).visible, 0);
  return {
    dead,
    answered: statuses.filter((status) => status === 200).length,
    refused: statuses.filter((status) => status === 503).length,
    reached,
    minutes,
    sent: (await jobNow()).sent,
  };
}

it.each([
  [10, 10],
  [100, 100],
  [400, REQUESTS],
])(
  "with %i invocations at once, %i of 150 requests of one moment are answered, others get 503; messages come within minutes, none is lost (D9)",
  async (limit, answered) => {
    const { minutes, ...found } = await underLimit(limit);
    expect(found).toEqual({ answered, refused: REQUESTS - answered, reached: PEOPLE, sent: PEOPLE, dead: 0 });
    expect(minutes).toBeLessThanOrEqual(2);
  },
);
