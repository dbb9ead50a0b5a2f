// Sends to one recipient: what they cost, and where a long text is stored. How they are counted: sends-ahead.test.ts.
// A crash at any of their steps: single-sends-crash.test.ts.
import { describe, expect, it } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { packId } from "../../shared/kernel/ids.ts";
import { deliverQueue } from "../../shared/runtime/resources.ts";
import { Message } from "../../shared/store/sends/inbox/inbox-items.ts";
import { JobItem } from "../../shared/store/sends/jobs/job-items.ts";
import { singleMessage } from "../../shared/store/sends/jobs/single.ts";
import { jobOf, post } from "../support/notify.ts";
import { addPeople, inboxOf, operate, wholeTable } from "../support/people.ts";
import { addPhone, ledgerOf, mend, openChannels, spoil } from "../support/reached.ts";
import { requests } from "../support/requests.ts";
import { entranceOf, spent } from "../support/spending.ts";
import { openStream } from "../support/sse.ts";
import { START, type Tenant, type TestWorld } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withPeople, withTenant } = worlds();
const long = "A line of about forty characters of text. ".repeat(220);
const filters = { plan: { $in: Array.from({ length: 40 }, (_, n) => `plan number ${n}`) } };

/** What a send costs, from its request on, without authentication and the limiter. */
async function costOf(world: TestWorld, tenant: Tenant, body: object) {
  const as = await tenant.dashboard();
  const entrance = await entranceOf(world, as, { route: "POST /api/v1/notifications", body: {} });
  const whole = await spent(world, async () => {
    expect((await post(world, tenant, body)).status).toBe(201);
    await world.settle();
  });
  return { wcu: whole.wcu - entrance.wcu, requests: whole.requests - entrance.requests };
}

describe("five sends of one long text, by themselves and by a template", () => {
  const variant_b = { title: "Other", body: long };
  const byTemplate = { title: undefined, body: undefined };

  /** The sends in their order, with the job, its row and the newest message of the inbox after each, and the live stream. */
  const sent = shared(async (own) => {
    const { world, tenant } = await own.withTenant();
    const [ada = ""] = await addPeople(world, tenant, 1, () => ({ attributes: { plan: "plan number 3" } }));
    const template = { name: "Long", content: { title: "From a template", body: long } };
    const template_id = (await tenant.call("POST /api/v1/templates", template)).body.id;
    const bodies = [
      { body: long },
      { body: long, subscriber_filters: filters, data: { order: "7" } },
      { ...byTemplate, template_id },
      { ...byTemplate, template_id },
      { body: long, variant_b, split_percentage: 50 },
    ];
    const stream = await openStream(world, `?subscriber_id=${ada}`, tenant.sdk);
    const sends = [];
    for (const body of bodies) {
      const { id } = (await post(world, tenant, { subscriberIds: [ada], ...body })).body;
      await world.settle();
      const [message] = await inboxOf(world, tenant, ada);
      sends.push({ job: await jobOf(tenant, id), message, row: await tenant.store.get(JobItem, { job: id }) });
    }
    await world.advance(2 * SECOND);
    const frames = stream.frames().map(({ data }) => data);
    stream.disconnect();
    return { world, tenant, sends, frames };
  });

  it("a send of a long text shows it and all that was asked for, and so do its list and its inbox (NTF-17, D-NTF)", async () => {
    const { tenant, sends } = await sent();

    const ended = { body: long, status: "completed", counts: { total: 1, delivered: 1 } };
    expect(sends.map(({ job }) => job)).toMatchObject([
      { ...ended, title: "Hello", subscriber_filters: null, data: null },
      { ...ended, title: "Hello", subscriber_filters: filters, data: { order: "7" } },
      { ...ended, title: "From a template" },
      { ...ended, title: "From a template" },
      { ...ended, title: "Hello", variant_b },
    ]);
    for (const { message } of sends) expect(message.content.body).toBe(long);
    const { items } = (await tenant.call("GET /api/v1/notifications")).body;
    expect(items).toMatchObject(sends.map(() => ({ body: long })));
  });

  it("a long text is stored once for the sends that have it, whose rows stay below a kilobyte (NTF-17)", async () => {
    const { world, sends } = await sent();

    const contents = (await wholeTable(world)).filter(({ pk }) => String(pk.S ?? pk).includes("#S#"));

    expect(contents).toHaveLength(4);
    for (const { row } of sends) expect(JSON.stringify(row).length).toBeLessThanOrEqual(1_024);
  });

  it("a live stream tells a long text whole, with the data of its send (NTF-17)", async () => {
    const { frames } = await sent();

    const told = (data: object) => expect.objectContaining({ body: long, data });

    expect(frames).toEqual([
      told({}),
      told({ order: "7" }),
      told({}),
      told({}),
      told({ variant_id: expect.any(String) }),
    ]);
  });
});

