import { describe, expect, test } from "vitest";
import { type Database, openDatabase, type StreamRecord } from "../../local/aws/index.ts";
import type { Mapping } from "../../local/mapping.ts";
import { HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { at, toyStream, world } from "../support/mappings.ts";

describe("a table's stream", () => {
  type Options = Partial<Parameters<ReturnType<typeof world>["mappings"]["mapTableStream"]>[0]>;
  const keyOf = (record: StreamRecord) => record.dynamodb.Keys.PK!.S!;

  function streamWorld(
    answer: (keys: string[], records: StreamRecord[]) => unknown,
    options: Options = {},
    shared = {},
  ) {
    const parts = world(shared);
    const batches: string[] = [];
    parts.host.register({
      name: "react",
      timeoutSeconds: 10,
      create: () => async (event: { Records: StreamRecord[] }) => {
        const keys = event.Records.map(keyOf);
        batches.push(keys.join(""));
        return answer(keys, event.Records);
      },
    });
    const mapping = parts.mappings.mapTableStream({ table: "app", function: "react", batchSize: 4, ...options });
    const write = (keys: string) => [...keys].map((key) => parts.dynamodb.write(key));
    return { ...parts, mapping, write, batches };
  }
  const pumpAll = async (mapping: Mapping) => {
    while (mapping.runnable()) await mapping.pump();
  };

  test("a table's stream is delivered in order, in batches, without what the filter refuses, and goes on after a restart", async () => {
    const shared = { database: openDatabase(":memory:") as Database, dynamodb: toyStream() };
    const filter = (record: StreamRecord) => keyOf(record) !== "x";
    const first = streamWorld(() => undefined, { filter }, shared);
    first.write("abxcdefxx");
    await pumpAll(first.mapping);
    expect(first.batches).toEqual(["abcd", "ef"]);
    first.write("g");
    const second = streamWorld(() => undefined, { filter }, shared);
    await pumpAll(second.mapping);
    expect(second.batches).toEqual(["g"]);
  });

  test("a failing batch blocks those behind it until a retry succeeds, in service time", async () => {
    let broken = true;
    const { clock, mapping, write, batches } = streamWorld(
      () => {
        if (broken) throw new Error("no");
      },
      { batchSize: 1 },
    );
    write("ab");
    await pumpAll(mapping);
    expect(batches).toEqual(["a"]);
    expect(mapping.nextAt()).toBe(at + SECOND);
    clock.jumpTo(at + SECOND);
    await pumpAll(mapping);
    expect(mapping.nextAt()).toBe(at + 3 * SECOND);
    broken = false;
    clock.jumpTo(at + 3 * SECOND);
    await pumpAll(mapping);
    expect(batches).toEqual(["a", "a", "a", "b"]);
    expect(mapping.nextAt()).toBeUndefined();
  });

  test("a crash between delivery and success delivers again", async () => {
    const shared = { database: openDatabase(":memory:") as Database, dynamodb: toyStream() };
    const first = streamWorld(() => new Promise(() => undefined), {}, shared);
    first.write("ab");
    void first.mapping.pump();
    const second = streamWorld(() => undefined, {}, shared);
    await pumpAll(second.mapping);
    expect(second.batches).toEqual(["ab"]);
  });

  test("a reported failure retries from there on, at the lowest of several", async () => {
    let reports = [["d", "b"], ["c"]];
    const { clock, mapping, write, batches } = streamWorld((_, records) => {
      const failed = reports.shift() ?? [];
      const named = records.filter((record) => failed.includes(keyOf(record)));
      return { batchItemFailures: named.map(({ dynamodb }) => ({ itemIdentifier: dynamodb.SequenceNumber })) };
    });
    write("abcd");
    await pumpAll(mapping);
    clock.jumpTo(at + SECOND);
    await pumpAll(mapping);
    clock.jumpTo(at + 2 * SECOND);
    await pumpAll(mapping);
    expect(batches).toEqual(["abcd", "bcd", "cd"]);
    reports = [];
  });

  test("an error is isolated by halves, retried a bounded number of times and given up", async () => {
    const lost: string[] = [];
    const { clock, mapping, write, batches } = streamWorld(
      (keys) => {
        if (keys.includes("c")) throw new Error("no");
      },
      { maxAttempts: 2, onFailure: (records) => lost.push(...records.map(keyOf)) },
    );
    write("abcdef");
    await pumpAll(mapping);
    expect(batches).toEqual(["abcd", "ab", "cd", "c"]);
    clock.jumpTo(at + SECOND);
    await pumpAll(mapping);
    expect(batches.slice(4)).toEqual(["c", "d", "ef"]);
    expect(lost).toEqual(["c"]);
  });

  test("with an age instead of a number, a refused record is tried again until it is that old", async () => {
    const lost: string[] = [];
    const { clock, mapping, write, batches } = streamWorld(
      (_, records) => {
        const refused = records.find((record) => keyOf(record) === "b");
        return { batchItemFailures: refused ? [{ itemIdentifier: refused.dynamodb.SequenceNumber }] : [] };
      },
      { maxRecordAgeMs: HOUR, onFailure: (records) => lost.push(...records.map(keyOf)) },
    );
    write("abc");
    for (let time = at; time <= at + HOUR; time += MINUTE) {
      clock.jumpTo(time);
      await pumpAll(mapping);
    }
    expect([batches[0], batches[1], lost]).toEqual(["abc", "bc", []]);
    expect(batches.length).toBeGreaterThan(50);
    clock.jumpTo(at + HOUR + 2 * MINUTE);
    await pumpAll(mapping);
    expect(lost).toEqual(["b", "c"]);
  });

  test("with a factor, keys go side by side and each key keeps its order", async () => {
    const seen = new Map<string, number>();
    let together = 0;
    let max = 0;
    const { mapping, write, batches } = streamWorld(
      async (_, records) => {
        max = Math.max(max, ++together);
        await new Promise(setImmediate);
        together--;
        for (const record of records) {
          const sequence = Number(record.dynamodb.SequenceNumber);
          expect(sequence).toBeGreaterThan(seen.get(keyOf(record)) ?? 0);
          seen.set(keyOf(record), sequence);
        }
      },
      { parallelizationFactor: 3 },
    );
    write("abcabcabcabcaaaaaa");
    await pumpAll(mapping);
    expect(max).toBe(3);
    expect(batches.join("").length).toBe(18);
    expect(batches.every((batch) => batch.length <= 4)).toBe(true);
  });
});
