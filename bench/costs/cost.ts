// What one unit of work costs: units and requests of the table, messages, processor time, the hottest key.
import { entranceOf } from "../../test/support/spending.ts";
import { type Headers, type TestWorld, testWorld } from "../../test/support/world.ts";

type MeasuredUnit = "wcu" | "rcu" | "requests" | "hottest" | "cpu";

/** The most that a figure may be; of the processor, as a multiple of a floor of the same run. */
export interface Target {
  of: MeasuredUnit;
  most: number;
  /** `CPU of the raw echo`; of the processor only. */
  floor?: Floor;
}

export type Floor = "echo" | "post";

export interface Cost {
  /** A row of the page. */
  work: string;
  /** How many or how large: the rows of one work show how its cost grows. */
  size: string;
  /** What the figures are of. */
  per: string;
  wcu: number;
  rcu: number;
  requests: number;
  messages: number;
  cpuUs: number;
  /** The part of the table's write units on the hottest partition key; of loads on many people. */
  hottest: number | undefined;
  targets: readonly Target[];
}

export interface Row {
  name: string;
  measure(): Promise<Cost[]>;
}

interface CostQuery {
  work: string;
  size?: string;
  per: string;
  /** How many of them the action does. */
  count: number;
  targets?: readonly Target[];
  /** A request that is refused after authentication and the limiter: what these cost is not counted. */
  entrance?: { as: Headers; route: string; body?: object };
  /** How many requests have an entrance. */
  entrances?: number;
  /** A load on many people. */
  isWide?: boolean;
}

export async function costOf(world: TestWorld, query: CostQuery, action: () => Promise<unknown>): Promise<Cost> {
  const { work, size = "", per, count, targets = [], entrance, entrances = 1, isWide = false } = query;
  const apart = entrance && (await entranceOf(world, entrance.as, entrance));
  world.dynamodb.resetMeter();
  world.sqs.resetMeter();
  const before = process.cpuUsage();
  await action();
  const { user, system } = process.cpuUsage(before);
  const meter = world.dynamodb.meter();
  const one = (unit: "wcu" | "rcu" | "requests") => (meter[unit] - (apart ? apart[unit] * entrances : 0)) / count;
  const onTable = meter.wcu - meter.index_wcu;
  return {
    work,
    size,
    per,
    wcu: one("wcu"),
    rcu: one("rcu"),
    requests: one("requests"),
    messages: world.sqs.meter().sent / count,
    cpuUs: (user + system) / count,
    hottest: isWide && onTable > 0 ? (meter.hottest[0]?.wcu ?? 0) / onTable : undefined,
    targets,
  };
}

export async function inWorld<T>(
  work: (world: TestWorld) => Promise<T>,
  options: Parameters<typeof testWorld>[0] = {},
): Promise<T> {
  // As a deployment runs: with the work of its clients, without a test's check of each row.
  const world = await testWorld({ areClientsDirect: () => false, onRead: () => undefined, ...options });
  try {
    return await work(world);
  } finally {
    await world.close();
  }
}

export const most = (of: MeasuredUnit, limit: number, floor?: Floor): Target => ({
  of,
  most: limit,
  ...(floor && { floor }),
});

/** A request whose processor time is measured: `world.call` also compares each answer with the published document. */
export async function asked(world: TestWorld, route: string, { as, body }: { as: Headers; body?: object }) {
  const [method = "", path = ""] = route.split(" ");
  return taken(
    await world.gateway.handle({
      method,
      path,
      headers: { ...as, ...(body && { "content-type": "application/json" }) },
      body: Buffer.from(body ? JSON.stringify(body) : ""),
      sourceIp: "203.0.113.7",
    }),
  );
}

/** Whether the request was taken; throws if not, because a cost of a refusal is no cost. */
export function taken<A extends { status: number; body: unknown }>(answer: A): A {
  if (answer.status >= 300) throw new Error(`Answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer;
}
