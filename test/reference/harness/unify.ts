// Holds an answer of the product against what the reference allows, and learns which ids are the same.
import {
  ABSENT,
  About,
  ANY,
  type Body,
  Exactly,
  FirstOf,
  isRecord,
  JsonText,
  Keys,
  OneOf,
  OrderedBy,
  Unordered,
} from "../model/kit.ts";

export interface Difference {
  path: string;
  expected: Body;
  got: Body;
}

const isOurId = (value: unknown): value is string => typeof value === "string" && /^#\w+-\d+$/.test(value);

/** Our ids and the product's, one to one. */
export class Bindings {
  readonly product = new Map<string, string>();
  readonly ours = new Map<string, string>();
  /** So much earlier or later a time may be, in milliseconds. The order that times give is then free. */
  readonly slack: number;
  #trail: string[] = [];

  constructor({ slack = 0 }: { slack?: number } = {}) {
    this.slack = slack;
  }

  mark = () => this.#trail.length;
  undo(mark: number): void {
    for (const id of this.#trail.splice(mark)) {
      this.ours.delete(this.product.get(id)!);
      this.product.delete(id);
    }
  }
  bind(id: string, theirs: unknown): boolean {
    const known = this.product.get(id);
    if (known !== undefined) return known === theirs;
    if (typeof theirs !== "string" || this.ours.has(theirs)) return false;
    this.product.set(id, theirs);
    this.ours.set(theirs, id);
    this.#trail.push(id);
    return true;
  }
}

type Result = Difference | undefined;

const isTime = (value: unknown) => typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);

/** The first difference, or undefined. */
export function differenceOf(bindings: Bindings, expected: Body, got: Body, path = ""): Result {
  const differs = (): Result => ({ path, expected: plain(bindings, expected), got });
  if (expected === ANY) return undefined;
  if (expected === ABSENT) return got === undefined ? undefined : differs();
  if (isOurId(expected)) return bindings.bind(expected, got) ? undefined : differs();
  if (expected instanceof OneOf)
    return expected.of.some((choice) => fits(bindings, choice, got)) ? undefined : differs();
  if (expected instanceof About)
    return typeof got === "number" && Math.abs(got - expected.of) < 1e-6 ? undefined : differs();
  if (expected instanceof Keys)
    return isRecord(got) && expected.of.every((key) => names(got, key)) ? undefined : differs();
  if (expected instanceof JsonText)
    return typeof got === "string"
      ? differenceOf(bindings, new Exactly(expected.of), JSON.parse(got), path)
      : differs();
  if (expected instanceof Exactly) return exactly(bindings, expected.of, got, path) ?? undefined;
  if (expected instanceof Unordered) return Array.isArray(got) ? sameSet(bindings, expected.of, got, path) : differs();
  if (expected instanceof OrderedBy) return Array.isArray(got) ? inOrder(bindings, expected, got, path) : differs();
  if (expected instanceof FirstOf) return firstOf(bindings, expected, got, path);
  if (Array.isArray(expected)) {
    if (!Array.isArray(got) || got.length !== expected.length) return differs();
    return firstDifference(expected.map((item, n) => () => differenceOf(bindings, item, got[n], `${path}[${n}]`)));
  }
  if (expected === got) return undefined;
  if (!isRecord(expected)) {
    const isNear =
      isTime(expected) && isTime(got) && Math.abs(Date.parse(expected) - Date.parse(got)) <= bindings.slack;
    return plain(bindings, expected) === got || isNear ? undefined : differs();
  }
  if (!isRecord(got)) return differs();
  const keys = Object.keys(expected);
  return firstDifference(keys.map((key) => () => differenceOf(bindings, expected[key], got[key], `${path}.${key}`)));
}

/** A field, or an element of it. */
const names = (got: Body, key: string) =>
  Object.keys(got).some((name) => name === key || name.startsWith(`${key}[`) || name.startsWith(`${key}.`));

function firstDifference(tests: (() => Result)[]): Result {
  for (const test of tests) {
    const difference = test();
    if (difference) return difference;
  }
  return undefined;
}

function exactly(bindings: Bindings, expected: Body, got: Body, path: string): Result {
  if (isRecord(expected) && isRecord(got)) {
    const extra = Object.keys(got).find((key) => !(key in expected));
    if (extra !== undefined) return { path: `${path}.${extra}`, expected: undefined, got: got[extra] };
  }
  return differenceOf(bindings, expected, got, path);
}

