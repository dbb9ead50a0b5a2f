// Time to live: items end when their second has passed.
import { describe, expect, test } from "vitest";
import { MINUTE, SECOND } from "../../time.ts";
import { invalid, key, N, S, START, world } from "../support/dynamodb-world.ts";

const streamed = () => world({ table: { stream: "NEW_AND_OLD_IMAGES" } });

describe("time to live", () => {
  const enable = { TableName: "things", TimeToLiveSpecification: { Enabled: true, AttributeName: "ends" } };
  const second = START / SECOND;

  /** A table whose items end: two are due ten seconds later, and four are not. */
  async function withEnds() {
    const opened = await streamed();
    const { call, put, clock } = opened;
    await put({ ...key("before"), ends: N(second + 10) });
    await call("UpdateTimeToLive", enable);
    await put({ ...key("soon"), ends: N(second + 10) });
    await put({ ...key("later"), ends: N(second + 1000) });
    await put({ ...key("text"), ends: S(String(second)) });
    await put({ ...key("ancient"), ends: N(second - 6 * 365 * 24 * 3600) });
    await put(key("never"));
    return { ...opened, pass: () => clock.jumpTo(clock.now() + 10 * SECOND) };
  }

  test("no item is deleted before its second has passed", async () => {
    const { db, get } = await withEnds();

    expect(db.expire()).toBe(0);
    expect(await get(key("soon"))).toBeDefined();
  });

  test("items are deleted once when their second has passed, also those from before; not by a text or a time years ago", async () => {
    const { db, call, pass } = await withEnds();
    const told: string[] = [];
    db.onWrite((_, partitionKey) => told.push(partitionKey));
    pass();

    expect([db.expire(), db.expire()]).toEqual([2, 0]);
    expect(told.sort()).toEqual(["before", "soon"]);
    expect((await call("Scan", { Select: "COUNT" })).Count).toBe(4);
  });

  test("the end of an item costs nothing", async () => {
    const { db, pass } = await withEnds();
    pass();
    const { wcu } = db.meter();
    db.expire();

    expect(db.meter().wcu).toBe(wcu);
  });

  test("the end of an item is recorded as the service's own removal", async () => {
    const { db, pass } = await withEnds();
    pass();
    db.expire();
    const removals = db.records("things", "", 20).filter(({ eventName }) => eventName === "REMOVE");

    const byService = { type: "Service", principalId: "dynamodb.amazonaws.com" };
    expect(removals.map(({ userIdentity }) => userIdentity)).toEqual([byService, byService]);
  });

  test("a changed or removed expiry counts", async () => {
    const { db, call, put, update, clock } = await world();
    await call("UpdateTimeToLive", enable);
    await put({ ...key("longer"), ends: N(second + 1) });
    await put({ ...key("kept"), ends: N(second + 1) });
    await update(key("longer"), "SET ends = :e", { ":e": N(second + 100) });
    await update(key("kept"), "REMOVE ends");
    clock.jumpTo(clock.now() + 50 * SECOND);
    expect(db.expire()).toBe(0);
    clock.jumpTo(clock.now() + 50 * SECOND);
    expect(db.expire()).toBe(1);
  });

  test("it is described, and neither switched on nor off twice", async () => {
    const { call, refused, clock } = await world();
    const described = async () => (await call("DescribeTimeToLive", { TableName: "things" })).TimeToLiveDescription;
    const disable = { ...enable, TimeToLiveSpecification: { Enabled: false, AttributeName: "ends" } };
    expect(await described()).toEqual({ TimeToLiveStatus: "DISABLED" });
    expect(await refused("UpdateTimeToLive", disable)).toBe(invalid("TimeToLive is already disabled"));
    await call("UpdateTimeToLive", enable);
    expect(await described()).toEqual({ TimeToLiveStatus: "ENABLED", AttributeName: "ends" });
    expect(await refused("UpdateTimeToLive", enable)).toBe(invalid("TimeToLive is already enabled"));
    const other = { ...enable, TimeToLiveSpecification: { Enabled: false, AttributeName: "other" } };
    expect(await refused("UpdateTimeToLive", other)).toContain("TimeToLive is active on a different AttributeName");
    expect(await refused("UpdateTimeToLive", disable)).toBe(
      invalid("Time to live has been modified multiple times within a fixed interval"),
    );
    clock.jumpTo(clock.now() + 30 * MINUTE);
    await call("UpdateTimeToLive", disable);
    expect(await described()).toEqual({ TimeToLiveStatus: "DISABLED" });
  });
});
