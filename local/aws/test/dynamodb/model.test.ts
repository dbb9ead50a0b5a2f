// Any sequence of writes leaves table, index and stream telling the same story as a plain map.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Answer, type Item, key, N, S, world } from "../support/dynamodb-world.ts";

type Write =
  | { kind: "put"; pk: string; group: string | undefined; v: number }
  | { kind: "move"; pk: string; group: string }
  | { kind: "drop"; pk: string }
  | { kind: "delete"; pk: string }
  | { kind: "both"; pk: string; other: string; v: number; holds: boolean };

const pk = fc.constantFrom("a", "b", "c", "d");
const group = fc.constantFrom("x", "y");
const v = fc.integer({ min: 0, max: 3 });
const write: fc.Arbitrary<Write> = fc.oneof(
  fc.record({ kind: fc.constant("put" as const), pk, group: fc.option(group, { nil: undefined }), v }),
  fc.record({ kind: fc.constant("move" as const), pk, group }),
  fc.record({ kind: fc.constant("drop" as const), pk }),
  fc.record({ kind: fc.constant("delete" as const), pk }),
  fc.record({ kind: fc.constant("both" as const), pk, other: fc.constantFrom("e", "f"), v, holds: fc.boolean() }),
);

const TableName = "things";
const built = (name: string, kind: string | undefined, value: number): Item => ({
  ...key(name),
  ...(kind && { kind: S(kind) }),
  v: N(value),
});

/** Does a write on the embedded service and on the map. */
async function both(the: Awaited<ReturnType<typeof world>>, model: Map<string, Item>, change: Write): Promise<void> {
  const old = model.get(change.pk);
  switch (change.kind) {
    case "put":
      model.set(change.pk, built(change.pk, change.group, change.v));
      await the.put(model.get(change.pk)!);
      return;
    case "move":
      model.set(change.pk, { ...(old ?? key(change.pk)), kind: S(change.group) });
      await the.update(key(change.pk), "SET kind = :k", { ":k": S(change.group) });
      return;
    case "drop": {
      const { kind: _, ...rest } = old ?? {};
      // It takes away, and makes no item where there is none.
      if (old) model.set(change.pk, rest as Item);
      await the.update(key(change.pk), "REMOVE kind");
      return;
    }
    case "delete":
      model.delete(change.pk);
      await the.call("DeleteItem", { Key: key(change.pk) });
      return;
    case "both": {
      const TransactItems = [
        { Put: { TableName, Item: built(change.other, "x", change.v) } },
        {
          Delete: {
            TableName,
            Key: key(change.pk),
            ConditionExpression: change.holds ? "attribute_not_exists(never)" : "attribute_exists(never)",
          },
        },
      ];
      if (!change.holds) return void (await the.failure("TransactWriteItems", { TransactItems }));
      model.set(change.other, built(change.other, "x", change.v));
      model.delete(change.pk);
      await the.call("TransactWriteItems", { TransactItems });
    }
  }
}

const byKey = (items: Item[]) => new Map(items.map((item) => [item.pk!.S as string, item]));

test("table, index and stream agree with a map", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(write, { maxLength: 25 }), async (writes) => {
      const the = await world({
        table: { indexes: { byKind: { hash: ["kind", "S"] } }, stream: "NEW_AND_OLD_IMAGES" },
      });
      const model = new Map<string, Item>();
      for (const change of writes) await both(the, model, change);

      const items = ({ Items }: Answer) => byKey(Items!);
      expect(items(await the.call("Scan"))).toEqual(model);
      const entries = [...model].filter(([, item]) => item.kind);
      expect(items(await the.call("Scan", { IndexName: "byKind" }))).toEqual(new Map(entries));

      const replayed = new Map<string, Item>();
      for (const { dynamodb, eventName } of the.db.records("things", "", 1000)) {
        const name = dynamodb.Keys.pk!.S!;
        expect(dynamodb.OldImage).toEqual(replayed.get(name));
        const ofExisting = dynamodb.NewImage ? "MODIFY" : "REMOVE";
        expect(eventName).toBe(dynamodb.OldImage ? ofExisting : "INSERT");
        if (dynamodb.NewImage) replayed.set(name, dynamodb.NewImage as Item);
        else replayed.delete(name);
      }
      expect(replayed).toEqual(model);
      the.database.close();
    }),
    { numRuns: 60, seed: 1 },
  );
});
