// The cost of work in the table, without authentication: capacity units and requests, counted, never timed.
import { recordedCosts } from "../../docs/generate/costs.ts";
import type { DynamoDbMeter } from "../../local/aws/index.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import type { Headers, Tenant, TestWorld } from "./world.ts";

const WAIT_MS = 10 * MINUTE;

type SpentUnits = Pick<DynamoDbMeter, "requests" | "wcu" | "rcu" | "index_wcu" | "by_operation">;

/** What `work` spends, and whatever it sets in motion if it waits for that. */
export async function spent(world: TestWorld, work: () => Promise<unknown>): Promise<SpentUnits> {
  world.dynamodb.resetMeter();
  await work();
  return world.dynamodb.meter();
}

interface RefusedCall {
  route: string;
  body?: object;
}

/** What authentication and the limiter spend on one call. */
export async function entranceOf(world: TestWorld, as: Headers, { route, body }: RefusedCall): Promise<SpentUnits> {
  const refuse = async () => {
    const { status } = await world.call(route, { as, ...(body && { body }) });
    if (status !== 422) throw new Error(`${route} was meant to be refused with 422, but got ${status}.`);
  };
  // The first call of an environment also reads keys and secrets.
  await refuse();
  return spent(world, refuse);
}

/**
 * What a call spends beyond authentication and the limiter: those are metered by a call of the same function with the
 * same credential that is rejected right after them because of its query or body (422).
 */
export async function spentByCall(
  world: TestWorld,
  { as, route, body, refused }: { as: Headers; route: string; body?: object; refused: RefusedCall },
): Promise<SpentUnits> {
  const entrance = await entranceOf(world, as, refused);
  const whole = await spent(world, async () => {
    const { status } = await world.call(route, { as, ...(body && { body }) });
    if (status >= 300) throw new Error(`${route} answered ${status}.`);
  });
  return {
    ...whole,
    requests: whole.requests - entrance.requests,
    wcu: whole.wcu - entrance.wcu,
    rcu: whole.rcu - entrance.rcu,
  };
}

interface AskedCall {
  world: TestWorld;
  tenant: Tenant;
  route: string;
  path: string;
  body?: object | undefined;
}

/** @returns the units of a call, and those that docs/access.md says without what it names for each */
export async function unitsOf({ world, tenant, route, path, body }: AskedCall) {
  const as = await tenant.dashboard();
  // The first call of an environment also reads keys and secrets.
  const [method] = route.split(" ");
  const ask = () => world.call(path.startsWith("/") ? `${method} ${path}` : path, { as, ...(body && { body }) });
  await ask();
  let status = 0;
  const { rcu, wcu } = await spent(world, async () => {
    status = (await ask()).status;
  });
  return { status, units: rcu + wcu, own: recordedCosts()?.routes[route]?.dashboard?.units ?? 0 };
}

/** What `work` takes of the table and of the queues. */
export async function metered(world: TestWorld, work: () => Promise<unknown>) {
  world.dynamodb.resetMeter();
  world.sqs.resetMeter();
  await work();
  const { wcu, rcu } = world.dynamodb.meter();
  return { wcu, rcu, messages: world.sqs.meter().sent };
}

/** A send behind its preview. @returns the job, what the preview said that it costs, and what it took beyond an idle time */
export async function pricedSend(world: TestWorld, tenant: Tenant, body: object) {
  // A segment is looked at again some minutes after it was made. Sends are counted by the quarter-hour: it has the same place in one.
  await world.advance(6 * WAIT_MS);
  const as = await tenant.dashboard();
  const idle = await metered(world, () => world.advance(WAIT_MS));
  const { cost: estimate, preview_id } = (await world.call("POST /api/v1/notifications/preview", { as, body })).body;
  let id = "";
  const whole = await metered(world, async () => {
    // Who is held out is drawn as it was for the estimate: another draw of a few hundred may be a tenth off by itself.
    const drawn = "holdout_percentage" in body ? { ...body, preview_id } : body;
    id = (await world.call("POST /api/v1/notifications", { as, body: drawn })).body.id;
    await world.settle();
    await world.advance(WAIT_MS);
  });
  const took = {
    write_units: whole.wcu - idle.wcu,
    read_units: whole.rcu - idle.rcu,
    messages: whole.messages - idle.messages,
  };
  const { body: job } = await tenant.call(`GET /api/v1/notifications/${id}`);
  const within = (unit: "write_units" | "read_units", said: typeof job.cost) =>
    Math.abs(said[unit] - took[unit]) / took[unit];
  return { job, estimate, took, within };
}
