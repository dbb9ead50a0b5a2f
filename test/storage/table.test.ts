// The one table behind its guard: batches, conditions and their refusals, conflicts, lost replies.
import { describe, expect, it } from "vitest";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { present } from "../../shared/store/conditions.ts";
import { tooLarge } from "../../shared/store/refusals.ts";
import { openRows, type Rows } from "../../shared/store/rows.ts";
import { isOfPlatform, isOfWorkspace } from "../../shared/store/table.ts";
import { at, patiently, storeOf } from "../support/stores.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const withStore = async (options: Parameters<typeof fresh>[0] = {}) => storeOf(await fresh(options));

describe("guard", () => {
  const everyCall = (store: Rows, pk: string): (() => Promise<unknown>)[] => [
    () => store.get(at("a", pk)),
    () => store.getAll([at("a"), at("a", pk)]),
    () => store.query({ pk }),
    () => store.query({ pk, index: "i2" }),
    () => store.count({ pk }),
    () => store.put(at("a", pk)),
    () => store.update(at("a", pk), { set: { n: 1 } }),
    () => store.remove(at("a", pk)),
    () =>
      store.writeAll([
        { kind: "put", item: at("a") },
        { kind: "put", item: at("a", pk) },
      ]),
    () => store.writeAll([{ kind: "remove", key: at("a", pk) }]),
    () =>
      store.transact([
        { kind: "put", item: at("a") },
        { kind: "put", item: at("a", pk) },
      ]),
    () => store.transact([{ kind: "change", key: at("a", pk), change: { set: { n: 1 } } }]),
    () => store.transact([{ kind: "remove", key: at("a", pk) }]),
    () => store.transact([{ kind: "check", key: at("a", pk), when: present() }]),
  ];

  it.each(["T#other#X", "T#shopX#X", "T#shop", "TENANT#shop", "DUE#1#1", "", "t#shop#X"])(
    "a tenant's store refuses %j in every call, and nothing is sent (GEN-8)",
    async (pk) => {
      const { world, store } = await withStore();
      world.dynamodb.resetMeter();
      for (const call of everyCall(store, pk)) await expect(call()).rejects.toThrow("outside the bound tenant");
      expect(world.dynamodb.meter().requests).toBe(0);
    },
  );

  it("platform rows and tenants' rows never meet, and a store without a tenant opens nothing (GEN-8)", async () => {
    const { world } = await withStore();
    const rows = openRows(world.depsFor("test"));
    await expect(rows(isOfPlatform).get(at("a"))).rejects.toThrow("outside");
    for (const pk of ["T##X", "T#shop#X", "TENANT#shop"])
      await expect(rows(isOfWorkspace("" as TenantId)).get(at("a", pk))).rejects.toThrow("outside");
  });
});

