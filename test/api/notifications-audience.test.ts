// Who gets a send: filters on both sides (NTF-12 to NTF-16), and audiences of every size (NTF-5, AMB-38, AMB-57).
import { describe, expect, it } from "vitest";
import { fill } from "../../bench/people.ts";
import { putItem } from "../../shared/store/item.ts";
import { Message } from "../../shared/store/sends/inbox/inbox-items.ts";
import { DeviceItem } from "../../shared/store/subscribers/device-items.ts";
import { NOTHING_LATE } from "../support/late.ts";
import { addDevice, addPeople, deviceRow, quickStore, reachedOf, send } from "../support/people.ts";
import { openChannels, spoil } from "../support/reached.ts";
import { START, type Tenant, type TestWorld } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const everybody = { target: { type: "all" } };
type Values = Record<string, unknown>;

/** Six people: numbers, texts, times, lists, null and nothing at all. */
const people: Record<string, Values> = {
  low: { n: 5, plan: "free", at: "2026-01-01T00:00:00Z", tags: ["a"], vip: false },
  ten: { n: 10, plan: "pro", at: "2026-06-01T02:00:00+02:00", tags: ["a", "b"], vip: true },
  high: { n: 15.5, plan: "team", at: "2026-12-01T00:00:00Z", tags: [], vip: null },
  text: { n: "10", plan: "Pro", at: "soon" },
  none: { n: null },
  bare: {},
};
const names = Object.keys(people);
const others = (...some: string[]) => names.filter((name) => !some.includes(name));

/** Operator by operator: predicate and matching people (AMB-52: no coercion, missing matches only $ne, $nin, $exists:false). */
const cases: [title: string, predicate: Values, matching: string[]][] = [
  ["$eq number", { n: { $eq: 10 } }, ["ten"]],
  ["$eq text", { n: { $eq: "10" } }, ["text"]],
  ["$eq instant", { at: { $eq: "2026-06-01T00:00:00Z" } }, ["ten"]],
  ["$eq element of a list", { tags: { $eq: "b" } }, ["ten"]],
  ["$ne", { plan: { $ne: "pro" } }, others("ten")],
  ["$gt", { n: { $gt: 10 } }, ["high"]],
  ["$gte", { n: { $gte: 10 } }, ["ten", "high"]],
  ["$lt", { n: { $lt: 10 } }, ["low"]],
  ["$lte", { n: { $lte: 10 } }, ["low", "ten"]],
  ["$gt instant, which what is no time is not after", { at: { $gt: "2026-05-31T23:59:59Z" } }, ["ten", "high"]],
  ["$in", { plan: { $in: ["free", "team"] } }, ["low", "high"]],
  ["$in nothing", { plan: { $in: [] } }, []],
  ["$nin", { plan: { $nin: ["free", "team"] } }, others("low", "high")],
  ["$exists", { tags: { $exists: true } }, ["low", "ten", "high"]],
  ["$exists false", { plan: { $exists: false } }, ["none", "bare"]],
  ["several operators", { n: { $gt: 5, $lt: 15 } }, ["ten"]],
  ["several keys", { n: { $gte: 5 }, vip: { $eq: true } }, ["ten"]],
  ["no condition", {}, names],
];

describe("operators", () => {
  const six = shared(async (own) => {
    // The rows of its devices have attributes that devices do not have.
    const { world, tenant } = await own.withTenant({ onRead: () => undefined });
    const ids = await addPeople(world, tenant, names.length + 1, (n) => ({
      external_id: names[n] ?? "deviceless",
      attributes: { has_device: n < names.length, ...(people[names[n] ?? ""] as object) },
    }));
    for (const [n, name] of names.entries()) await addDevice(world, tenant, ids[n]!, "phone", people[name] as never);
    return { world, tenant, ids };
  });

  const expectReached = async (filters: object, matching: string[]) => {
    const { world, tenant, ids } = await six();
    const wanted = ids.filter((_, i) => matching.includes(names[i] ?? ""));
    for (const audience of [everybody, { subscriberIds: ids }]) {
      const { answer, job } = await send(world, tenant, { ...audience, ...filters });
      expect(answer.sent).toBe(wanted.length);
      expect(job.counts).toMatchObject({ total: wanted.length, delivered: wanted.length, skipped: 0 });
      expect(await reachedOf(world, tenant, ids, job.id)).toEqual(wanted);
    }
  };

  it.each(cases)("a filter over subscribers takes %s (NTF-13, NTF-15)", (_, predicate, matching) =>
    expectReached({ subscriber_filters: { has_device: { $eq: true }, ...predicate } }, matching),
  );
  it.each(cases)("a filter over devices takes %s (NTF-12, NTF-15)", (_, device_filters, matching) =>
    expectReached({ device_filters }, matching),
  );
  it("null is a value of a device (NTF-15, AMB-44)", () =>
    expectReached({ device_filters: { vip: { $eq: null } } }, ["high"]));
  it("null is no value of a subscriber (NTF-15, AMB-44)", () =>
    expectReached({ subscriber_filters: { vip: { $eq: null } } }, []));
});

