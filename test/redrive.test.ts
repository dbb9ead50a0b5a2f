// Messages that used up their attempts, sent again by the operator, have the effects that they would have had: once.
import { expect, it } from "vitest";
import { requestOf, run } from "../infra/operate.ts";
import { awsFailure } from "../local/aws/index.ts";
import { type QueueName, queueNames } from "../shared/contract/messages.ts";
import { MINUTE, timestamp } from "../shared/kernel/clock.ts";
import { remove, upload } from "./support/assets.ts";
import { identify, ingest } from "./support/events.ts";
import { draft, readExperience, take } from "./support/experiences.ts";
import { hook } from "./support/hooks.ts";
import { graphOf } from "./support/journeys.ts";
import { mailsOf, SES } from "./support/mails.ts";
import { multipartBody } from "./support/multipart.ts";
import { inboxOf } from "./support/people.ts";
import { pictures } from "./support/pictures.ts";
import { receiver } from "./support/receiver.ts";
import { type Tenant, type TestWorld, testWorld } from "./support/world.ts";

/** They complete what a crash left, or work at night, in a sandbox or thirty days later. */
const AT_OTHER_TIMES: ReadonlySet<QueueName> = new Set(["complete-events", "recount", "move-clock", "purge"]);
/** What timers and deliveries begin: it never begins while those fail. */
const LATER: readonly QueueName[] = ["run-schedule", "end-experience", "mail-event"];
const FIRST = queueNames.filter((queue) => !AT_OTHER_TIMES.has(queue) && !LATER.includes(queue));
/** Until a message has used up its attempts. */
const EXHAUSTING = 50 * MINUTE;
const ROUNDS = 4;

async function begin(broken: readonly string[]) {
  let isBroken = false;
  const outside = receiver(() => world.clock.now());
  const world: TestWorld = await testWorld({
    network: outside.network,
    hooks: (name) => ({
      before: (service) => {
        if (isBroken && broken.includes(name) && service !== "sqs") throw awsFailure("ValidationException", "broken");
      },
    }),
  });
  const tenant = await world.tenant();
  const setBroken = (whether: boolean) => {
    isBroken = whether;
  };
  const operate = (...words: string[]) =>
    run(requestOf(words), (event) => world.host.invoke("operator", event), world.clock.now());
  return { world, tenant, outside, operate, setBroken };
}

