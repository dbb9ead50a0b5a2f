// One process of ours as the DynamoDB of another: AWS_ENDPOINT_URL_DYNAMODB.
import { afterEach, expect, test } from "vitest";
import { createRemoteDynamoDb, startAwsPort } from "../../local/aws/index.ts";
import { hasDynamoDbLocal, startDynamoDbLocal } from "../parity/engines.ts";
import { aws, ownerOf } from "../support/crash.ts";
import { cleanUp, newFolder, type ServiceProcess, startService } from "../support/service-process.ts";
import { testWorld } from "../support/world.ts";

afterEach(cleanUp);

const json = async (response: Response) => {
  expect(response.status).toBeLessThan(300);
  const text = await response.text();
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever JSON came back
  return (text && JSON.parse(text)) as any;
};

const post = async (service: ServiceProcess, path: string, headers: object, body: object = {}) =>
  json(
    await fetch(service.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    }),
  );

const inboxOf = async (service: ServiceProcess, id: string) =>
  json(await fetch(`${service.url}/v1/in-app/messages?subscriber_id=${id}`, { headers: service.sdk }));

const tablesOf = async (service: ServiceProcess) =>
  (await aws(service, "DynamoDB_20120810.ListTables", {})).TableNames as string[];

test("upsert, send now and later, inbox: the data is stored in the other process, and survives a kill", async () => {
  const store = await startService({ DATA_DIR: newFolder(), AWS_PORT: "0" });
  const env = { DATA_DIR: newFolder(), AWS_ENDPOINT_URL_DYNAMODB: store.aws };
  const first = await startService(env);
  const { id } = await post(first, "/api/v1/subscribers/upsert", first.sdk, { external_id: "grace" });
  const owner = await ownerOf(first);
  const send = { title: "Now", body: "Hi", subscriberIds: [id] };
  await post(first, "/api/v1/notifications", owner, send);
  const { now } = await json(await fetch(`${first.url}/_local/clock`));
  const scheduled_at = new Date(Date.parse(now) + 5 * 60_000).toISOString();
  await post(first, "/api/v1/notifications", owner, { ...send, title: "Later", scheduled_at });
  await post(first, "/_local/settle", {});
  expect((await inboxOf(first, id)).messages).toHaveLength(1);
  const meter = await json(await fetch(`${first.url}/_local/meter`));
  expect(meter.dynamodb.wcu).toBeGreaterThan(5);

  await first.kill();
  const second = await startService(env);
  expect(second.tenant).toBe(first.tenant);
  await post(second, "/_local/clock", {}, { advance: "10m" });
  const { messages } = await inboxOf(second, id);
  expect(messages.map(({ content }: { content: { title: string } }) => content.title)).toEqual(["Later", "Now"]);

  const tables = await tablesOf(store);
  expect(tables).toHaveLength(2);
  const { Items } = await aws(store, "DynamoDB_20120810.Scan", {
    TableName: tables.find((name) => name !== "engagement"),
  });
  expect(JSON.stringify(Items)).toContain(`U#${id}`);
  expect((await inboxOf(store, id)).messages).toEqual([]);
});

test.skipIf(!hasDynamoDbLocal())(
  "Amazon's DynamoDB Local serves too: upsert, send now and later, inbox (skipped until tools/install-parity.sh has run)",
  async () => {
    const local = await startDynamoDbLocal();
    try {
      const service = await startService({ DATA_DIR: newFolder(), AWS_ENDPOINT_URL_DYNAMODB: local.endpoint });
      const { id } = await post(service, "/api/v1/subscribers/upsert", service.sdk, { external_id: "grace" });
      const owner = await ownerOf(service);
      const send = { title: "Now", body: "Hi", subscriberIds: [id] };
      await post(service, "/api/v1/notifications", owner, send);
      const { now } = await json(await fetch(`${service.url}/_local/clock`));
      const scheduled_at = new Date(Date.parse(now) + 5 * 60_000).toISOString();
      await post(service, "/api/v1/notifications", owner, { ...send, title: "Later", scheduled_at });
      await post(service, "/_local/settle", {});
      expect((await inboxOf(service, id)).messages).toHaveLength(1);
      await post(service, "/_local/clock", {}, { advance: "10m" });
      expect((await inboxOf(service, id)).messages).toHaveLength(2);
      expect(service.complaints()).toBe("");
    } finally {
      await local.close();
    }
  },
  120_000,
);

test("an unreachable endpoint is rejected at the start", async () => {
  const env = { DATA_DIR: ":memory:", AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:9" };
  await expect(startService(env)).rejects.toThrow("AWS_ENDPOINT_URL_DYNAMODB http://127.0.0.1:9/ cannot be used");
});

test("a stream is read from any place, also after its iterator has expired; failures are the service's own", async () => {
  const world = await testWorld();
  const port = await startAwsPort(world, 0, () => undefined);
  const remote = createRemoteDynamoDb(port.url);
  try {
    const put = (pk: string) =>
      remote.operate("PutItem", { TableName: "engagement", Item: { pk: { S: pk }, sk: { S: "x" } } });
    const heard: string[] = [];
    remote.onWrite((table, partition) => heard.push(`${table}/${partition}`));
    const start = world.dynamodb.records("engagement", "", 1_000);
    const last = (await start).at(-1)!.dynamodb.SequenceNumber;
    const read = async (after: string, limit = 10) =>
      (await remote.records("engagement", after, limit)).map(({ dynamodb }) => dynamodb.Keys.pk!.S);
    await put("a");
    await put("b");
    expect(heard).toEqual(["engagement/a", "engagement/b"]);
    expect(await remote.records("engagement", "", 1_000)).toEqual(
      await world.dynamodb.records("engagement", "", 1_000),
    );
    expect(await read(last, 1)).toEqual(["a"]);
    const [a, b] = await remote.records("engagement", last, 2);
    expect(await read(a!.dynamodb.SequenceNumber)).toEqual(["b"]);
    expect(await read(b!.dynamodb.SequenceNumber)).toEqual([]);
    await world.advance(3_600_000);
    await put("c");
    expect(await read(b!.dynamodb.SequenceNumber)).toContain("c");
    const answer = remote.operate("PutItem", { TableName: "engagement", Item: { pk: { S: "a" } } });
    await expect(answer).rejects.toMatchObject({ name: "ValidationException", status: 400 });
    expect(remote.meter().wcu).toBe(3);
  } finally {
    remote.close();
    await port.close();
    await world.close();
  }
});
