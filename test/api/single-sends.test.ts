// Sends to one recipient: what they cost, and where a long text is stored. How they are counted: sends-ahead.test.ts.
import { expect, it } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { packId } from "../../shared/kernel/ids.ts";
import { deliverQueue } from "../../shared/runtime/resources.ts";
import { ChunkItem } from "../../shared/store/sends/audience/audience-items.ts";
import { REQUEST_RANGE } from "../../shared/store/sends/chunks/range-names.ts";
import { Message } from "../../shared/store/sends/inbox/inbox-items.ts";
import { JobItem } from "../../shared/store/sends/jobs/job-items.ts";
import { singleMessage } from "../../shared/store/sends/jobs/single.ts";
import { mortal } from "../support/mortal.ts";
import { jobOf, post } from "../support/notify.ts";
import { addPeople, inboxOf, operate, wholeTable } from "../support/people.ts";
import { addPhone, ledgerOf, mend, openChannels, outboxOf, spoil } from "../support/reached.ts";
import { entranceOf, spent } from "../support/spending.ts";
import { openStream } from "../support/sse.ts";
import { START, type Tenant, type TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
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

it("a long text is stored once however many sends have it, and each shows it (NTF-17, D-NTF)", async () => {
  const { world, tenant } = await withTenant();
  const [ada] = await addPeople(world, tenant, 1, () => ({ attributes: { plan: "plan number 3" } }));
  const template = { name: "Long", content: { title: "From a template", body: long } };
  const template_id = (await tenant.call("POST /api/v1/templates", template)).body.id;
  const one = { subscriberIds: [ada] };
  const sends: { body?: string | undefined; variant_b?: { title: string; body: string }; [name: string]: unknown }[] = [
    { ...one, body: long },
    { ...one, body: long, subscriber_filters: filters, data: { order: "7" } },
    { ...one, title: undefined, body: undefined, template_id },
    { ...one, title: undefined, body: undefined, template_id },
    { ...one, body: long, variant_b: { title: "Other", body: long }, split_percentage: 50 },
  ];
  const stream = await openStream(world, `?subscriber_id=${ada}`, tenant.sdk);
  for (const body of sends) {
    const { id } = (await post(world, tenant, body)).body;
    await world.settle();
    const { body: text, variant_b, ...job } = await jobOf(tenant, id);
    const { body: _, variant_b: other, ...given } = { subscriber_filters: null, data: null, ...body };
    const { subscriber_filters, data } = given;
    const title = "template_id" in body ? "From a template" : "Hello";
    const shown = { title, subscriber_filters, data, status: "completed", counts: { total: 1, delivered: 1 } };
    expect(job).toMatchObject(shown);
    const [message] = await inboxOf(world, tenant, ada!);
    expect([text, message.content.body, variant_b?.body].map((one) => one?.length)).toEqual([
      long.length,
      long.length,
      other?.body.length,
    ]);
    const row = await tenant.store.get(JobItem, { job: id });
    expect(JSON.stringify(row).length).toBeLessThanOrEqual(1_024);
  }
  await world.advance(2 * SECOND);
  const told = stream.frames().map(({ data: { body, data } }) => [body === long, data]);
  const custom = [{}, { order: "7" }, {}, {}, { variant_id: expect.any(String) }];
  expect(told).toEqual(custom.map((data) => [true, data]));
  stream.disconnect();
  const contents = (await wholeTable(world)).filter(({ pk }) => String(pk.S ?? pk).includes("#S#"));
  expect(contents).toHaveLength(4);
  const list = (await tenant.call("GET /api/v1/notifications")).body.items;
  expect(list.map(({ body }: { body: string }) => body === long)).toEqual(sends.map(() => true));
});

it("a single in-app send costs the same whatever the length of a text that was sent before, and by a template", async () => {
  const { world, tenant } = await withTenant();
  const [ada] = await addPeople(world, tenant, 1);
  const one = { subscriberIds: [ada] };
  await costOf(world, tenant, one);
  const short = await costOf(world, tenant, one);
  // Two of them are the audit trail (docs/decisions/0043).
  expect(short.wcu).toBeLessThanOrEqual(6);
  expect(short.requests).toBeLessThanOrEqual(10);
  await costOf(world, tenant, { ...one, body: long });
  expect(await costOf(world, tenant, { ...one, body: long })).toEqual(short);
  const body = { name: "Short", content: { title: "From a template", body: "Hello" } };
  const made = await tenant.call("POST /api/v1/templates", body);
  const by = { ...one, title: undefined, body: undefined, template_id: made.body.id };
  await costOf(world, tenant, by);
  expect((await costOf(world, tenant, by)).wcu).toBe(short.wcu);
});

/** A worker that handles messages again, as a queue may deliver them twice. */
const again = async (world: TestWorld, tenant: Tenant, jobs: readonly string[]) => {
  const messages = jobs.map((job) => singleMessage(tenant.id, job));
  await deliverQueue.open(world.depsFor("deliver"))(tenant.id).send(messages);
  await world.settle();
};

it("sends of one burst are each delivered once, and a repeated message changes nothing", async () => {
  const { world, tenant } = await withTenant();
  const people = await addPeople(world, tenant, 10);
  const as = await tenant.dashboard();
  const entrance = await entranceOf(world, as, { route: "POST /api/v1/notifications", body: {} });
  const jobs: string[] = [];
  const cost = await spent(world, async () => {
    for (const id of people) jobs.push((await post(world, tenant, { subscriberIds: [id] })).body.id);
    await world.settle();
  });
  // Two of them are the audit trail (docs/decisions/0043), which a send with a server key does not pay.
  expect(cost.wcu / 10 - entrance.wcu).toBeLessThanOrEqual(6.5);
  await again(world, tenant, jobs);
  for (const [i, id] of jobs.entries()) {
    expect(await jobOf(tenant, id)).toMatchObject({
      status: "completed",
      sent: 1,
      counts: { total: 1, sent: 1, delivered: 1, failed: 0 },
      delivered_by_channel: { in_app: 1 },
    });
    expect(await inboxOf(world, tenant, people[i]!)).toHaveLength(1);
  }
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
  await again(world, tenant, [id]);
  expect(await inboxOf(world, tenant, ada!)).toHaveLength(1);
});

it("a new round is delivered in although the reply to its beginning was lost (AMB-109, D-NTF)", async () => {
  let lost = 0;
  const after = (_: string, operation: string) => {
    if (operation !== "UpdateItem" || lost++ > 0) return;
    throw Object.assign(new Error("the reply was lost"), { name: "TimeoutError" });
  };
  const { world, tenant } = await withTenant({ hooks: (name) => (name === "deliver" ? { after } : {}) });
  const [ada] = await addPeople(world, tenant, 1);
  const { id } = (await post(world, tenant, { subscriberIds: [ada] })).body;
  await operate(world, tenant, { status: "suspended" });
  await world.settle();
  await world.advance(12 * MINUTE);
  await operate(world, tenant, { status: "active" });
  await again(world, tenant, [id]);
  expect(lost).toBeGreaterThan(0);
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
  const { world, tenant } = await withTenant();
  const [ada] = await addPeople(world, tenant, 1);
  const sent = (await post(world, tenant, { subscriberIds: [ada] })).body.id;
  await world.settle();
  const route = `GET /api/v1/notifications/${sent}/recipients/${ada}`;
  expect((await tenant.call(route)).body).toMatchObject({ decision: "sent" });
  await operate(world, tenant, { status: "suspended" });
  await operate(world, tenant, { status: "active" });
  const { id: late } = (await post(world, tenant, { subscriberIds: [ada] })).body;
  await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
  await world.settle();
  await world.advance(20 * MINUTE);
  for (const job of [sent, late]) {
    const row = await tenant.store.get(JobItem, { job });
    expect(row?.recipients).toMatch(/^~/);
    expect(row?.status).toMatch(/completed|failed/);
  }
  expect(JSON.stringify(await wholeTable(world))).not.toContain(packId(ada!));
});

it("a crash at any step of a push to one subscriber sends it at most once, and its row says what became of it (F1, T1, D-NTF)", async () => {
  const worker = mortal("deliver");
  const { world, tenant } = await withTenant({ hooks: worker.hooks });
  const { ios } = await openChannels(world, tenant, "ios-push");
  const [ada = ""] = await addPeople(world, tenant, 1);
  await addPhone(world, tenant, ada, "ios");
  const run = async (n: number, moment: "before" | "after") => {
    worker.dieAt(n, moment);
    const { id } = (await post(world, tenant, { subscriberIds: [ada], channel_ids: [ios] })).body;
    await world.settle();
    const taken = worker.steps();
    worker.revive();
    await world.advance(9 * MINUTE);
    const { status, sent, counts, fail_reasons } = await jobOf(tenant, id);
    const at = `step ${n} ${moment}`;
    const unconfirmed = fail_reasons.delivery_unconfirmed ?? 0;
    const given = (await outboxOf(world, `?job_id=${id}`)).length;
    expect([at, sent, counts.delivered + unconfirmed, counts.failed]).toEqual([at, 1, 1, unconfirmed]);
    expect([at, status]).toEqual([at, unconfirmed ? "failed" : "completed"]);
    expect([at, given <= 1, given >= counts.delivered]).toEqual([at, true, true]);
    const rows = (await ledgerOf(tenant, ada)).filter(({ job }) => job === id);
    expect([at, rows.map(({ state, place }) => [state, place])]).toEqual([
      at,
      [[unconfirmed ? "unknown" : "sent", "solo#0"]],
    ]);
    const row = await tenant.store.get(JobItem, { job: id });
    expect([at, row?.owner, row?.progress]).toEqual([at, undefined, undefined]);
    expect(await tenant.store.get(ChunkItem, { job: id, range: REQUEST_RANGE, n: 0 })).toBeUndefined();
    return taken;
  };
  const steps = await run(1_000, "before");
  expect(steps).toBeGreaterThan(3);
  for (let n = 1; n <= steps; n++) for (const moment of ["before", "after"] as const) await run(n, moment);
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
  let isLost = true;
  const { world, tenant } = await withTenant({
    hooks: (name) => ({
      before: () => {
        if (name === "deliver" && isLost) throw new Error("the worker is away");
      },
    }),
  });
  const people = await addPeople(world, tenant, 3);
  const jobs: string[] = [];
  for (const id of people) jobs.push((await post(world, tenant, { subscriberIds: [id] })).body.id);
  await world.settle();
  // The queue gives up the messages of the sends, and those of the first watches.
  await world.advance(4 * HOUR);
  isLost = false;
  expect((await jobOf(tenant, jobs[0]!)).status).toBe("queued");
  await world.advance(50 * MINUTE);
  for (const id of jobs)
    expect(await jobOf(tenant, id)).toMatchObject({ status: "completed", counts: { delivered: 1 } });
  const rows = (await wholeTable(world)).map((row) => JSON.stringify(row));
  expect(rows.filter((row) => row.includes("sends-watch"))).toEqual([]);
});

it("a worker that stops at any step of a send to one inbox, for long, leaves one message (F1, T1, D-NTF)", async () => {
  const worker = mortal("deliver");
  const { world, tenant } = await withTenant({ hooks: worker.hooks });
  const [ada = ""] = await addPeople(world, tenant, 1);
  const run = async (n: number, moment: "before" | "after") => {
    worker.dieAt(n, moment);
    const { id } = (await post(world, tenant, { subscriberIds: [ada] })).body;
    await world.settle();
    const taken = worker.steps();
    await world.advance(12 * MINUTE);
    worker.revive();
    await world.advance(40 * MINUTE);
    const { status, counts } = await jobOf(tenant, id);
    const messages = (await inboxOf(world, tenant, ada)).filter(({ notification_id }) => notification_id === id);
    expect([n, moment, status, counts.delivered, messages.length]).toEqual([n, moment, "completed", 1, 1]);
    return taken;
  };
  const steps = await run(1_000, "before");
  expect(steps).toBeGreaterThan(2);
  for (let n = 1; n <= steps; n++) for (const moment of ["before", "after"] as const) await run(n, moment);
});
