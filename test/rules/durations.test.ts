import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_DURATION, parseDuration } from "../../shared/rules/durations.ts";
import { parseRule } from "../../shared/rules/segment-rules.ts";

describe("durations", () => {
  it.each([
    ["1m", 60_000],
    ["30m", 1_800_000],
    ["24h", 86_400_000],
    ["7d", 604_800_000],
    ["3650d", MAX_DURATION],
    ["87600h", MAX_DURATION],
    ["5256000m", MAX_DURATION],
  ])("the reader of durations reads %s (JND-4, RUL-6)", (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each([
    ["1.5h"],
    ["10s"],
    ["h"],
    [""],
    ["0d"],
    ["0m"],
    ["00h"],
    ["01h"],
    ["-1h"],
    ["+1h"],
    ["1 h"],
    [" 1h"],
    ["1h "],
    ["1h\n"],
    ["1H"],
    ["1D"],
    ["1w"],
    ["1y"],
    ["1ms"],
    ["1h30m"],
    ["1e3h"],
    ["0x1h"],
    ["١h"],
    ["24"],
    ["3651d"],
    ["87601h"],
    ["5256001m"],
    ["99999999999999999999d"],
    ["P1D"],
  ])("the reader of durations refuses %j (JND-16, AMB-69)", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it("the reader of durations reads every whole number of a unit up to the limit and nothing else (JND-4)", () => {
    const units = { m: 60_000, h: 3_600_000, d: 86_400_000 };
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6_000_000 }), fc.constantFrom("m", "h", "d"), (count, unit) => {
        const milliseconds = count * units[unit];
        const expected = milliseconds <= MAX_DURATION ? milliseconds : undefined;
        expect(parseDuration(`${count}${unit}`)).toBe(expected);
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        const parsed = parseDuration(text);
        if (parsed !== undefined) expect(text).toMatch(/^[1-9]\d*[mhd]$/);
      }),
    );
  });

  it("a window that is too long is refused by words that say how long it may be (RUL-6)", () => {
    const reason = expect.stringContaining("at most 3650 days");
    expect(parseRule({ event: { name: "bought", within: "3651d" } })).toMatchObject({ kind: "problem", reason });
  });
});
