// Pausing, resuming and ending an experience (INX-33 to INX-35, D-INBOXRECALL, AMB-108). The cost does not depend on the
// number of recipients.
import { describe, expect, it } from "vitest";
import { HOUR, SECOND } from "../../shared/kernel/clock.ts";
import { draft, take } from "../support/experiences.ts";
import { inboxOf, send } from "../support/people.ts";
import { spent, spentByCall } from "../support/spending.ts";
import { openStream } from "../support/sse.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withPeople } = worlds();

const mark = (world: TestWorld, tenant: Tenant, person: string, what: string) =>
  world.call(`POST /v1/in-app/messages/${what}`, { as: tenant.sdk, body: { subscriber_id: person } });
const statusesOf = async (world: TestWorld, tenant: Tenant, person: string) =>
  (await inboxOf(world, tenant, person)).map(({ status }) => status);

describe("hiding and recalling", () => {
  const titlesOf = async (world: TestWorld, tenant: Tenant, person: string) =>
    (await inboxOf(world, tenant, person)).map(({ content }) => content.title);

  /** An experience and another message in the inboxes of some people, newest first. */
  async function shown(count = 1) {
    const { world, tenant, ids: people } = await withPeople(count);
    const id = await draft(tenant);
    await take(world, tenant, id, "publish");
    await world.advance(SECOND);
    await send(world, tenant, { target: { type: "all" }, title: "Plain" });
    return { world, tenant, id, people, reader: people[0]! };
  }

  it("a pause hides the messages of an experience, and no others (INX-33)", async () => {
    const { world, tenant, id, people } = await shown(3);

    await take(world, tenant, id, "pause");

    for (const person of people) expect(await titlesOf(world, tenant, person)).toEqual(["Plain"]);
  });

  it("a resume shows the messages of an experience as they were (INX-34)", async () => {
    const { world, tenant, id, reader } = await shown();
    const before = await inboxOf(world, tenant, reader);

    await take(world, tenant, id, "pause", "resume");

    expect(before).toHaveLength(2);
    expect(await inboxOf(world, tenant, reader)).toEqual(before);
  });

  it("an end removes the messages of an experience for good (INX-35, D-INBOXRECALL)", async () => {
    const { world, tenant, id, people } = await shown(3);

    await take(world, tenant, id, "end");
    for (const person of people) expect(await titlesOf(world, tenant, person)).toEqual(["Plain"]);
    await take(world, tenant, id, "archive");

    for (const person of people) expect(await titlesOf(world, tenant, person)).toEqual(["Plain"]);
  });

  it.each([
    ["hidden", "read", "pause"],
    ["hidden", "dismiss", "pause"],
    ["recalled", "read", "end"],
    ["recalled", "dismiss", "end"],
  ])("a message of an experience that is %s is not changed by %s: 404 (AMB-108)", async (_, what, action) => {
    const { world, tenant, id, reader } = await shown();
    const [, message] = await inboxOf(world, tenant, reader);
    await take(world, tenant, id, action);

    expect((await mark(world, tenant, reader, `${message.id}/${what}`)).status).toBe(404);
  });

  it("a message that nobody could read while it was hidden is unread when it is shown again (AMB-108)", async () => {
    const { world, tenant, id, reader } = await shown();
    const [, message] = await inboxOf(world, tenant, reader);
    await take(world, tenant, id, "pause");
    await mark(world, tenant, reader, `${message.id}/read`);

    await take(world, tenant, id, "resume");

    expect((await inboxOf(world, tenant, reader))[1]).toEqual(message);
    expect((await mark(world, tenant, reader, `${message.id}/read`)).status).toBe(200);
  });

  it("read-all counts and marks what is shown, and what is hidden returns unread (INB-7, AMB-37)", async () => {
    const { world, tenant, id, reader } = await shown();
    await take(world, tenant, id, "pause");

    expect((await mark(world, tenant, reader, "read")).body).toEqual({ updated: 1 });

    await take(world, tenant, id, "resume");
    expect(await statusesOf(world, tenant, reader)).toEqual(["read", "unread"]);
    expect((await inboxOf(world, tenant, reader, "&status=unread")).map(({ status }) => status)).toEqual(["unread"]);
  });

  it("what was hidden for long at a read-all returns unread (INB-7, AMB-37)", async () => {
    const { world, tenant, id, reader } = await shown();
    await take(world, tenant, id, "pause");
    await world.advance(2 * HOUR);
    await mark(world, tenant, reader, "read");

    await take(world, tenant, id, "resume");

    expect(await statusesOf(world, tenant, reader)).toEqual(["read", "unread"]);
  });

  it("a message that was dismissed unread is not counted by read-all (INB-7)", async () => {
    const { world, tenant, reader } = await shown();
    const [plain, message] = await inboxOf(world, tenant, reader);
    await mark(world, tenant, reader, `${plain.id}/read`);

    expect((await mark(world, tenant, reader, `${message.id}/dismiss`)).body).not.toHaveProperty("read_at");

    expect((await mark(world, tenant, reader, "read")).body).toEqual({ updated: 0 });
  });

  it("a second read-all marks messages that were hidden at the first (INB-7)", async () => {
    const { world, tenant, ids: people } = await withPeople(1);
    const [reader] = people as [string];
    const id = await draft(tenant);
    await take(world, tenant, id, "publish");
    await world.advance(SECOND);
    await send(world, tenant, { subscriberIds: [reader] });
    await take(world, tenant, id, "pause");
    expect((await mark(world, tenant, reader, "read")).body).toEqual({ updated: 1 });
    await take(world, tenant, id, "resume");
    expect((await mark(world, tenant, reader, "read")).body).toEqual({ updated: 1 });
    expect(await statusesOf(world, tenant, reader)).toEqual(["read", "read"]);
  });

  it("the limit of an inbox counts shown messages, and a filter by status omits hidden ones (INB-6)", async () => {
    const { world, tenant, ids: people } = await withPeople(1);
    const [reader] = people as [string];
    await send(world, tenant, { subscriberIds: [reader], title: "old" });
    for (let n = 0; n < 5; n++) {
      await world.advance(SECOND);
      await take(world, tenant, await draft(tenant), "publish", "pause");
    }
    const titles = async (query: string) =>
      (await inboxOf(world, tenant, reader, query)).map(({ content }) => content.title);

    expect(await titles("&limit=1")).toEqual(["old"]);
    expect(await titles("&limit=3&status=unread")).toEqual(["old"]);
  });

  it("a stream omits hidden and recalled messages, also after a reconnect (D-INBOXRECALL)", async () => {
    const { world, tenant, ids: people } = await withPeople(1);
    const query = `?subscriber_id=${people[0]}`;
    const shown = await draft(tenant, { name: "shown" });
    const hidden = await draft(tenant, { content: { title: "Hidden", body: "b" } });
    await take(world, tenant, shown, "publish");
    const [{ id: last }] = await inboxOf(world, tenant, people[0]!);
    await world.advance(SECOND);
    await take(world, tenant, hidden, "publish", "pause");
    await send(world, tenant, { target: { type: "all" }, title: "Plain" });
    const titles = async () => {
      const stream = await openStream(world, query, { ...tenant.sdk, "last-event-id": last });
      return stream
        .frames()
        .map(({ data }) => data.title)
        .sort();
    };
    expect(await titles()).toEqual(["Plain"]);
    await take(world, tenant, hidden, "resume");
    expect(await titles()).toEqual(["Hidden", "Plain"]);
    await take(world, tenant, hidden, "end");
    expect(await titles()).toEqual(["Plain"]);
  });

  it("an open stream omits messages that are delivered during a pause (D-INBOXRECALL)", async () => {
    const { world, tenant, ids: people } = await withPeople(1);
    const stream = await openStream(world, `?subscriber_id=${people[0]}`, tenant.sdk);
    const id = await draft(tenant);
    await tenant.call(`POST /api/v1/in-app/experiences/${id}/publish`);
    await tenant.call(`POST /api/v1/in-app/experiences/${id}/pause`);
    await world.advance(5 * SECOND);
    expect(stream.frames()).toEqual([]);
    expect(await inboxOf(world, tenant, people[0]!)).toEqual([]);
    await take(world, tenant, id, "resume");
    expect(await inboxOf(world, tenant, people[0]!)).toHaveLength(1);
  });
});

