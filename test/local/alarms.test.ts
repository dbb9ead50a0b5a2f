// The local service under the alarms of the template: from a line of its log to a mail in its outbox (docs/local.md).
import { SSMClient } from "@aws-sdk/client-ssm";
import { afterEach, expect, it } from "vitest";
import { deployedSettings } from "../../infra/deployed-settings.ts";
import { local, requestOf, run } from "../../infra/operate.ts";
import { startAwsPort } from "../../local/aws/index.ts";
import { createControl } from "../../local/control.ts";
import { createFaults, UNDISTURBED } from "../../local/faults.ts";
import { startHttpServer } from "../../local/http-server.ts";
import { openTenancy } from "../../local/tenancy.ts";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { openedStack } from "../infra/support/alarm-account.ts";
import { EVERYTHING, ofType, type Template, whole } from "../infra/support/template.ts";
import { openStream } from "../support/sse.ts";
import type { TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant, fresh } = worlds();
const servers: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const stackOf = (template: Template) => ({ name: "Engagement", template });

const mailed = async (world: TestWorld, to = EVERYTHING.alarmEmail) =>
  (await world.call("GET /_local/outbox?channel=email")).body.items.filter((mail: { to: string }) => mail.to === to);

async function confirm(world: TestWorld): Promise<void> {
  world.stack!.topics.askToConfirm("http://127.0.0.1:3000");
  const [letter] = await mailed(world);
  const [link] = /\/_local\/subscriptions\/\w+/.exec(letter.body)!;
  expect(await world.call(`GET ${link}`)).toMatchObject({ status: 200, body: { confirmed: EVERYTHING.alarmEmail } });
  await world.call("DELETE /_local/outbox");
}

/** A stream that cannot open: the function answers 503 and logs it. */
async function refuseStream({ world, tenant }: Awaited<ReturnType<typeof withTenant>>): Promise<void> {
  const reader = await tenant.upsert({ external_id: "a" });
  await world.call("POST /_local/faults", { body: { channel: "stream" } });
  expect((await openStream(world, `?subscriber_id=${reader}`, tenant.sdk)).status).toBe(503);
}

const ringing = async (world: TestWorld) => (await world.call("GET /_local/alarms")).body.items;

