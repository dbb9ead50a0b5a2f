// The operator's commands, over the function and the embedded services.
import { CreateBucketCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { beforeEach, expect, it } from "vitest";
import { requestOf, run } from "../../infra/operate.ts";
import { redriveRecords } from "../../infra/redrive-records.ts";
import { requireSweep, switchWorkers } from "../../infra/workers.ts";
import { TABLE } from "../../local/account.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { WebhookCount } from "../../shared/store/webhooks/items.ts";
import { type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});

const operate = (...words: string[]) =>
  run(requestOf(words), (event) => world.host.invoke("operator", event), world.clock.now());
const operateJson = async (...words: string[]) => JSON.parse(await operate(...words, "--json"));

it("the operator lists every workspace with its usage, and those that are near a limit (RDA-19)", async () => {
  const agency = await world.tenant({ name: "Agency" });
  await world.host.invoke("operator", { tenant_id: agency.id, kind: "agency" });
  const created = await agency.call("POST /api/v1/agency/workspaces", { name: "Client" });
  const small = await world.tenant({ plan: "free", name: "Small" });
  await world.host.invoke("operator", { tenant_id: small.id, usage: { sends: 8_500, events: 100 } });
  const capped = { monthly_send_cap: 100, usage: { sends: 90 } };
  await world.host.invoke("operator", { tenant_id: created.body.id, ...capped });
  await small.upsert({ external_id: "a" });
  const all = await operateJson("workspaces");
  expect(all.map(({ id }: { id: string }) => id).sort()).toEqual([agency.id, created.body.id, small.id].sort());
  const near = await operateJson("workspaces", "--near", "80");
  expect(near.filter(({ id }: { id: string }) => id !== small.id)).toMatchObject([
    { id: created.body.id, nearest: { limit: "sends", used: 90, max: 100, percent: 90 } },
  ]);
  expect(near.filter(({ id }: { id: string }) => id === small.id)).toEqual([
    expect.objectContaining({
      name: "Small",
      usage: expect.objectContaining({ sends: 8_500, events: 100, subscribers: 1 }),
      nearest: { limit: "sends", used: 8_500, max: 10_000, percent: 85 },
    }),
  ]);
  expect(await operate("workspaces", "--near=80")).toMatch(
    /Small +free +active +8500 +100 +1 +85% of 10000 sends\n[\s\S]*2 of 3/,
  );
});

it("the list goes on beyond a page, and a workspace whose data is gone is not in it (RDA-19)", async () => {
  const agency = await world.tenant();
  await world.host.invoke("operator", { tenant_id: agency.id, kind: "agency" });
  for (let n = 0; n < 51; n++) await agency.call("POST /api/v1/agency/workspaces", { name: `Client ${n}` });
  expect(await operateJson("workspaces")).toHaveLength(52);
});

it("the cost of a month is that of its counters, by workspace (RDA-19)", async () => {
  const tenant = await world.tenant({ name: "Shop" });
  await world.host.invoke("operator", { tenant_id: tenant.id, usage: { sends: 2_000_000, events: 1_000_000 } });
  await world.advance(12 * 86_400_000);
  await world.host.invoke("operator", { tenant_id: tenant.id, usage: { sends: 7, events: 7 } });
  const { period, workspaces } = await operateJson("cost");
  expect([period, workspaces]).toEqual([
    "2026-11",
    [
      {
        id: tenant.id,
        name: "Shop",
        sends: 2_000_000,
        events: 1_000_000,
        dollars: 2.183073,
        dollars_at_most: 17.095566,
      },
    ],
  ]);
  expect(await operate("cost", "2026-12")).toContain("0.00 to 0.00 dollars");
  await expect(operate("cost", "2026-13")).rejects.toThrow("must be a month");
});

it("dead letters are counted and read without taking them, and sent again (RDA-19, D-HEALTH)", async () => {
  const { sqs } = world;
  const { QueueUrl } = await sqs.operate("GetQueueUrl", { QueueName: "verify-channel-dead" });
  const tenant = await world.tenant();
  for (let n = 0; n < 12; n++)
    await sqs.operate("SendMessage", {
      QueueUrl,
      MessageBody: JSON.stringify({ tenant: tenant.id, channel: `c${n}` }),
    });
  for (let reading = 0; reading < 2; reading++) {
    const { dead_letters, messages } = await operateJson("dead-letters", "verify-channel");
    expect(dead_letters).toEqual([{ queue: "verify-channel", count: 12 }]);
    expect(new Set(messages.map(({ message }: { message: { channel: string } }) => message.channel)).size).toBe(12);
  }
  expect(await operate("dead-letters")).toMatch(/verify-channel +12\n12 dead letters/);
  expect(await operate("redrive", "verify-channel")).toBe("12 messages of verify-channel are sent again.");
  await world.settle();
  expect(await operate("dead-letters")).toBe("0 dead letters.");
  await expect(operate("redrive", "react")).rejects.toThrow("docs/operate.md");
  await expect(operate("redrive", "nowhere")).rejects.toThrow("must be one of react, publish-events, fan-out");
});