function fits(bindings: Bindings, expected: Body, got: Body): boolean {
  const mark = bindings.mark();
  if (!differenceOf(bindings, expected, got)) return true;
  bindings.undo(mark);
  return false;
}

/** Finds a partner for each; those with known ids first, so that guesses come last. */
function sameSet(bindings: Bindings, expected: Body[], got: Body[], path: string): Result {
  if (expected.length !== got.length)
    return { path: `${path}.length`, expected: expected.map((item) => plain(bindings, item)), got };
  const left = [...got];
  const pairs: Pair[] = [];
  for (const item of expected) {
    const partner = left.findIndex((candidate) => fits(bindings, item, candidate));
    if (partner >= 0) pairs.push({ item, with: left.splice(partner, 1)[0] });
    else if (!swapped(bindings, item, pairs, left)) return closest(bindings, item, left, path);
  }
  return undefined;
}

interface Pair {
  item: Body;
  with: Body;
}

/** Takes the partner of another one that has a second. */
function swapped(bindings: Bindings, item: Body, pairs: Pair[], left: Body[]): boolean {
  for (const pair of pairs) {
    const second = fits(bindings, item, pair.with) ? left.findIndex((other) => fits(bindings, pair.item, other)) : -1;
    if (second < 0) continue;
    pairs.push({ item, with: pair.with });
    pair.with = left.splice(second, 1)[0];
    return true;
  }
  return false;
}

/** The difference to the candidate that is most alike, so that the story names the field. */
function closest(bindings: Bindings, item: Body, left: Body[], path: string): Result {
  const depth = ({ path: at }: Difference) =>
    isRecord(item) ? Object.keys(item).findIndex((key) => at.startsWith(`.${key}`)) : 0;
  const differences = left.map((candidate) => {
    const mark = bindings.mark();
    const difference = differenceOf(bindings, item, candidate)!;
    bindings.undo(mark);
    return difference;
  });
  const best = differences.toSorted((a, b) => depth(b) - depth(a))[0];
  if (!best) return { path: `${path}[?]`, expected: plain(bindings, item), got: left };
  return { ...best, path: `${path}[?]${best.path}`, got: { value: best.got, of: left } };
}

function inOrder(bindings: Bindings, { items, keys }: OrderedBy, got: Body[], path: string): Result {
  if (items.length !== got.length)
    return { path: `${path}.length`, expected: items.map((item) => plain(bindings, item)), got };
  if (bindings.slack > 0) return sameSet(bindings, items, got, path);
  for (let from = 0; from < items.length; ) {
    let to = from;
    while (to < items.length && keys[to] === keys[from]) to++;
    const difference = sameSet(bindings, items.slice(from, to), got.slice(from, to), `${path}[${from}..]`);
    if (difference) return difference;
    from = to;
  }
  return undefined;
}

function firstOf(bindings: Bindings, { ordered, limit }: FirstOf, got: Body, path: string): Result {
  if (!Array.isArray(got) || got.length !== limit) return { path: `${path}.length`, expected: limit, got };
  for (const [n, item] of got.entries()) {
    const partner = ordered.items.findIndex((candidate) => fits(bindings, candidate, item));
    if (partner < 0 || (bindings.slack === 0 && ordered.keys[partner] !== ordered.keys[n]))
      return { path: `${path}[${n}]`, expected: plain(bindings, ordered.items[n]), got: item };
  }
  return undefined;
}

/** For a reader: what was allowed, with the product's ids where they are known. */
function plain(bindings: Bindings, value: Body): Body {
  if (value === ANY) return "(anything)";
  if (value === ABSENT) return "(absent)";
  if (typeof value === "string") return value.replace(/#[a-z]+-\d+/g, (id) => bindings.product.get(id) ?? id);
  if (value instanceof OneOf) return { "one of": value.of.map((choice) => plain(bindings, choice)) };
  if (value instanceof Unordered) return value.of.map((item) => plain(bindings, item));
  if (value instanceof OrderedBy) return value.items.map((item) => plain(bindings, item));
  if (value instanceof FirstOf) return plain(bindings, value.ordered);
  if (value instanceof JsonText || value instanceof Exactly || value instanceof About) return plain(bindings, value.of);
  if (value instanceof Keys) return { "with keys": value.of };
  if (Array.isArray(value)) return value.map((item) => plain(bindings, item));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(bindings, item)]));
}