describe("what a send to one inbox costs", () => {
  it("a send to one inbox takes at most 6 write units and 10 requests, two of them for the audit trail (NTF-17)", async () => {
    const { world, tenant, ids } = await withPeople(1);
    const one = { subscriberIds: ids };
    await costOf(world, tenant, one);

    const { wcu, requests } = await costOf(world, tenant, one);

    // The audit trail: docs/decisions/0043.
    expect(wcu).toBeLessThanOrEqual(6);
    expect(requests).toBeLessThanOrEqual(10);
  });

  it("a send of a long text that was sent before costs what a short one does, and so does one by a template (NTF-17)", async () => {
    const { world, tenant, ids } = await withPeople(1);
    const one = { subscriberIds: ids };
    const template = { name: "Short", content: { title: "From a template", body: "Hello" } };
    const template_id = (await tenant.call("POST /api/v1/templates", template)).body.id;
    const costOfSecond = async (body: object) => {
      await costOf(world, tenant, body);
      return costOf(world, tenant, body);
    };

    const short = await costOfSecond(one);

    expect(await costOfSecond({ ...one, body: long })).toEqual(short);
    const byTemplate = await costOfSecond({ ...one, title: undefined, body: undefined, template_id });
    expect(byTemplate.wcu).toBe(short.wcu);
  });
});

/** Delivers the messages of jobs once more, as a queue may. */
const redeliver = async (world: TestWorld, tenant: Tenant, jobs: readonly string[]) => {
  const messages = jobs.map((job) => singleMessage(tenant.id, job));
  await deliverQueue.open(world.depsFor("deliver"))(tenant.id).send(messages);
  await world.settle();
};

it("sends of one burst are each delivered once, also where their messages are repeated (D-NTF)", async () => {
  const { world, tenant, ids } = await withPeople(10);
  const as = await tenant.dashboard();
  const entrance = await entranceOf(world, as, { route: "POST /api/v1/notifications", body: {} });
  const jobs: string[] = [];
  const cost = await spent(world, async () => {
    for (const id of ids) jobs.push((await post(world, tenant, { subscriberIds: [id] })).body.id);
    await world.settle();
  });

  await redeliver(world, tenant, jobs);
  for (const [i, id] of jobs.entries()) {
    expect(await jobOf(tenant, id)).toMatchObject({
      status: "completed",
      sent: 1,
      counts: { total: 1, sent: 1, delivered: 1, failed: 0 },
      delivered_by_channel: { in_app: 1 },
    });
    expect(await inboxOf(world, tenant, ids[i]!)).toHaveLength(1);
  }

  // Two of them are the audit trail (docs/decisions/0043), which a send with a server key does not pay.
  expect(cost.wcu / 10 - entrance.wcu).toBeLessThanOrEqual(6.5);
});

it("a suspended workspace's send is held, and is handed over in a round of its own after reactivation (AMB-112, AMB-109)", async () => {
  const { world, tenant } = await withTenant();
  const [ada] = await addPeople(world, tenant, 1);
  const { id } = (await post(world, tenant, { subscriberIds: [ada] })).body;
  await operate(world, tenant, { status: "suspended" });
  await world.settle();
  await world.advance(2 * HOUR);
  await operate(world, tenant, { status: "active" });
  expect(await jobOf(tenant, id)).toMatchObject({ status: "queued", sent: 1 });
  expect(await inboxOf(world, tenant, ada!)).toEqual([]);
  await world.call("POST /v1/in-app/messages/read", { as: tenant.sdk, body: { subscriber_id: ada } });
  await world.advance(20 * MINUTE);
  expect(await jobOf(tenant, id)).toMatchObject({ status: "completed", counts: { delivered: 1 } });
  const [message] = await inboxOf(world, tenant, ada!);
  expect(message).toMatchObject({ notification_id: id, status: "unread" });
  expect(Date.parse(message.created_at) - START).toBeGreaterThanOrEqual(2 * HOUR);
  await redeliver(world, tenant, [id]);
  expect(await inboxOf(world, tenant, ada!)).toHaveLength(1);
});

