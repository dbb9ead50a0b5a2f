// Sends to one inbox, from the request to the closed job, with the count of the limiter.
import type { Tenant, TestWorld } from "../test/support/world.ts";
import { type Figure, measure } from "./measure.ts";
import { fill } from "./people.ts";

const BURST = 200;
const AT_ONCE = 10;
const AUTHENTICATION = ["GetItem"];
const LONG = "A line of about forty characters of text. ".repeat(220);

/** One after the other, each closed before the next; the same with a text of 9 KB; and in bursts. */
export async function singleScenarios(world: TestWorld): Promise<Figure[]> {
  const tenant = await world.tenant();
  const people = await fill(world, tenant, BURST);
  const [first = ""] = people;
  for (const body of ["World", LONG]) await send(world, tenant, [first], body);
  return [
    await row(world, "single in-app send, alone", 20, 13, () => one(world, tenant, people.slice(0, 20), "World")),
    await row(world, "single in-app send of 9 KB, alone", 20, 13, () => one(world, tenant, people.slice(0, 20), LONG)),
    await row(world, "single in-app send, in bursts of 10", BURST, 9.5, async () => {
      for (let from = 0; from < BURST; from += AT_ONCE)
        await send(world, tenant, people.slice(from, from + AT_ONCE), "World");
    }),
  ];
}

const row = (world: TestWorld, scenario: string, items: number, max: number, action: () => Promise<void>) =>
  measure(
    world,
    {
      scenario,
      items,
      authentication: AUTHENTICATION,
      budget: { text: `≤ ${max} WCU with the limiter`, keeps: ({ wcu }) => wcu <= max + 1e-9 },
    },
    action,
  );

async function one(world: TestWorld, tenant: Tenant, people: readonly string[], body: string): Promise<void> {
  for (const person of people) await send(world, tenant, [person], body);
}

async function send(world: TestWorld, tenant: Tenant, people: readonly string[], body: string): Promise<void> {
  const as = await tenant.dashboard();
  for (const person of people) {
    const request = { as, body: { title: "Hello", body, subscriberIds: [person] } };
    const { status } = await world.call("POST /api/v1/notifications", request);
    if (status !== 201) throw new Error(`A send was answered with ${status}.`);
  }
  await world.settle();
}
