// What single requests cost, webhooks, and the floors of the processor.
import { createHmac } from "node:crypto";
import { createGateway } from "../../local/gateway.ts";
import { openEgress } from "../../shared/egress/egress.ts";
import { HOUR } from "../../shared/kernel/clock.ts";
import { noteDeliveries } from "../../shared/store/webhooks/deliveries.ts";
import { withCampaigns } from "../../test/support/campaigns.ts";
import { quickStore } from "../../test/support/people.ts";
import { receiver } from "../../test/support/receiver.ts";
import type { Headers, TestWorld } from "../../test/support/world.ts";
import { asked, type Cost, costOf, inWorld, most, type Row, type Target, taken } from "./cost.ts";

const TIMES = 200;
const DELIVERIES = 200;

async function times(count: number, action: (n: number) => Promise<unknown>): Promise<void> {
  for (let n = 0; n < count; n++) await action(n);
}

/** The gateway, the host of functions and a function that answers what it got. */
export async function rawEcho(): Promise<Cost> {
  return inWorld(async (world) => {
    const { clock, ids, host } = world;
    const answer = async ({ body }: { body?: string }) => ({ statusCode: 200, body });
    host.register({ name: "echo", timeoutSeconds: 29, create: () => answer as never });
    const gateway = createGateway({
      clock,
      ids,
      host,
      routes: [{ routeKey: "POST /echo", function: "echo" }],
      log: () => undefined,
      enter: (work) => work(),
    });
    const headers = { "content-type": "application/json" };
    const body = Buffer.from(JSON.stringify({ hello: "world" }));
    const echo = () => gateway.handle({ method: "POST", path: "/echo", headers, body, sourceIp: "203.0.113.7" });
    await times(TIMES, echo);
    return costOf(world, { work: "floor: raw echo", per: "request", count: TIMES * 5 }, () => times(TIMES * 5, echo));
  });
}

/** A signed POST of 1 KB by the product's egress, to a receiver in this process. */
export async function signedPost(): Promise<Cost> {
  const { network } = receiver(() => 0);
  return inWorld(
    async (world) => {
      const body = JSON.stringify({ data: "x".repeat(1_000) });
      const egress = openEgress(world.depsFor("bench"));
      const post = async () => {
        const signature = createHmac("sha256", "a key").update(body).digest("hex");
        await egress.request({ purpose: "webhook", url: "https://hooks.example.com/in", headers: { signature }, body });
      };
      await times(20, post);
      return costOf(world, { work: "floor: signed post", per: "request", count: TIMES }, () => times(TIMES, post));
    },
    { network },
  );
}

interface CostQuery {
  work: string;
  size?: string;
  targets: Target[];
  count?: number;
  /** What authentication and the limit of requests cost is then left out. */
  entrance?: string;
}

/** The same request several times, after one that fills caches. */
async function requestCost(
  world: TestWorld,
  route: string,
  as: Headers,
  { count = 1, entrance, ...asking }: CostQuery,
): Promise<Cost> {
  const get = () => asked(world, route, { as });
  await get();
  const apart = entrance === undefined ? {} : { entrance: { as, route: entrance }, entrances: count };
  return costOf(world, { ...asking, ...apart, per: "request", count }, () => times(count, get));
}

async function reports(): Promise<Cost[]> {
  return inWorld(async (world) => {
    const { create, release, tenant } = await withCampaigns(world);
    const campaign = (await create()).body;
    taken(await release(campaign.id));
    await world.settle();
    const as = await tenant.dashboard();
    const entrance = "GET /api/v1/insights/heatmap?days=none";
    const of = (work: string, route: string) =>
      requestCost(world, route, as, { work, entrance, targets: [most("rcu", 12)] });
    const funnel = `GET /api/v1/insights/funnel?source_type=campaign&source_id=${campaign.id}`;
    return [
      await of("campaign report, one message", `GET /api/v1/campaigns/${campaign.id}/report`),
      await of("funnel of a campaign, one message", funnel),
      await of("heatmap of 365 days", "GET /api/v1/insights/heatmap?days=365"),
    ];
  });
}

async function template(): Promise<Cost[]> {
  return inWorld(async (world) => {
    const { template: create, tenant } = await withCampaigns(world);
    const id = await create();
    const as = await tenant.dashboard();
    await times(TIMES, () => world.call(`GET /api/v1/templates/${id}`, { as }));
    const targets = [most("cpu", 20, "echo"), most("requests", 3)];
    return [
      await requestCost(world, `GET /api/v1/templates/${id}`, as, {
        work: "GET of one small thing, with authentication",
        count: TIMES * 2,
        targets,
      }),
    ];
  });
}

async function upserts(): Promise<Cost[]> {
  return inWorld(async (world) => {
    const tenant = await world.tenant();
    const route = "POST /api/v1/subscribers/upsert";
    const upsert = async (n: number, visits: number) => {
      const body = { external_id: `u${n}`, attributes: { first_name: "Ada", city: "London", visits } };
      taken(await world.call(route, { as: tenant.sdk, body }));
    };
    await times(20, (n) => upsert(n + 1_000, 1));
    const entrance = { as: tenant.sdk, route, body: {} };
    const query = { per: "request", count: TIMES, entrance, entrances: TIMES };
    const whole = [most("wcu", 6), most("requests", 4)];
    await world.settle();
    const followed = await costOf(world, { ...query, work: "upsert, new, with what follows", targets: whole }, () =>
      times(TIMES, async (n) => {
        await upsert(n + 2_000, 1);
        await world.settle();
      }),
    );
    const created = await costOf(
      world,
      { ...query, work: "upsert, new", targets: [most("wcu", 2), most("requests", 1.2)] },
      () => times(TIMES, (n) => upsert(n, 1)),
    );
    // The first known one after so many new ones was expected to be new.
    await upsert(0, 1);
    return [
      created,
      await costOf(world, { ...query, work: "upsert, known", targets: [most("wcu", 1), most("requests", 1.05)] }, () =>
        times(TIMES, (n) => upsert(n, 2)),
      ),
      followed,
    ];
  });
}

async function webhooks(): Promise<Cost[]> {
  const { network } = receiver(() => 0);
  return inWorld(
    async (world) => {
      const tenant = await world.tenant();
      const hook = { target_url: "https://hooks.example.com/in", events: ["subscriber.created"] };
      const webhook = taken(await world.call("POST /v1/hooks", { as: tenant.server, body: hook })).body.id;
      await world.advance(HOUR);
      const occurrence = { event: "subscriber.created", at: world.clock.now(), data: {} } as const;
      const accept = async (name: string, count: number) => {
        const wanted = Array.from({ length: count }, (_, n) => ({
          webhook,
          occurrence: { ...occurrence, key: `${name} ${n}` },
        }));
        await noteDeliveries(quickStore(world, tenant), wanted);
        await world.settle();
      };
      await accept("first", 10);
      const work = "webhook delivery";
      const targets = [most("wcu", 2), most("requests", 2.5)];
      return [
        await costOf(world, { work, size: "alone", per: "delivery", count: 1, targets: [] }, () => accept("one", 1)),
        await costOf(
          world,
          {
            work,
            size: `burst of ${DELIVERIES}`,
            per: "delivery",
            count: DELIVERIES,
            targets: [...targets, most("cpu", 12, "post")],
          },
          () => accept("many", DELIVERIES),
        ),
      ];
    },
    { network },
  );
}

export const requestRows: Row[] = [
  { name: "webhook delivery", measure: webhooks },
  { name: "reports", measure: reports },
  { name: "GET of one small thing", measure: template },
  { name: "upsert", measure: upserts },
];
