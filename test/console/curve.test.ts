// Lines of charts: smooth, and never beyond the figures that they join.
import fc from "fast-check";
import { expect, it } from "vitest";
import { curveOf } from "../../console/app/curve.ts";

it("a piece between two figures stays between them (CON-3)", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1_000 }), { minLength: 2, maxLength: 30 }), (figures) => {
      const pieces = curveOf(figures.map((y, x) => [x, y]));
      expect(pieces).toHaveLength(figures.length - 1);
      for (const [n, piece] of pieces.entries()) {
        const [, fromY = 0, , firstY = 0, , secondY = 0, , y = 0] = piece.split(/[MC,]/).slice(1).map(Number);
        const [low, high] = [Math.min(fromY, y), Math.max(fromY, y)];
        expect([fromY, y]).toEqual([figures[n], figures[n + 1]]);
        for (const control of [firstY, secondY]) {
          expect(control).toBeGreaterThanOrEqual(low - 0.01);
          expect(control).toBeLessThanOrEqual(high + 0.01);
        }
      }
    }),
  );
});

it("one figure makes no line (CON-3)", () => {
  expect(curveOf([[0, 5]])).toEqual([]);
});
