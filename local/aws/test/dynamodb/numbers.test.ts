// The arithmetic of numbers against exact integers, over any digits and scales.
import fc from "fast-check";
import { expect, test } from "vitest";
import { addNumbers, compareNumbers, normalizeNumber, sortableNumber } from "../../dynamodb/numbers.ts";

const SCALE = 40;

/** A number and its value times 10^40, exactly. */
const number = fc
  .record({ digits: fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), exponent: fc.integer({ min: -10, max: 10 }) })
  .map(({ digits, exponent }) => ({
    text: normalizeNumber(`${digits}e${exponent}`),
    value: digits * 10n ** BigInt(SCALE + exponent),
  }));

const sign = (value: bigint) => Number(value > 0n) - Number(value < 0n);

test("order, sortable text and equality agree with the values", () => {
  fc.assert(
    fc.property(number, number, (a, b) => {
      const order = sign(a.value - b.value);
      expect(Math.sign(compareNumbers(a.text, b.text))).toBe(order);
      const [left, right] = [sortableNumber(a.text), sortableNumber(b.text)];
      expect(Number(left > right) - Number(left < right)).toBe(order);
      expect(a.text === b.text).toBe(order === 0);
    }),
    { seed: 1 },
  );
});

test("sums and differences are exact", () => {
  fc.assert(
    fc.property(number, number, (a, b) => {
      const sum = normalizeNumber(`${a.value + b.value}e-${SCALE}`);
      const difference = normalizeNumber(`${a.value - b.value}e-${SCALE}`);
      expect([addNumbers(a.text, b.text), addNumbers(a.text, b.text, -1)]).toEqual([sum, difference]);
    }),
    { seed: 1 },
  );
});
