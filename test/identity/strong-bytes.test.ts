// The source of keys, tokens and codes.
import { expect, it } from "vitest";
import { drawnAhead } from "../../shared/runtime/system.ts";

it("strong bytes are given out once and in their order, however many are asked for (ATH-2)", () => {
  let next = 0;
  const source = (length: number) => Buffer.from(Array.from({ length }, () => next++ % 251));
  const bytes = drawnAhead(source);
  const asked = [16, 10, 4_000, 60, 32, 5_000, 16];

  const given = asked.map((length) => bytes(length));

  expect(given.map(({ length }) => length)).toEqual(asked);
  // Of a portion that does not suffice the rest is dropped, and a large demand is drawn by itself.
  const from = [0, 16, 26, 4_026, 4_096, 8_192, 4_128];
  expect(given.map((one) => one[0])).toEqual(from.map((position) => position % 251));
});
