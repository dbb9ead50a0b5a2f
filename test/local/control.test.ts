// The control surface, called in process: health, time, outbox, faults and meter (workspaces: control-workspaces.test.ts).
import { describe, expect, test } from "vitest";
import type { ServiceName } from "../../local/aws/index.ts";
import { createFaults, UNDISTURBED } from "../../local/faults.ts";
import { openOutbox } from "../../local/outbox.ts";
import { bearer } from "../support/credentials.ts";
import { make } from "../support/workspaces.ts";
import type { TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

describe("health and unknown calls", () => {
  test("health says ready", async () => {
    const world = await fresh();
    expect(await world.call("GET /_local/health")).toMatchObject({ status: 200, body: { status: "ready" } });
  });

  test.each(["GET /_local/nothing", "POST /_local/health", "GET /_local/workspaces/x/y", "PATCH /_local/workspaces"])(
    "%s is 404 in the envelope",
    async (route) => {
      const world = await fresh();
      expect(await world.call(route)).toMatchObject({
        status: 404,
        body: { code: "NOT_FOUND", message: expect.any(String) },
      });
    },
  );

  test("a body that is not JSON is 400, one of the wrong shape 422 naming the field", async () => {
    const world = await fresh();
    const broken = await world.call("POST /_local/workspaces", { raw: Buffer.from("{") });
    expect(broken).toMatchObject({ status: 400, body: { code: "BAD_REQUEST" } });
    const wrong = await world.call("POST /_local/workspaces", { body: { plan: "gold" } });
    expect(wrong).toMatchObject({
      status: 422,
      body: { code: "VALIDATION_ERROR", fields: { plan: expect.any(String) } },
    });
    const unknown = await world.call("POST /_local/workspaces", { body: { colour: "red" } });
    expect(unknown.status).toBe(422);
  });
});

describe("time", () => {
  test.each([
    [{ advance: "90s" }, "2026-11-20T12:01:30.000Z"],
    [{ advance: "5m" }, "2026-11-20T12:05:00.000Z"],
    [{ advance: "72h" }, "2026-11-23T12:00:00.000Z"],
    [{ advance: "2d" }, "2026-11-22T12:00:00.000Z"],
    [{ to: "2026-12-24T18:00:00+01:00" }, "2026-12-24T17:00:00.000Z"],
  ])("the time of the control surface moves forward by %j", async (body, now) => {
    const world = await fresh();
    expect(await world.call("POST /_local/clock", { body })).toMatchObject({ status: 200, body: { now } });
    expect((await world.call("GET /_local/clock")).body).toEqual({ now });
  });

  test("the time of the service never goes back: 400", async () => {
    const world = await fresh();
    const back = await world.call("POST /_local/clock", { body: { to: "2026-11-20T11:59:59Z" } });
    expect(back).toMatchObject({ status: 400, body: { code: "BAD_REQUEST" } });
  });

  test.each([{}, { advance: "1w" }, { advance: "-1h" }, { advance: 5 }, { to: "tomorrow" }, { advance: "999999999d" }])(
    "the time of the control surface refuses %j with 422",
    async (body) => {
      const world = await fresh();
      expect((await world.call("POST /_local/clock", { body })).status).toBe(422);
    },
  );

  test("settle and advance run what is due: a scheduled notification reaches the inbox when its time has come", async () => {
    const world = await fresh();
    const { sdk_key, access_token } = await make(world);
    const sdk = { "x-sdk-key": sdk_key };
    const { body: reader } = await world.call("POST /api/v1/subscribers/upsert", {
      as: sdk,
      body: { external_id: "a" },
    });
    const body = { subscriberIds: [reader.id], title: "Hi", body: "There", scheduled_at: "2026-11-20T14:00:00Z" };
    expect((await world.call("POST /api/v1/notifications", { as: bearer(access_token), body })).status).toBe(201);
    const inbox = async () =>
      (await world.call(`GET /v1/in-app/messages?subscriber_id=${reader.id}`, { as: sdk })).body.messages;
    expect(await world.call("POST /_local/settle")).toMatchObject({ status: 200, body: { idle: true } });
    expect(await inbox()).toEqual([]);
    await world.call("POST /_local/clock", { body: { advance: "2h" } });
    expect(await inbox()).toHaveLength(1);
  });
});

describe("outbox", () => {
  const item = (id: string, channel: "email" | "sms", job_id: string, subscriber_id: string) => ({
    id,
    channel,
    job_id,
    subscriber_id,
    to: "x",
    title: null,
    body: "b",
    payload: { id },
    headers: {},
    at: "2026-11-20T12:00:00.000Z",
  });

  test("the outbox lists oldest first, filtered and limited, until it is emptied", async () => {
    const world = await fresh();
    const outbox = openOutbox(world.database);
    const all = [item("1", "email", "j1", "s1"), item("2", "sms", "j1", "s2"), item("3", "email", "j2", "s1")];
    for (const one of all) outbox.add(one);
    const ids = async (query: string) =>
      (await world.call(`GET /_local/outbox${query}`)).body.items.map(({ id }: { id: string }) => id);
    expect((await world.call("GET /_local/outbox")).body.items).toEqual(all);
    expect(await ids("?channel=email")).toEqual(["1", "3"]);
    expect(await ids("?job_id=j1&subscriber_id=s2")).toEqual(["2"]);
    expect(await ids("?limit=2")).toEqual(["1", "2"]);
    expect((await world.call("GET /_local/outbox?channel=pigeon")).status).toBe(422);
    expect((await world.call("DELETE /_local/outbox")).status).toBe(204);
    expect(await ids("")).toEqual([]);
  });
});

describe("faults", () => {
  const stream = (world: TestWorld, sdk_key: string) =>
    world.call("GET /v1/in-app/stream?subscriber_id=00000000-0000-8000-8000-000000000000", {
      as: { "x-sdk-key": sdk_key },
    });

  test("of the stream answer 503 as often as was asked, and nothing else is concerned", async () => {
    const world = await fresh();
    const { sdk_key } = await make(world);
    const posted = await world.call("POST /_local/faults", { body: { channel: "stream", outcome: "transient" } });
    expect(posted).toMatchObject({ status: 201, body: { channel: "stream" } });
    for (const _ of [1, 2])
      expect(await stream(world, sdk_key)).toMatchObject({ status: 503, body: { code: "SERVICE_UNAVAILABLE" } });
    const upsert = { as: { "x-sdk-key": sdk_key }, body: { external_id: "a" } };
    expect((await world.call("POST /api/v1/subscribers/upsert", upsert)).status).toBe(200);
    expect((await world.call("DELETE /_local/faults")).status).toBe(204);
    await world.call("POST /_local/faults", { body: { channel: "stream", outcome: "transient", times: 1 } });
    expect((await stream(world, sdk_key)).status).toBe(503);
  });

  test("of a service throttle that many calls: the client's own retries hide a few", async () => {
    const world = await fresh();
    const { sdk_key } = await make(world);
    const upsert = { as: { "x-sdk-key": sdk_key }, body: { external_id: "a" } };
    await world.call("POST /_local/faults", { body: { channel: "aws:dynamodb", outcome: "transient", times: 1 } });
    await world.call("DELETE /_local/meter");
    expect((await world.call("POST /api/v1/subscribers/upsert", upsert)).status).toBe(200);
  });

  test("of a service go on until they are cleared, and spare the control surface", async () => {
    const faults = createFaults();
    faults.add({ channel: "aws:sqs", outcome: "transient" });
    const call = (name: string, service: ServiceName) => () => faults.hooks(name).before?.(service, "Any", {});
    for (const _ of [1, 2]) expect(call("api-auth", "sqs")).toThrow(/Rate exceeded/);
    expect(call("api-auth", "kms")).not.toThrow();
    expect(call(UNDISTURBED, "sqs")).not.toThrow();
    faults.clear();
    expect(call("api-auth", "sqs")).not.toThrow();
  });

  test("of an operation spare the others; conflicts are of transactions alone", () => {
    const faults = createFaults();
    const call =
      (operation: string, input = {}) =>
      () =>
        faults.hooks("api-auth").before?.("dynamodb", operation, input);
    faults.add({ channel: "aws:dynamodb", outcome: "transient", operation: "Query" });
    expect(call("GetItem")).not.toThrow();
    expect(call("Query")).toThrow(/Rate exceeded/);
    faults.clear();
    faults.add({ channel: "aws:dynamodb", outcome: "transient", conflict: true, times: 1 });
    expect(call("PutItem")).not.toThrow();
    expect(call("TransactWriteItems", { TransactItems: [{}, {}] })).toThrow(
      /\[TransactionConflict, TransactionConflict\]/,
    );
    expect(call("TransactWriteItems", { TransactItems: [{}] })).not.toThrow();
  });

  test("of one subscriber spare the others", () => {
    const faults = createFaults();
    faults.add({ channel: "email", outcome: "permanent", times: 1, subscriber_id: "s" });
    expect(faults.take("email", "other")).toBeUndefined();
    expect(faults.take("email", "s")).toMatchObject({ outcome: "permanent" });
    expect(faults.take("email", "s")).toBeUndefined();
  });

  test("of providers and of verification are kept for their sinks", async () => {
    const world = await fresh();
    for (const body of [
      { channel: "email", outcome: "permanent", times: 2, subscriber_id: "s" },
      { channel: "verify:sms", outcome: "permanent", message: "wrong token" },
    ])
      expect(await world.call("POST /_local/faults", { body })).toMatchObject({ status: 201, body });
    for (const body of [{ channel: "pigeon" }, { channel: "email", outcome: "rain" }, { channel: "email", times: 0 }])
      expect((await world.call("POST /_local/faults", { body })).status).toBe(422);
  });
});

describe("meter", () => {
  test("a meter that is deleted begins again at zero", async () => {
    const world = await fresh();
    await make(world);
    expect((await world.call("DELETE /_local/meter")).status).toBe(204);
    expect((await world.call("GET /_local/meter")).body).toMatchObject({
      dynamodb: { requests: 0, wcu: 0, rcu: 0, by_operation: {}, hottest: [], index_wcu: 0 },
      sqs: { requests: 0, sent: 0, received: 0 },
      scheduler: { created: 0, deleted: 0, fired: 0 },
      s3: { requests: 0 },
      kms: { requests: 0 },
      providers: { requests: 0 },
    });
  });

  test("the meter counts what the embedded DynamoDB was asked for", async () => {
    const world = await fresh();
    const { sdk_key } = await make(world);
    await world.call("DELETE /_local/meter");
    const upsert = { as: { "x-sdk-key": sdk_key }, body: { external_id: "a" } };
    await world.call("POST /api/v1/subscribers/upsert", upsert);
    const { dynamodb } = (await world.call("GET /_local/meter")).body;
    // Not there yet: then it is created and counted in one transaction, at twice the price.
    expect(dynamodb.by_operation.UpdateItem).toEqual({ requests: 1, wcu: 1, rcu: 0 });
    expect(dynamodb.by_operation.TransactWriteItems).toEqual({ requests: 1, wcu: 5, rcu: 0 });
    expect(dynamodb).toMatchObject({ wcu: 6, index_wcu: 1 });
    expect(dynamodb.hottest[0].wcu).toBe(3);
  });

  test("the meter says what the process itself took", async () => {
    const world = await fresh();
    const { process } = (await world.call("GET /_local/meter")).body;
    expect(process.cpu_ms).toBeGreaterThanOrEqual(0);
    expect(process.rss_peak_mb).toBeGreaterThanOrEqual(process.rss_mb);
  });
});