it("a line of the local log past the threshold of the template's alarm mails the address that has confirmed, once (D1)", async () => {
  const made = await withTenant({ stack: stackOf(whole()) });
  const { world } = made;
  await confirm(world);
  await refuseStream(made);
  await refuseStream(made);

  const letters = await mailed(world);
  expect(letters).toMatchObject([{ title: expect.stringMatching(/^ALARM: "Engagement-StreamFullAlarm/) }]);
  expect(letters[0].body).toContain("Users who open the app now get no live stream");
  expect(await ringing(world)).toMatchObject([{ state: "ALARM", mailed_to: [EVERYTHING.alarmEmail], lost: null }]);

  await world.advance(6 * MINUTE);
  expect(await ringing(world)).toMatchObject([{ state: "OK" }]);
});

it("an address that has not confirmed gets no mail of a local alarm, and it shows (D1)", async () => {
  const made = await withTenant({ stack: stackOf(whole()) });
  await refuseStream(made);

  expect(await mailed(made.world)).toEqual([]);
  const lost = `${EVERYTHING.alarmEmail} has not confirmed its subscription`;
  expect(await ringing(made.world)).toMatchObject([{ state: "ALARM", mailed_to: [], lost }]);
  expect(made.world.logs).toContainEqual(
    expect.objectContaining({ level: "warn", message: "an alarm mailed nobody", reason: lost }),
  );
});

it("a topic that does not let CloudWatch publish mails no local alarm, and it shows (D1)", async () => {
  const [[id, policy] = [] as never] = ofType(whole(), "AWS::SNS::TopicPolicy");
  const { PolicyDocument, ...properties } = policy.Properties;
  const denies = PolicyDocument.Statement.filter(({ Effect }: { Effect: string }) => Effect === "Deny");
  const onlyDenies = { ...policy, Properties: { ...properties, PolicyDocument: { Statement: denies } } };
  const made = await withTenant({
    stack: stackOf({ ...whole(), Resources: { ...whole().Resources, [id]: onlyDenies } }),
  });
  await confirm(made.world);
  await refuseStream(made);

  expect(await mailed(made.world)).toEqual([]);
  expect(await ringing(made.world)).toMatchObject([{ state: "ALARM", lost: "CloudWatch may not publish" }]);
});

it("a local alarm adds up the period that the template says, and no more (D1)", () => {
  const { log, clock, mails } = openedStack(whole());
  const broken = (times: number) => {
    for (let n = 0; n < times; n++) log({ level: "warn", message: "a stream ended with an error" });
  };
  broken(5);
  clock.jumpTo(clock.now() + 5 * MINUTE);
  broken(5);
  expect(mails()).toEqual([]);

  broken(1);
  expect(mails()).toEqual([expect.stringContaining("StreamFailsAlarm")]);
});

const nameOfRinging = async (world: TestWorld): Promise<string[]> =>
  (await ringing(world)).map(({ name }: { name: string }) => /^Engagement-([A-Za-z]+)Alarm/.exec(name)?.[1]);

/** A message that the worker does not understand: it ends among the dead letters. */
const sendUnknown = (world: TestWorld) =>
  world.sqs.operate("SendMessage", { QueueUrl: world.env.DELIVER_QUEUE_URL, MessageBody: "{}" });

it("a dead letter of the local service rings the alarm of its queue, which mails (D1)", async () => {
  const { world } = await withTenant({ stack: stackOf(whole()) });
  await confirm(world);
  await sendUnknown(world);
  await world.advance(2 * HOUR);

  expect(await nameOfRinging(world)).toContain("DeliverDead");
  expect((await mailed(world)).map(({ title }: { title: string }) => title)).toContainEqual(
    expect.stringContaining("Engagement-DeliverDeadAlarm"),
  );
});

it("a message that is not handled for half an hour rings the alarm of its local queue (D1)", async () => {
  const { world } = await withTenant({ stack: stackOf(whole()) });
  await sendUnknown(world);
  const { DELIVER_QUEUE_URL: QueueUrl } = world.env;
  await world.sqs.operate("ReceiveMessage", { QueueUrl, VisibilityTimeout: 40 * 60 });
  await world.advance(25 * MINUTE);
  expect(await nameOfRinging(world)).toEqual([]);
  await world.advance(10 * MINUTE);

  expect(await nameOfRinging(world)).toEqual(["DeliverLate"]);
});

it("throttled invocations and server errors ring the alarms of the account and of the API (D1)", async () => {
  const { world, tenant } = await withTenant({ stack: stackOf(whole()), accountConcurrency: 1 });
  const as = await tenant.dashboard();
  await Promise.all(Array.from({ length: 8 }, () => world.call("GET /api/v1/lists", { as })));

  expect(await nameOfRinging(world)).toEqual(expect.arrayContaining(["ApiFails", "Throttled"]));
});

it("throttled calls of the table ring its local alarm, by a fault of the control surface (D1)", async () => {
  const { world, tenant } = await withTenant({ stack: stackOf(whole()) });
  const as = await tenant.dashboard();
  await world.call("POST /_local/faults", { body: { channel: "aws:dynamodb" } });
  for (let n = 0; n < 6; n++) await world.call("GET /api/v1/lists", { as });
  await world.call("DELETE /_local/faults");

  expect(await nameOfRinging(world)).toContain("TableThrottled");
});

it("npm run operate -- alarms ring NAME rings an alarm of the local service, which mails (D18)", async () => {
  const world = await fresh({ stack: stackOf(whole()) });
  const { operate } = await listen(world);
  expect(await operate("alarms")).toMatch(/ApiFails +OK +no/);
  await confirm(world);

  expect(await operate("alarms", "ring", "ApiFails")).toMatch(/^ApiFails rings/);
  expect(await operate("alarms")).toMatch(/ApiFails +ALARM +yes/);
  expect(await mailed(world)).toMatchObject([{ title: expect.stringContaining("ApiFailsAlarm") }]);
  await world.advance(MINUTE);
  expect(await operate("alarms")).toMatch(/ApiFails +OK +yes/);
});

it("a local service without a template says how it gets alarms (D18)", async () => {
  const { operate } = await listen(await fresh());
  await expect(operate("alarms")).rejects.toThrow("start with STACK_TEMPLATE");
});

it("the settings of the last deployment are read from the local parameter store (D4)", async () => {
  const world = await fresh({ stack: stackOf(whole()) });
  const aws = await startAwsPort(world, 0, () => undefined);
  servers.push(aws);
  const credentials = { accessKeyId: "any", secretAccessKey: "any" };
  const parameters = new SSMClient({ endpoint: aws.url, region: "local", credentials }) as never;

  expect(await deployedSettings(parameters, "Engagement")).toMatchObject({
    kind: "known",
    settings: { alarmEmail: EVERYTHING.alarmEmail, archive: 400 },
  });
  expect(await deployedSettings(parameters, "Another")).toEqual({ kind: "first" });
});

async function listen(world: TestWorld) {
  const control = createControl({
    service: world,
    tenancy: openTenancy(world.depsFor(UNDISTURBED)),
    faults: createFaults(),
  });
  const server = await startHttpServer({ port: 0, gateway: world.gateway, control, log: () => undefined });
  servers.push(server);
  return { operate: (...words: string[]) => run(requestOf(words), local(server.url), 0) };
}
