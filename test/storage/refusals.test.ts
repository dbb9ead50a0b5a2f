// Writes that are refused, that meet others, or whose reply is lost: what the table makes of each.
import { describe, expect, it } from "vitest";
import { absent, all, any, below, is, oneOf, present } from "../../shared/store/conditions.ts";
import type { Item } from "../../shared/store/model.ts";
import { failuresOf, onConditionFailed, tooLarge } from "../../shared/store/refusals.ts";
import type { RawWrite } from "../../shared/store/rows.ts";
import { requests } from "../support/requests.ts";
import { at, connectionLost, failing, storeOf } from "../support/stores.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();
const withStore = async (options: Parameters<typeof fresh>[0] = {}) => storeOf(await fresh(options));

describe("refusals", () => {
  const old = { ...at("a"), n: 5, status: "here" };
  const prepared = async () => {
    const { store } = await withStore();
    await store.put(old);
    return store;
  };
  const oldOf = onConditionFailed((item: Item | undefined) => ({ refused: item }));

  it.each<[write: string, run: (store: Awaited<ReturnType<typeof prepared>>) => Promise<unknown>]>([
    ["put", (store) => store.put({ ...at("a"), n: 6 }, absent())],
    ["update", (store) => store.update(at("a"), { set: { n: 6 } }, below("n", 5))],
    ["removal", (store) => store.remove(at("a"), is("status", "gone"))],
  ])("a refused %s carries the item as it was, and changes nothing", async (_, run) => {
    const store = await prepared();
    expect(await run(store).catch(oldOf)).toEqual({ refused: old });
    expect(await store.get(at("a"))).toEqual(old);
  });

  it("a refused update of an item that is not there carries none, and makes none", async () => {
    const store = await prepared();
    expect(await store.update(at("b"), { set: { n: 6 } }, present()).catch(oldOf)).toEqual({ refused: undefined });
    expect(await store.get(at("b"))).toBeUndefined();
  });

  it("a removal gives the item that it removed, once", async () => {
    const store = await prepared();
    expect(await store.remove(at("a"), all(is("n", 5), oneOf("status", ["there", "here"])))).toEqual(old);
    expect(await store.remove(at("a"))).toBeUndefined();
  });

  it("a refused transaction says of each step whether it would have passed, and changes nothing", async () => {
    const store = await prepared();
    const other = { ...at("b"), n: 1 };
    await store.put(other);
    const steps = await failuresOf(store, [
      { kind: "put", item: at("new"), when: absent() },
      { kind: "change", key: at("a"), change: { add: { n: 1 } }, when: any(absent("n"), is("n", 4)) },
      { kind: "remove", key: at("missing"), when: present() },
      { kind: "check", key: at("b"), when: absent() },
    ]);
    expect(steps).toEqual([undefined, { old }, { old: undefined }, { old: other }]);
    expect((await store.query({ pk: "T#shop#X" })).items).toEqual([old, other]);
  });

  it("a passing transaction does all its steps", async () => {
    const store = await prepared();
    await store.transact([
      { kind: "put", item: at("new"), when: absent() },
      { kind: "change", key: at("a"), change: { add: { n: 1 } }, when: is("n", 5) },
      { kind: "check", key: at("a2"), when: absent() },
    ]);
    expect((await store.query({ pk: "T#shop#X" })).items).toEqual([{ ...old, n: 6 }, at("new")]);
  });

  it("what is no refusal passes through the handlers as it is", async () => {
    const store = await prepared();
    const other = new Error("other");
    const handlers: ((error: unknown) => unknown)[] = [oldOf, tooLarge(() => "handled")];
    for (const handler of handlers) await expect(Promise.reject(other).catch(handler)).rejects.toBe(other);
    await expect(failuresOf({ transact: () => Promise.reject(other) }, [])).rejects.toBe(other);
    const two = store.transact([
      { kind: "check", key: at("a"), when: absent() },
      { kind: "put", item: at("c") },
    ]);
    await expect(two.catch(oldOf)).rejects.toMatchObject({ name: "ConditionFailed" });
  });
});

describe("conflicts and lost replies", () => {
  /** A lost connection is for the SDK's own client to try again. */
  const areClientsDirect = () => false;
  const steps: RawWrite[] = [
    { kind: "put", item: at("a"), when: absent() },
    { kind: "change", key: at("n"), change: { add: { n: 1 } } },
  ];

  it("a transaction whose reply is lost is done once, however often the client asks", async () => {
    const { hooks, seen } = failing("TransactWriteItems", 1, "after", connectionLost);
    const { store } = await withStore({ hooks, areClientsDirect });
    await store.transact(steps);
    expect(seen.calls).toBe(2);
    expect(await store.get(at("n"))).toEqual({ ...at("n"), n: 1 });
  });

  it("a conditional put whose reply is lost is refused with its own item, which tells it from another's", async () => {
    const { hooks } = failing("PutItem", 1, "after", connectionLost);
    const { store } = await withStore({ hooks, areClientsDirect });
    const mine = { ...at("a"), owner: "me" };
    expect(
      await store.put(mine, absent()).then(
        () => "done",
        onConditionFailed((item) => item),
      ),
    ).toEqual(mine);
  });

  it.each([
    ["an upsert", "TransactWriteItems", "POST /api/v1/subscribers/upsert", { external_id: "new" }, 200],
    [
      "a new template",
      "TransactWriteItems",
      "POST /api/v1/templates",
      { name: "t", content: { title: "t", body: "b" } },
      201,
    ],
    ["a send", "PutItem", "POST /api/v1/notifications", { target: { type: "all" }, title: "t", body: "b" }, 201],
    [
      "a send with an idempotency key",
      "TransactWriteItems",
      "POST /api/v1/notifications",
      { target: { type: "all" }, title: "t", body: "b", idempotency_key: "k" },
      201,
    ],
    ["an erasure", "TransactWriteItems", "DELETE /api/v1/subscribers/:id", undefined, 204],
    ["a bulk erasure", "TransactWriteItems", "POST /api/v1/subscribers/bulk-delete", { subscriber_ids: [":id"] }, 200],
  ])(
    "%s whose reply is lost answers as if nothing had been (SUB-6, SUB-8, SUB-12, TPL-2, NTF-1)",
    async (_, operation, route, body, status) => {
      const writing = requests({ operation, moment: "after" });
      const { world, tenant } = await withTenant({ hooks: writing.hooks, areClientsDirect });
      const id = await tenant.upsert({ external_id: "a" });
      const as = route.includes("upsert") ? tenant.sdk : await tenant.dashboard();
      let isLost = false;
      writing.each((input) => {
        // What a limiter counts and what is due are no part of the change.
        if (isLost || /LIMIT#|DUE#/.test(JSON.stringify(input))) return;
        isLost = true;
        throw connectionLost();
      });
      const given = body && JSON.parse(JSON.stringify(body).replace(":id", id));
      const answer = await world.call(route.replace(":id", id), { as, ...(given && { body: given }) });
      expect([isLost, answer.status]).toEqual([true, status]);
      if (route.endsWith("bulk-delete")) expect(answer.body).toEqual({ deleted: 1, not_found: [] });
    },
  );
});
