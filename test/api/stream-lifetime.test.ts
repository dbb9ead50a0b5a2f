// How long a live stream lasts, what ends it, and how many there are (SSE-4 to SSE-6).
import { describe, expect, it } from "vitest";
import { MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { Message } from "../../shared/store/sends/inbox/inbox-items.ts";
import { SubscriberStream } from "../../shared/store/sends/inbox/stream-items.ts";
import { addPeople, operate, quickStore } from "../support/people.ts";
import { openStream, reading } from "../support/sse.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const LIFETIME = 90 * SECOND;
const withReader = reading({ withTenant });

describe("lifetime", () => {
  it("a stream ends after 90 seconds; one that goes on from its last id loses nothing and sends nothing twice (AMB-122)", async () => {
    const { world, open, tell } = await withReader();
    await tell("before");
    const titles: string[] = [];
    let position: string | undefined;
    for (let n = 0; n < 4; n++) {
      const stream = await open(position === undefined ? {} : { "last-event-id": position });
      await tell(`early ${n}`);
      await world.advance(88 * SECOND);
      await tell(`late ${n}`);
      await world.advance(2 * SECOND);
      expect(stream.ended).toBe(true);
      titles.push(...stream.frames().map(({ data }) => data.title));
      position = /id: (\S+)\n\n$/.exec(stream.text)?.[1];
      await tell(`between ${n}`);
      await world.advance(2 * SECOND);
    }
    const told = [0, 1, 2, 3].flatMap((n) => [`between ${n - 1}`, `early ${n}`, `late ${n}`]).slice(1);

    expect(titles).toEqual(told);
  });

  it("the position is written soon after messages, so that they leave the platform's buffer (AMB-122)", async () => {
    const { world, open, tell } = await withReader();
    const stream = await open();
    await tell("hello");
    expect(stream.text.endsWith("\n\n")).toBe(true);
    const before = stream.text.length;
    await world.advance(10);
    expect(stream.text.slice(before)).toMatch(/^id: [0-9a-f-]{36}\.[0-9a-f]{12}\n\n$/);
  });

  /** Two streams of a reader whose viewers have left without a word. */
  async function withLeft() {
    const { world, tenant, id, open } = await withReader();
    const streams = [await open(), await open()] as const;
    for (const each of streams) each.disconnect();
    await world.advance(MINUTE);
    const goodbye = async (as = tenant.sdk, subscriber_id = id) => {
      const body = { subscriber_id, stream_id: streams[1].headers["x-stream-id"] };
      const { status } = await world.call("POST /v1/in-app/stream/close", { as, body });
      await world.advance(2 * SECOND);
      return status;
    };
    const running = () => world.host.running("stream");
    return { world, tenant, id, goodbye, running };
  }

  it("a viewer that left keeps its invocation until the stream ends (AMB-122)", async () => {
    const { world, running } = await withLeft();

    expect(running()).toBe(2);
    await world.advance(LIFETIME - MINUTE);
    expect(running()).toBe(0);
  });

  it("a goodbye ends a stream at once (AMB-122)", async () => {
    const { goodbye, running } = await withLeft();

    expect(await goodbye()).toBe(204);
    expect(running()).toBe(1);
  });

  it("a goodbye of another workspace or of another subscriber ends no stream (AMB-122)", async () => {
    const { world, tenant, goodbye, running } = await withLeft();
    const [stranger] = (await addPeople(world, tenant, 1, () => ({ external_id: "stranger" }))) as [string];

    expect(await goodbye((await world.tenant()).sdk)).toBe(204);
    expect(await goodbye(tenant.sdk, stranger)).toBe(204);
    expect(running()).toBe(2);
  });

  it("a goodbye to a stream that has ended leaves no row (AMB-122)", async () => {
    const { world, tenant, id, goodbye } = await withLeft();
    await goodbye();

    expect(await goodbye()).toBe(204);
    await world.advance(LIFETIME - MINUTE);
    expect(await tenant.store.queryAll(SubscriberStream, { subscriber: id })).toEqual([]);
  });

  it("a stream begins with the time after which to come again (SSE-3)", async () => {
    const { open } = await withReader();

    expect((await open()).retries()).toEqual([2_000]);
  });

  it("a stream has a keepalive comment every 30 seconds (SSE-3)", async () => {
    const { world, open } = await withReader();
    const stream = await open();
    const counts: number[] = [];
    for (const seconds of [29, 3, 30, 25]) {
      await world.advance(seconds * SECOND);
      counts.push(stream.comments());
    }

    expect(counts).toEqual([0, 1, 2, 2]);
  });

  it("behind a keepalive comment a second small write follows: Lambda may hold the first back until then (SSE-3)", async () => {
    const { world, open } = await withReader();
    const stream = await open();
    await world.advance(32 * SECOND);

    expect(stream.text).toMatch(/^retry: 2000\n(id: [0-9a-f-]{36}\n\n){2}: keepalive\n\nid: [0-9a-f-]{36}\n\n$/);
  });

  it("a stream has a clean end after 90 seconds (ARC-3)", async () => {
    const { world, open } = await withReader();
    const stream = await open();
    await world.advance(LIFETIME - 2 * SECOND);
    const wasOpen = !stream.ended;
    await world.advance(4 * SECOND);

    expect([wasOpen, stream.ended]).toEqual([true, true]);
    expect(stream.text.endsWith("\n\n")).toBe(true);
    expect(world.logs.filter(({ level }) => level !== "info")).toEqual([]);
  });

  it("keepalives of a stream are sent between messages too (SSE-3)", async () => {
    const { world, open, tell } = await withReader();
    const stream = await open();
    for (let n = 0; n < 13; n++) {
      await tell(`m${n}`);
      await world.advance(5 * SECOND);
    }

    expect(stream.comments()).toBe(2);
    expect(stream.frames().length).toBe(13);
  });

  it("the newest three streams of a subscriber stay, an older one ends with a long retry (docs/decisions/0021#live-streams)", async () => {
    const { world, tenant, open, tell } = await withReader();
    const [other] = (await addPeople(world, tenant, 1, () => ({ external_id: "other" }))) as [string];
    const neighbour = await openStream(world, `?subscriber_id=${other}`, tenant.sdk);
    const streams = [];
    for (let n = 0; n < 5; n++) {
      streams.push(await open());
      await world.advance(SECOND);
    }
    await world.advance(35 * SECOND);
    expect(streams.map(({ ended }) => ended)).toEqual([true, true, false, false, false]);
    expect(neighbour.ended).toBe(false);
    expect(streams[0]!.retries()).toEqual([2_000, 5 * MINUTE]);
    await tell("hello");
    expect(streams.map((stream) => stream.frames().length)).toEqual([0, 0, 1, 1, 1]);
    const again = await open();
    await world.advance(35 * SECOND);
    expect(streams[2]!.ended).toBe(true);
    expect(again.ended).toBe(false);
  });

  it("of four streams that a subscriber opens at one moment one ends, and three stay (docs/decisions/0021#live-streams)", async () => {
    const { world, open } = await withReader();
    const streams = [];
    for (let n = 0; n < 4; n++) streams.push(await open());

    await world.advance(35 * SECOND);

    expect(streams.filter(({ ended }) => ended)).toHaveLength(1);
  });

  it("newer streams of a subscriber whose leases have run out, because their worker died, end none (docs/decisions/0021#live-streams)", async () => {
    const { world, tenant, id: subscriber, open } = await withReader();
    const stream = await open();
    const lease = world.clock.now() - 1;
    for (let n = 0; n < 3; n++) {
      const connection = world.ids.uuidAt(world.clock.now() + SECOND);
      await tenant.store.put(SubscriberStream, { subscriber, connection }, { lease, expires: lease / SECOND + MINUTE });
    }

    await world.advance(35 * SECOND);

    expect(stream.ended).toBe(false);
  });

  it.each(["suspended", "deleted"] as const)(
    "the stream of a workspace that is %s ends within half a minute, and a reconnect is refused (ERR-6, ERR-7)",
    async (status) => {
      const { world, tenant, open } = await withReader();
      const stream = await open();
      await world.advance(35_000);
      expect(stream.ended).toBe(false);
      await operate(world, tenant, { status });
      await world.advance(30_000);
      expect(stream.ended).toBe(true);
      expect(stream.retries()).toEqual([2_000]);
      expect((await open()).status).toBe(403);
    },
  );

  it("the stream of an erased subscriber ends and leaves no row (SUB-8)", async () => {
    const { world, tenant, open, id } = await withReader();
    const stream = await open();
    const erased = await tenant.call(`DELETE /api/v1/subscribers/${id}`);
    expect(erased.status).toBe(204);
    await world.advance(3 * MINUTE);
    expect(stream.ended).toBe(true);
    expect(stream.retries()).toEqual([2_000, 5 * MINUTE]);
    expect(await quickStore(world, tenant).queryRows(Message, { subscriber: id })).toEqual({ items: [] });
  });
});
