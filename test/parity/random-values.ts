// Random attribute values, keys and items, mostly sound, sometimes of the odd forms that engines disagree about.
import type { Random } from "../simulator/random.ts";
import type { ParityTable } from "./tables.ts";

export type Value = Record<string, unknown>;
export type Item = Record<string, Value>;

const WORDS = ["a", "b", "ab", "abc", "x", "hello", "é", "😀", "A", " "];
const NUMBERS = ["0", "1", "2", "3", "5", "10", "-1", "1.5", "100", "7.25", "-2.5"];
const ODD_NUMBERS = [
  "1.0",
  "007",
  "-0",
  "1e2",
  "1E-3",
  "1e125",
  "1e-130",
  "12345678901234567890123456789012345678",
  "0.1",
  ".5",
  "5.",
  "+3",
  "9.9e125",
  "-1e-130",
];
const WRONG_NUMBERS = [
  "",
  "x",
  "1e126",
  "1e-131",
  "123456789012345678901234567890123456789",
  "0x1",
  "NaN",
  "Infinity",
  "1_0",
  " 1",
  "--1",
];
const BYTES = ["AA==", "AAE=", "AAEC", "/w==", "AQ=="];

export const words = (random: Random): string => random.pick(WORDS);
export const numbers = (random: Random): string =>
  random.chance(0.1) ? random.pick(ODD_NUMBERS) : random.pick(NUMBERS);

export function keyValue(random: Random, type: string): Value {
  if (type === "S") return { S: random.pick(["a", "b", "c", "ab"]) };
  return type === "N" ? { N: random.pick(["1", "2", "3", "-1", "1.0", "10"]) } : { B: random.pick(BYTES) };
}

export function keyOf(random: Random, { hash, range }: ParityTable): Item {
  return { [hash[0]]: keyValue(random, hash[1]), ...(range && { [range[0]]: keyValue(random, range[1]) }) };
}

export function value(random: Random, depth = 0): Value {
  const kinds = ["S", "N", "N", "S", "B", "BOOL", "NULL", "SS", "NS", "BS", ...(depth < 2 ? ["L", "M", "L", "M"] : [])];
  switch (random.pick(kinds)) {
    case "S":
      return { S: random.chance(0.05) ? "" : words(random) };
    case "N":
      return { N: numbers(random) };
    case "B":
      return { B: random.chance(0.05) ? "" : random.pick(BYTES) };
    case "BOOL":
      return { BOOL: random.chance(0.5) };
    case "NULL":
      return { NULL: true };
    case "SS":
      return { SS: random.some(WORDS, random.between(1, 3)) };
    case "NS":
      return { NS: random.some(NUMBERS, random.between(1, 3)) };
    case "BS":
      return { BS: random.some(BYTES, random.between(1, 3)) };
    case "L":
      return { L: Array.from({ length: random.between(0, 3) }, () => value(random, depth + 1)) };
    default:
      return {
        M: Object.fromEntries(
          random.some(["a", "b", "c"], random.between(0, 3)).map((name) => [name, value(random, depth + 1)]),
        ),
      };
  }
}

/** What no engine should take. */
export function wrongValue(random: Random): Value {
  return random.pick<() => Value>([
    () => ({ N: random.pick(WRONG_NUMBERS) }),
    () => ({ NULL: false }),
    () => ({ SS: [] }),
    () => ({ NS: [] }),
    () => ({ BS: [] }),
    () => ({ SS: ["a", "b", "a"] }),
    () => ({ NS: ["1", "1.0"] }),
    () => ({ NS: ["1", "x"] }),
    () => ({ BS: ["AA==", "AA=="] }),
    () => ({}),
    () => ({ S: "a", N: "1" }),
    () => ({ L: [{ N: "x" }] }),
    () => ({ M: { a: { SS: [] } } }),
    () => ({ M: { a: {} } }),
  ])();
}

/** An item whose index attributes are mostly of the right type. */
export function item(random: Random, table: ParityTable): Item {
  const made: Item = keyOf(random, table);
  for (const name of random.some(["a", "b", "m", "l", "s"], random.between(0, 4))) made[name] = value(random);
  if (random.chance(0.4)) made.m = { M: { a: value(random, 1), b: value(random, 1) } };
  if (random.chance(0.4)) made.l = { L: [value(random, 1), value(random, 1), { N: numbers(random) }] };
  if (random.chance(0.3)) made.s = random.pick<Value>([{ SS: ["a", "b"] }, { NS: ["1", "2"] }, { BS: ["AA=="] }]);
  const taken = new Set([table.hash[0], table.range?.[0]]);
  for (const { hash, range } of table.indexes)
    for (const part of [hash, range])
      if (part && !taken.has(part[0]) && random.chance(0.7))
        made[part[0]] = random.chance(0.97)
          ? keyValue(random, part[1])
          : random.pick<Value>([value(random), { [part[1]]: "" }]);
  return made;
}