async function call(tenant: Tenant, route: string, body?: object) {
  const answer = await tenant.call(route, body);
  if (answer.status >= 300) throw new Error(`${route}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Something for every worker to do, and the time in which all of it fails. */
async function doings({ world, tenant, outside, setBroken }: Awaited<ReturnType<typeof begin>>) {
  const post = (path: string, body?: object) => call(tenant, `POST /api/v1/${path}`, body);
  const soon = (minutes: number) => timestamp(world.clock.now() + minutes * MINUTE);
  const inApp = (await call(tenant, "GET /api/v1/channels")).channels[0].id;
  const said = (title: string) => ({ content: { title, body: "b" }, channel_ids: [inApp] });
  await hook({ world, tenant, outside }, ["subscriber.created"]);
  const mailing = async () => {
    const { id } = await post("channels", { name: world.ids.uuid(), type: "email" });
    await post(`channels/${id}/credentials/email`, SES);
    await world.settle();
    return id as string;
  };
  const email = await mailing();
  setBroken(true);
  const unverified = await mailing();
  await post("insights/config", { event_name: "bought", value_property: "cents" });
  const steps = graphOf({
    hi: { send: { ...said("Hi"), next: "wait" } },
    wait: { delay: { duration: "5m", next: "bye" } },
    bye: { send: { ...said("Bye"), next: "end" } },
    end: "exit",
  });
  const trigger = { type: "event", event_name: "go" };
  const { id: journey } = await post("journeys", { name: "J", trigger, steps });
  await post(`journeys/${journey}/activate`);
  const rule = { attribute: { plan: { $eq: "pro" } } };
  const { id: segment } = await post("segments", { name: "Pro", is_dynamic: true, rule });
  const { id: list } = await post("lists", { name: "L" });
  const { id: asking } = await post("lists", { name: "Letter", double_opt_in: true });
  const ada = await tenant.upsert({ external_id: "ada", email: "ada@example.com", attributes: { plan: "pro" } });
  const bob = await tenant.upsert({ external_id: "bob", email: "bounce@simulator.amazonses.com" });
  const eve = await tenant.upsert({ external_id: "eve" });
  for (const id of [list, asking]) await post(`lists/${id}/subscribers`, { subscriber_ids: [ada, bob] });
  const experience = await draft(tenant, { end_at: soon(10) });
  await take(world, tenant, experience, "publish");
  const picture = (await upload(world, tenant, { file: pictures.png })).body.id;
  await world.call("POST /api/v1/auth/password/forgot", { body: { email: "owner1@example.com" } });
  await world.advance(MINUTE);
  await tenant.upsert({ external_id: "bob", attributes: { plan: "pro" } });
  const all = { target: { type: "all" }, body: "b", channel_ids: [inApp] };
  await post("notifications", { ...all, title: "All" });
  await post("notifications", { ...all, title: "Later", scheduled_at: soon(3) });
  await post("notifications", { ...all, title: "Mail", channel_ids: [email] });
  await post("notifications", { subscriberIds: [ada], title: "One", body: "b", channel_ids: [inApp] });
  const { id: campaign } = await post("campaigns", {
    name: "c",
    target: { type: "all" },
    messages: [said("Campaign")],
  });
  await post(`campaigns/${campaign}/release`);
  const { id: template_id } = await post("templates", { name: "t", content: { title: "Schedule", body: "b" } });
  const { body: _, ...toAll } = all;
  await post("schedules", { ...toAll, cron_expression: "5 12 * * *", timezone: "UTC", template_id });
  await world.advance(2 * MINUTE);
  await ingest(world, tenant, { event_name: "go", subscriber_id: ada });
  await ingest(world, tenant, { event_name: "bought", subscriber_id: ada, properties: { cents: 5 } });
  await identify(world, tenant, "visitor", ada);
  const form = multipartBody({ listId: list }, { filename: "a.csv", content: "external_id\nfay\n" });
  const imported = await world.call("POST /api/v1/lists/import", { as: await tenant.dashboard(), ...form });
  await remove(tenant, picture);
  await call(tenant, `DELETE /api/v1/lists/${asking}`);
  await call(tenant, `DELETE /api/v1/subscribers/${eve}`);
  await world.advance(EXHAUSTING);
  return { ada, bob, unverified, journey, segment, list, experience, imported: imported.body.import_job_id };
}

const titlesOf = async (world: TestWorld, tenant: Tenant, id: string) =>
  (await inboxOf(world, tenant, id)).map(({ content }) => content.title).sort();

it.each([
  { workers: "the first workers", broken: FIRST },
  { workers: "those that timers and deliveries begin", broken: LATER },
])("dead letters of $workers that are sent again have their effects once (RDA-19, D-HEALTH)", async ({ broken }) => {
  const part = await begin(broken);
  const { world, tenant, outside } = part;
  const { ada, bob, ...made } = await doings(part);
  part.setBroken(false);
  const redriven = new Set<QueueName>();
  // What one queue leads to reaches the next, and some had an attempt under way when they were looked for.
  for (let round = 0; round < ROUNDS; round++) {
    for (const queue of queueNames.filter((name) => world.sqs.depth(`${name}-dead`).visible > 0)) {
      redriven.add(queue);
      await part.operate("redrive", queue);
    }
    await world.advance(EXHAUSTING);
  }

  expect(broken.filter((queue) => !redriven.has(queue))).toEqual([]);
  expect(queueNames.filter((queue) => world.sqs.depth(`${queue}-dead`).visible > 0)).toEqual([]);
  expect([await titlesOf(world, tenant, ada), await titlesOf(world, tenant, bob)]).toEqual([
    ["All", "Bye", "Campaign", "Hi", "Later", "One", "Schedule"],
    ["All", "Campaign", "Later", "Schedule"],
  ]);
  const mails = (await mailsOf(world)).map(({ to, headers }) => `${to} ${headers.Subject}`).sort();
  expect(new Set(mails).size).toBe(mails.length);
  for (const to of ["ada@example.com Mail", "bounce@simulator.amazonses.com Mail", "owner1@example.com "])
    expect(mails).toContainEqual(expect.stringContaining(to));
  const hooks = outside.received.map(({ headers }) => headers["webhook-id"]);
  expect(new Set(hooks).size).toBe(hooks.length);
  const get = (path: string) => call(tenant, `GET /api/v1/${path}`);
  expect((await get(`channels/${made.unverified}/health`)).status).toBe("active");
  expect((await get(`segments/${made.segment}`)).count).toBe(2);
  expect((await get(`lists/${made.list}`)).subscriber_count).toBe(3);
  expect((await get(`lists/import/${made.imported}`)).status).toBe("completed");
  expect((await get(`journeys/${made.journey}/stats`)).runs).toMatchObject({ active: 0, completed: 1 });
  expect((await readExperience(tenant, made.experience)).body.status).toBe("ended");
});
