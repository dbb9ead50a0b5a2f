// The durable inbox (INB-1 to INB-10): lists, reading and dismissing (AMB-37), and expiry after 30 days.
import { describe, expect, it } from "vitest";
import { awsFailure } from "../../local/aws/index.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { messageWrite } from "../../shared/store/sends/inbox/inbox-writes.ts";
import { addPeople, inboxOf, send } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { type Answer, type Headers, START, type Tenant, type TestWorld, UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();
const LIFETIME = 30 * DAY;
const LATER = 5 * MINUTE;
const at = (ms: number) => new Date(ms).toISOString();

/** One subscriber with messages a minute apart, `m0` first. */
async function withMessages(count: number) {
  const { world, tenant } = await withTenant();
  const [id] = (await addPeople(world, tenant, 1)) as [string];
  for (let n = 0; n < count; n++) {
    if (n > 0) await world.advance(MINUTE);
    await send(world, tenant, { subscriberIds: [id], title: `m${n}` });
  }
  return { world, tenant, id };
}

/** Messages a second apart, `m0` last, put into the table without a send. */
const putMessages = (tenant: Tenant, subscriber: string, { count, body }: { count: number; body: string }) =>
  tenant.store.writeAll(
    Array.from({ length: count }, (_, n) =>
      messageWrite("j", START - n * SECOND, { subscriber, content: { title: `m${n}`, body } }),
    ),
  );

type Mark = (world: TestWorld, tenant: Tenant, id: string, message?: string, as?: Headers) => Promise<Answer>;
const mark =
  (route: (message: string) => string): Mark =>
  (world, tenant, subscriber_id, message = "", as = tenant.sdk) =>
    world.call(`POST /v1/in-app/messages/${route(message)}`, { as, body: { subscriber_id } });
const read = mark((message) => `${message}/read`);
const dismiss = mark((message) => `${message}/dismiss`);
const readAll = mark(() => "read");

const titles = (messages: { content: { title: string } }[]) => messages.map(({ content }) => content.title);

describe("list", () => {
  it("an inbox is listed newest first with exactly the message's fields (INB-1, INB-2, INB-4, INB-6)", async () => {
    const { world, tenant, id } = await withMessages(3);
    const { status, body } = await world.call(`GET /v1/in-app/messages?subscriber_id=${id}`, { as: tenant.sdk });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(["messages"]);
    expect(titles(body.messages)).toEqual(["m2", "m1", "m0"]);
    const created = START + 2 * MINUTE;
    expect(body.messages[0]).toEqual({
      id: expect.any(String),
      notification_id: expect.any(String),
      content: { title: "m2", body: "World" },
      status: "unread",
      created_at: at(created),
      expires_at: at(created + LIFETIME),
    });
  });

  it("an inbox gives 50 messages by default and at most 200 (INB-6, LIM-8)", async () => {
    const { world, tenant } = await withTenant();
    const [id] = (await addPeople(world, tenant, 1)) as [string];
    await putMessages(tenant, id, { count: 205, body: "b" });
    const count = async (query: string) => (await inboxOf(world, tenant, id, query)).length;
    expect(await count("")).toBe(50);
    expect(await count("&limit=1")).toBe(1);
    expect(await count("&limit=500")).toBe(200);
    expect(await count("&status=unread&limit=120")).toBe(120);
  });

  it("a response holds as many of the largest messages as fit, newest first (INB-6, docs/decisions/0021#page-size)", async () => {
    const { world, tenant } = await withTenant();
    const [id] = (await addPeople(world, tenant, 1)) as [string];
    await putMessages(tenant, id, { count: 45, body: "€".repeat(50_000) });
    const messages = await inboxOf(world, tenant, id);

    expect(messages.length).toBeGreaterThan(20);
    expect(titles(messages)).toEqual(messages.map((_: unknown, n: number) => `m${n}`));
    expect((await readAll(world, tenant, id)).body).toEqual({ updated: 45 });
  });

  it("an inbox is filtered by status, and without one all are listed (INB-3, INB-6, AMB-37)", async () => {
    const { world, tenant, id } = await withMessages(3);
    const [newest, middle] = await inboxOf(world, tenant, id);
    await read(world, tenant, id, newest.id);
    await dismiss(world, tenant, id, middle.id);
    const of = async (status: string) => titles(await inboxOf(world, tenant, id, `&status=${status}`));
    expect(await of("unread")).toEqual(["m0"]);
    expect(await of("read")).toEqual(["m2"]);
    expect(await of("dismissed")).toEqual(["m1"]);
    expect(titles(await inboxOf(world, tenant, id))).toEqual(["m2", "m1", "m0"]);
  });

  it("an inbox shows nothing to another workspace, which changes nothing in it (GEN-8)", async () => {
    const world = await fresh();
    const [tenant, other] = [await world.tenant(), await world.tenant()];
    const [id] = (await addPeople(world, tenant, 1)) as [string];
    await send(world, tenant, { subscriberIds: [id] });
    expect(await inboxOf(world, other, id)).toEqual([]);
    const [message] = await inboxOf(world, tenant, id);
    expect((await read(world, other, id, message.id)).status).toBe(404);
    expect((await readAll(world, other, id)).body).toEqual({ updated: 0 });
  });

  it("an inbox works while the live stream's function is throttled (INB-10, SSE-5)", async () => {
    const streaming = requests({ of: "stream" });
    streaming.fail(awsFailure("ServiceUnavailable", "throttled"));
    const { world, tenant } = await withTenant({ hooks: streaming.hooks });
    const [id] = (await addPeople(world, tenant, 1)) as [string];
    await send(world, tenant, { subscriberIds: [id] });

    expect((await world.call(`GET /v1/in-app/stream?subscriber_id=${id}`, { as: tenant.sdk })).status).toBe(503);
    expect(await inboxOf(world, tenant, id)).toHaveLength(1);
  });
});

describe("marks", () => {
  it("a message that is read is answered as updated, and keeps its first read_at (INB-8)", async () => {
    const { world, tenant, id } = await withMessages(1);
    const [message] = await inboxOf(world, tenant, id);
    await world.advance(LATER);
    const first = await read(world, tenant, id, message.id);
    expect(first.status).toBe(200);
    expect(first.body).toEqual({ ...message, status: "read", read_at: at(START + LATER) });
    await world.advance(LATER);
    expect((await read(world, tenant, id, message.id)).body).toEqual(first.body);
    expect(await inboxOf(world, tenant, id)).toEqual([first.body]);
  });

  it("a dismissal sets no read_at, and is changed neither by a repeat nor by reading all (INB-9, AMB-37)", async () => {
    const { world, tenant, id } = await withMessages(1);
    const [message] = await inboxOf(world, tenant, id);
    const dismissed = await dismiss(world, tenant, id, message.id);
    expect(dismissed.status).toBe(200);
    expect(dismissed.body).toEqual({ ...message, status: "dismissed" });
    await world.advance(MINUTE);
    expect((await dismiss(world, tenant, id, message.id)).body).toEqual(dismissed.body);
    expect((await readAll(world, tenant, id)).body).toEqual({ updated: 0 });
    expect((await inboxOf(world, tenant, id))[0]).toEqual(dismissed.body);
  });

  it("reading all gives no read_at to what was dismissed unread before (INB-7, AMB-37)", async () => {
    const { world, tenant, id } = await withMessages(2);
    const [, older] = await inboxOf(world, tenant, id);
    const dismissed = await dismiss(world, tenant, id, older.id);
    await world.advance(2 * HOUR);

    expect((await readAll(world, tenant, id)).body).toEqual({ updated: 1 });

    expect((await inboxOf(world, tenant, id))[1]).toEqual(dismissed.body);
  });

  it("a dismissed message that is read has its read_at and stays dismissed (INB-9, AMB-37)", async () => {
    const { world, tenant, id } = await withMessages(1);
    const [message] = await inboxOf(world, tenant, id);
    const { body } = await dismiss(world, tenant, id, message.id);
    await world.advance(MINUTE);

    expect((await read(world, tenant, id, message.id)).body).toEqual({ ...body, read_at: at(START + MINUTE) });
  });

  it("a message that was read with all others keeps its read_at where it is dismissed and read again (INB-7, INB-9)", async () => {
    const { world, tenant, id } = await withMessages(1);
    await readAll(world, tenant, id);
    await world.advance(MINUTE);
    const [{ id: message }] = await inboxOf(world, tenant, id);
    const { body } = await dismiss(world, tenant, id, message);

    expect([body.read_at, (await read(world, tenant, id, message)).body]).toEqual([at(START), body]);
  });

  it("a read message that is dismissed keeps its read_at (INB-9, AMB-37)", async () => {
    const { world, tenant, id } = await withMessages(1);
    const [message] = await inboxOf(world, tenant, id);
    const { body } = await read(world, tenant, id, message.id);
    await world.advance(MINUTE);

    expect((await dismiss(world, tenant, id, message.id)).body).toEqual({ ...body, status: "dismissed" });
  });

  it("reading all leaves out what a slow worker writes afterwards, below the id of what was read (INB-7)", async () => {
    const { world, tenant, id } = await withMessages(2);
    expect((await readAll(world, tenant, id)).body).toEqual({ updated: 2 });
    await putMessages(tenant, id, { count: 600, body: "b" });
    const written = (await inboxOf(world, tenant, id, "&limit=200")).filter(({ content }) => content.body === "b");
    expect(new Set(written.map(({ status }) => status))).toEqual(new Set(["unread"]));
    expect((await readAll(world, tenant, id)).body).toEqual({ updated: 600 });
    await world.advance(2 * DAY);
    expect(await inboxOf(world, tenant, id, "&status=unread")).toEqual([]);
  });

  it("reading all counts and changes unread messages alone (INB-7, AMB-37)", async () => {
    const { world, tenant, id } = await withMessages(4);
    const [m3, , , m0] = await inboxOf(world, tenant, id);
    const earlier = (await read(world, tenant, id, m3.id)).body;
    await dismiss(world, tenant, id, m0.id);
    await world.advance(LATER);
    const answer = await readAll(world, tenant, id);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ updated: 2 });
    expect((await readAll(world, tenant, id)).body).toEqual({ updated: 0 });
    const listed = await inboxOf(world, tenant, id);
    const readAt = at(START + 3 * MINUTE + LATER);
    expect(listed.map(({ status, read_at }) => [status, read_at])).toEqual([
      ["read", earlier.read_at],
      ["read", readAt],
      ["read", readAt],
      ["dismissed", undefined],
    ]);
    expect((await dismiss(world, tenant, id, listed[2]!.id)).body).toMatchObject({
      status: "dismissed",
      read_at: readAt,
    });
  });

  it("a later read of all leaves the time of what was read before (INB-7, AMB-37)", async () => {
    const { world, tenant, id } = await withMessages(1);
    const first = world.clock.now();
    await readAll(world, tenant, id);
    await world.advance(2 * HOUR);
    await send(world, tenant, { subscriberIds: [id], title: "late" });
    await world.advance(2 * HOUR);
    const second = world.clock.now();
    await readAll(world, tenant, id);

    expect((await inboxOf(world, tenant, id)).map(({ read_at }) => read_at)).toEqual([at(second), at(first)]);
  });

  it("a message that comes after all were read is unread (INB-7)", async () => {
    const { world, tenant, id } = await withMessages(2);
    await readAll(world, tenant, id);
    await world.advance(MINUTE);

    await send(world, tenant, { subscriberIds: [id], title: "late" });

    expect(titles(await inboxOf(world, tenant, id, "&status=unread"))).toEqual(["late"]);
  });

  it("a mark of an unknown message, of another subscriber's or of an invalid id is 404 and changes nothing (INB-8, INB-9)", async () => {
    const { world, tenant, id } = await withMessages(1);
    const [other] = (await addPeople(world, tenant, 1, () => ({ external_id: "other" }))) as [string];
    const [message] = await inboxOf(world, tenant, id);

    for (const act of [read, dismiss])
      for (const [who, which] of [
        [id, UNKNOWN],
        [other, message.id],
        [id, "nonsense"],
        [UNKNOWN, message.id],
      ] as const) {
        const { status, body } = await act(world, tenant, who, which);
        expect(status).toBe(404);
        expect(body.code).toBe("NOT_FOUND");
      }
    expect((await inboxOf(world, tenant, id))[0].status).toBe("unread");
  });

  it("a read of one message leaves the others to the read of all (INB-7, INB-8)", async () => {
    const { world, tenant, id } = await withMessages(2);
    const [newest] = await inboxOf(world, tenant, id);

    expect(Object.keys((await read(world, tenant, id, newest.id)).body)).toContain("content");
    expect((await readAll(world, tenant, id)).body).toEqual({ updated: 1 });
    expect((await read(world, tenant, id, "read")).status).toBe(404);
  });
});