describe("filters over subscribers", () => {
  it("the fields of the subscriber itself can be filtered on (NTF-13)", async () => {
    const { world, tenant } = await withTenant();
    const ids = await addPeople(world, tenant, 3, (n) => (n ? { email: `p${n}@example.com` } : {}));
    const sentBy = async (subscriber_filters: Values) =>
      (await send(world, tenant, { ...everybody, subscriber_filters })).answer.sent;

    expect(await sentBy({ external_id: { $eq: "p1" } })).toBe(1);
    expect(await sentBy({ email: { $exists: true } })).toBe(2);
    expect(await sentBy({ created_at: { $lt: "2026-01-01T00:00:00Z" } })).toBe(0);
    expect(ids).toHaveLength(3);
  });
});

describe("filters over devices", () => {
  const versions: [title: string, stored: (string | Values)[], predicate: Values, matching: number[]][] = [
    ["10 > 9", ["9.0.0", "10.0.0"], { $gt: { major: 9, minor: 9, patch: 9 } }, [1]],
    ["1.10.0 > 1.9.9", ["1.9.9", "1.10.0"], { $gt: { major: 1, minor: 9, patch: 9 } }, [1]],
    ["$gte", ["17.4", { major: 17, minor: 4, patch: 1 }], { $gte: { major: 17, minor: 4, patch: 1 } }, [1]],
    ["$lt", ["17", "17.0.1"], { $lt: { major: 17, minor: 0, patch: 1 } }, [0]],
    ["$lte", ["17.0.1", "17.0.2"], { $lte: { major: 17, minor: 0, patch: 1 } }, [0]],
    ["$eq", ["17", "17.1"], { $eq: { major: 17, minor: 0, patch: 0 } }, [0]],
    ["$ne", ["17", "17.1"], { $ne: { major: 17, minor: 0, patch: 0 } }, [1]],
    ["$in", ["1.0.0", "2.0.0", "3.0.0"], { $in: [{ major: 1 }, { major: 3 }] }, [0, 2]],
    ["$nin", ["1.0.0", "2.0.0"], { $nin: [{ major: 1 }] }, [1]],
    ["$exists", ["1.0.0", "2.0.0"], { $exists: true }, [0, 1]],
    ["text that is no version", ["latest", "2.0.0"], { $gt: { major: 1 } }, [1]],
  ];

  it.each(versions)("versions compare as versions: %s (NTF-16)", async (_, stored, operators, matching) => {
    const { world, tenant } = await withTenant();
    const ids = await addPeople(world, tenant, stored.length);
    for (const [n, version] of stored.entries()) {
      const all = { os_version: version, sdk_version: version, app_version: version };
      await addDevice(world, tenant, ids[n]!, "phone", all as never);
    }
    for (const key of ["os_version", "sdk_version", "app_version"]) {
      const { answer } = await send(world, tenant, { ...everybody, device_filters: { [key]: operators } });
      expect(answer.sent, `${key}`).toEqual(matching.length);
    }

    expect(await reachedOf(world, tenant, ids)).toEqual(ids.filter((_, n) => matching.includes(n)));
  });

  it("a version key takes no text operand: 422 naming the filter (NTF-16)", async () => {
    const { tenant } = await withTenant();
    const body = { ...everybody, title: "t", body: "b", device_filters: { os_version: { $gt: "17" } } };
    const answer = await tenant.call("POST /api/v1/notifications", body);

    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.fields)).toEqual(["device_filters.os_version.$gt"]);
  });

  it("conditions hold on one and the same device (NTF-12)", async () => {
    const { world, tenant } = await withTenant();
    const ids = await addPeople(world, tenant, 2);
    await addDevice(world, tenant, ids[0]!, "a", { platform: "ios", locale: "en" });
    await addDevice(world, tenant, ids[0]!, "b", { platform: "android", locale: "de" });
    await addDevice(world, tenant, ids[1]!, "c", { platform: "ios", locale: "de" });
    const device_filters = { platform: { $eq: "ios" }, locale: { $eq: "de" } };
    await send(world, tenant, { ...everybody, device_filters });

    expect(await reachedOf(world, tenant, ids)).toEqual([ids[1]]);
  });

  it("a device whose token is dead matches no filter, and no longer stands in the explanation (NTF-12, D-DEV)", async () => {
    const { world, tenant } = await withTenant();
    const { ios } = await openChannels(world, tenant, "ios-push");
    const [ada = ""] = await addPeople(world, tenant, 1);
    await addDevice(world, tenant, ada, "phone", { platform: "ios" });
    await spoil(world, { channel: "ios", outcome: "invalid_token" });
    await send(world, tenant, { ...everybody, channel_ids: [ios] });
    const { job } = await send(world, tenant, { ...everybody, device_filters: { platform: { $eq: "ios" } } });
    const why = (await tenant.call(`GET /api/v1/notifications/${job.id}/recipients/${ada}`)).body;

    expect(job.counts.total).toBe(0);
    expect(why).toMatchObject({ reason: "device_filters", now: { device_filters: [] } });
  });

  it("both filters are ANDed (NTF-14)", async () => {
    const { world, tenant } = await withTenant();
    const ids = await addPeople(world, tenant, 4, (n) => ({ attributes: { pro: n >= 2 } }));
    for (const n of [1, 3]) await addDevice(world, tenant, ids[n]!, "phone", { platform: "ios" });
    const filters = { subscriber_filters: { pro: { $eq: true } }, device_filters: { platform: { $eq: "ios" } } };

    for (const audience of [everybody, { subscriberIds: ids }])
      expect((await send(world, tenant, { ...audience, ...filters })).answer.sent).toBe(1);
    expect(await reachedOf(world, tenant, ids)).toEqual([ids[3]]);
  });
});