it("a new round is delivered in although the reply to its beginning was lost (AMB-109, D-NTF)", async () => {
  const beginning = requests({ of: "deliver", operation: "UpdateItem", moment: "after" });
  beginning.next(() => {
    throw Object.assign(new Error("the reply was lost"), { name: "TimeoutError" });
  });
  const { world, tenant } = await withTenant({ hooks: beginning.hooks });
  const [ada] = await addPeople(world, tenant, 1);
  const { id } = (await post(world, tenant, { subscriberIds: [ada] })).body;
  await operate(world, tenant, { status: "suspended" });
  await world.settle();
  await world.advance(12 * MINUTE);
  await operate(world, tenant, { status: "active" });
  await redeliver(world, tenant, [id]);

  expect(beginning.isAwaited()).toBe(false);
  expect(await inboxOf(world, tenant, ada!)).toHaveLength(1);
});

it("a deleted workspace's send is canceled (AMB-112)", async () => {
  const { world, tenant } = await withTenant();
  const [ada] = await addPeople(world, tenant, 1);
  const { id } = (await post(world, tenant, { subscriberIds: [ada] })).body;
  await operate(world, tenant, { status: "deleted" });
  await world.settle();
  // By then no worker of its round can be writing the message any more (docs/decisions/0089).
  await world.advance(11 * MINUTE);

  expect(await tenant.store.get(JobItem, { job: id })).toMatchObject({ status: "canceled" });
  expect(await tenant.store.query(Message, { subscriber: ada! })).toMatchObject({ items: [] });
});

it("the only recipient of a send is anonymous after erasure, whether the message was delivered before it or not (SUB-10)", async () => {
  const { world, tenant, ids } = await withPeople(1);
  const [ada] = ids as [string];
  const delivered = (await post(world, tenant, { subscriberIds: ids })).body.id;
  await world.settle();
  const pending = (await post(world, tenant, { subscriberIds: ids })).body.id;

  await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
  await world.settle();
  await world.advance(20 * MINUTE);

  for (const job of [delivered, pending]) {
    const row = await tenant.store.get(JobItem, { job });
    expect(row?.recipients).toMatch(/^~/);
    expect(row?.status).toMatch(/completed|failed/);
  }

  expect(JSON.stringify(await wholeTable(world))).not.toContain(packId(ada));
});

it("a push to one subscriber is tried again after a refusal, and shows what is known meanwhile (D-NTF, AMB-111)", async () => {
  const { world, tenant } = await withTenant();
  const { ios } = await openChannels(world, tenant, "ios-push");
  const [ada = ""] = await addPeople(world, tenant, 1);
  await addPhone(world, tenant, ada, "ios");
  await spoil(world, { channel: "ios", outcome: "transient" });
  const { id } = (await post(world, tenant, { subscriberIds: [ada], channel_ids: [ios] })).body;
  await world.settle();
  await world.advance(7 * MINUTE);
  expect(await jobOf(tenant, id)).toMatchObject({ status: "processing", sent: 1, counts: { delivered: 0 } });
  const route = `GET /api/v1/notifications/${id}/recipients`;
  expect((await tenant.call(route)).body.items).toMatchObject([{ state: "pending" }]);
  await mend(world);
  await world.advance(HOUR);
  expect(await jobOf(tenant, id)).toMatchObject({ status: "completed", counts: { delivered: 1, failed: 0 } });
  expect(await ledgerOf(tenant, ada)).toHaveLength(4);
});

it("a send to one subscriber whose message was lost is found by the watch of its quarter-hour, which ends with it (D-NTF)", async () => {
  const delivering = requests({ of: "deliver" });
  delivering.fail();
  const { world, tenant } = await withTenant({ hooks: delivering.hooks });
  const people = await addPeople(world, tenant, 3);
  const jobs: string[] = [];
  for (const id of people) jobs.push((await post(world, tenant, { subscriberIds: [id] })).body.id);
  await world.settle();
  // The queue gives up the messages of the sends, and those of the first watches.
  await world.advance(4 * HOUR);
  delivering.pass();
  expect((await jobOf(tenant, jobs[0]!)).status).toBe("queued");
  await world.advance(50 * MINUTE);
  for (const id of jobs)
    expect(await jobOf(tenant, id)).toMatchObject({ status: "completed", counts: { delivered: 1 } });
  const rows = (await wholeTable(world)).map((row) => JSON.stringify(row));
  expect(rows.filter((row) => row.includes("sends-watch"))).toEqual([]);
});