describe("expiry", () => {
  it("a message is listed until the last millisecond of 30 days (INB-4)", async () => {
    const { world, tenant, id } = await withMessages(2);
    const [newer, older] = await inboxOf(world, tenant, id);
    await world.advance(START + LIFETIME - 1 - world.clock.now());
    expect(titles(await inboxOf(world, tenant, id))).toEqual(["m1", "m0"]);
    await world.advance(1);
    expect(titles(await inboxOf(world, tenant, id))).toEqual(["m1"]);
    expect((await read(world, tenant, id, older.id)).status).toBe(404);
    expect((await dismiss(world, tenant, id, older.id)).status).toBe(404);
    expect((await readAll(world, tenant, id)).body).toEqual({ updated: 1 });
    expect((await read(world, tenant, id, newer.id)).status).toBe(200);
    await world.advance(MINUTE);
    expect(await inboxOf(world, tenant, id)).toEqual([]);
  });

  it("an expired message is not listed even if the table has not removed it yet (INB-4)", async () => {
    const { world, tenant, id } = await withMessages(1);
    world.clock.jumpTo(START + LIFETIME);
    const { items } = await tenant.rows.query({ pk: `T#${tenant.id}#U#${id}`, prefix: "I#" });

    expect(items).toHaveLength(1);
    expect(await inboxOf(world, tenant, id)).toEqual([]);
  });
});
