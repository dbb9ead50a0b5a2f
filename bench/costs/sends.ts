// What sends cost: to one person by each channel, and to many.
import { SECOND } from "../../shared/kernel/clock.ts";
import { fanOutQueue } from "../../shared/runtime/resources.ts";
import { JobItem } from "../../shared/store/sends/jobs/job-items.ts";
import { quarterAt } from "../../shared/store/workspaces/sends-ahead.ts";
import { SMTP } from "../../test/support/channels.ts";
import { mailServer } from "../../test/support/mail-server.ts";
import { SES } from "../../test/support/mails.ts";
import { openChannels } from "../../test/support/reached.ts";
import type { Headers, Tenant, TestWorld } from "../../test/support/world.ts";
import { equip, fill } from "../people.ts";
import { type Cost, costOf, inWorld, most, type Row, type Target, taken } from "./cost.ts";

const BURST = 100;
const route = "POST /api/v1/notifications";
/** Requests of a backend have no audit trail and no limit by the minute. */
const backendRoute = "POST /v1/notifications";
const text = (bytes: number) => "x".repeat(bytes);

const sendTo = (world: TestWorld, as: Headers, more: object, path = route) =>
  world.call(path, { as, body: { title: "Hello", body: "World", ...more } });

/** Alone and in a burst, by one channel; and what counts the burst when its quarter-hour is over. */
async function single(work: string, channel: "ios-push" | undefined, bytes: number, extra: number): Promise<Cost[]> {
  return inWorld(async (world) => {
    const tenant = await world.tenant();
    const ids = await fill(world, tenant, BURST * 2);
    const channels = channel && Object.values(await openChannels(world, tenant, channel));
    if (channels) await equip(world, tenant, ids);
    const as = await tenant.backend("messages:send");
    const body = { body: text(bytes), ...(channels && { channel_ids: channels }) };
    const one = async (n: number) => taken(await sendTo(world, as, { ...body, subscriberIds: [ids[n]] }, backendRoute));
    const entrance = { as, route: backendRoute, body: {} };
    // The first ones of an environment read more.
    for (let n = 0; n < 3; n++) await one(n);
    await world.settle();
    const query = { work, per: "send", entrance };
    const alone = await costOf(
      world,
      { ...query, size: "alone", count: 1, targets: [most("wcu", 6.1 + extra), most("requests", 8 + extra)] },
      async () => {
        await one(4);
        await world.settle();
      },
    );
    const burst = await costOf(
      world,
      { ...query, size: `burst of ${BURST}`, count: BURST, entrances: BURST, targets: [most("wcu", 4.5 + extra)] },
      async () => {
        await Promise.all(Array.from({ length: BURST }, (_, n) => one(n + 5)));
        await world.settle();
      },
    );
    const watch = { kind: "settle" as const, tenant: tenant.id, quarter: quarterAt(world.clock.now()) };
    const settled = await costOf(world, { work, per: "send", size: "its settlement", count: BURST }, async () => {
      await fanOutQueue.open(world.depsFor("bench"))(tenant.id).send([watch]);
      await world.settle();
    });
    return [alone, burst, settled];
  });
}

type Channel = "in-app" | "push" | "e-mail";

async function channelOf(world: TestWorld, tenant: Tenant, channel: Channel): Promise<unknown[] | undefined> {
  if (channel === "in-app") return undefined;
  if (channel === "push") return Object.values(await openChannels(world, tenant, "ios-push"));
  const { email } = await openChannels(world, tenant, "email");
  const as = await tenant.dashboard();
  taken(await world.call(`POST /api/v1/channels/${email}/credentials/email`, { as, body: SES }));
  await world.settle();
  return [email];
}

async function wide(channel: Channel, count: number): Promise<Cost[]> {
  return inWorld(async (world) => {
    const tenant = await world.tenant();
    const channel_ids = await channelOf(world, tenant, channel);
    const ids = await fill(world, tenant, count, channel === "e-mail" ? { email: "ada@example.com" } : {});
    if (channel === "push") await equip(world, tenant, ids);
    const as = await tenant.dashboard();
    const targets =
      channel === "e-mail"
        ? [most("wcu", 2.1), most("requests", 0.42), most("hottest", 0.048), most("cpu", 9, "post")]
        : [most("wcu", 1.2), most("requests", 0.2), most("hottest", 0.048)];
    const query = { work: channel === "e-mail" ? "e-mail with receipts" : `${channel} send to many`, per: "recipient" };
    return [
      await costOf(world, { ...query, size: `${count} recipients`, count, isWide: true, targets }, async () => {
        const send = taken(await sendTo(world, as, { target: { type: "all" }, ...(channel_ids && { channel_ids }) }));
        await world.settle();
        // A large send begins in waves, which wait for each other (docs/decisions/0052).
        while ((await tenant.store.get(JobItem, { job: send.body.id }))?.completed_at === undefined)
          await world.advance(10 * SECOND);
      }),
    ];
  });
}

/** 2.6 ms on a machine whose signed post takes 481 µs. */
const SMTP_TARGETS = [most("cpu", 5.4, "post")];

/** One send to everyone by a mail server in this process, whose part of the processor time is in the figure. */
async function bySmtp(count: number, connections: number, targets: Target[]): Promise<Cost[]> {
  const server = await mailServer(0);
  const options = { env: { PROVIDERS_ALLOW_LOOPBACK: "1" } };
  try {
    return await inWorld(async (world) => {
      const tenant = await world.tenant();
      const { email } = await openChannels(world, tenant, "email");
      const as = await tenant.dashboard();
      const login = { ...SMTP, host: "127.0.0.1", port: server.port };
      taken(await world.call(`POST /api/v1/channels/${email}/credentials/email`, { as, body: login }));
      await fill(world, tenant, count, { email: "ada@example.com" });
      const size = `${count} recipients, at most ${connections} connections`;
      const query = { work: "mail by SMTP", size, per: "recipient", count, targets };
      const cost = await costOf(world, query, async () => {
        taken(await sendTo(world, as, { target: { type: "all" }, channel_ids: [email] }));
        await world.settle();
      });
      if (server.mails.length !== count) throw new Error(`The server took ${server.mails.length} of ${count} mails.`);
      const made = server.connections();
      if (made > connections) throw new Error(`There were ${made} connections.`);
      return [cost];
    }, options);
  } finally {
    server.close();
  }
}

export const sendRows: Row[] = [
  { name: "single in-app send", measure: () => single("single in-app send", undefined, 20, 0) },
  { name: "single in-app send of 9 KB", measure: () => single("single in-app send of 9 KB", undefined, 9_000, 0) },
  { name: "single push send", measure: () => single("single push send", "ios-push", 20, 1) },
  {
    name: "in-app send to many",
    measure: async () => [...(await wide("in-app", 1_000)), ...(await wide("in-app", 4_000))],
  },
  { name: "push send to many", measure: () => wide("push", 2_000) },
  { name: "e-mail with receipts", measure: () => wide("e-mail", 400) },
  {
    name: "mail by SMTP",
    measure: async () => [...(await bySmtp(50, 15, [])), ...(await bySmtp(400, 40, SMTP_TARGETS))],
  },
];