describe("reading", () => {
  it("getAll keeps the order of the keys, repeats and gaps included, 100 distinct ones a request", async () => {
    const { world, store } = await withStore();
    await store.writeAll(Array.from({ length: 250 }, (_, n) => ({ kind: "put", item: { ...at(`${n}`), n } })));
    const wanted = [...Array.from({ length: 250 }, (_, n) => at(`${n}`)), at("7"), at("missing"), at("7")].reverse();
    world.dynamodb.resetMeter();
    const found = await store.getAll(wanted);
    expect(found.map((item) => item?.n)).toEqual([7, undefined, 7, ...Array.from({ length: 250 }, (_, n) => 249 - n)]);
    expect(world.dynamodb.meter().requests).toBe(3);
    expect(await store.getAll([])).toEqual([]);
  });

  it("count is of the whole range, however many pages it is", async () => {
    const { store } = await withStore();
    const text = "x".repeat(90_000);
    await store.writeAll(Array.from({ length: 30 }, (_, n) => ({ kind: "put", item: { ...at(`${10 + n}`), text } })));
    expect((await store.query({ pk: "T#shop#X" })).next).toBeDefined();
    expect(await store.count({ pk: "T#shop#X" })).toBe(30);
    expect(await store.count({ pk: "T#shop#X", from: "20", to: "29" })).toBe(10);
    expect(await store.count({ pk: "T#shop#none" })).toBe(0);
  });

  it("query takes ranges, both directions, and pages that go on where they ended", async () => {
    const { store } = await withStore();
    await store.writeAll(
      Array.from({ length: 9 }, (_, n) => ({ kind: "put", item: { ...at(`k${n}`), text: "x".repeat(200_000) } })),
    );
    await store.put(at("other"));
    const names: string[] = [];
    let after: { pk: string; sk: string } | undefined;
    let pages = 0;
    do {
      const page = await store.query({ pk: "T#shop#X", prefix: "k", after });
      names.push(...page.items.map(({ sk }) => sk));
      after = page.next;
      pages++;
    } while (after);
    expect(names).toEqual(Array.from({ length: 9 }, (_, n) => `k${n}`));
    expect(pages).toBeGreaterThan(1);
    const sks = async (range: object) => (await store.query({ pk: "T#shop#X", ...range })).items.map(({ sk }) => sk);
    expect(await sks({ from: "k2", to: "k4" })).toEqual(["k2", "k3", "k4"]);
    expect(await sks({ from: "k8" })).toEqual(["k8", "other"]);
    expect(await sks({ to: "k1", newestFirst: true })).toEqual(["k1", "k0"]);
    expect(await sks({ newestFirst: true, limit: 2 })).toEqual(["other", "k8"]);
  });
});

describe("writing", () => {
  it("writeAll writes and removes 25 a request, and again what was left unprocessed", async () => {
    let left = 6;
    const unprocessed = (operation: string, count: number) =>
      operation === "BatchWriteItem" && left-- > 0 ? Math.ceil(count / 2) : 0;
    const { world, store } = await withStore({ faults: { unprocessed } });
    await patiently(
      world,
      store.writeAll(Array.from({ length: 60 }, (_, n) => ({ kind: "put", item: { ...at(`${100 + n}`), n } }))),
    );
    expect((await store.query({ pk: "T#shop#X" })).items).toHaveLength(60);
    await store.writeAll(Array.from({ length: 59 }, (_, n) => ({ kind: "remove", key: at(`${100 + n}`) })));
    expect((await store.query({ pk: "T#shop#X" })).items.map(({ n }) => n)).toEqual([59]);
    await store.writeAll([]);
  });

  it("update sets, removes, adds and sets once, leaves undefined alone and gives the item as it is now", async () => {
    const { store } = await withStore();
    const first = await store.update(at("a"), {
      set: { a: 1, b: undefined, gone: "x" },
      initial: { born: 1 },
      add: { n: 2 },
    });
    expect(first).toEqual({ ...at("a"), a: 1, gone: "x", born: 1, n: 2 });
    const second = await store.update(at("a"), {
      set: { a: null, nested: { deep: [1, "two", { three: true }] }, "odd #:name": "" },
      initial: { born: 2 },
      add: { n: -5 },
      remove: ["gone", "never was"],
    });
    const nested = { deep: [1, "two", { three: true }] };
    expect(second).toEqual({ ...at("a"), a: null, nested, "odd #:name": "", born: 1, n: -3 });
    expect(await store.get(at("a"))).toEqual(second);
  });

  it("an item over 400 KB is distinguished from other errors, alone and in a transaction", async () => {
    const { store } = await withStore();
    const text = "x".repeat(420_000);
    const answer = tooLarge(() => "too large");
    expect(await store.put({ ...at("a"), text }).then(() => "", answer)).toBe("too large");
    expect(await store.update(at("a"), { set: { text } }).then(() => "", answer)).toBe("too large");
    expect(
      await store
        .transact([
          { kind: "put", item: at("b") },
          { kind: "put", item: { ...at("a"), text } },
        ])
        .then(() => "", answer),
    ).toBe("too large");
    expect(
      await store.transact([{ kind: "change", key: at("a"), change: { set: { text } } }]).then(() => "", answer),
    ).toBe("too large");
    await expect(store.put(at("")).catch(answer)).rejects.toThrow();
    expect((await store.query({ pk: "T#shop#X" })).items).toEqual([]);
  });
});
