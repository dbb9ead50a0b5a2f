// Rows in memory and rows in SQLite are the same rows: any changes, taken back or not, read in any way.
import fc from "fast-check";
import { expect, it } from "vitest";
import { openDatabase } from "../../database.ts";
import type { RowKey } from "../../dynamodb/keys.ts";
import { INDEX_COLUMNS, type Reach, TABLE_COLUMNS } from "../../dynamodb/rows.ts";
import { openRows } from "../../dynamodb/storage.ts";
import { freeze, itemOf } from "../../dynamodb/stored.ts";

/** Units that UTF-8 and UTF-16 put in different orders are among them. */
const text = fc.string({ unit: fc.constantFrom("a", "b", "\0", "é", "\u{1f600}", "\uffee", "\ue000"), maxLength: 3 });
const bytes = fc.uint8Array({ maxLength: 2 });

const changesOf = (columns: number, part: fc.Arbitrary<string | Uint8Array>) => {
  const key = fc.tuple(
    ...Array.from({ length: columns }, (_, at) => (at === 0 ? fc.constantFrom("p", "q", "\u{1f600}") : part)),
  );
  const change = fc.record({ key, n: fc.option(fc.nat(99), { nil: undefined }), due: fc.option(fc.nat(9)) });
  const bounds = fc.constantFrom("least", "above", "most", "below").chain((name) => part.map((at) => ({ [name]: at })));
  const reach = fc.record({
    key,
    bounds: fc.option(bounds, { nil: undefined }),
    resumes: fc.boolean(),
    within: fc.boolean(),
    forward: fc.boolean(),
  });
  return fc.tuple(
    fc.array(fc.record({ changes: fc.array(change, { maxLength: 6 }), fails: fc.boolean() }), { maxLength: 8 }),
    fc.array(reach, { maxLength: 8 }),
  );
};

function play(
  file: string,
  columns: readonly string[],
  [turns, reaches]: ReturnType<typeof changesOf> extends fc.Arbitrary<infer T> ? T : never,
) {
  const database = openDatabase(file);
  const rows = openRows(database);
  rows.create("kept", columns);
  const write = ({ key, n, due }: { key: RowKey; n: number | undefined; due: number | null }) =>
    n === undefined ? rows.remove("kept", key) : rows.put("kept", key, freeze({ n: { N: `${n}` } }, n), due);
  for (const { changes, fails } of turns) {
    try {
      database.transaction(() => {
        for (const change of changes) write(change);
        if (fails) throw new Error("taken back");
      });
    } catch (error) {
      expect((error as Error).message).toBe("taken back");
    }
  }
  const seen = {
    all: [...rows.all("kept")].map(({ key, stored }) => [...key.map(String), itemOf(stored)]),
    found: turns.flatMap(({ changes }) => changes.map(({ key }) => rows.find("kept", key)?.size)),
    measure: rows.measure("kept"),
    due:
      columns.length > 2
        ? []
        : rows
            .due("kept", 2, 7)
            .map(({ stored }) => stored.size)
            .sort(),
    read: reaches.map(({ key, bounds, resumes, within, forward }) => {
      const [pk, ...rest] = key as unknown as [string, ...string[]];
      const reach: Reach = within
        ? { pk, forward, ...(bounds && { bounds }), ...(resumes && { beyond: rest }) }
        : { forward: true, ...(resumes && { beyond: [pk, ...rest] }) };
      return [...rows.read("kept", reach)].map((stored) => stored.size);
    }),
  };
  database.close();
  return seen;
}

for (const [what, part] of [
  ["text", text],
  ["bytes", bytes],
] as const)
  for (const columns of [TABLE_COLUMNS, INDEX_COLUMNS])
    it(`keys of ${columns.length} columns of ${what}`, () =>
      fc.assert(
        fc.property(changesOf(columns.length, part), (story) => {
          expect(play(":memory:", columns, story)).toEqual(play("", columns, story));
        }),
        { numRuns: 60 },
      ));