it("a redrive while the one before is under way is refused in words, and later sends what is left (RDA-19, D-HEALTH)", async () => {
  const { sqs } = world;
  const { QueueUrl } = await sqs.operate("GetQueueUrl", { QueueName: "verify-channel-dead" });
  const MessageBody = JSON.stringify({ tenant: (await world.tenant()).id, channel: "c" });
  await sqs.operate("SendMessage", { QueueUrl, MessageBody });
  await operate("redrive", "verify-channel");
  await sqs.operate("SendMessage", { QueueUrl, MessageBody });

  await expect(operate("redrive", "verify-channel")).rejects.toThrow("are being sent again already");
  await world.advance(MINUTE);
  expect(await operate("redrive", "verify-channel")).toBe("1 messages of verify-channel are sent again.");
});

it("events of a workspace are put on the bus by its command, of a workspace that there is (CLI-3)", async () => {
  world = await testWorld({ env: { EVENT_BUS: "engagement" } });
  const tenant = await world.tenant();
  const row = () => tenant.rows.get({ pk: `TENANT#${tenant.id}`, sk: `TENANT#${tenant.id}` });
  expect(await operate("events-on-bus", tenant.id, "on")).toContain("are on");
  expect(await row()).toMatchObject({ events_on_bus: true });
  expect(await operate("events-on-bus", tenant.id, "off")).toContain("are off");
  expect(await row()).toMatchObject({ events_on_bus: false });
  await expect(operate("events-on-bus", tenant.id)).rejects.toThrow("Say on or off");
  await expect(operate("events-on-bus", "nobody", "on")).rejects.toThrow("no such workspace");
});

it("events of a workspace are put on no bus where the deployment has none, and its operator is told (CLI-3)", async () => {
  const { id } = await world.tenant();
  await expect(operate("events-on-bus", id, "on")).rejects.toThrow("The deployment has no event bus");
  expect(await operate("events-on-bus", id, "off")).toContain("are off");
});

it("the dead letters of a publisher that is not deployed are refused, not asked for (CLI-3)", async () => {
  for (const command of ["dead-letters", "redrive"])
    await expect(operate(command, "publish-events")).rejects.toThrow("The deployment has no publish-events");
});

it("a batch that the publisher answers with failures stays among the dead letters (CLI-3)", async () => {
  const { aws } = world.depsFor("test");
  const { QueueUrl } = await world.sqs.operate("GetQueueUrl", { QueueName: "publish-events-dead" });
  const [Bucket, Key] = ["unpublished", "batch"];
  await aws(S3Client).send(new CreateBucketCommand({ Bucket }));
  await aws(S3Client).send(new PutObjectCommand({ Bucket, Key, Body: JSON.stringify({ payload: { Records: [] } }) }));
  const detail = { bucket: { name: Bucket }, object: { key: Key } };
  await world.sqs.operate("SendMessage", { QueueUrl, MessageBody: JSON.stringify({ detail }) });
  const refusing = async () => ({ batchItemFailures: [{ itemIdentifier: "4711" }] });
  await expect(redriveRecords(aws, "publish-events-dead", refusing)).rejects.toThrow("the record 4711 failed");
  await world.advance(5 * MINUTE);
  expect(await redriveRecords(aws, "publish-events-dead", async () => ({ batchItemFailures: [] }))).toBe(1);
});

it("failed records of the stream are handled again, and stay where they fail again (RDA-19)", async () => {
  const { aws } = world.depsFor("test");
  const tenant = await world.tenant();
  await tenant.upsert({ external_id: "ada" });
  const Records = await world.dynamodb.records(TABLE, "", 100);
  await world.settle();
  const { QueueUrl } = await world.sqs.operate("GetQueueUrl", { QueueName: "react-dead" });
  const [Bucket, event] = ["failed-records", { Records: Records.filter(({ dynamodb }) => dynamodb?.NewImage?.react) }];
  await aws(S3Client).send(new CreateBucketCommand({ Bucket }));
  const bodies = { text: { payload: JSON.stringify(event) }, object: { payload: event }, broken: { version: "1.0" } };
  for (const [key, body] of Object.entries(bodies)) {
    await aws(S3Client).send(new PutObjectCommand({ Bucket, Key: key, Body: JSON.stringify(body) }));
    const detail = { bucket: { name: Bucket }, object: { key } };
    await world.sqs.operate("SendMessage", { QueueUrl, MessageBody: JSON.stringify({ detail }) });
  }
  const { MessageId } = await world.sqs.operate("SendMessage", { QueueUrl, MessageBody: "a note" });
  const handled: unknown[] = [];
  const react = async (batch: object) => {
    await world.host.invoke("react", batch);
    handled.push(batch);
  };
  await expect(redriveRecords(aws, "react-dead", react)).rejects.toThrow(
    "2 batches were handled, 2 failed again:\ns3://failed-records/broken: the object has no payload\n" +
      `message ${MessageId}: it names no object of S3`,
  );
  expect(event.Records.length).toBeGreaterThan(0);
  expect(handled).toEqual([event, event]);
  await world.advance(5 * MINUTE);
  expect((await operateJson("dead-letters", "react")).dead_letters).toEqual([{ queue: "react", count: 2 }]);
});

