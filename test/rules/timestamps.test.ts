import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTimestamp } from "../../shared/rules/timestamps.ts";

describe("RFC 3339 timestamps", () => {
  it.each([
    ["1970-01-01T00:00:00Z", 0],
    ["2024-02-29T12:34:56Z", Date.UTC(2024, 1, 29, 12, 34, 56)],
    ["2000-02-29T23:59:59Z", Date.UTC(2000, 1, 29, 23, 59, 59)],
    ["2024-05-05T03:04:05.6Z", Date.UTC(2024, 4, 5, 3, 4, 5, 600)],
    ["2024-05-05T03:04:05.067Z", Date.UTC(2024, 4, 5, 3, 4, 5, 67)],
    ["2024-05-05T03:04:05.123999999Z", Date.UTC(2024, 4, 5, 3, 4, 5, 123)],
    ["2024-05-05t03:04:05z", Date.UTC(2024, 4, 5, 3, 4, 5)],
    ["2024-05-05T03:04:05+02:30", Date.UTC(2024, 4, 5, 0, 34, 5)],
    ["2024-05-05T03:04:05-02:30", Date.UTC(2024, 4, 5, 5, 34, 5)],
    ["2024-05-05T03:04:05-00:00", Date.UTC(2024, 4, 5, 3, 4, 5)],
    ["2024-05-05T03:04:05+23:59", Date.UTC(2024, 4, 4, 3, 5, 5)],
    ["0000-01-01T00:00:00Z", -62_167_219_200_000],
    ["0099-12-31T23:59:59.999Z", Date.parse("0099-12-31T23:59:59.999Z")],
    ["9999-12-31T23:59:59.999Z", 253_402_300_799_999],
    ["1969-12-31T23:59:59.999Z", -1],
  ])("the reader of timestamps reads %s (AMB-52)", (text, at) => {
    expect(parseTimestamp(text)).toBe(at);
  });

  it.each([
    [""],
    ["2024-05-05"],
    ["2024-05-05T03:04Z"],
    ["2024-05-05T03:04:05"],
    ["2024-05-05 03:04:05Z"],
    ["2024-05-05T03:04:05.Z"],
    ["2024-05-05T03:04:05,5Z"],
    ["2024-05-05T24:00:00Z"],
    ["2024-05-05T23:60:00Z"],
    ["2016-12-31T23:59:60Z"],
    ["2023-02-29T00:00:00Z"],
    ["1900-02-29T00:00:00Z"],
    ["2024-02-30T00:00:00Z"],
    ["2024-04-31T00:00:00Z"],
    ["2024-13-01T00:00:00Z"],
    ["2024-00-01T00:00:00Z"],
    ["2024-01-00T00:00:00Z"],
    ["2024-01-32T00:00:00Z"],
    ["2024-05-05T03:04:05+0200"],
    ["2024-05-05T03:04:05+02"],
    ["2024-05-05T03:04:05+24:00"],
    ["2024-05-05T03:04:05+02:60"],
    ["+02024-05-05T03:04:05Z"],
    ["2024-5-05T03:04:05Z"],
    ["2024-05-05T03:04:05Z "],
    [" 2024-05-05T03:04:05Z"],
    ["2024-05-05T03:04:05Z\n"],
    ["２024-05-05T03:04:05Z"],
    ["0000-01-01T00:00:00+00:01"],
    ["9999-12-31T23:59:59-00:01"],
    [`2024-05-05T03:04:05.${"0".repeat(60)}Z`],
  ])("the reader of timestamps refuses %j", (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });

  it("the reader of timestamps reads back what toISOString writes", () => {
    const range = {
      min: new Date("0000-01-01T00:00:00Z"),
      max: new Date("9999-12-31T23:59:59.999Z"),
      noInvalidDate: true,
    };
    fc.assert(
      fc.property(fc.date(range), (date) => {
        expect(parseTimestamp(date.toISOString())).toBe(date.getTime());
      }),
      { numRuns: 1_000 },
    );
  });

  it("the reader of timestamps agrees with Date.parse on every valid offset", () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }),
        fc.integer({ min: 0, max: 23 }),
        fc.integer({ min: 0, max: 59 }),
        fc.constantFrom("+", "-"),
        (date, hours, minutes, sign) => {
          const zone = `${sign}${String(hours).padStart(2, "0")}:${String(minutes).padStart(2, "0")}`;
          const text = date.toISOString().replace("Z", zone);
          expect(parseTimestamp(text)).toBe(Date.parse(text));
        },
      ),
    );
  });
});