describe("audiences by size", () => {
  const everyoneOnce = async (world: TestWorld, tenant: Tenant, ids: string[], job: string) => {
    const store = quickStore(world, tenant);
    const messages = await Promise.all(ids.map((id) => store.queryAll(Message, { subscriber: id })));
    expect(messages.every((rows) => rows.length === 1 && rows[0]!.job === job)).toBe(true);
    expect(world.logs.filter(({ level }) => level === "error")).toEqual([]);
  };

  it("a send to all is exact up to 1,000, also with many devices per subscriber (NTF-5, AMB-38)", async () => {
    const { world, tenant } = await withTenant();
    const ids = await addPeople(world, tenant, 300);
    for (const id of ids.slice(0, 150))
      await quickStore(world, tenant).writeAll(
        Array.from({ length: 20 }, (_, n) => {
          const row = deviceRow(id, String(n), { at: START });
          return putItem(DeviceItem, { subscriber: id, device: String(n) }, row);
        }),
      );
    const filtered = await send(world, tenant, { ...everybody, device_filters: { platform: { $eq: "ios" } } });
    expect(filtered.answer.sent).toBe(150);
    expect(filtered.job.counts.delivered).toBe(150);
    const { answer, job } = await send(world, tenant, everybody);
    expect(answer.sent).toBe(300);
    expect(job.counts.delivered).toBe(300);
  });

  it("a send to 2,500 reaches everyone once (NTF-5, AMB-95)", async () => {
    const { world, tenant } = await withTenant();
    const ids = await fill(world, tenant, 2_500);
    const { answer, job } = await send(world, tenant, everybody);
    expect(answer.sent).toBe(2_500);
    expect(job).toMatchObject({ status: "completed", sent: 2_500 });
    expect(job.counts).toEqual({
      ...NOTHING_LATE,
      total: 2_500,
      sent: 2_500,
      delivered: 2_500,
      failed: 0,
      skipped: 0,
      held_out: 0,
    });
    await everyoneOnce(world, tenant, ids, job.id);
  });

  it("a large send behind a filter is answered with all, and its number is known once it is over (AMB-38)", async () => {
    const { world, tenant } = await withTenant();
    await fill(world, tenant, 2_400);
    await addPeople(world, tenant, 100, (n) => ({ external_id: `rare ${n}`, attributes: { rare: true } }));
    const { answer, job } = await send(world, tenant, { ...everybody, subscriber_filters: { rare: { $eq: true } } });

    expect(answer.sent).toBe(2_500);
    expect(job).toMatchObject({
      status: "completed",
      sent: 100,
      counts: { total: 100, sent: 100, delivered: 100 },
    });
  });

  it("a list of 1,500 given ids reaches everyone once, with unknown ids and repeats among them (NTF-2, AMB-57)", async () => {
    const { world, tenant } = await withTenant();
    const ids = await fill(world, tenant, 1_450);
    const strangers = Array.from({ length: 50 }, () => world.ids.uuid());
    const given = [...strangers, ...ids, ...ids.slice(0, 100)];
    const { answer, job } = await send(world, tenant, { subscriberIds: given });
    expect(answer.sent).toBe(1_450);
    expect(job).toMatchObject({ status: "completed", sent: 1_450, subscriber_ids_count: 1_500 });
    expect(job.counts).toMatchObject({ total: 1_500, delivered: 1_450, skipped: 50 });
    expect(job.skip_reasons).toEqual({ unknown_subscriber: 50 });
    await everyoneOnce(world, tenant, ids, job.id);
  });

  it("a send to all reaches no subscriber of another workspace (GEN-8)", async () => {
    const { world, tenant } = await withTenant();
    const other = await world.tenant();
    const [mine, theirs] = [await addPeople(world, tenant, 20), await addPeople(world, other, 20)];

    expect((await send(world, tenant, everybody)).job.counts.total).toBe(20);
    expect(await reachedOf(world, tenant, mine)).toHaveLength(20);
    expect(await reachedOf(world, other, theirs)).toEqual([]);
  });
});