it("a recount repairs the counters of one workspace now (RDA-19)", async () => {
  const tenant = await world.tenant();
  await tenant.store.change(WebhookCount, {}, { set: { n: 3, changes: 1 } });
  expect(await operate("recount", tenant.id)).toContain("being recounted");
  await world.settle();
  expect(await tenant.store.get(WebhookCount, {})).toMatchObject({ n: 0 });
  await expect(operate("recount", "nobody")).rejects.toThrow("There is no such workspace.");
});

it("all workers of one deployment are switched off and on without a deployment (RDA-19)", async () => {
  const source = (UUID: string, name: string, State = "Enabled") => ({
    UUID,
    State,
    FunctionArn: `arn:aws:lambda:eu-west-1:123456789012:function:${name}`,
  });
  const pages = [
    { EventSourceMappings: [source("1", "Shop-deliver"), source("2", "Shop-B-deliver")], NextMarker: "next" },
    { EventSourceMappings: [source("3", "Shop-react"), source("4", "Shop-due", "Disabled"), source("5", "else")] },
  ];
  const changed: unknown[] = [];
  const functions = {
    send: async ({ input }: { input: { UUID?: string; Marker?: string; Enabled?: boolean } }) => {
      if (input.UUID === undefined) return pages[input.Marker === "next" ? 1 : 0];
      changed.push([input.UUID, input.Enabled]);
    },
  };
  expect(await switchWorkers(functions, "Shop", false)).toBe(3);
  expect(await switchWorkers(functions, "Shop", true)).toBe(3);
  expect(changed).toEqual([
    ["1", false],
    ["3", false],
    ["4", true],
  ]);
  await expect(switchWorkers(functions, "Nowhere", false)).rejects.toThrow("has no workers");
  await expect(operate("workers")).rejects.toThrow("Say on or off.");
});

it("workers that a deployment left off are not switched on by hand: the sweep of timers would stay off (RDA-19, OPS-3)", async () => {
  const asked: object[] = [];
  const groupOf = (all: { State: string }[]) => ({
    send: async ({ input }: { input: { State: string; GroupName: string } }) => {
      asked.push(input);
      return { Schedules: all.filter(({ State }) => State === input.State) };
    },
  });

  await expect(requireSweep(groupOf([{ State: "ENABLED" }, { State: "DISABLED" }]), "Shop")).rejects.toThrow(
    "deploy it with `-c workers=on`",
  );
  await requireSweep(groupOf([{ State: "ENABLED" }]), "Shop");
  expect(asked).toMatchObject([{ GroupName: "Shop" }, { GroupName: "Shop" }]);
});

it("who switches the workers off is told how long writes wait, and who switches them on is not (RDA-19)", async () => {
  const said = (words: string[]) => run(requestOf(words), async () => ({ workers: 25 }), 0);

  expect(await said(["workers", "off"])).toBe(
    "25 workers are off, within about a minute. Writes wait for 12 hours; what follows from older ones is to be redriven " +
      "(redrive react), and after 24 hours it is lost.",
  );
  expect(await said(["workers", "on"])).toBe("25 workers are on, within about a minute.");
});

it.each([
  [[], "Name a command."],
  [["list"], "The command list is unknown."],
  [["workspaces", "--near"], "Option '--near <value>' argument missing."],
  [["workspaces", "--near", "x"], "--near takes a percentage."],
  [["cost", "2026-10", "2026-11"], "2026-11 is one argument too many."],
  [["console", "--port", "65536"], "--port takes a port number."],
  [["cost", "--all"], "Unknown option '--all'."],
])("%j is refused: %s", (words, message) => {
  expect(() => requestOf(words)).toThrow(message);
});

it("/healthz says which version and commit runs, and in which region (RDA-19, F24)", async () => {
  const { body } = await world.call("GET /healthz");
  const version = expect.stringMatching(/^\d+\.\d+\.\d+/);
  expect(body).toEqual({ status: "ok", version, commit: "unknown", region: "local" });
});