describe("cost", () => {
  const hide = async (count: number) => {
    const { world, tenant } = await withPeople(count);
    const id = await draft(tenant);
    await take(world, tenant, id, "publish");
    const costs: number[] = [];
    for (const action of ["pause", "resume", "end"])
      costs.push((await spent(world, () => take(world, tenant, id, action))).wcu);
    return costs;
  };

  it("a pause, a resume and an end write the same few rows for 3 recipients and for 150", async () => {
    const few = await hide(3);

    expect(await hide(150)).toEqual(few);
    expect(Math.max(...few)).toBeLessThanOrEqual(10);
  });

  it("an inbox without experiences costs nothing more, and each experience on a page one read unit", async () => {
    const { world, tenant, ids: people } = await withPeople(1);
    const route = `GET /v1/in-app/messages?subscriber_id=${people[0]}`;
    const refused = { route: "GET /v1/in-app/messages" };
    const read = async () => (await spentByCall(world, { as: tenant.sdk, route, refused })).rcu;
    await send(world, tenant, { target: { type: "all" } });
    const plain = await read();
    const [first, second] = [await draft(tenant), await draft(tenant)];
    for (const id of [first, second]) await take(world, tenant, id, "publish");

    expect((await read()) - plain).toBeLessThanOrEqual(2 + 1);
  });
});
