// The live stream of in-app messages (SSE-1 to SSE-6): frames, resumption, keepalive, lifetime, limits.
import { describe, expect, it } from "vitest";
import { DAY, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { messageWrite } from "../../shared/store/sends/inbox/inbox-writes.ts";
import { addPeople, inboxOf, quickStore, send } from "../support/people.ts";
import { sandboxIn } from "../support/sandboxes.ts";
import { addReader, reading } from "../support/sse.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();
const withReader = reading({ withTenant });

describe("frames", () => {
  it("a message is one frame with an id line and exactly the frame's fields (SSE-1, SSE-2, SSE-6)", async () => {
    const { world, tenant, id, open, tell } = await withReader();
    const stream = await open();
    expect(stream.status).toBe(200);
    expect(stream.headers["content-type"]).toBe("text/event-stream");
    expect(stream.headers).toMatchObject({
      "access-control-allow-origin": "*",
      "cache-control": expect.stringContaining("no-cache"),
      "x-request-id": expect.any(String),
    });
    const job = await tell("Hello", { data: { order: 7 } });
    const [message] = await inboxOf(world, tenant, id);
    expect(stream.frames()).toEqual([
      {
        id: message.id,
        data: {
          id: message.id,
          notification_id: job,
          title: "Hello",
          body: "World",
          data: { order: 7 },
          sent_at: new Date(START).toISOString(),
          format: null,
          image_url: null,
          actions: [],
          display: null,
        },
      },
    ]);
  });

  it("a write ends the wait of the stream: the frame arrives at the same instant, before the next poll (SSE-2)", async () => {
    const { world, open, tell } = await withReader();
    const stream = await open();
    await world.advance(300);
    const before = world.clock.now();
    await tell("now");

    expect(world.clock.now()).toBe(before);
    expect(stream.frames()).toHaveLength(1);
  });

  it("several messages arrive in order and each once, over many polls (SSE-2, SSE-4)", async () => {
    const { world, open, tell } = await withReader();
    const stream = await open();
    for (let n = 0; n < 5; n++) {
      await tell(`m${n}`);
      await world.advance(7 * SECOND);
    }
    await world.advance(2 * MINUTE);

    expect(stream.frames().map(({ data }) => data.title)).toEqual(["m0", "m1", "m2", "m3", "m4"]);
    expect(new Set(stream.frames().map(({ id }) => id)).size).toBe(5);
  });

  it("a fresh stream sends only new messages, and a text with line breaks stays one frame (SSE-2)", async () => {
    const { open, tell } = await withReader();
    await tell("old");
    const stream = await open();
    await tell("two\n\nlines", { body: "a\r\nb\ndata: c" });

    expect(stream.frames().map(({ data }) => [data.title, data.body])).toEqual([["two\n\nlines", "a\r\nb\ndata: c"]]);
  });

  it("messages of another subscriber or workspace are not sent (GEN-8)", async () => {
    const { world, tenant, open } = await withReader();
    const other = await world.tenant();
    const [neighbour] = (await addPeople(world, tenant, 1, () => ({ external_id: "n" }))) as [string];
    const [stranger] = (await addPeople(world, other, 1)) as [string];
    const stream = await open();
    await send(world, tenant, { subscriberIds: [neighbour] });
    await send(world, other, { subscriberIds: [stranger] });
    await world.advance(10 * SECOND);

    expect(stream.frames()).toEqual([]);
  });
});

describe("resumption", () => {
  it("Last-Event-ID resumes with every message after it, in order (SSE-4, F12)", async () => {
    const { world, open, tell } = await withReader();
    const first = await open();
    await tell("seen");
    const last = first.frames()[0]!.id;
    first.disconnect();
    for (const title of ["missed 1", "missed 2", "missed 3"]) {
      await world.advance(40 * SECOND);
      await tell(title);
    }
    await world.advance(3 * MINUTE);
    const second = await open({ "last-event-id": last });
    expect(second.frames().map(({ data }) => data.title)).toEqual(["missed 1", "missed 2", "missed 3"]);
    await tell("live");
    expect(second.frames().at(-1)!.data.title).toBe("live");
  });

  it("a client that keeps only the ids of messages gets each once, wherever its line is cut (AMB-122)", async () => {
    const { world, open, tell } = await withReader();
    const titles: string[] = [];
    let last: string | undefined;
    for (let n = 0; n < 12; n++) {
      const stream = await open(last === undefined ? {} : { "last-event-id": last });
      if (n > 0) await tell(`during ${n}`);
      await world.advance(3 * SECOND);
      const frames = stream.frames();
      titles.push(...frames.map(({ data }) => data.title));
      last = frames.at(-1)?.id ?? last;
      stream.disconnect();
      await tell(`between ${n}`);
      await world.advance(SECOND);
    }
    const told = Array.from({ length: 11 }, (_, n) => [`between ${n}`, `during ${n + 1}`]).flat();

    expect(titles).toEqual(told.slice(1));
  });

  it("a stream that breaks before it has sent what was missed loses none of it (SSE-4, AMB-122)", async () => {
    const { world, open, tell } = await withReader();
    const first = await open();
    await tell("seen");
    const last = first.frames()[0]!.id;
    first.disconnect();
    await tell("missed");
    await world.advance(10 * MINUTE);
    const broken = await open({ "last-event-id": last });
    const [, position] = /^id: (.*)$/m.exec(broken.text)!;
    broken.disconnect();
    const resumed = await open({ "last-event-id": position! });

    expect(resumed.frames().map(({ data }) => data.title)).toEqual(["missed"]);
  });

  it("a connection that breaks every second brings each of many messages once (AMB-122)", async () => {
    const { world, open, tell } = await withReader();
    const titles: string[] = [];
    let last: string | undefined;
    for (let n = 0; n < 80; n++) {
      const stream = await open(last === undefined ? {} : { "last-event-id": last });
      if (n % 2 === 0) await tell(`m${n / 2}`);
      await world.advance(SECOND);
      const frames = stream.frames();
      titles.push(...frames.map(({ data }) => data.title));
      last = frames.at(-1)?.id ?? stream.text.match(/(?<=^id: ).*$/gm)!.at(-1)!;
      stream.disconnect();
    }
    expect(titles).toEqual(Array.from({ length: 40 }, (_, n) => `m${n}`));
    // A position names the messages of the last minute, however often the connection broke: 12 digits for each.
    expect(last!.length).toBeLessThan(37 + 12 * 35);
  });

  it("a stream begins at `last_event_id` where a client has no header to send yet (AMB-122)", async () => {
    const { open, tell } = await withReader();
    await tell("seen");
    const everything = await open({}, "&last_event_id=00000000-0000-7000-8000-000000000000");
    const { id } = everything.frames()[0]!;
    await tell("missed");
    const titlesOf = ({ frames }: typeof everything) => frames().map(({ data }) => data.title);
    expect(titlesOf(await open({}, `&last_event_id=${id}`))).toEqual(["missed"]);
    const last = everything.frames().at(-1)!.id;
    expect(titlesOf(await open({ "last-event-id": last }, `&last_event_id=${id}`))).toEqual([]);
  });

  it("a stream of a sandbox whose time was moved goes on behind its last message (SSE-4, F4)", async () => {
    const world = await fresh();
    const { tenant, move } = await sandboxIn(world);
    const { open, tell } = await addReader(world, tenant);
    await move({ advance: "3d" });
    const first = await open();
    await tell("long ago");
    await world.advance(80 * SECOND);
    await tell("seen");
    const last = first.frames().at(-1)!.id;
    await tell("missed");

    const second = await open({ "last-event-id": last });

    expect(second.frames().map(({ data }) => data.title)).toEqual(["missed"]);
  });

  it("a message of a recovery run arrives late and once, on open and on resumed streams (SSE-4)", async () => {
    const { world, tenant, id, open, tell } = await withReader();
    const left = world.clock.now();
    await world.advance(6 * MINUTE);
    const first = await open();
    await tell("on time");
    const late_at = world.clock.now();
    const content = { title: "late", body: "World" };
    await quickStore(world, tenant).writeAll([messageWrite("left", left, { subscriber: id, content, late_at })]);
    await world.advance(2 * MINUTE);
    const titles = (stream: typeof first) => stream.frames().map(({ data }) => data.title);
    expect(titles(first)).toEqual(["on time", "late"]);
    const second = await open({ "last-event-id": first.frames()[0]!.id });
    await world.advance(MINUTE);
    expect(titles(second)).toEqual(["late"]);
    await tell("live");
    expect(titles(second)).toEqual(["late", "live"]);
  });

  it("a message that was written late is not repeated to a client that resumes after it (SSE-4)", async () => {
    const { world, tenant, id, open, tell } = await withReader();
    const left = world.clock.now();
    await world.advance(6 * MINUTE);
    const first = await open();
    const content = { title: "late", body: "World" };
    const late = { subscriber: id, content, late_at: world.clock.now() };
    await quickStore(world, tenant).writeAll([messageWrite("left", left, late)]);
    await world.advance(30 * SECOND);
    await tell("on time");
    const second = await open({ "last-event-id": first.frames().at(-1)!.id });

    expect(first.frames()).toHaveLength(2);
    expect(second.frames()).toEqual([]);
  });

  it("a message that is written late brings a client that resumed none that it had before (SSE-4)", async () => {
    const { world, tenant, id, open, tell } = await withReader();
    const began = world.clock.now();
    const first = await open();
    await tell("old");
    await world.advance(70 * SECOND);
    await tell("new");
    const second = await open({ "last-event-id": first.frames().at(-1)!.id });
    const late = { subscriber: id, content: { title: "late", body: "World" }, late_at: world.clock.now() };
    await quickStore(world, tenant).writeAll([messageWrite("left", began + 15 * SECOND, late)]);
    await world.advance(MINUTE);

    expect(second.frames().map(({ data }) => data.title)).toEqual(["late"]);
  });

  it("an invalid Last-Event-ID opens a fresh stream (SSE-4)", async () => {
    const { open, tell } = await withReader();
    await tell("old");
    for (const id of ["", "nonsense", "-".repeat(36), "x".repeat(5_000)]) {
      const stream = await open({ "last-event-id": id });
      expect(stream.status).toBe(200);
      expect(stream.frames()).toEqual([]);
      await tell("new");
      expect(stream.frames()).toHaveLength(1);
    }
  });

  it("a very old Last-Event-ID sends no expired message, and one of the future does not suppress new ones (INB-4, SSE-4)", async () => {
    const { world, open, tell } = await withReader();
    await tell("expired");
    world.clock.jumpTo(START + 29 * DAY);
    await tell("alive");
    world.clock.jumpTo(START + 30 * DAY);
    const old = await open({ "last-event-id": "00000000-0000-7000-8000-000000000000" });
    expect(old.frames().map(({ data }) => data.title)).toEqual(["alive"]);
    const ahead = await open({ "last-event-id": world.ids.uuidAt(START + 60 * DAY) });
    await tell("now");
    expect(ahead.frames().map(({ data }) => data.title)).toEqual(["now"]);
  });
});
